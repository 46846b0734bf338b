package markdown

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fettle-cli/fettle/commands/term"
)

// render writes src in one piece.
func render(t testing.TB, src string, width int, d term.Depth) string {
	t.Helper()
	return renderChunks(t, []string{src}, width, d)
}

func renderChunks(t testing.TB, chunks []string, width int, d term.Depth) string {
	t.Helper()
	var b bytes.Buffer
	w := New(&b, Options{Width: width, Style: term.NewStyle(d)})
	for _, c := range chunks {
		if n, err := w.Write([]byte(c)); n != len(c) || err != nil {
			t.Fatalf("Write gave %d, %v", n, err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// chunked cuts src at random places, often into single bytes.
func chunked(t *rapid.T, src string) []string {
	limit := rapid.SampledFrom([]int{1, 3, 8, 40, 400}).Draw(t, "limit")
	var chunks []string
	for len(src) > 0 {
		n := rapid.IntRange(1, min(limit, len(src))).Draw(t, "n")
		chunks = append(chunks, src[:n])
		src = src[n:]
	}
	return chunks
}

// pieces are what documents are made of here. What streaming can't know in
// time is left out, and checked by the golden files: tables, headings made by
// underlines, reference definitions.
var pieces = []string{
	"word", "two words", " ", "  ", " ", "\n", "\n", "\n\n", "*", "**", "***", "_", "__", "`", "``", "~~", "~",
	"[", "](", ")", "](http://a.b/c_d)", "![", "<", ">", "<b>", "</b>", "<http://x.y>", "<br>", "&amp;", "&",
	"&#27;", "\\", "\\*", "!", "(", "\"", "'", ".", ",", "é", "日本", "語、", "🙂", "e\u0301", "\u202e", "a\tb", "snake_case", "2*3*4",
	"\n# ", "\n###### ", "\n* ", "\n+ ", "\n  * ", "\n    * ", "\n1. ", "\n2) ", "\n> ", "\n>> ", "\n    ", "\n\t",
	"\n```\n", "\n```go\n", "\n~~~\n", "\n***\n", "\n___\n", "\n<div>\n", "\n<!-- c -->\n", "\n  word\n", "#", "\r\n", "\x1b[2J",
}

func document(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 60).Draw(t, "pieces"), "")
}

// TestAnySplitGivesTheSame: what is written in total doesn't depend on chunks.
func TestAnySplitGivesTheSame(t *testing.T) {
	t.Parallel()
	extra := append([]string{"| a | b |\n|---|:-:|\n", "\n| x | y |", "|", "\n---\n", "**粗体**", "文", "字", "\n===\n", "- [ ] ", strings.Repeat("x", 700), strings.Repeat("y z ", 300), strings.Repeat("語", 90),
		strings.Repeat("w v ", 240), strings.Repeat("*", 20), "](" + strings.Repeat("u", 500), strings.Repeat("e\u0301", 200), strings.Repeat("\u0301", 300)}, pieces...)
	rapid.Check(t, func(t *rapid.T) {
		src := strings.Join(rapid.SliceOfN(rapid.SampledFrom(extra), 1, 60).Draw(t, "pieces"), "")
		width := rapid.SampledFrom([]int{40, 41, 80, 300}).Draw(t, "width")
		d := rapid.SampledFrom([]term.Depth{term.NoColour, term.Colours16}).Draw(t, "depth")
		whole := renderT(t, []string{src}, width, d)
		if got := renderT(t, chunked(t, src), width, d); got != whole {
			t.Fatalf("in chunks\n%q\nwhole\n%q", got, whole)
		}
	})
}

func renderT(t *rapid.T, chunks []string, width int, d term.Depth) string {
	var b bytes.Buffer
	w := New(&b, Options{Width: width, Style: term.NewStyle(d)})
	for _, c := range chunks {
		if _, err := w.Write([]byte(c)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// fenceEnd is the line under a block of code, which goldmark's tree doesn't
// tell from the end of the document.
var fenceEnd = regexp.MustCompile(`^─+$`)

var sgr = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// essence drops empty lines, whose places goldmark sees otherwise in a few
// corners, the lines that the tree doesn't have, and escape codes that change
// nothing.
func essence(s string) string {
	var keep []string
	for _, l := range strings.Split(s, "\n") {
		text := strings.TrimLeft(sgr.ReplaceAllString(l, ""), "│ ")
		if text != "" && !fenceEnd.MatchString(text) {
			keep = append(keep, looks(l))
		}
	}
	return strings.Join(keep, "\n")
}

// looks writes an escape code only where the look changes.
func looks(line string) string {
	var b strings.Builder
	now, next := reset, reset
	for line != "" {
		if at := sgr.FindStringIndex(line); at != nil && at[0] == 0 {
			next, line = line[:at[1]], line[at[1]:]
			continue
		}
		if next != now {
			b.WriteString(next)
			now = next
		}
		b.WriteByte(line[0])
		line = line[1:]
	}
	return b.String()
}

var emptyItem = regexp.MustCompile("(?m)`\\s+`|([*+]|\\d[.)])\\s*$")

// TestStreamingIsWhatGoldmarkParses: the blocks that are found line by line
// and the spans that are closed one by one are those of the whole document.
func TestStreamingIsWhatGoldmarkParses(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		src := document(t)
		if emptyItem.MatchString(src) {
			t.Skip("goldmark reads some items without text otherwise than CommonMark does")
		}
		var clean bytes.Buffer
		c := term.NewCleaner(&clean, term.ToTerminal)
		_, _ = c.Write([]byte(src))
		_ = c.Flush()
		got := essence(renderT(t, []string{src, "\n"}, 300, term.Colours16))
		want := essence(reference(clean.String()+"\n", 300, true))
		if got != want {
			t.Fatalf("source %q\n got %q\nwant %q", src, got, want)
		}
	})
}
