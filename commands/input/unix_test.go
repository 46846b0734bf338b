//go:build unix

package input

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/fettle-cli/fettle/internal/needtest"
)

func TestATerminalIsNeverRead(t *testing.T) {
	t.Parallel()
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	defer tty.Close()
	if _, err := master.WriteString("typed ahead\n"); err != nil {
		t.Fatal(err)
	}
	if got, err := Stdin(t.Context(), Options{In: tty}); got != nil || err != nil {
		t.Errorf("%q, %v; want nothing", got, err)
	}
	_, err = Files(t.Context(), []string{"-"}, Options{In: tty})
	wantFault(t, err, "-f - reads a pipe or a file, and standard input is a terminal")
	_, err = Files(t.Context(), []string{tty.Name()}, Options{})
	wantFault(t, err, "is a terminal, which is never read")

	buf := make([]byte, 100)
	if n, err := tty.Read(buf); string(buf[:n]) != "typed ahead\n" || err != nil {
		t.Errorf("what was typed ahead is gone: %q, %v", buf[:n], err)
	}

	cmd := childCmd(t)
	cmd.Stdin = tty
	if r := run(t, cmd); !r.Nil || r.Fault != "" || len(r.Notices) > 0 {
		t.Errorf("a process on a terminal: %+v", r)
	}
}

func TestStdinOfAShell(t *testing.T) {
	t.Parallel()
	sh := needtest.Program(t, "sh")
	for _, tt := range []struct {
		name, script, text string
		isNil              bool
	}{
		{"closed", `exec "$0" <&-`, "", true},
		{"the null device", `exec "$0" </dev/null`, "", true},
		{"a here document", "exec \"$0\" <<E\nhi\nE\n", "hi\n", false},
		{"what an earlier command left", `(read x; exec "$0") <<E` + "\nfirst\nsecond\nE\n", "second\n", false},
		{"a producer that pauses", `{ printf a; sleep 0.2; printf b; sleep 0.2; printf c; } | "$0"`, "abc", false},
		{"a producer with a child that keeps the pipe", `{ printf a; sleep 0.3 & } | "$0"`, "a", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cmd := childCmd(t)
			cmd.Args = append([]string{sh, "-c", tt.script}, cmd.Path)
			cmd.Path = sh
			r := run(t, cmd)
			if r.Text != tt.text || r.Nil != tt.isNil || r.Fault != "" {
				t.Errorf("%+v, want %q", r, tt.text)
			}
		})
	}
}

// A second after its start a process says that its inherited pipe is silent,
// on its own and with the real waits.
func TestAProcessAnnouncesASilentPipe(t *testing.T) {
	t.Parallel()
	r, w := pipe(t)
	cmd := childCmd(t)
	cmd.Stdin = r
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r.Close()
	line := make([]byte, 200)
	n, err := stderr.Read(line)
	if string(line[:n]) != "waiting for standard input; --no-stdin skips it\n" || err != nil {
		t.Errorf("on stderr: %q, %v", line[:n], err)
	}
	_, _ = w.WriteString("at last")
	w.Close()
	if rest, err := io.ReadAll(stderr); len(rest) > 0 || err != nil {
		t.Errorf("more on stderr: %q, %v", rest, err)
	}
	if err := cmd.Wait(); err != nil || !strings.Contains(out.String(), `"at last"`) {
		t.Errorf("%v, %s", err, out.String())
	}
}

