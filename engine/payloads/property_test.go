package payloads

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// scraps are what responses are put together from: whatever the parser treats
// in its own way, and parts of it.
func scraps() []string {
	return []string{
		"PLAN:", "BIG_PLAN:", "PLAN: B", "<tag>", "STRICT:", "PARSED:", "PLA", "BIG_", "**PLAN:**", "**PLAN**:", "**", "`", "``", "```", "````",
		"~~~", "```json\n", "\n```\n", "\n~~~\n", "{", "}", "[", "]", "{}", "[1]", `{"a":1}`, `{"name":"x"}`, `{"a":"}\"{"}`, `"`, `\`, `\"`, ":",
		",", "true", "nul", "-1", " ", "  ", "    ", "\n", "\n\n", "\r\n", "\t", "word", "a", "_", "é", "世", "\xe4", "\x96", ".", strings.Repeat(" ", 70),
		strings.Repeat("\n", 66), strings.Repeat("`", 20), strings.Repeat("`", 70), strings.Repeat("i", 70), strings.Repeat("[", 10), strings.Repeat("a", 301),
	}
}

func drawText(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(scraps()), 0, 30).Draw(t, "scraps"), "")
}

// cut cuts a text at drawn places.
func cut(t *rapid.T, s string) []string {
	var pieces []string
	for s != "" {
		n := rapid.IntRange(0, min(len(s), rapid.SampledFrom([]int{1, 3, 20, 200}).Draw(t, "most"))).Draw(t, "n")
		pieces = append(pieces, s[:n])
		s = s[n:]
		if n == 0 && rapid.Bool().Draw(t, "rest") {
			return append(pieces, s)
		}
	}
	return pieces
}

func TestCutsDontMatter(t *testing.T) {
	t.Parallel()
	offer := testOffer(t)
	rapid.Check(t, func(t *rapid.T) {
		s := drawText(t)
		want := parseIn(offer.Parser(testOptions()), s)
		got := parseIn(offer.Parser(testOptions()), cut(t, s)...)
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
			t.Fatalf("%q:\n got %q\nwant %q", s, got, want)
		}
		byByte := parseIn(offer.Parser(testOptions()), bytesOf(s)...)
		if fmt.Sprintf("%q", byByte) != fmt.Sprintf("%q", want) {
			t.Fatalf("%q byte by byte:\n got %q\nwant %q", s, byByte, want)
		}
	})
}

// bytesOf cuts a text within its characters too.
func bytesOf(s string) []string {
	out := make([]string, len(s))
	for i := range len(s) {
		out[i] = s[i : i+1]
	}
	return out
}

func TestTextWithoutPayloadsIsKept(t *testing.T) {
	t.Parallel()
	offer := testOffer(t)
	rapid.Check(t, func(t *rapid.T) {
		s := drawText(t)
		got := parseIn(offer.Parser(testOptions()), cut(t, s)...)
		for _, part := range got {
			if part[0] == '[' {
				return
			}
		}
		if got.text() != s {
			t.Fatalf("got %q, want %q", got.text(), s)
		}
	})
}

