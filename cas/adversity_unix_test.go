//go:build unix

package cas

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

func TestSpecialFilesAreLeftAlone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a", "1")
	if err := syscall.Mkfifo(b.path("fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", b.path("s"))
	if err != nil {
		t.Skipf("no socket can be made here: %v", err)
	}
	defer l.Close()
	first := b.snapshot(SnapshotOptions{})
	want := map[string]string{"a": "file 1", "fifo": "special FIFO", "s": "special socket"}
	if diff := cmp.Diff(want, b.entries(first.Manifest.Root)); diff != "" || !first.Manifest.Complete {
		t.Errorf("state (-want +got):\n%s", diff)
	}
	if len(first.Left) != 2 {
		t.Errorf("left %v", first.Left)
	}
	b.write("a", "2")
	b.write("d/x", "in a folder with a FIFO")
	if err := syscall.Mkfifo(b.path("d/fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := b.restore(first.Manifest, RestoreOptions{})
	look := b.look()
	if look["fifo"] != "special" || look["s"] != "special" || look["d/fifo"] != "special" || look["a"] != "file 1" || look["d/x"] != "" {
		t.Errorf("folder %v", look)
	}
	if len(got.Left) != 2 { // the FIFO, and the folder that holds it
		t.Errorf("left %v", got.Left)
	}
	if b.snapshot(SnapshotOptions{Parent: got.After}).New {
		t.Error("the folder isn't what the restore recorded")
	}
}

// asNobody runs a test again as a user whom permissions bind, if it is root's.
func asNobody(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		return
	}
	const nobody = 65534
	dir, err := os.MkdirTemp("/tmp", "fettle-nobody-*")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "test")
	if err := errors.Join(os.WriteFile(bin, text, 0o755), os.Chmod(dir, 0o755), os.Mkdir(dir+"/tmp", 0o700), os.Chown(dir+"/tmp", nobody, nobody)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin, "-test.run=^"+t.Name()+"$")
	cmd.Dir = dir + "/tmp"
	cmd.Env = append(os.Environ(), "TMPDIR="+dir+"/tmp", "HOME="+dir+"/tmp")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("as another user: %v\n%s", err, out)
	}
	t.SkipNow()
}

func TestUnreadableFilesAreNamed(t *testing.T) {
	asNobody(t)
	b := newBench(t)
	b.write("secret", "unreadable")
	b.write("closed/inner", "x")
	b.write("open", "1")
	t.Cleanup(func() { _ = os.Chmod(b.path("closed"), 0o755) })
	if err := errors.Join(os.Chmod(b.path("secret"), 0), os.Chmod(b.path("closed"), 0)); err != nil {
		t.Fatal(err)
	}
	snap := b.snapshot(SnapshotOptions{})
	want := map[string]string{"secret": "failed " + reasonUnreadable, "closed": "failed " + reasonUnreadable, "open": "file 1"}
	if diff := cmp.Diff(want, b.entries(snap.Manifest.Root)); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
	if snap.Manifest.Complete || snap.Manifest.Failed != 2 {
		t.Errorf("manifest %+v", snap.Manifest)
	}
	if b.snapshot(SnapshotOptions{Parent: snap.Manifest}).New {
		t.Error("an unchanged folder gave another state")
	}
	b.write("open", "2")
	b.restore(snap.Manifest, RestoreOptions{})
	if info, err := os.Lstat(b.path("secret")); err != nil || info.Size() != 10 {
		t.Errorf("the unreadable file was touched: %v", err)
	}
}

func TestReadOnlyFolders(t *testing.T) {
	asNobody(t)
	b := newBench(t)
	b.write("ro/edit", "1")
	b.write("ro/gone", "1")
	b.write("ro/sub/x", "1")
	if err := os.Chmod(b.path("ro"), 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(b.path("ro"), 0o755) })
	want := b.look()
	m := b.snap()
	if err := os.Chmod(b.path("ro"), 0o755); err != nil {
		t.Fatal(err)
	}
	b.write("ro/edit", "2")
	b.remove("ro/gone")
	b.write("ro/extra", "2")
	b.remove("ro/sub")
	if err := os.Chmod(b.path("ro"), 0o555); err != nil {
		t.Fatal(err)
	}
	b.restore(m, RestoreOptions{})
	if diff := cmp.Diff(want, b.look()); diff != "" {
		t.Errorf("restored (-want +got):\n%s", diff)
	}
	if info, err := os.Stat(b.path("ro")); err != nil || info.Mode().Perm() != 0o555 {
		t.Errorf("the folder's permissions are %v, %v", info.Mode(), err)
	}
}

func TestPrivateFilesStayPrivate(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write(".env", "KEY=1")
	if err := os.Chmod(b.path(".env"), 0o600); err != nil {
		t.Fatal(err)
	}
	m := b.snap()
	b.write(".env", "KEY=2")
	b.restore(m, RestoreOptions{})
	if info, err := os.Stat(b.path(".env")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("permissions are %v, %v", info.Mode(), err)
	}
}

