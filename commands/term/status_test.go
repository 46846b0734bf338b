package term

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const dimmed = eraseLine + "\x1b[2m"

func frame(s string) string { return dimmed + s + "\x1b[22m" }

func oneScreen(o TestOptions) (*TestStreams, *Buffer) {
	o.OutTerminal, o.ErrTerminal = true, true
	s := Test(o)
	b := &Buffer{}
	s.Out.w, s.Err.w = b, b
	return s, b
}

func TestStatusGivesWayToOutput(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, b := oneScreen(TestOptions{})
		step := func(what string, f func(), want string) {
			t.Helper()
			b.Reset()
			f()
			if got := b.String(); got != want {
				t.Errorf("%s: %q, want %q", what, got, want)
			}
		}
		st := s.Status()
		step("shown", func() { st.Set("thinking") }, frame("thinking"))
		step("again the same", func() { st.Set("thinking") }, "")
		step("a notice comes between", func() { s.Err.Printf("notice\n") }, eraseLine+"notice\n"+frame("thinking"))
		step("the answer begins", func() { s.Out.Printf("The ans") }, eraseLine+"The ans")
		time.Sleep(frameGap)
		step("no status in mid-line", func() { st.Set("still thinking") }, "")
		step("the answer's line ends", func() { s.Out.Printf("wer\n") }, "wer\n")
		time.Sleep(frameGap)
		step("with the next set", func() { st.Set("tidying") }, frame("tidying"))
		step("cleared", st.Clear, eraseLine)
		step("cleared again", st.Clear, "")
		step("an empty text clears", func() { time.Sleep(frameGap); st.Set("x"); st.Set("") }, frame("x")+eraseLine)
	})
}

func TestStatusDrawsFourFramesASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, b := oneScreen(TestOptions{})
		for i := range 100 { // one second
			s.Status().Set(strings.Repeat("x", i+1))
			time.Sleep(10 * time.Millisecond)
		}
		if n := strings.Count(b.String(), eraseLine); n < 4 || n > 5 {
			t.Errorf("%d frames in a second", n)
		}
		time.Sleep(frameGap)
		if !strings.HasSuffix(b.String(), frame(strings.Repeat("x", 78)+"…")) {
			t.Errorf("the last text isn't shown, cut to the width: %q", b.String())
		}
		s.Status().Set("late")
		s.Status().Set("later")
		s.Status().Clear()
		b.Reset()
		time.Sleep(2 * frameGap)
		if b.String() != "" {
			t.Errorf("after Clear %q appeared", b.String())
		}
	})
}

func TestStatusIsCleanAndFitsTheWidth(t *testing.T) {
	t.Parallel()
	s, b := oneScreen(TestOptions{Width: 10, Env: map[string]string{"NO_COLOR": "1"}})
	s.Status().Set("日本語\x1b]0;t\x07\nmore")
	if got, want := b.String(), "\r日本語␛]…"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	s.Status().Clear()
}

func TestStatusIsNothingElsewhere(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]TestOptions{
		"pipes":         {},
		"stderr a pipe": {OutTerminal: true},
		"dumb terminal": {OutTerminal: true, ErrTerminal: true, Env: map[string]string{"TERM": "dumb"}},
	} {
		s := Test(o)
		s.Status().Set("thinking")
		s.Err.Printf("notice\n")
		s.Status().Clear()
		s.Restore()
		if got := s.Stderr.String() + s.Stdout.String(); got != "notice\n" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestStatusOfAnotherTerminalIsLeftAlone(t *testing.T) {
	t.Parallel()
	s := Test(TestOptions{OutTerminal: true, ErrTerminal: true})
	s.Out.screen = &screen{} // 2> /dev/pts/7
	s.Status().Set("thinking")
	s.Out.Printf("answer")
	s.Status().Clear()
	if out, err := s.Stdout.String(), s.Stderr.String(); out != "answer" || err != frame("thinking")+eraseLine {
		t.Errorf("stdout %q, stderr %q", out, err)
	}
}

func TestRestoreNeverWaits(t *testing.T) {
	t.Parallel()
	s, b := oneScreen(TestOptions{})
	s.Status().Set("thinking")
	s.Err.screen.mu.Lock() // an output that is blocked
	s.Restore()
	s.Err.screen.mu.Unlock()
	b.Reset()
	s.Restore()
	s.Restore()
	if got := b.String(); got != eraseLine {
		t.Errorf("got %q", got)
	}
}
