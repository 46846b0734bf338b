package term

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// shown gives the last frame of the status line, without codes.
func shown(ts *TestStreams) string {
	s := ts.Stderr.String()
	s = s[strings.LastIndex(s, eraseLine)+len(eraseLine):]
	return strings.NewReplacer("\x1b[2m", "", "\x1b[22m", "").Replace(s)
}

func TestProgressTellsHowFarHowFastHowLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ts := Test(TestOptions{ErrTerminal: true, Width: 100})
		p := ts.Progress("qwen3")
		step := func(done int64, want string) {
			t.Helper()
			p.Bytes(done, 5_200_000_000)
			time.Sleep(frameGap) // a frame that came too soon is drawn then
			if got := shown(ts); got != want {
				t.Errorf("at %d:\n%q, want\n%q", done, got, want)
			}
			time.Sleep(time.Second - frameGap)
		}
		p.Stage("pulling manifest")
		if got := shown(ts); got != "qwen3  pulling manifest" {
			t.Errorf("%q", got)
		}
		time.Sleep(time.Second)
		// It goes on from 1.2 GB: that is no rate.
		step(1_200_000_000, "qwen3  23% ██████░░░░░░░░░░░░░░░░░░░░░░░░  1.2 of 5.2 GB")
		step(1_212_000_000, "qwen3  23% ██████░░░░░░░░░░░░░░░░░░░░░░░░  1.2 of 5.2 GB  12 MB/s  5 min 33 s left")
		step(1_224_000_000, "qwen3  23% ██████░░░░░░░░░░░░░░░░░░░░░░░░  1.2 of 5.2 GB  12 MB/s  5 min 32 s left")
		step(600_000_000, "qwen3  11% ███░░░░░░░░░░░░░░░░░░░░░░░░░░░  600 MB of 5.2 GB")
		step(5_200_000_000, "qwen3 100% ██████████████████████████████  5.2 of 5.2 GB  4.6 GB/s")
		p.Done("pulled qwen3")
		if got := ts.Stderr.String(); !strings.HasSuffix(got, eraseLine+"pulled qwen3\n") {
			t.Errorf("it left %q", got)
		}
	})
}

// Work in several parts says which one goes from nothing to its end.
func TestProgressNamesItsPart(t *testing.T) {
	t.Parallel()
	p := &Progress{what: "restore", now: time.Now}
	for _, c := range []struct {
		part  string
		width int
		want  string
	}{
		{"reading", 80, "restore  reading  50% ███████████████░░░░░░░░░░░░░░░  1.0 of 2.0 GB"},
		{"verifying", 80, "restore  verifying  50% ███████████████░░░░░░░░░░░░░░░  1.0 of 2.0 GB"},
		{"verifying", 38, "restore  verifying  50%  1.0 of 2.0 GB"},
		{"verifying", 37, "restore  50% ████░░░░░  1.0 of 2.0 GB"},
		{"", 80, "restore  50% ███████████████░░░░░░░░░░░░░░░  1.0 of 2.0 GB"},
	} {
		p.Part(c.part)
		if got := p.line(1_000_000_000, 2_000_000_000, c.width); got != c.want {
			t.Errorf("%s in %d cells:\n%q, want\n%q", c.part, c.width, got, c.want)
		}
	}
}

func TestProgressRateFollowsTheLine(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	p := &Progress{now: func() time.Time { return now }}
	done := int64(0)
	run := func(d time.Duration, rate int64) {
		for end := now.Add(d); now.Before(end); now = now.Add(60 * time.Millisecond) {
			p.mark(done)
			done += rate * 60 / 1000
		}
	}
	run(time.Minute, 10_000_000)
	if r := p.rate(); r < 9_900_000 || r > 10_100_000 {
		t.Errorf("steady: %f", r)
	}
	if n := len(p.marks); n > int(rateSpan/frameGap)+4 {
		t.Errorf("%d marks are kept", n)
	}
	run(rateSpan+time.Second, 1_000_000)
	if r := p.rate(); r < 990_000 || r > 1_010_000 {
		t.Errorf("slower: %f", r)
	}
	run(rateSpan+time.Second, 0)
	if r := p.rate(); r != 0 {
		t.Errorf("still: %f", r)
	}
}

func TestProgressFitsTheTerminal(t *testing.T) {
	t.Parallel()
	for _, width := range []int{1, 10, 20, 40, 60, 80, 200} {
		ts := Test(TestOptions{ErrTerminal: true, Width: width})
		p := ts.Progress("a-model-with-a-name")
		p.Bytes(1_000, 3_000)
		if got := shown(ts); Cells(got) >= width && width > 1 {
			t.Errorf("%d columns: %q", width, got)
		}
	}
	at := time.Now()
	p := &Progress{what: "m", now: func() time.Time { return at }}
	p.mark(0)
	at = at.Add(2 * time.Second)
	p.mark(1000)
	for width, want := range map[int]string{
		20: "m  33%  1.0 of 3.0 KB", 34: "m  33%  1.0 of 3.0 KB  500 bytes/s", 43: "m  33% ██░░░░░░  1.0 of 3.0 KB  500 bytes/s",
		44: "m  33%  1.0 of 3.0 KB  500 bytes/s  4 s left",
	} {
		if got := p.line(1000, 3000, width); got != want {
			t.Errorf("%d columns, with a rate: %q, want %q", width, got, want)
		}
	}
	for width, want := range map[int]string{
		20: "m  33%  1.0 of 3.0 KB", 31: "m  33% ██░░░░░░░  1.0 of 3.0 KB",
	} {
		p := &Progress{what: "m", now: time.Now}
		if got := p.line(1000, 3000, width); got != want {
			t.Errorf("%d columns: %q, want %q", width, got, want)
		}
	}
}

func TestProgressElsewhereIsOneLine(t *testing.T) {
	t.Parallel()
	for _, o := range []TestOptions{{}, {OutTerminal: true}, {ErrTerminal: true, Env: map[string]string{"TERM": "dumb"}}} {
		ts := Test(o)
		p := ts.Progress("qwen3")
		p.Stage("pulling manifest")
		for i := range int64(100) {
			p.Bytes(i, 100)
		}
		p.Done("pulled qwen3\x1b[2J")
		if got := ts.Stderr.String(); got != Clean("pulled qwen3\x1b[2J")+"\n" || strings.Contains(got, "\x1b") {
			t.Errorf("%+v: %q", o, got)
		}
		if got := ts.Stdout.String(); got != "" {
			t.Errorf("%+v: stdout has %q", o, got)
		}
	}
}

func TestProgressOfNothing(t *testing.T) {
	t.Parallel()
	ts := Test(TestOptions{ErrTerminal: true})
	p := ts.Progress("m")
	p.Bytes(0, 0)
	p.Bytes(5, -1)
	p.Clear()
	if got := ts.Stderr.String(); got != "" {
		t.Errorf("%q", got)
	}
}
