package input

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/commands/remedy"
	"github.com/google/go-cmp/cmp"
)

// quick makes silences short enough for a test and long enough for a producer
// that doesn't pause.
func quick(o Options) Options {
	o.silence = [2]time.Duration{20 * time.Millisecond, 20 * time.Millisecond}
	return o
}

func TestStdinIsNothing(t *testing.T) {
	t.Parallel()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	gone, w := pipe(t)
	if err := errors.Join(gone.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
	empty, w := pipe(t)
	w.Close()
	for name, in := range map[string]*os.File{"nil": nil, "the null device": null, "closed": gone, "an empty pipe": empty} {
		got, err := Stdin(t.Context(), Options{In: in, Notice: func(s string) { t.Errorf("%s: notice %q", name, s) }})
		if got != nil || err != nil {
			t.Errorf("%s: %q, %v; want nothing", name, got, err)
		}
	}
}

func TestStdinOfAProcess(t *testing.T) {
	t.Parallel()
	big := bytes.Repeat([]byte("0123456789abcdef\n"), 50_000_000/17)
	t.Run("none given", func(t *testing.T) {
		t.Parallel()
		if r := run(t, childCmd(t)); !r.Nil || r.Fault != "" || len(r.Notices) != 0 {
			t.Errorf("%+v", r)
		}
	})
	t.Run("50 MB are refused with the limit", func(t *testing.T) {
		t.Parallel()
		cmd := childCmd(t)
		// Not bytes.Reader through exec's own copying: the child leaves early,
		// and that must not hurt whoever writes.
		cmd.Stdin = io.NopCloser(bytes.NewReader(big))
		r := run(t, cmd)
		if r.Fault != "standard input is larger than 16 MiB, the limit" || r.Code != "usage" {
			t.Errorf("%+v", r)
		}
	})
	t.Run("50 MB are read where the limit allows it", func(t *testing.T) {
		t.Parallel()
		cmd := childCmd(t)
		cmd.Env = append(cmd.Env, "LIMIT=64000000")
		cmd.Stdin = bytes.NewReader(big)
		if r := run(t, cmd); r.Fault != "" || r.Bytes != len(big) || r.SHA != sum(big) {
			t.Errorf("%+v, want %d bytes", r, len(big))
		}
	})
	t.Run("a file of 50 MB is refused by its size", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "big")
		if err := os.WriteFile(path, big, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		cmd := childCmd(t)
		cmd.Stdin = f
		if r := run(t, cmd); r.Fault != "standard input has 47.7 MiB; the limit is 16 MiB" {
			t.Errorf("%+v", r)
		}
	})
}

func TestStdinFromTheMiddleOfAFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("head\ntail\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Seek(5, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	got, err := Stdin(t.Context(), Options{In: f, StdinBytes: 5})
	if string(got) != "tail\n" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestStdinThatIsAFolder(t *testing.T) {
	t.Parallel()
	f, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, err = Stdin(t.Context(), Options{In: f})
	wantFault(t, err, "standard input is a folder")
}

func TestASilentPipeIsAnnouncedOnce(t *testing.T) {
	t.Parallel()
	r, w := pipe(t)
	n := newNotices()
	go func() {
		<-n.first // nothing comes until we were told to wait
		for range 3 {
			_, _ = w.WriteString("late ")
			time.Sleep(50 * time.Millisecond) // and silence again
		}
		_ = w.Close()
	}()
	got, err := Stdin(t.Context(), quick(Options{In: r, Notice: n.add}))
	if string(got) != "late late late " || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if diff := cmp.Diff([]string{"waiting for standard input; --no-stdin skips it"}, n.all()); diff != "" {
		t.Errorf("notices (-want +got):\n%s", diff)
	}
}

func TestAPipeThatStallsIsAnnouncedWithWhatCame(t *testing.T) {
	t.Parallel()
	r, w := pipe(t)
	n := newNotices()
	go func() {
		_, _ = w.WriteString("some")
		<-n.first
		_ = w.Close()
	}()
	o := Options{In: r, Notice: n.add}
	o.silence = [2]time.Duration{time.Hour, 20 * time.Millisecond}
	got, err := Stdin(t.Context(), o)
	if string(got) != "some" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if diff := cmp.Diff([]string{"waiting for the end of standard input after 4 bytes; --no-stdin skips it"}, n.all()); diff != "" {
		t.Errorf("notices (-want +got):\n%s", diff)
	}
}

func TestWithoutANoticeASilenceIsBorne(t *testing.T) {
	t.Parallel()
	r, w := pipe(t)
	go func() {
		time.Sleep(60 * time.Millisecond)
		_, _ = w.WriteString("x")
		_ = w.Close()
	}()
	if got, err := Stdin(t.Context(), quick(Options{In: r})); string(got) != "x" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestASlowProducerLosesNothing(t *testing.T) {
	t.Parallel()
	for name, make := range readers() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, w := pipe(t)
			var want bytes.Buffer
			go func() {
				defer w.Close()
				for i := range 400 {
					line := fmt.Sprintf("%d %s\n", i, strings.Repeat("é", i))
					want.WriteString(line)
					// Cut within characters, pause now and then.
					for _, half := range []string{line[:len(line)/2], line[len(line)/2:]} {
						_, _ = w.WriteString(half)
					}
					if i%40 == 0 {
						time.Sleep(5 * time.Millisecond)
					}
				}
			}()
			s := source{name: "it", limit: 1 << 20, class: stream, reader: make}
			got, err := s.readAll(t.Context(), r)
			if err != nil || !bytes.Equal(got, want.Bytes()) {
				t.Errorf("%d bytes, %v; want %d", len(got), err, want.Len())
			}
		})
	}
}

func TestCancelEndsABlockedRead(t *testing.T) {
	t.Parallel()
	cause := errors.New("the turn was cancelled")
	for _, before := range []string{"", "some"} {
		r, w := pipe(t)
		_, _ = w.WriteString(before)
		ctx, cancel := context.WithCancelCause(t.Context())
		n := newNotices()
		go func() {
			<-n.first // it waits now
			cancel(cause)
		}()
		got, err := Stdin(ctx, quick(Options{In: r, Notice: n.add}))
		if got != nil || !errors.Is(err, cause) || err.Error() != "read standard input: the turn was cancelled" {
			t.Errorf("after %q: %q, %v; want the cause", before, got, err)
		}
		// The pipe is still whole for whoever comes next.
		_, _ = w.WriteString("more")
		w.Close()
		if rest, err := io.ReadAll(r); string(rest) != "more" || err != nil {
			t.Errorf("after a cancel the pipe gives %q, %v", rest, err)
		}
	}
}

func TestACancelledContextReadsNothing(t *testing.T) {
	t.Parallel()
	r, w := pipe(t)
	_, _ = w.WriteString("x")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := Stdin(ctx, Options{In: r}); got != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%q, %v", got, err)
	}
}

// readers are all ways of reading, so that the one of another system is tested
// on this one too.
func readers() map[string]func(context.Context, *os.File, class) (reader, error) {
	return map[string]func(context.Context, *os.File, class) (reader, error){
		"this system's": newReader,
		"a goroutine":   func(_ context.Context, f *os.File, _ class) (reader, error) { return newAsyncReader(f), nil },
	}
}

func TestReaders(t *testing.T) {
	t.Parallel()
	for name, make := range readers() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			f, w := pipe(t)
			r, err := make(ctx, f, stream)
			if err != nil {
				t.Fatal(err)
			}
			defer r.close()
			buf := []byte("...")
			if n, err := r.read(ctx, buf, 10*time.Millisecond); n != 0 || !errors.Is(err, errSilent) {
				t.Errorf("silence gives %d, %v", n, err)
			}
			_, _ = w.WriteString("abcde")
			for _, want := range []string{"abc", "de"} {
				if n, err := r.read(ctx, buf, -1); string(buf[:n]) != want || err != nil {
					t.Errorf("read %q, %v; want %q", buf[:n], err, want)
				}
			}
			done := context.AfterFunc(ctx, func() {})
			defer done()
			go func() {
				time.Sleep(20 * time.Millisecond)
				cancel()
			}()
			if n, err := r.read(ctx, buf, -1); n != 0 || !errors.Is(err, context.Canceled) {
				t.Errorf("a cancel gives %d, %v", n, err)
			}
			w.Close() // frees the goroutine's last read
		})
	}
}