func TestEditsThatHideFromTheTimeOfModification(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a", "one")
	stamp := time.Now().Add(-time.Hour)
	if err := os.Chtimes(b.path("a"), stamp, stamp); err != nil {
		t.Fatal(err)
	}
	b.settle()
	first := b.snap()
	b.write("a", "two") // the same size
	if err := os.Chtimes(b.path("a"), stamp, stamp); err != nil {
		t.Fatal(err)
	}
	second := b.snap()
	if got := b.entries(second.Root)["a"]; got != "file two" {
		t.Errorf("the state has %q", got)
	}
	b.restore(first, RestoreOptions{})
	if got := b.look()["a"]; got != "file one" {
		t.Errorf("restored %q", got)
	}
}

// TestEditsRightAfterASnapshot is what the racy rule is for.
func TestEditsRightAfterASnapshot(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i := range 100 {
		text := fmt.Sprintf("%03d", i)
		b.write("a", text)
		if got := b.entries(b.snap().Root)["a"]; got != "file "+text {
			t.Fatalf("after %s the state has %q", text, got)
		}
	}
}

func TestAFileThatNeverRests(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("rest", "1")
	b.write("busy", "0")
	n := 0
	b.s.fault = func(call, name string) error { // between the two looks at it
		if call == "read" && name == "busy" {
			n++
			return os.WriteFile(b.path("busy"), []byte(strings.Repeat("x", n)), 0o644)
		}
		return nil
	}
	snap := b.snapshot(SnapshotOptions{})
	want := map[string]string{"rest": "file 1", "busy": "failed " + reasonUnstable}
	if diff := cmp.Diff(want, b.entries(snap.Manifest.Root)); diff != "" || n != maxReads {
		t.Errorf("state after %d readings (-want +got):\n%s", n, diff)
	}
	b.s.fault = nil
	if got := b.entries(b.snap().Root)["busy"]; got != "file xxx" {
		t.Errorf("at rest it is %q", got)
	}
}