// A descriptor is shared with other processes: its flags stay as they were.
func TestTheDescriptorStaysAsItWas(t *testing.T) {
	t.Parallel()
	for name, flag := range map[string]int{"blocking": 0, "non-blocking": unix.O_NONBLOCK} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var fds [2]int
			if err := unix.Pipe(fds[:]); err != nil {
				t.Fatal(err)
			}
			unix.CloseOnExec(fds[0])
			unix.CloseOnExec(fds[1])
			if flag != 0 {
				if err := unix.SetNonblock(fds[0], true); err != nil {
					t.Fatal(err)
				}
			}
			mine, err := unix.Dup(fds[0])
			if err != nil {
				t.Fatal(err)
			}
			unix.CloseOnExec(mine)
			defer unix.Close(mine)
			in := os.NewFile(uintptr(fds[0]), "in")
			w := os.NewFile(uintptr(fds[1]), "out")
			defer in.Close()
			defer w.Close()
			n := newNotices()
			go func() {
				<-n.first
				if got := flags(t, mine) & unix.O_NONBLOCK; got != flag {
					t.Errorf("while it waits the flags are %#x, want %#x", got, flag)
				}
				_, _ = w.WriteString("text")
				_ = w.Close()
			}()
			got, err := Stdin(t.Context(), quick(Options{In: in, Notice: n.add}))
			if string(got) != "text" || err != nil {
				t.Errorf("%q, %v", got, err)
			}
			if got := flags(t, mine) & unix.O_NONBLOCK; got != flag {
				t.Errorf("afterwards the flags are %#x, want %#x", got, flag)
			}
		})
	}
}

func flags(t *testing.T, fd int) int {
	t.Helper()
	got, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil {
		t.Error(err)
	}
	return got
}

func TestASocketIsAStream(t *testing.T) {
	t.Parallel()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	in, w := os.NewFile(uintptr(fds[0]), "in"), os.NewFile(uintptr(fds[1]), "out")
	defer in.Close()
	n := newNotices()
	go func() {
		<-n.first
		_, _ = w.WriteString("text")
		_ = w.Close()
	}()
	if got, err := Stdin(t.Context(), quick(Options{In: in, Notice: n.add})); string(got) != "text" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// Two readers of one pipe share its data; neither hangs or fails when the
// other was quicker, and together they have all of it.
func TestSharedStdin(t *testing.T) {
	t.Parallel()
	r, w := pipe(t)
	type half struct {
		n   int
		err error
	}
	results := make(chan half)
	for range 2 {
		go func() {
			got, err := Stdin(t.Context(), Options{In: r})
			results <- half{len(got), err}
		}()
	}
	const total = 3000
	for range total / 10 {
		_, _ = w.WriteString("0123456789")
	}
	w.Close()
	a, b := <-results, <-results
	if a.n+b.n != total || a.err != nil || b.err != nil {
		t.Errorf("%+v and %+v, want %d together", a, b, total)
	}
}

func TestADeviceHasALimitToo(t *testing.T) {
	t.Parallel()
	zero, err := os.Open("/dev/zero")
	if err != nil {
		t.Fatal(err)
	}
	defer zero.Close()
	_, err = Stdin(t.Context(), Options{In: zero, StdinBytes: 100_000})
	wantFault(t, err, "standard input is larger than 97.7 KiB, the limit")
	_, err = Files(t.Context(), []string{"/dev/zero"}, Options{FileBytes: 1 << 10})
	wantFault(t, err, "/dev/zero is larger than 1 KiB, the limit")
	parts, err := Files(t.Context(), []string{os.DevNull}, Options{})
	if err != nil || len(parts) != 1 || parts[0].Text != "" {
		t.Errorf("%s: %+v, %v", os.DevNull, parts, err)
	}
}

func TestProcessSubstitution(t *testing.T) {
	t.Parallel()
	bash := needtest.Program(t, "bash")
	for _, tt := range []struct{ name, script, text string }{
		{"the writer is through before we open", `exec "$0" -f <(printf hi) <(printf ' there')`, "hi there"},
		{"the writer is slow", `exec "$0" -f <(printf a; sleep 0.2; printf b)`, "ab"},
		{"with standard input", `printf one | "$0" -f - <(printf two)`, "onetwo"},
		{"by its long name", `printf one | "$0" -f /dev/stdin`, "one"},
		{"more than a pipe holds", `exec "$0" -f <(head -c 300000 /dev/zero | tr '\0' x)`, strings.Repeat("x", 100)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cmd := childCmd(t)
			cmd.Args = append([]string{bash, "-c", tt.script}, cmd.Path)
			cmd.Path = bash
			if r := run(t, cmd); r.Text != tt.text || r.Fault != "" || tt.text[0] == 'x' && r.Bytes != 300000 {
				t.Errorf("%+v, want %q", r, tt.text)
			}
		})
	}
}

