package cas

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/internal/kv"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if task := os.Getenv(childEnv); task != "" {
		os.Exit(runChild(task))
	}
	goleak.VerifyTestMain(m,
		goleak.IgnoreTopFunction("github.com/golang/glog.(*fileSink).flushDaemon"),
		// Badger leaves these behind when it can't open what bits were flipped in.
		goleak.IgnoreTopFunction("github.com/dgraph-io/badger/v4.(*DB).monitorCache"),
		goleak.IgnoreTopFunction("github.com/dgraph-io/ristretto/v2/z.(*AllocatorPool).freeupAllocators"))
}

// fixed returns a GCOptions.Live that decides by the states that the test lists.
func fixed(live func(*Manifest) bool) func(context.Context) (func(*Manifest) bool, error) {
	return func(context.Context) (func(*Manifest) bool, error) { return live, nil }
}

// raceRounds is how many rounds a property is held for under the race detector.
const raceRounds = 15

// bench is a store and a workspace for one test.
type bench struct {
	t   testing.TB
	s   *Store
	kv  *kv.Store
	dir string // data directory
	ws  *Workspace
	// readOnly is a mount point that becomes read-only once the test has written to it.
	readOnly string
}

// newBench makes a store and an empty workspace.
func newBench(t testing.TB) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir()}
	b.open()
	b.ws = b.folder(t.TempDir())
	return b
}

func (b *bench) open() {
	b.kv = kv.Open(filepath.Join(b.dir, "store"), kv.Options{})
	b.s = Open(Options{Dir: b.dir, KV: b.kv})
	opened := b.kv
	b.t.Cleanup(func() { _ = opened.Close() })
}

// reopen is what another process would see.
func (b *bench) reopen() {
	b.t.Helper()
	if err := b.kv.Close(); err != nil {
		b.t.Fatal(err)
	}
	b.open()
}

func (b *bench) folder(path string) *Workspace {
	b.t.Helper()
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		b.t.Fatal(err)
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = root.Close() })
	return &Workspace{Path: path, Root: root}
}

func (b *bench) path(name string) string { return filepath.Join(b.ws.Path, filepath.FromSlash(name)) }

func (b *bench) write(name, content string) {
	b.t.Helper()
	if err := os.MkdirAll(filepath.Dir(b.path(name)), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(b.path(name), []byte(content), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) remove(name string) {
	b.t.Helper()
	if err := os.RemoveAll(b.path(name)); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) mkdir(name string) {
	b.t.Helper()
	if err := os.MkdirAll(b.path(name), 0o755); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) link(target, name string) {
	b.t.Helper()
	if err := os.Symlink(target, b.path(name)); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) snap() *Manifest {
	b.t.Helper()
	return b.snapshot(SnapshotOptions{About: About{ChatID: "c", Source: ToolRun}}).Manifest
}

func (b *bench) snapshot(o SnapshotOptions) *Snapshot {
	b.t.Helper()
	o.Limits.KeepFree = -1
	got, err := b.s.Snapshot(b.t.Context(), b.ws, o)
	if err != nil {
		b.t.Fatalf("snapshot: %v", err)
	}
	return got
}

// index is what the store remembers of the workspace.
func (b *bench) index() *index {
	b.t.Helper()
	f, release, err := b.s.folder(b.t.Context(), b.ws.key())
	if err != nil {
		b.t.Fatal(err)
	}
	defer release()
	return f.index
}

func (b *bench) restore(to *Manifest, o RestoreOptions) *Restoration {
	b.t.Helper()
	got, err := b.tryRestore(to, o)
	if err != nil {
		b.t.Fatalf("restore: %v", err)
	}
	return got
}

func (b *bench) tryRestore(to *Manifest, o RestoreOptions) (*Restoration, error) {
	o.ChatID, o.Source = "c", Restored
	o.Limits.KeepFree = -1
	return b.s.Materialize(b.t.Context(), b.ws, to, o)
}

// look is a folder as plain lines: kind, path, content.
func (b *bench) look() map[string]string {
	b.t.Helper()
	return lookAt(b.t, b.ws.Path)
}

func lookAt(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil || rel == "." {
			return err
		}
		rel = filepath.ToSlash(rel)
		info, err := e.Info()
		if err != nil {
			return err
		}
		switch {
		case info.IsDir():
			out[rel] = "folder" + unusualPerm(Folder, info)
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			out[rel] = "link " + target
		case info.Mode().IsRegular():
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			kind := File
			if hasModes && info.Mode()&0o100 != 0 {
				kind = Executable
			}
			out[rel] = kind.String() + unusualPerm(kind, info) + " " + short(string(content))
		default:
			out[rel] = "special"
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// unusualPerm is the text of permission bits that are worth naming.
func unusualPerm(kind Kind, info fs.FileInfo) string {
	if !hasModes {
		return ""
	}
	bits := uint32(info.Mode().Perm())
	for flag, bit := range map[fs.FileMode]uint32{fs.ModeSetuid: 0o4000, fs.ModeSetgid: 0o2000, fs.ModeSticky: 0o1000} {
		if info.Mode()&flag != 0 {
			bits |= bit
		}
	}
	return permText(Entry{Kind: kind, Perm: PermOf(bits)})
}

func permText(e Entry) string {
	if e.Perm.usual(e.Kind) {
		return ""
	}
	return "(" + e.Perm.String() + ")"
}

// short stands for a content that is too long to be compared as text.
func short(content string) string {
	if len(content) <= 100 {
		return content
	}
	return fmt.Sprintf("%d bytes %s", len(content), Sum([]byte(content)))
}

// entries is a state as lines like those of look.
func (b *bench) entries(root Digest) map[string]string {
	b.t.Helper()
	out := make(map[string]string)
	for l, err := range b.s.Walk(b.t.Context(), root) {
		if err != nil {
			b.t.Fatal(err)
		}
		switch l.Kind {
		case File, Executable:
			var text strings.Builder
			if err := b.s.Read(b.t.Context(), &text, l.Entry); err != nil {
				b.t.Fatal(err)
			}
			out[l.Path] = l.Kind.String() + permText(l.Entry) + " " + short(text.String())
		case Link:
			out[l.Path] = "link " + l.Text
		default:
			out[l.Path] = strings.TrimSpace(l.Kind.String() + permText(l.Entry) + " " + l.Text)
		}
	}
	return out
}

// diffText is what Diff says, one line a path.
func (b *bench) diffText(a, c Digest) []string {
	b.t.Helper()
	var out []string
	for ch, err := range b.s.Diff(b.t.Context(), a, c) {
		if err != nil {
			b.t.Fatal(err)
		}
		mark := "M"
		switch {
		case ch.Old == nil:
			mark = "A"
		case ch.New == nil:
			mark = "D"
		}
		out = append(out, mark+" "+ch.Path)
	}
	return out
}

func sortedKeys(m map[string]string) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// settle waits until what was written counts as quiet.
func (b *bench) settle() { time.Sleep(racyMargin + 5*time.Millisecond) }
