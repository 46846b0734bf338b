package lockfile_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/internal/lockfile"
)

// patience bounds what a test waits for; it is never reached where the code
// works.
const patience = 30 * time.Second

// childEnv makes the test binary a child process: what to do, and the path.
const childEnv = "LOCKFILE_TEST_CHILD"

func TestMain(m *testing.M) {
	if task := os.Getenv(childEnv); task != "" {
		what, path, _ := strings.Cut(task, ":")
		if err := child(what, path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func child(what, path string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	switch what {
	case "hold", "hold-shared":
		acquire := lockfile.Acquire
		if what == "hold-shared" {
			acquire = lockfile.AcquireShared
		}
		release, err := acquire(ctx, path, nil)
		if err != nil {
			return err
		}
		fmt.Println("held")
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n') // until told, or killed
		release()
		return nil
	case "count":
		return increments(ctx, path, 4, 25)
	}
	return fmt.Errorf("no such task %q", what)
}

// increments adds one to a counter file under the lock, from several goroutines
// at once.
func increments(ctx context.Context, path string, goroutines, each int) error {
	errs := make(chan error, goroutines)
	for range goroutines {
		go func() {
			for range each {
				if err := increment(ctx, path); err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	var all error
	for range goroutines {
		all = errors.Join(all, <-errs)
	}
	return all
}

func increment(ctx context.Context, path string) error {
	release, err := lockfile.Acquire(ctx, path+".lock", nil)
	if err != nil {
		return err
	}
	defer release()
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(string(text))
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(strconv.Itoa(n+1)), 0o600)
}

type process struct {
	cmd *exec.Cmd
	in  interface{ Close() error }
	out *bufio.Reader
}

func start(t *testing.T, what, path string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+what+":"+path)
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
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return &process{cmd: cmd, in: in, out: bufio.NewReader(out)}
}

func (p *process) waitHeld(t *testing.T) {
	t.Helper()
	if line, err := p.out.ReadString('\n'); err != nil || line != "held\n" {
		t.Fatalf("child said %q, %v", line, err)
	}
}

func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

func mustTry(t *testing.T, path string) func() {
	t.Helper()
	release, ok, err := lockfile.Try(path)
	if err != nil || !ok {
		t.Fatalf("Try(%s): ok %v, %v", path, ok, err)
	}
	return release
}

func mustBeTaken(t *testing.T, path string) {
	t.Helper()
	if release, ok, err := lockfile.Try(path); ok || err != nil || release != nil {
		t.Fatalf("a lock that is held was given: ok %v, %v", ok, err)
	}
}

func TestReleaseLeavesNoFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.lock")
	release := mustTry(t, path)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("lock file has mode %v", info.Mode())
	}
	mustBeTaken(t, path)
	release()
	release() // a second call does nothing
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after release: %v", err)
	}
	mustTry(t, path)()
}

func TestReleaseTwiceDoesNotFreeTheNextOwner(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.lock")
	first := mustTry(t, path)
	first()
	second := mustTry(t, path)
	defer second()
	first()
	mustBeTaken(t, path)
}

func TestMissingFolderIsAnErrorThatNamesThePath(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "no", "a.lock")
	_, err := lockfile.Acquire(bounded(t), path, nil)
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v", err)
	}
}

func TestFolderInTheWayIsAnError(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	if _, err := lockfile.Acquire(bounded(t), path, nil); err == nil {
		t.Error("a folder was locked as a file")
	}
}

func TestSharedLocks(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "gc.lock")
	one, ok, err := lockfile.TryShared(path)
	if err != nil || !ok {
		t.Fatalf("first: %v %v", ok, err)
	}
	two, err := lockfile.AcquireShared(bounded(t), path, func(string) { t.Error("a shared lock waited for a shared one") })
	if err != nil {
		t.Fatal(err)
	}
	mustBeTaken(t, path)
	one()
	mustBeTaken(t, path)
	two()
	release := mustTry(t, path)
	if _, ok, err := lockfile.TryShared(path); ok || err != nil {
		t.Errorf("shared beside exclusive: %v %v", ok, err)
	}
	release()
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the exclusive owner left the file: %v", err)
	}
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.lock")
	release := mustTry(t, path)
	defer release()
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	_, err := lockfile.Acquire(ctx, path, func(owner string) {
		calls++
		if want := lockfile.Process(os.Getpid()); owner != want {
			t.Errorf("owner %q, want %q", owner, want)
		}
		cancel()
	})
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), path) || calls != 1 {
		t.Errorf("got %v after %d calls", err, calls)
	}
	if _, err := lockfile.Acquire(ctx, filepath.Join(t.TempDir(), "free.lock"), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled context got a lock: %v", err)
	}
}

func TestWaiterGetsTheLockOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.lock")
	holder := start(t, "hold", path)
	holder.waitHeld(t)
	var waits atomic.Int32
	release, err := lockfile.Acquire(bounded(t), path, func(owner string) {
		if want := lockfile.Process(holder.cmd.Process.Pid); owner != want {
			t.Errorf("owner %q, want %q", owner, want)
		}
		waits.Add(1)
		_ = holder.in.Close() // the child releases and ends
	})
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if waits.Load() != 1 {
		t.Errorf("onWait was called %d times", waits.Load())
	}
	mustBeTaken(t, path)
}

// A holder that is killed frees the lock, leaves the file, and the next owner
// uses and removes it.
func TestKilledHolder(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"hold", "hold-shared"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "a.lock")
			for range 5 {
				holder := start(t, what, path)
				holder.waitHeld(t)
				mustBeTaken(t, path)
				if err := holder.cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
				_ = holder.cmd.Wait()
				if _, err := os.Stat(path); err != nil {
					t.Fatalf("the killed holder's file: %v", err)
				}
				mustTry(t, path)()
				if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
					t.Fatalf("after the next owner: %v", err)
				}
			}
		})
	}
}

// A lock on a file that is no longer there is not the lock: here the path is
// unlinked by hand and taken by another, as it is when an owner releases
// between a waiter's open and its lock.
func TestReleaseSparesAnothersFile(t *testing.T) {
	t.Parallel()
	if os.PathSeparator != '/' {
		t.Skip("an open file can't be removed here")
	}
	path := filepath.Join(t.TempDir(), "a.lock")
	first := mustTry(t, path)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	second := mustTry(t, path)
	first()
	mustBeTaken(t, path)
	second()
}

// Several processes of several goroutines each increment one counter. Every
// release unlinks, so waiters win locks on unlinked files all the time; if one
// of them was believed, an increment would be lost.
func TestNoIncrementIsLost(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "counter")
	if err := os.WriteFile(path, []byte("0"), 0o600); err != nil {
		t.Fatal(err)
	}
	const processes = 4
	var wg sync.WaitGroup
	for range processes {
		p := start(t, "count", path)
		wg.Go(func() {
			if err := p.cmd.Wait(); err != nil {
				t.Errorf("child: %v", err)
			}
		})
	}
	if err := increments(bounded(t), path, 20, 5); err != nil {
		t.Error(err)
	}
	wg.Wait()
	text, err := os.ReadFile(path)
	if want := strconv.Itoa(processes*4*25 + 20*5); err != nil || string(text) != want {
		t.Errorf("counter is %s, want %s (%v)", text, want, err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("files left: %v, %v", left, err)
	}
}

func TestOwnerIsReadWithSuspicion(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		text string
		want int
	}{
		"as written":             {"\x00pid 123\n", 123},
		"behind a longer text":   {"\x00pid 12\n456\n", 12},
		"cut short":              {"\x00pid 12", 0},
		"empty":                  {"", 0},
		"another text":           {"\x00hello\n", 0},
		"an escape sequence":     {"\x00pid 1\x1b[2J\n", 0},
		"a number out of range":  {"\x00pid 99999999999\n", 0},
		"a negative number":      {"\x00pid -1\n", 0},
		"a line without its end": {"\x00pid " + strings.Repeat("1", 100) + "\n", 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "a.lock")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := lockfile.OwnerPID(path); got != c.want {
				t.Errorf("pid %d, want %d", got, c.want)
			}
			want := ""
			if c.want > 0 {
				want = lockfile.Process(c.want)
			}
			if got := lockfile.Owner(path); got != want {
				t.Errorf("owner %q, want %q", got, want)
			}
		})
	}
	if got := lockfile.Owner(filepath.Join(t.TempDir(), "none")); got != "" {
		t.Errorf("no file: %q", got)
	}
}

func BenchmarkTryAndRelease(b *testing.B) {
	path := filepath.Join(b.TempDir(), "a.lock")
	for b.Loop() {
		release, ok, err := lockfile.Try(path)
		if !ok || err != nil {
			b.Fatal(ok, err)
		}
		release()
	}
}
