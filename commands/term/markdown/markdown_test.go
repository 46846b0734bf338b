package markdown

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/fettle-cli/fettle/commands/term"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestWhatAppearsWhen: a person watches the answer come.
func TestWhatAppearsWhen(t *testing.T) {
	t.Parallel()
	type step struct{ in, out string }
	tests := []struct {
		name  string
		steps []step
		end   string
	}{
		{"words of a paragraph", []step{{"Hel", ""}, {"lo wor", "Hello"}, {"ld ", " world"}, {"and\n", " and"}, {"more", "\n"}}, "more\n"},
		{"emphasis when it closes", []step{{"a **bo", "a"}, {"ld te", ""}, {"xt**", ""}, {" b ", " \x1b[1mbold\x1b[0m\x1b[1m text\x1b[0m b"}}, "\n"},
		{"code when it closes", []step{{"`x", ""}, {" y` z ", "\x1b[36mx\x1b[0m\x1b[36m y\x1b[0m z"}}, "\n"},
		{"a star that is none", []step{{"2 * 3 is ", "2 * 3 is"}}, "\n"},
		{"a marker that stays open, at the end", []step{{"2 *3 is", "2"}}, " *3 is\n"},
		{"an item at once", []step{{"- fir", ""}, {"st it", "• first"}, {"em\n- ", " item"}, {"s ", "\n• s"}}, "\n"},
		{"heading at its line's end", []step{{"# Ti", ""}, {"tle\n", "\x1b[1;4mTitle\x1b[0m\n"}}, ""},
		{"code as it comes", []step{{"```go\n", "\x1b[2m── go ──────────────────────────────────\x1b[0m\n"}, {"  x :", "  x :"}, {"= 1\n", "= 1\n"}, {"``", ""}, {"`\n", "\x1b[2m" + strings.Repeat("─", 40) + "\x1b[0m\n"}}, ""},
		{"a fence that never ends", []step{{"```\ncode", "\x1b[2m" + strings.Repeat("─", 40) + "\x1b[0m\ncode"}}, "\n"},
		{"a table at its end", []step{{"| a |\n", ""}, {"|---|\n", ""}, {"| 1 |\n", ""}, {"\n", "\x1b[1ma\x1b[0m\n\x1b[2m─\x1b[0m\n1\n"}}, ""},
		{"a bar that is no table", []step{{"| a |\n", ""}, {"text ", "| a |\ntext"}}, "\n"},
		{"ideographs without spaces", []step{{"日本", ""}, {"語", "日"}, {"で", "本"}}, "語で\n"},
		{"text after what was held", []step{{"a [b", "a"}, {"] c ", " [b] c"}}, "\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			w := New(&b, Options{Width: 60, Style: term.NewStyle(term.Colours16)})
			for _, s := range tt.steps {
				b.Reset()
				if _, err := w.Write([]byte(s.in)); err != nil {
					t.Fatal(err)
				}
				if b.String() != s.out {
					t.Errorf("%q gave %q, want %q", s.in, b.String(), s.out)
				}
			}
			b.Reset()
			if err := w.Close(); err != nil || b.String() != tt.end {
				t.Errorf("the end gave %q, %v; want %q", b.String(), err, tt.end)
			}
		})
	}
}

func TestNothingGivesNothing(t *testing.T) {
	t.Parallel()
	for _, src := range []string{"", "\n", "\n\n  \n", "\r\n"} {
		if got := render(t, src, 0, term.Colours16); got != "" {
			t.Errorf("%q gave %q", src, got)
		}
	}
}

func TestWidthIsHeldToWhatCanBeRead(t *testing.T) {
	t.Parallel()
	for width, want := range map[int]int{0: 80, 1: 40, -5: 40, 60: 60, 5000: 300} {
		longest := 0
		for _, line := range strings.Split(render(t, strings.Repeat("a ", 400), width, 0), "\n") {
			longest = max(longest, len(line))
		}
		if longest != want-1 { // 300 is even: a line of "a a a" is odd
			t.Errorf("width %d gives lines of %d, want %d", width, longest, want-1)
		}
	}
}

type countingWriter struct {
	writes int
	err    error
}

func (c *countingWriter) Write(p []byte) (int, error) {
	c.writes++
	return len(p), c.err
}

func TestOneWriteAChunkAtMost(t *testing.T) {
	t.Parallel()
	c := &countingWriter{}
	w := New(c, Options{})
	src := answer(4096)
	if _, err := w.Write([]byte(src)); err != nil || c.writes != 1 {
		t.Errorf("%d writes, %v", c.writes, err)
	}
	c.writes = 0
	if _, err := w.Write([]byte("wor")); err != nil || c.writes != 0 {
		t.Errorf("%d writes for half a word, %v", c.writes, err)
	}
	if err := w.Close(); err != nil || c.writes != 1 {
		t.Errorf("%d writes at the end, %v", c.writes, err)
	}
}

func TestErrorsStay(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	w := New(&countingWriter{err: broken}, Options{})
	if n, err := w.Write([]byte("a word ")); n != 0 || !errors.Is(err, broken) {
		t.Errorf("Write gave %d, %v", n, err)
	}
	if _, err := w.Write([]byte("x")); !errors.Is(err, broken) {
		t.Errorf("the next Write gave %v", err)
	}
	if err := w.Close(); !errors.Is(err, broken) {
		t.Errorf("Close gave %v", err)
	}
	w = New(&countingWriter{}, Options{})
	if err := errors.Join(w.Close(), w.Close()); err != nil {
		t.Errorf("Close twice gave %v", err)
	}
	if _, err := w.Write([]byte("x")); !errors.Is(err, errClosed) {
		t.Errorf("Write after Close gave %v", err)
	}
}

