package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/internal/lockfile"
)

// childEnv makes the test binary a child process that takes numbers from the
// counter of a folder: folder, how many.
const childEnv = "JOURNAL_TEST_CHILD"

func TestMain(m *testing.M) {
	if dir, count, ok := strings.Cut(os.Getenv(childEnv), " "); ok {
		if err := takeNumbers(dir, count); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func takeNumbers(dir, count string) error {
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c := NewCounter(dir, func(context.Context) (Numbers, error) { return Numbers{}, nil })
	if _, err := io.ReadFull(os.Stdin, make([]byte, 1)); err != nil { // all begin at once
		return err
	}
	for i := range n {
		got, sync, err := c.Next(ctx, i%2 == 0)
		if err = errors.Join(err, sync()); err != nil {
			return err
		}
		fmt.Println(got.Turn, got.Chat)
	}
	return nil
}

// Eight processes take numbers at once: each gets its own, ascending, and none
// is missing.
func TestTheCounterUnderManyProcesses(t *testing.T) {
	t.Parallel()
	const processes, each = 8, 20
	dir := t.TempDir()
	var cmds []*exec.Cmd
	var outs []*strings.Builder
	var starts []io.WriteCloser
	for range processes {
		cmd, out := exec.Command(os.Args[0]), new(strings.Builder)
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d", childEnv, dir, each))
		cmd.Stdout, cmd.Stderr = out, os.Stderr
		in, err := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		cmds, outs, starts = append(cmds, cmd), append(outs, out), append(starts, in)
	}
	for _, in := range starts {
		if _, err := in.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	var turns, chats []int
	for i, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Fatalf("process %d: %v", i, err)
		}
		last := 0
		for line := range strings.Lines(outs[i].String()) {
			var turn, chat int
			if _, err := fmt.Sscan(line, &turn, &chat); err != nil || turn <= last {
				t.Errorf("process %d got %q after %d (%v)", i, line, last, err)
			}
			last = turn
			turns = append(turns, turn)
			if chat > 0 {
				chats = append(chats, chat)
			}
		}
	}
	for what, numbers := range map[string][]int{"turn": turns, "chat": chats} {
		slices.Sort(numbers)
		for i, n := range numbers {
			if n != i+1 {
				t.Fatalf("the %d. %s has number %d", i+1, what, n)
			}
		}
	}
	if len(turns) != processes*each || len(chats) != processes*each/2 {
		t.Errorf("%d turns and %d chats", len(turns), len(chats))
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

func TestTheCounterIsRaisedAndNeverLowered(t *testing.T) {
	t.Parallel()
	c := NewCounter(t.TempDir(), func(context.Context) (Numbers, error) { return Numbers{Chat: 3, Turn: 5}, nil })
	for _, above := range []Numbers{{Chat: 9, Turn: 2}, {Chat: 1, Turn: 7}} {
		if err := c.Raise(t.Context(), above); err != nil {
			t.Fatal(err)
		}
	}
	n, sync, err := c.Next(t.Context(), true)
	if err = errors.Join(err, sync()); err != nil || n != (Numbers{Chat: 10, Turn: 8}) {
		t.Errorf("%+v, %v", n, err)
	}
}

// Those who look at a turn, all at once, are taken for its owner by nobody.
func TestALookIsNotAnOwner(t *testing.T) {
	t.Parallel()
	d := Open(t.TempDir())
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for _, look := range []func() error{
		func() error { _, held, err := d.Owner(context.Background(), "A"); return holds(held, err) },
		func() error { return d.Sweep(context.Background()) },
		func() error {
			return d.Wait(context.Background(), "A", func(string) { t.Error("waited for nobody") })
		},
	} {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := look(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	file := filepath.Join(d.path, "A.jsonl")
	for range 100 {
		if err := os.WriteFile(file, []byte("{}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(d.lock("A"), nil, 0o600); err != nil { // as a killed owner leaves it
			t.Fatal(err)
		}
		release, free, err := tryClaim(t, d)
		if err != nil || !free {
			t.Fatalf("a journal that nobody holds could not be claimed: %v", err)
		}
		release()
	}
	close(stop)
	wg.Wait()
}

func holds(held bool, err error) error {
	if err == nil && held {
		err = errors.New("a turn that nobody holds has an owner")
	}
	return err
}

// tryClaim claims and releases while nobody looks for an owner, for a claim is
// one: the looks of the test may see it.
func tryClaim(t *testing.T, d *Dir) (func(), bool, error) {
	t.Helper()
	var release func()
	free, err := d.look(t.Context(), "A", func(r func()) { release = r; r() })
	return release, free, err
}

func TestALineThatIsTooLong(t *testing.T) {
	t.Parallel()
	d := Open(t.TempDir())
	d.maxLine = 200
	var big *TooBigError
	if _, err := d.Create(t.Context(), "A", accept{Turn: strings.Repeat("x", 300)}); !errors.As(err, &big) || big.Size < 300 {
		t.Errorf("an acceptance: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(d.path, "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	w := create(t, d, "B", 1)
	defer w.Close()
	long := text("B", 2)
	long.Body = event.TextDelta{Text: strings.Repeat("x", 300)}
	if err := w.Append(text("B", 2), long); !errors.As(err, &big) {
		t.Errorf("an event: %v", err)
	}
	if err := w.Append(text("B", 2)); err != nil { // nothing of the batch was written
		t.Fatal(err)
	}
	r, err := d.Read("B")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if n, err := seqs(r); n != 2 || err != nil {
		t.Errorf("%d events, %v", n, err)
	}
}

// An acceptance keeps a prompt's bytes as they are, but for what JSON wants.
func TestAPromptOfHTMLStaysAsLong(t *testing.T) {
	t.Parallel()
	d := Open(t.TempDir())
	w, err := d.Create(t.Context(), "A", accept{Turn: strings.Repeat("<>&", 1000)})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if w.size > 3100 {
		t.Errorf("3000 bytes became %d", w.size)
	}
}

// What is no next event of the turn is damage; what stands before it is read.
func TestEventsOutOfOrderAreDamage(t *testing.T) {
	t.Parallel()
	line := func(turn string, seq int, body event.Body) string {
		e := text(turn, seq)
		if body != nil {
			e.Body = body
		}
		raw, err := e.Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw) + "\n"
	}
	good := "{}\n" + line("A", 1, nil) + line("A", 2, nil)
	for name, bad := range map[string]string{
		"a gap": line("A", 4, nil), "one twice": line("A", 2, nil), "another turn's": line("B", 3, nil),
		"no event": "{}\n", "nothing": "\n", "zeros": "\x00\x00\n",
		"one behind the end": line("A", 3, event.Cancelled{}) + line("A", 4, nil),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := Open(t.TempDir())
			if err := os.WriteFile(d.file("A"), []byte(good+bad+line("A", 5, nil)), 0o600); err != nil {
				t.Fatal(err)
			}
			r, err := d.Read("A")
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			n, err := seqs(r)
			if !errors.Is(err, ErrDamaged) || n < 2 || !strings.Contains(err.Error(), "journal A") {
				t.Errorf("%d events, %v", n, err)
			}
		})
	}
}

// A fold excludes others, and who waits too long is told who is at it.
func TestOneFoldsAtATime(t *testing.T) {
	t.Parallel()
	d := Open(t.TempDir())
	release, err := d.AcquireFold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, ok, err := d.TryFold(); ok || err != nil {
		t.Errorf("two fold at once: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	var busy *lockfile.BusyError
	if _, err := d.AcquireFold(ctx); err == nil || errors.As(err, &busy) {
		t.Errorf("an ended context gave %v", err)
	}
	release()
	again, ok, err := d.TryFold()
	if !ok || err != nil {
		t.Fatalf("after the release: %v, %v", ok, err)
	}
	defer again()
	synctest.Test(t, func(t *testing.T) { // ten seconds
		_, err := d.AcquireFold(t.Context())
		if !errors.As(err, &busy) || !strings.HasPrefix(busy.Owner, fmt.Sprintf("pid %d", os.Getpid())) {
			t.Errorf("after the wait: %v", err)
		}
	})
}

// A write that fails after any part of a batch is reverted as a whole, also if it
// returns 0 for the count, as Go does after a first part was written.
func TestAPartialWriteIsTakenBack(t *testing.T) {
	t.Parallel()
	errFull := errors.New("no space left")
	for _, part := range []int{0, 1, 40, 200, 1 << 20} {
		d := Open(t.TempDir())
		w := create(t, d, "A", 2)
		d.writeAt = func(f *os.File, b []byte, at int64) (int, error) {
			if _, err := f.WriteAt(b[:min(part, len(b))], at); err != nil {
				t.Fatal(err)
			}
			return 0, errFull
		}
		if err := w.Append(text("A", 3), text("A", 4), text("A", 5)); !errors.Is(err, errFull) {
			t.Errorf("after %d bytes: %v", part, err)
		}
		if info, err := os.Stat(d.file("A")); err != nil || info.Size() != w.size {
			t.Errorf("after %d bytes the journal has %d, of which %d are whole lines", part, info.Size(), w.size)
		}
		d.writeAt = (*os.File).WriteAt
		end := text("A", 3)
		end.Body = event.Cancelled{} // shorter than what was torn
		if err := errors.Join(w.Append(end), w.Close()); err != nil {
			t.Fatal(err)
		}
		r, err := d.Read("A")
		if err != nil {
			t.Fatal(err)
		}
		if n, err := seqs(r); n != 3 || err != nil || r.Torn {
			t.Errorf("after %d bytes: %d events, %v, torn %v", part, n, err, r.Torn)
		}
		r.Close()
	}
}