func TestLinksLeadNobodyOut(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "x"), []byte("outside"), 0o644); err != nil {
		t.Fatal(err)
	}
	b := newBench(t)
	b.write("d/x", "inside")
	b.link("loop", "loop")
	b.link("../../../../../../etc", "up")
	first := b.snap()
	b.write("d/x", "edited")
	// While the restore works, someone exchanges the folder for a link.
	b.s.pause = func(step string) {
		if step == "staged" {
			if err := errors.Join(os.Rename(b.path("d"), b.path("moved")), os.Symlink(outside, b.path("d"))); err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := b.tryRestore(first, RestoreOptions{}); err == nil {
		t.Error("a restore through a link succeeded")
	}
	b.s.pause = func(string) {}
	if got := lookAt(t, outside); cmp.Diff(map[string]string{"x": "file outside"}, got) != "" {
		t.Errorf("outside is %v", got)
	}
	want := map[string]string{"d": "link " + outside, "loop": "link loop", "moved": "folder", "moved/x": "file edited", "up": "link ../../../../../../etc"}
	if diff := cmp.Diff(want, b.entries(b.snap().Root)); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
}

func TestLongNamesAndPaths(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	deep := strings.Repeat(strings.Repeat("d", 99)+"/", 39) // 3,900 bytes
	at, err := unix.Open(b.ws.Path, unix.O_DIRECTORY, 0)
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(deep, "/"), "/") {
		if err := unix.Mkdirat(at, name, 0o755); err != nil {
			t.Fatal(err)
		}
		next, err := unix.Openat(at, name, unix.O_DIRECTORY, 0)
		if err != nil {
			t.Fatal(err)
		}
		_ = unix.Close(at)
		at = next
	}
	defer unix.Close(at)
	name := strings.Repeat("n", 255)
	fd, err := unix.Openat(at, name, unix.O_CREAT|unix.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = unix.Write(fd, []byte("deep"))
	_ = unix.Close(fd)
	m := b.snap()
	e, err := b.s.Lookup(t.Context(), m.Root, deep+name)
	if err != nil || e.Size != 4 || !m.Complete {
		t.Fatalf("found %+v, %v, %+v", e, err, m)
	}
	if err := unix.Unlinkat(at, name, 0); err != nil {
		t.Fatal(err)
	}
	b.restore(m, RestoreOptions{})
	var st unix.Stat_t
	if err := unix.Fstatat(at, name, &st, 0); err != nil || st.Size != 4 {
		t.Errorf("restored: %v, %+v", err, st.Size)
	}
}

func TestSparseFiles(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	size := int64(sized(2<<30, 50<<20, 20<<20))
	f, err := os.Create(b.path("sparse"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt([]byte("end"), size-3)
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	over := b.snapshot(SnapshotOptions{Limits: Limits{MaxFile: size - 1}})
	if got := b.entries(over.Manifest.Root)["sparse"]; got != "failed "+reasonTooLarge || over.Manifest.Complete {
		t.Errorf("over the limit: %q", got)
	}
	m := b.snapshot(SnapshotOptions{Limits: Limits{MaxFile: size}}).Manifest
	e, err := b.s.Lookup(t.Context(), m.Root, "sparse")
	if err != nil || e.Size != size {
		t.Fatalf("kept %+v, %v", e, err)
	}
	blocks := func(path string) int64 {
		var st unix.Stat_t
		if err := unix.Stat(path, &st); err != nil {
			t.Fatal(err)
		}
		return st.Blocks * 512
	}
	if n := blocks(b.s.blobPath(e.Digest)); n > size/4 {
		t.Errorf("%d bytes of zeros take %d on the disk", size, n)
	}
	b.remove("sparse")
	b.restore(m, RestoreOptions{})
	if info, err := os.Stat(b.path("sparse")); err != nil || info.Size() != size || blocks(b.path("sparse")) > size/4 {
		t.Errorf("restored %v, %v", info, err)
	}
	var a, c unix.Stat_t
	if err := errors.Join(unix.Stat(b.path("sparse"), &a), unix.Stat(b.s.blobPath(e.Digest), &c)); err != nil || a.Ino == c.Ino {
		t.Errorf("the file is the store's own: %v", err)
	}
}

func TestHardLinksComeBackAsFiles(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a", "one")
	if err := os.Link(b.path("a"), b.path("b")); err != nil {
		t.Fatal(err)
	}
	m := b.snap()
	b.remove("b")
	b.write("a", "two")
	b.restore(m, RestoreOptions{})
	if got := b.look(); got["a"] != "file one" || got["b"] != "file one" {
		t.Errorf("restored %v", got)
	}
}

func TestBoundFoldersKeepOutOfWhatIsntTheirs(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.ws.Bound = true
	for p, text := range map[string]string{
		".git/HEAD": "ref", "sub/.git": "gitdir: x", "sub/code": "1", ".gitignore": "ignored\n", "ignored": "kept all the same", ".env": "KEY",
		"package.json": "{}", "node_modules/m/x": "m", "lone/node_modules/x": "content",
		"venv/pyvenv.cfg": "", "venv/lib": "v", "cache/CACHEDIR.TAG": cacheTag + "\n", "cache/x": "c", "nocache/CACHEDIR.TAG": "no", "nocache/x": "c",
		"rust/Cargo.toml": "", "rust/target/debug": "t", "target/x": "content",
		".fettleignore": "*.tmp\n!keep.tmp\nbig/\n", "a.tmp": "t", "keep.tmp": "t", "big/x": "b",
	} {
		b.write(p, text)
	}
	was := b.look()
	snap := b.snapshot(SnapshotOptions{})
	got := b.entries(snap.Manifest.Root)
	for _, p := range []string{".git", "sub/.git", "node_modules", "venv", "cache", "rust/target", "a.tmp", "big"} {
		if !strings.HasPrefix(got[p], "omitted ") {
			t.Errorf("%s is %q", p, got[p])
		}
	}
	for _, p := range []string{"sub/code", "ignored", ".env", "lone/node_modules/x", "nocache/x", "target/x", "keep.tmp", ".fettleignore"} {
		if !strings.HasPrefix(got[p], "file ") {
			t.Errorf("%s is %q", p, got[p])
		}
	}
	if len(snap.Left) != 8 {
		t.Errorf("left %v", snap.Left)
	}
	if b.snapshot(SnapshotOptions{Parent: snap.Manifest}).New {
		t.Error("an unchanged folder gave another state")
	}
	b.write(".git/HEAD", "moved on")
	b.write("node_modules/m/x", "m2")
	b.write("ignored", "edited")
	b.remove("lone")
	b.restore(snap.Manifest, RestoreOptions{})
	was[".git/HEAD"], was["node_modules/m/x"] = "file moved on", "file m2"
	if diff := cmp.Diff(was, b.look()); diff != "" {
		t.Errorf("restored (-want +got):\n%s", diff)
	}
	// A state that has .git as content, as an imported one may.
	b2 := newBench(t)
	b2.write(".git/hooks/post-checkout", "evil")
	b2.write("x", "1")
	evil := b2.snap()
	b2.ws = b2.folder(t.TempDir())
	b2.ws.Bound = true
	left := b2.restore(evil, RestoreOptions{}).Left
	if diff := cmp.Diff(map[string]string{"x": "file 1"}, b2.look()); diff != "" || len(left) != 1 {
		t.Errorf("restored (-want +got):\n%s, left %v", diff, left)
	}
}