func TestStdinAsText(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, in, want, fault, hint, note string
	}{
		{name: "plain", in: "a\r\nb", want: "a\r\nb"},
		{name: "a mark is dropped", in: "\xef\xbb\xbfhi", want: "hi"},
		{name: "UTF-16", in: "\xff\xfeh\x00\xac\x20=\xd8\x00\xde", want: "h€😀"},
		{name: "UTF-16, the other way", in: "\xfe\xff\x00h\x20\xac", want: "h€"},
		{name: "a NUL", in: "ab\x00c", fault: "standard input is binary: byte 2 is a NUL"},
		{name: "one byte that is not UTF-8", in: "diff --git a/menu b/menu\n-caf\xe9\n+coffee\n", want: "diff --git a/menu b/menu\n-caf\uFFFD\n+coffee\n", note: "1 byte of standard input is not UTF-8 and is read as \uFFFD"},
		{name: "a mark and one byte that is not UTF-8", in: "\xef\xbb\xbfdiff --git a/menu b/menu\n-caf\xe9\n+coffee\n", want: "diff --git a/menu b/menu\n-caf\uFFFD\n+coffee\n", note: "1 byte of standard input is not UTF-8 and is read as \uFFFD"},
		{name: "Latin-1 prose", in: strings.Repeat("h\xe9l\xe8ne aime le caf\xe9 ", 20), fault: "standard input is binary: byte 1 (0xE9) is not UTF-8", hint: "iconv"},
		{name: "a byte that is not UTF-8 and a NUL", in: strings.Repeat("x", 100) + "\xe9\x00", fault: "standard input is binary: byte 100 (0xE9) is not UTF-8"},
		{name: "not UTF-8", in: "caf\xe9 au lait", fault: "standard input is binary: byte 3 (0xE9) is not UTF-8", hint: "iconv"},
		{name: "an image", in: "\x89PNG\r\n\x1a\n\x00", fault: "standard input is an image", hint: "-f -"},
		{name: "a PDF", in: "%PDF-1.7\n\xff", fault: "standard input is a PDF, which is not read", hint: "pdftotext - -"},
		{name: "an archive", in: "\x1f\x8b\x08\x00", fault: "standard input is gzip-compressed, which is not read"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, w := pipe(t)
			_, _ = w.WriteString(tt.in)
			w.Close()
			var notes []string
			got, err := Stdin(t.Context(), Options{In: r, Notice: func(s string) { notes = append(notes, s) }})
			if tt.fault == "" {
				if string(got) != tt.want || err != nil || strings.Join(notes, "\n") != tt.note {
					t.Errorf("%q, %v, %q; want %q and %q", got, err, notes, tt.want, tt.note)
				}
				return
			}
			f := wantFault(t, err, tt.fault)
			if !strings.Contains(strings.Join(remedy.Lines(f), "\n"), tt.hint) {
				t.Errorf("hints %q, want %q in them", remedy.Lines(f), tt.hint)
			}
		})
	}
}

func TestTheLimitIsExact(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{9: "", 10: "", 11: "standard input is larger than 10 bytes, the limit"} {
		r, w := pipe(t)
		_, _ = w.WriteString(strings.Repeat("x", n))
		w.Close()
		got, err := Stdin(t.Context(), Options{In: r, StdinBytes: 10})
		if want == "" {
			if len(got) != n || err != nil {
				t.Errorf("%d bytes: %d, %v", n, len(got), err)
			}
			continue
		}
		f := wantFault(t, err, want)
		if want := "FETTLE_LIMITS_STDIN_BYTES=1MiB fettle ask …   raises the limit"; f.Remedies[0].Text != want {
			t.Errorf("hint %q, want %q", f.Remedies[0].Text, want)
		}
	}
}