// TestLinesFitTheWidth: prose is wrapped at words, and only a word that is
// wider than any line sticks out.
func TestLinesFitTheWidth(t *testing.T) {
	t.Parallel()
	words := []string{"a", "word", "**bold words**", "`code`", "日本語", "語、", "🙂", "e\u0301", "한국어", "longer-word", "[l](http://a.b)", "\n\n", "\n- ", "\n  - ", "\n> ", "\n1. "}
	rapid.Check(t, func(t *rapid.T) {
		src := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 80).Draw(t, "words"), " ")
		width := rapid.IntRange(40, 90).Draw(t, "width")
		for _, line := range strings.Split(renderT(t, []string{src}, width, term.Colours16), "\n") {
			if n := term.Cells(sgr.ReplaceAllString(line, "")); n > width {
				t.Fatalf("%q takes %d columns of %d", line, n, width)
			}
		}
	})
}

// TestOutputIsHarmless: whatever comes in, what goes out are words, colours
// that end with them, and line ends.
func TestOutputIsHarmless(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		src := document(t) + string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		for _, d := range []term.Depth{term.NoColour, term.Colours16} {
			out := renderT(t, []string{src}, 40, d)
			if why := wrong(out); why != "" {
				t.Fatalf("%q: %s", src, why)
			}
			if d == term.NoColour && strings.Contains(out, "\x1b") {
				t.Fatalf("an escape code without colour: %q", out)
			}
		}
	})
}

func FuzzMarkdown(f *testing.F) {
	for _, p := range pieces {
		f.Add([]byte("a "+p+"b\n"+p+"c"), uint(3))
	}
	f.Add([]byte("| a | b |\n|:-:|---|\n| x \\| | `y|` |\n"), uint(7))
	f.Fuzz(func(t *testing.T, src []byte, at uint) {
		if len(src) > 1<<12 {
			return
		}
		cut := int(at % uint(len(src)+1))
		for _, d := range []term.Depth{term.NoColour, term.Colours16} {
			out := render(t, string(src), 50, d)
			if why := wrong(out); why != "" {
				t.Fatalf("%q: %s", src, why)
			}
			if in := renderChunks(t, []string{string(src[:cut]), string(src[cut:])}, 50, d); in != out {
				t.Fatalf("%q cut at %d gives\n%q, whole\n%q", src, cut, in, out)
			}
		}
	})
}

// traps are beginnings that are never ended, over and over.
var traps = []string{
	"*a ", "**a b", "_a ", "[a", "[a](", "[a](b", "![", "`a ``b ", "<a ", "<a b=\"", "<!--", "&a", "\\", "a**b", "~~a ", "e\u0301", "\u0301",
	"> ", "- ", "1. ", "#", "- - ", "|a", "| a |\n", "|-", "----", "    ", "((", "x", "日", "日 ", "word ", "a\n", "\n", "```\n", "<div>\n", "* a\n  ",
	"[a](b) ", "**a** ", "`a` ", "<b>", "a\u200d", "\t", "\x1b[",
}

// TestHeldTextIsBounded: a marker that stays open doesn't stop the stream.
func TestHeldTextIsBounded(t *testing.T) {
	t.Parallel()
	for _, trap := range traps {
		bound := 2 * maxLook
		if strings.ContainsAny(trap, "|<") {
			bound = maxLine + maxHeldBytes // a long line and the rows of a table
		}
		var b bytes.Buffer
		w := New(&b, Options{})
		src := strings.Repeat("start "+trap, 3) + strings.Repeat("ab cd ", bound/4)
		for len(src) > 0 {
			n := min(len(src), 1000)
			if _, err := w.Write([]byte(src[:n])); err != nil {
				t.Fatal(err)
			}
			src = src[n:]
			if n := cap(w.blocks.in.buf) + cap(w.blocks.line) + cap(w.lay.word); n > 2*(bound+maxWord) {
				t.Fatalf("%q: %d bytes are held", trap, n)
			}
		}
		if b.Len() < 6*(bound/4)-bound {
			t.Errorf("%q: %d bytes are shown of %d", trap, b.Len(), 6*(bound/4))
		}
	}
}

// TestWorkIsLinear measures that eight times the text takes about eight times the
// processor time, for texts that are made to be slow; quadratic work would take sixty-four
// times as much. The least of several runs counts.
func TestWorkIsLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const small, factor, bound = 4 << 10, 8, 32
	for _, trap := range traps {
		t.Run(fmt.Sprintf("%q", trap), func(t *testing.T) {
			one, many := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
			for range 20 {
				one = min(one, stream(t, strings.Repeat(trap, small/len(trap))))
				many = min(many, stream(t, strings.Repeat(trap, factor*small/len(trap))))
				if many < bound*one {
					return
				}
			}
			t.Errorf("%d times the text took %.0f times as long", factor, float64(many)/float64(one))
		})
	}
}

// stream measures the processor time that src takes in deltas of 5 bytes.
func stream(t *testing.T, src string) time.Duration {
	w := New(&countingWriter{}, Options{Style: term.NewStyle(term.Colours16)})
	start := cpuTime(t)
	for len(src) > 0 {
		n := min(5, len(src))
		if _, err := w.Write([]byte(src[:n])); err != nil {
			t.Fatal(err)
		}
		src = src[n:]
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return cpuTime(t) - start
}
