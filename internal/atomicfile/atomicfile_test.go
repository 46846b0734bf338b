package atomicfile_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fettle-cli/fettle/internal/atomicfile"
)

// childEnv makes the test binary a child process: the lock that it holds, and the
// paths.
const childEnv = "ATOMICFILE_TEST_CHILD"

func TestMain(m *testing.M) {
	if task := os.Getenv(childEnv); task != "" {
		if err := child(strings.Split(task, "|")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child makes a temporary file and keeps it until its input ends or it is
// killed.
func child(task []string) error {
	var name string
	switch task[0] {
	case "target":
		f, err := atomicfile.Create(task[1])
		if err != nil {
			return err
		}
		defer f.Discard()
		name = f.Name()
		_, _ = f.WriteString("secret")
	case "ledger":
		f, err := atomicfile.OpenLedger(task[2]).Create(task[1])
		if err != nil {
			return err
		}
		defer f.Discard()
		name = f.Name()
		_, _ = f.WriteString("half")
	case "folder":
		dir, remove, err := atomicfile.OpenLedger(task[2]).TempDir(task[1], "scratch-")
		if err != nil {
			return err
		}
		defer remove()
		name = dir
		if err := os.WriteFile(filepath.Join(dir, "f"), []byte("12345"), 0o600); err != nil {
			return err
		}
	case "write":
		for i := range 50 {
			if err := atomicfile.Write(task[1], content(i), atomicfile.Cached); err != nil {
				return err
			}
		}
		return nil
	}
	fmt.Println(name)
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	return nil
}

// holder is a child that has a temporary file.
type holder struct {
	cmd  *exec.Cmd
	name string
}

func hold(t *testing.T, task ...string) *holder {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+strings.Join(task, "|"))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Process.Kill(); _ = cmd.Wait() })
	name, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the child: %v", err)
	}
	return &holder{cmd, strings.TrimSpace(name)}
}

func (h *holder) kill(t *testing.T) {
	t.Helper()
	if err := h.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = h.cmd.Wait()
}

func content(i int) []byte {
	return bytes.Repeat([]byte{byte('a' + i%26)}, 10_000)
}