func fifo(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fifo")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAFIFOWaitsForItsWriter(t *testing.T) {
	t.Parallel()
	path := fifo(t)
	n := newNotices()
	go func() {
		<-n.first // it waits in its open
		w, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = w.WriteString("late")
		_ = w.Close()
	}()
	parts, err := Files(t.Context(), []string{path}, Options{Notice: n.add})
	if err != nil || len(parts) != 1 || parts[0].Text != "late" {
		t.Errorf("%+v, %v", parts, err)
	}
	if all := n.all(); len(all) != 1 || all[0] != "waiting for "+path {
		t.Errorf("notices %q", all)
	}
}

func TestCancelEndsTheWaitForAFIFO(t *testing.T) {
	t.Parallel()
	t.Run("without a writer", func(t *testing.T) {
		t.Parallel()
		for _, delay := range []time.Duration{0, time.Millisecond, 30 * time.Millisecond} {
			ctx, cancel := context.WithTimeout(t.Context(), delay)
			_, err := Files(ctx, []string{fifo(t)}, Options{})
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("after %v: %v", delay, err)
			}
		}
	})
	t.Run("with a silent writer", func(t *testing.T) {
		t.Parallel()
		path := fifo(t)
		w, err := os.OpenFile(path, os.O_RDWR, 0) // holds it open, never writes
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		ctx, cancel := context.WithCancel(t.Context())
		n := newNotices()
		go func() {
			<-n.first
			cancel()
		}()
		if _, err := Files(ctx, []string{path}, quick(Options{Notice: n.add})); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	})
}

func TestAFolderWithSpecialEntries(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "d")
	write(t, filepath.Join(dir, "a.txt"), "text")
	write(t, filepath.Join(dir, "locked.txt"), "text")
	write(t, filepath.Join(dir, "closed/x.txt"), "text")
	outside := filepath.Join(t.TempDir(), "secret")
	write(t, outside, "outside")
	for _, err := range []error{
		unix.Mkfifo(filepath.Join(dir, "fifo"), 0o600),
		os.Symlink(outside, filepath.Join(dir, "link")),
		os.Symlink("..", filepath.Join(dir, "up")),
		os.Symlink("nowhere", filepath.Join(dir, "broken")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	n := newNotices()
	parts, err := Files(t.Context(), []string{dir}, Options{Notice: n.add})
	if err != nil || names(parts) != "a.txt closed/x.txt locked.txt" {
		t.Errorf("%s, %v", names(parts), err)
	}
	want := dir + ": left out broken (a link), fifo (no regular file), link (a link), up (a link)"
	if all := n.all(); len(all) != 1 || all[0] != want {
		t.Errorf("notices %q, want %q", all, want)
	}
	if os.Geteuid() == 0 {
		return // root reads what is locked
	}
	for _, p := range []string{"locked.txt", "closed"} {
		if err := os.Chmod(filepath.Join(dir, p), 0); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(filepath.Join(dir, p), 0o700)
	}
	n = newNotices()
	parts, err = Files(t.Context(), []string{dir}, Options{Notice: n.add})
	if err != nil || names(parts) != "a.txt" || !strings.Contains(n.all()[0], "closed (unreadable)") {
		t.Errorf("%s, %v, %q", names(parts), err, n.all())
	}
	_, err = Files(t.Context(), []string{filepath.Join(dir, "locked.txt")}, Options{})
	wantFault(t, err, "locked.txt can't be read: permission denied")
}
