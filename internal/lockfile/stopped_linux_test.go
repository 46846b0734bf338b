package lockfile_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/internal/lockfile"
)

// stop stops a process and waits until the kernel has done it.
func stop(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for !lockfile.Stopped(pid) {
		time.Sleep(time.Millisecond)
	}
}

// A holder that is stopped is named as such, also where the wait began before it was
// stopped, and is waited for longer than others.
func TestAStoppedHolderIsNamedAndWaitedFor(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"hold", "hold-shared"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			path := t.TempDir() + "/a.lock"
			holder := start(t, what, path)
			holder.waitHeld(t)
			pid := holder.cmd.Process.Pid
			var told []string
			release, err := lockfile.Wait(bounded(t), path, lockfile.Patience{
				Bound: 20 * time.Millisecond, // long over when the holder continues
				OnWait: func(owner string) {
					told = append(told, owner)
					if len(told) == 1 {
						stop(t, pid)
						return
					}
					if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
						t.Error(err)
					}
					_ = holder.in.Close()
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			release()
			want := fmt.Sprintf("pid %d (lockfile.test", pid)
			if len(told) != 2 || !strings.HasPrefix(told[0], want) || strings.Contains(told[0], "stopped") ||
				!strings.HasPrefix(told[1], want) || !strings.HasSuffix(told[1], "), which is stopped") {
				t.Errorf("told %q", told)
			}
		})
	}
}

// The error of a wait names the holder.
func TestTheErrorOfAWaitNamesTheHolder(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/a.lock"
	holder := start(t, "hold", path)
	holder.waitHeld(t)
	want := lockfile.Process(holder.cmd.Process.Pid)
	if !strings.Contains(want, "(lockfile.test") {
		t.Errorf("the holder is described as %q", want)
	}
	_, err := lockfile.Wait(bounded(t), path, lockfile.Patience{Bound: time.Millisecond})
	var busy *lockfile.BusyError
	if !errors.As(err, &busy) || busy.Owner != want {
		t.Errorf("a bounded wait: %v, want %q", err, want)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := lockfile.Acquire(ctx, path, nil); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), want) {
		t.Errorf("a wait that its context ended: %v", err)
	}
}

// Of several shared holders the one that still has the lock is named, and not the one
// that came last and has released it.
func TestASharedHolderThatIsLeftIsNamed(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/a.lock"
	stays := start(t, "hold-shared", path)
	stays.waitHeld(t)
	goes := start(t, "hold-shared", path)
	goes.waitHeld(t)
	_ = goes.in.Close()
	if err := goes.cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if got, want := lockfile.Holder(path), stays.cmd.Process.Pid; got != want {
		t.Errorf("pid %d is said to hold the lock, want %d", got, want)
	}
}