func TestPayloadsLeaveNoTrace(t *testing.T) {
	t.Parallel()
	offer := testOffer(t)
	rapid.Check(t, func(t *rapid.T) {
		prose := rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,8}( [a-z]{1,8}){0,4}[.:]`), 2, 5).Draw(t, "prose")
		gap := rapid.SampledFrom([]string{" ", "\n", "\n\n", "\n\n\n", " \n"})
		wrap := rapid.SampledFrom([][2]string{{"PLAN: ", ""}, {"PLAN:\n```json\n", "\n```"}, {"**PLAN:**\n\n", ""}, {"\n```\nPLAN: ", "\n```"}})
		value := rapid.SampledFrom([]string{`{}`, `{"a":{"b":"} PLAN: {"}}`, `[[],"\"]"]`})
		var in, words strings.Builder
		for i, s := range prose {
			if i > 0 {
				w := wrap.Draw(t, "wrap")
				in.WriteString(gap.Draw(t, "gap") + w[0] + value.Draw(t, "value") + w[1] + gap.Draw(t, "gap"))
				words.WriteString(" ")
			}
			in.WriteString(s)
			words.WriteString(s)
		}
		got := parseIn(offer.Parser(testOptions()), cut(t, in.String())...)
		if flat := strings.Join(strings.Fields(got.text()), " "); flat != words.String() {
			t.Fatalf("%q gives %q", in.String(), got)
		}
		if strings.Contains(got.text(), "\n\n\n") {
			t.Fatalf("%q leaves a hole: %q", in.String(), got.text())
		}
	})
}

func TestTextItemsAreWholeCharacters(t *testing.T) {
	t.Parallel()
	offer := testOffer(t)
	rapid.Check(t, func(t *rapid.T) {
		s := strings.ToValidUTF8(drawText(t), "?")
		p := offer.Parser(testOptions())
		for _, piece := range append(cut(t, s), "") {
			for _, it := range p.Feed(piece) {
				if !utf8.ValidString(it.Text) {
					t.Fatalf("%q: the text %q ends within a character", s, it.Text)
				}
			}
		}
	})
}

// What waits is bounded, however the text goes on.
func TestLittleIsHeldBack(t *testing.T) {
	t.Parallel()
	const most = 3*maxSpace + 2*(maxFence+maxInfo) + maxMarker + 8
	offer := testOffer(t)
	rapid.Check(t, func(t *rapid.T) {
		p := offer.Parser(testOptions())
		for _, piece := range cut(t, drawText(t)+drawText(t)) {
			p.Feed(piece)
			if p.Pending() == "" && len(p.carry) > most {
				t.Fatalf("%d bytes wait: %q", len(p.carry), p.carry)
			}
			if p.held != nil && len(p.held.raw) > p.o.MaxBytes+most {
				t.Fatalf("%d bytes of a payload wait", len(p.held.raw))
			}
		}
	})
}

func FuzzParser(f *testing.F) {
	for _, s := range []string{
		"a PLAN: {\"a\": [1]} b", "```json\nPLAN: {}\n```", "**PLAN**: ```\n{}\n``` x", "STRICT: {\"name\":1}", "~~~\nPLAN: {}", "PLAN: {x", "é世\xff",
	} {
		f.Add(s, uint8(3), uint8(7))
	}
	offer := testOffer(f)
	f.Fuzz(func(t *testing.T, s string, a, b uint8) {
		want := parseIn(offer.Parser(testOptions()), s)
		var pieces []string
		for rest, n := s, 0; rest != ""; n++ {
			size := int(a)%9 + 1
			if n%2 == 1 {
				size = int(b)%70 + 1
			}
			size = min(size, len(rest))
			pieces, rest = append(pieces, rest[:size]), rest[size:]
		}
		got := parseIn(offer.Parser(testOptions()), pieces...)
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
			t.Fatalf("%q:\n got %q\nwant %q", s, got, want)
		}
		taken := false
		for _, part := range got {
			taken = taken || part[0] == '['
		}
		if !taken && got.text() != s {
			t.Fatalf("no payload, but %q became %q", s, got.text())
		}
	})
}

// prose is an answer without a marker, in the pieces in which models send it.
func prose() (pieces []string, size int) {
	words := "The capital, as far as I know, is *Paris*; see `main.go` and PLANS for more.\n\nIt has about 2.1 million people.\n- one item\n"
	for _, w := range strings.SplitAfter(strings.Repeat(words, 50), " ") {
		for _, piece := range strings.SplitAfter(w, "\n") {
			pieces, size = append(pieces, piece), size+len(piece)
		}
	}
	// Models put the space before a word.
	text := strings.Join(pieces, "")
	pieces = pieces[:0]
	for i, w := range strings.Split(text, " ") {
		if i > 0 {
			w = " " + w
		}
		pieces = append(pieces, w)
	}
	return pieces, size
}

func BenchmarkTextWithoutMarkers(b *testing.B) {
	pieces, size := prose()
	whole := strings.Join(pieces, "")
	b.Run("floor", func(b *testing.B) { // what a copy of the text costs
		b.SetBytes(int64(size))
		var buf []byte
		for b.Loop() {
			buf = buf[:0]
			for _, piece := range pieces {
				buf = append(buf, piece...)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(size), "ns/byte")
	})
	reg, _ := New()
	for _, bench := range []struct {
		name   string
		offer  *Offer
		pieces []string
	}{
		{"pieces", testOffer(b), pieces},
		{"one", testOffer(b), []string{whole}},
		{"nothing-offered", reg.Offer(Where{}), pieces},
	} {
		b.Run(bench.name, func(b *testing.B) {
			p := bench.offer.Parser(ParserOptions{})
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				for _, piece := range bench.pieces {
					p.Feed(piece)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(size), "ns/byte")
			b.ReportMetric(float64(len(bench.pieces)), "pieces/op")
		})
	}
}

func TestPlainPiecesAllocateNothing(t *testing.T) {
	p := testOffer(t).Parser(ParserOptions{})
	pieces := []string{"The", " capital", " is *Paris*,", " see `it`", " now."}
	p.Feed("Well,")
	if n := testing.AllocsPerRun(100, func() {
		for _, piece := range pieces {
			p.Feed(piece)
		}
	}); n != 0 {
		t.Errorf("got %v allocations for %d pieces, want none", n, len(pieces))
	}
}
