package term

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestKindOfStdin(t *testing.T) {
	t.Parallel()
	file, err := os.Create(filepath.Join(t.TempDir(), "in"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	closed, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	for name, tt := range map[string]struct {
		f    *os.File
		want InputKind
	}{
		"file": {file, InputFile}, "null device": {null, InputNone}, "pipe": {r, InputPipe}, "closed": {closed, InputNone},
	} {
		if got := kindOf(tt.f); got != tt.want {
			t.Errorf("%s is of kind %d, want %d", name, got, tt.want)
		}
	}
}

func TestTestStdin(t *testing.T) {
	t.Parallel()
	s := Test(TestOptions{})
	if b, err := io.ReadAll(s.In); len(b) > 0 || err != nil || s.In.Kind() != InputNone {
		t.Errorf("no stdin gives %q, %v, kind %d", b, err, s.In.Kind())
	}
	s = Test(TestOptions{Stdin: strings.NewReader("text")})
	if b, err := io.ReadAll(s.In); string(b) != "text" || err != nil || s.In.Kind() != InputPipe || s.In.IsTerminal() {
		t.Errorf("a reader gives %q, %v, kind %d", b, err, s.In.Kind())
	}
	s = Test(TestOptions{StdinKind: InputTerminal})
	if !s.In.IsTerminal() {
		t.Error("stdin is no terminal")
	}
}

func TestWidth(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		o    TestOptions
		size int
		want int
	}{
		{"terminal", TestOptions{OutTerminal: true, Width: 132}, 132, 132},
		{"pipe has no limit", TestOptions{Env: map[string]string{"COLUMNS": "40"}}, 0, 0},
		{"terminal that doesn't know", TestOptions{OutTerminal: true}, 0, defaultWidth},
		{"COLUMNS where it doesn't know", TestOptions{OutTerminal: true, Env: map[string]string{"COLUMNS": "100"}}, 0, 100},
		{"senseless COLUMNS", TestOptions{OutTerminal: true, Env: map[string]string{"COLUMNS": "-3"}}, 0, defaultWidth},
	}
	for _, tt := range tests {
		s := Test(tt.o)
		s.Out.size = func() int { return tt.size }
		if got := s.Out.Width(); got != tt.want {
			t.Errorf("%s: %d columns, want %d", tt.name, got, tt.want)
		}
	}
}

func TestTheOtherStreamBeginsALine(t *testing.T) {
	t.Parallel()
	s := Test(TestOptions{OutTerminal: true, ErrTerminal: true})
	both := &Buffer{} // one screen
	s.Out.w, s.Err.w = both, both
	s.Out.Printf("The answer ")
	s.Out.Printf("begins")
	s.Err.Printf("→ run_command\n")
	s.Out.Printf("and goes on")
	s.Err.Printf("notice ")
	s.Err.Printf("in two parts\n")
	want := "The answer begins\n→ run_command\nand goes on\nnotice in two parts\n"
	if got := both.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNothingIsAddedInPipes(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]TestOptions{
		"both pipes": {}, "stdout a pipe": {ErrTerminal: true}, "stderr a pipe": {OutTerminal: true},
	} {
		s := Test(o)
		s.Out.Printf("half a")
		s.Err.Printf("notice\n")
		s.Out.Printf(" line")
		if out, err := s.Stdout.String(), s.Stderr.String(); out != "half a line" || err != "notice\n" {
			t.Errorf("%s: stdout %q, stderr %q", name, out, err)
		}
	}
}

func TestWriteErrorsAreKept(t *testing.T) {
	t.Parallel()
	for _, tty := range []bool{false, true} {
		s := Test(TestOptions{OutTerminal: tty})
		if s.Out.Err() != nil {
			t.Fatal("an error before anything was written")
		}
		s.Out.w = brokenWriter{}
		s.Out.Printf("x")
		if s.Out.Err() != errBroken {
			t.Errorf("error is %v", s.Out.Err())
		}
	}
}

func TestCleanerOfAnOutputKnowsItsTarget(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		tty  bool
		want string
	}{{true, "␛c‹U+202E›"}, {false, "␛c\u202e"}} {
		s := Test(TestOptions{OutTerminal: tt.tty})
		c := s.Out.Cleaner()
		_, _ = io.WriteString(c, "\x1bc\u202e")
		if got := s.Stdout.String(); got != tt.want {
			t.Errorf("terminal %v: %q, want %q", tt.tty, got, tt.want)
		}
	}
}

func TestLinesOfManyWritersDontTear(t *testing.T) {
	t.Parallel()
	s := Test(TestOptions{OutTerminal: true, ErrTerminal: true})
	both := &Buffer{}
	s.Out.w, s.Err.w = both, both
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range 50 {
				o := s.Out
				if i%2 == 0 {
					o = s.Err
				}
				o.Printf("writer %d line %d\n", i, n)
				s.Status().Set(fmt.Sprintf("status %d", n))
			}
		})
	}
	wg.Wait()
	s.Status().Clear()
	seen := 0
	for _, line := range strings.Split(both.String(), "\n") {
		line = line[strings.LastIndex(line, eraseLine)+1:]
		line = strings.TrimPrefix(line, eraseLine[1:])
		var i, n int
		if _, err := fmt.Sscanf(line, "writer %d line %d", &i, &n); err == nil {
			seen++
		} else if line != "" {
			t.Fatalf("torn line %q", line)
		}
	}
	if seen != 400 {
		t.Errorf("%d whole lines of 400", seen)
	}
}