func whole(data []byte) bool {
	return len(data) == 10_000 && bytes.Count(data, data[:1]) == len(data)
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func wantNames(t *testing.T, dir string, want ...string) {
	t.Helper()
	if got := names(t, dir); !slices.Equal(got, want) {
		t.Errorf("%s has %q, want %q", dir, got, want)
	}
}

func wantContent(t *testing.T, name, want string) {
	t.Helper()
	if got, err := atomicfile.ReadFile(name); string(got) != want || err != nil {
		t.Errorf("read %q, %v; want %q", got, err, want)
	}
}

func TestWriteReplacesAFileAndLeavesNoOther(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	target := filepath.Join(dir, "f")
	for _, text := range []string{"one", "two, which is longer", ""} {
		if err := atomicfile.Write(target, []byte(text), atomicfile.Synced); err != nil {
			t.Fatal(err)
		}
		wantContent(t, target, text)
	}
	wantNames(t, dir, "f")
	if info, err := os.Stat(target); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestCommitThatFailsLeavesTheTargetAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	target := filepath.Join(dir, "f")
	if err := os.MkdirAll(filepath.Join(target, "below"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(target, []byte("x"), atomicfile.Synced); err == nil {
		t.Error("a file took the place of a folder")
	}
	wantNames(t, dir, "f")
	wantNames(t, target, "below")
}

func TestCommitAfterDiscardFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, err := atomicfile.Create(filepath.Join(dir, "f"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Discard(), f.Discard()); err != nil {
		t.Error(err)
	}
	if err := f.Commit(atomicfile.Synced); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("commit after discard: %v", err)
	}
	wantNames(t, dir)
}

func TestTemporaryFileOfAKilledWriterIsRemovedByTheNext(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	target := filepath.Join(dir, "keys.yaml")
	h := hold(t, "target", target)
	if !atomicfile.IsTempName(h.name) || h.name != atomicfile.TempName(target) {
		t.Errorf("the temporary file is %s", h.name)
	}
	h.kill(t)
	if stale, err := atomicfile.Stale(h.name); !stale || err != nil {
		t.Fatalf("the file of a killed writer: stale %v, %v", stale, err)
	}
	if err := atomicfile.Write(target, []byte("new"), atomicfile.Synced); err != nil {
		t.Fatal(err)
	}
	wantContent(t, target, "new")
	wantNames(t, dir, "keys.yaml")
}

func TestTemporaryFileOfALivingWriterStays(t *testing.T) {
	t.Parallel()
	target := filepath.Join(t.TempDir(), "keys.yaml")
	h := hold(t, "target", target)
	if removed, err := atomicfile.RemoveLeftover(target); removed || err != nil {
		t.Errorf("a living writer's file: removed %v, %v", removed, err)
	}
	if stale, err := atomicfile.Stale(h.name); stale || err != nil {
		t.Errorf("a living writer's file: stale %v, %v", stale, err)
	}
	if err := atomicfile.Write(target, nil, atomicfile.Cached); !errors.Is(err, atomicfile.ErrBusy) {
		t.Errorf("a second writer: %v", err)
	}
	if _, err := os.Stat(h.name); err != nil {
		t.Error(err)
	}
	h.kill(t)
	if removed, err := atomicfile.RemoveLeftover(target); !removed || err != nil {
		t.Errorf("a killed writer's file: removed %v, %v", removed, err)
	}
	if removed, err := atomicfile.RemoveLeftover(target); removed || err != nil {
		t.Errorf("no file: removed %v, %v", removed, err)
	}
}

func TestWhatIsNoFileIsNotRemoved(t *testing.T) {
	t.Parallel()
	target := filepath.Join(t.TempDir(), "f")
	if err := os.Mkdir(atomicfile.TempName(target), 0o700); err != nil {
		t.Fatal(err)
	}
	if removed, err := atomicfile.RemoveLeftover(target); removed || err == nil {
		t.Errorf("a folder of that name: removed %v, %v", removed, err)
	}
}

// Writers in several processes and goroutines replace one file, sweeps look for
// leftovers, and readers read it, all at once.
func TestReadersSeeWholeContentsWhileWritersAndSweepsRun(t *testing.T) {
	t.Parallel()
	needPosixRename(t)
	dir := t.TempDir()
	target := filepath.Join(dir, "f")
	if err := atomicfile.Write(target, content(0), atomicfile.Cached); err != nil {
		t.Fatal(err)
	}
	var writers, others sync.WaitGroup
	done := make(chan struct{})
	until := func(what string, f func() error) {
		others.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if err := f(); err != nil {
					t.Errorf("%s: %v", what, err)
					return
				}
			}
		})
	}
	until("sweep", func() error {
		removed, err := atomicfile.RemoveLeftover(target)
		if removed {
			return nil // between the making and the claim of a file: its writer makes another one
		}
		return err
	})
	until("read", func() error {
		data, err := atomicfile.ReadFile(target)
		if err == nil && !whole(data) {
			err = fmt.Errorf("%d bytes in pieces", len(data))
		}
		return err
	})
	for range 2 {
		writers.Go(func() {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), childEnv+"=write|"+target)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("a writing process: %v\n%s", err, out)
			}
		})
		writers.Go(func() {
			for i := range 50 {
				if err := atomicfile.Write(target, content(i), atomicfile.Cached); err != nil {
					t.Errorf("write: %v", err)
				}
			}
		})
	}
	writers.Wait()
	close(done)
	others.Wait()
	wantNames(t, dir, "f")
}

func TestFileThatIsReadCanBeReplacedAndRemoved(t *testing.T) {
	t.Parallel()
	needPosixRename(t)
	dir := t.TempDir()
	target := filepath.Join(dir, "f")
	if err := atomicfile.Write(target, []byte("old"), atomicfile.Synced); err != nil {
		t.Fatal(err)
	}
	f, err := atomicfile.Open(target)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := atomicfile.Write(target, []byte("new"), atomicfile.Synced); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Rename(target, filepath.Join(dir, "g")); err != nil {
		t.Fatal(err)
	}
	g, err := atomicfile.Open(filepath.Join(dir, "g"))
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if err := atomicfile.Remove(filepath.Join(dir, "g")); err != nil {
		t.Fatal(err)
	}
	for want, f := range map[string]*os.File{"old": f, "new": g} {
		data := make([]byte, 10)
		if n, err := f.Read(data); string(data[:n]) != want {
			t.Errorf("the open file reads %q, %v; want %q", data[:n], err, want)
		}
	}
}

func TestMissingFilesAreReportedAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	missing := filepath.Join(dir, "no", "such")
	_, openErr := atomicfile.Open(missing)
	_, readErr := atomicfile.ReadFile(missing)
	for what, err := range map[string]error{
		"open": openErr, "read": readErr, "remove": atomicfile.Remove(missing),
		"rename": atomicfile.Rename(missing, filepath.Join(dir, "x")),
	} {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := atomicfile.RemoveAll(missing); err != nil {
		t.Errorf("remove all: %v", err)
	}
}
