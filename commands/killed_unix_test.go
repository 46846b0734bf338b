//go:build linux || darwin

package commands_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/commands/commandtest"
)

// watched is the output of a process that may be read while it is written.
type watched struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.Write(p)
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.String()
}

// until waits until the output has a text.
func (w *watched) until(t *testing.T, text string) {
	t.Helper()
	for deadline := time.Now().Add(2 * commandtest.Wait); !strings.Contains(w.String(), text); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%q does not come: %s", text, w)
		}
	}
}

// A process that was stopped while it holds a lock is named by the next command, which
// continues when the process does.
func TestAStoppedProcessThatHoldsALockIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{responses: [{when: slow, deltas: [{content: Begun}], hang: true}, {when: "", text: Hi.}]}`)
	w.Run(0, "ask", "--no-stdin", "hi")
	holder := w.Command("ask", "-c", "-o", "events", "--no-stdin", "slow")
	out := new(watched)
	holder.Stdout, holder.Stderr = out, out
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	out.until(t, "Begun")
	if err := holder.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	next := w.Command("ask", "-c", "--no-stdin", "and on")
	said := new(watched)
	next.Stdout, next.Stderr = said, said
	if err := next.Start(); err != nil {
		t.Fatal(err)
	}
	said.until(t, fmt.Sprintf("pid %d (", holder.Process.Pid))
	said.until(t, "which is stopped")
	// the interruption waits until the process is continued
	if err := holder.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := holder.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if err := next.Wait(); err != nil || !strings.Contains(said.String(), "Hi.") {
		t.Errorf("the next command: %v: %s", err, said)
	}
	_ = holder.Wait() // it was interrupted
}

// killPoints is at how many moments a command is killed. The variable asks for more.
func killPoints(t *testing.T) int {
	n, err := strconv.Atoi(os.Getenv("FETTLE_KILL_POINTS"))
	if err != nil || n < 1 {
		return 4
	}
	return n
}

// Nothing temporary is left of a command that was killed, after the next command and
// store tidy.
func TestNothingIsLeftOfAKilledCommand(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"write_file": {"ask", "--no-stdin", "--yes", "-w", "project", "write"},
		"backup":     {"store", "backup", "out"},
		"restore":    {"store", "restore", "--replace", filepath.Join("out", "kept.tar.zst")},
		"import":     {"chats", "import", "--copy", filepath.Join("out", "chats.jsonl")},
		"serve":      {"serve", "--listen", "127.0.0.1:0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, `{responses: [{when: write, step: 0, calls: [{name: write_file, args: {path: a.txt, content: "`+strings.Repeat("long ", 20_000)+`"}}]}, {when: "", text: Hi.}]}`)
			w.Env = append(w.Env, "XDG_RUNTIME_DIR="+filepath.Join(w.Dir, "run"), "TMPDIR="+filepath.Join(w.Dir, "tmp"))
			for _, dir := range []string{"project", "out", "run", "tmp"} {
				if err := os.Mkdir(filepath.Join(w.Dir, dir), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			w.Run(0, "ask", "--no-stdin", strings.Repeat("a long question ", 4000))
			w.Run(0, "store", "backup", filepath.Join("out", "kept.tar.zst"))
			w.Run(0, "chats", "export", "--all", "-o", "json", "--file", filepath.Join("out", "chats.jsonl"))
			whole := w.killAfter(args, time.Minute)
			for i := range killPoints(t) {
				w.killAfter(args, whole*time.Duration(i+1)/time.Duration(killPoints(t)+1))
				w.Run(0, "chats", "list")
				w.Run(0, "store", "tidy")
				if left := w.temporaries(); len(left) > 0 {
					t.Errorf("left after kill %d of %s: %q", i, name, left)
				}
				if out, _ := w.Run(0, "store", "tidy", "--dry-run"); !strings.Contains(out, "nothing to remove") {
					t.Errorf("store tidy has left: %s", out)
				}
			}
		})
	}
}

// killAfter starts a command, kills it after a while unless it has ended, and returns how
// long it ran. A server is regarded as having ended when it has printed its address.
func (w *world) killAfter(args []string, after time.Duration) time.Duration {
	w.T.Helper()
	cmd := w.Command(args...)
	out := new(watched)
	cmd.Stdout, cmd.Stderr = out, out
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		w.T.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // it may have been killed
		close(ended)
	}()
	for timer := time.After(after); ; {
		select {
		case <-ended:
			return time.Since(begun)
		case <-timer:
		case <-time.After(5 * time.Millisecond):
			if args[0] != "serve" || !strings.Contains(out.String(), "http://") || after < time.Minute {
				continue
			}
		}
		took := time.Since(begun)
		_ = cmd.Process.Kill() // it may have ended by now
		<-ended
		return took
	}
}

// temporaries lists all files and folders that only a running command may have.
func (w *world) temporaries() (out []string) {
	w.T.Helper()
	err := filepath.WalkDir(w.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, in := d.Name(), filepath.Base(filepath.Dir(path))
		switch {
		case slices.Contains([]string{"serve.json", "restoring.json"}, name), d.Type()&fs.ModeSocket != 0, strings.HasSuffix(name, ".new"), strings.HasSuffix(name, ".fettle-new"),
			strings.HasPrefix(name, ".fettle-"), d.IsDir() && (strings.HasPrefix(name, "backup-") || strings.HasPrefix(name, "restore-") || strings.HasPrefix(name, "replaced-")),
			in == "temporaries", in == "locks" && !d.IsDir(), in == "tmp":
			out = append(out, path)
		}
		return nil
	})
	if err != nil {
		w.T.Fatal(err)
	}
	return out
}
