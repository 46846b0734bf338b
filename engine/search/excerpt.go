package search

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Excerpt gives the part of a text that shows its hits best: one line of at
// most width characters, and where the hits are in it, in characters, as
// [begin, end) each. What was cut is shown as …, controls, terminal sequences
// and what turns the direction of text are left out, and blanks are one space.
func Excerpt(text string, hits []Hit, width int) (string, [][2]int) {
	width = max(width, 20)
	begin := window(text, hits, width)
	x := excerpt{text: text, hits: merge(hits), width: width}
	return x.build(begin)
}

// Places tells where hits are in a text, in characters, as [begin, end) each
// and without overlaps.
func Places(text string, hits []Hit) [][2]int {
	var out [][2]int
	at, n := 0, 0
	count := func(to int) int {
		n += utf8.RuneCountInString(text[at:to])
		at = to
		return n
	}
	for _, h := range merge(hits) {
		out = append(out, [2]int{count(h.Start), count(h.End)})
	}
	return out
}

// window chooses where the excerpt begins: a little before the hit that has
// hits of the most clauses close behind it.
func window(text string, hits []Hit, width int) int {
	if len(hits) == 0 {
		return 0
	}
	best, most := 0, 0
	for i := range hits {
		seen := map[int]bool{}
		for _, h := range hits[i:] {
			if h.End-hits[i].Start > width*3/4 {
				break
			}
			seen[h.Clause] = true
		}
		if len(seen) > most {
			best, most = i, len(seen)
		}
	}
	start := hits[best].Start
	if utf8.RuneCountInString(text[:start]) <= width/2 {
		return 0
	}
	begin := back(text, start, width/4)
	if after := utf8.RuneCountInString(text[begin:]); after < width { // fill the line
		begin = back(text, begin, width-1-after)
	}
	return begin
}

// back goes up to n characters back, and then to the begin of a word if there
// is one.
func back(text string, at, n int) int {
	begin, word := at, -1
	for range n {
		if begin == 0 {
			return 0
		}
		r, size := utf8.DecodeLastRuneInString(text[:begin])
		if unicode.IsSpace(r) {
			word = begin
		}
		begin -= size
	}
	if begin > 0 && word >= 0 {
		return word
	}
	for begin < at && !utf8.RuneStart(text[begin]) {
		begin++
	}
	return begin
}

// merge gives hits without overlaps.
func merge(hits []Hit) []Hit {
	sorted := slices.SortedStableFunc(slices.Values(hits), func(a, b Hit) int { return a.Start - b.Start })
	var out []Hit
	for _, h := range sorted {
		if n := len(out); n > 0 && h.Start < out[n-1].End {
			out[n-1].End = max(out[n-1].End, h.End)
			continue
		}
		out = append(out, h)
	}
	return out
}

// excerpt is one that is being built.
type excerpt struct {
	text  string
	hits  []Hit
	width int

	out   strings.Builder
	n     int // characters of out
	blank bool
	marks [][2]int
	open  int // where the mark that is being written begins, or -1
}

func (x *excerpt) build(begin int) (string, [][2]int) {
	x.open = -1
	if strings.TrimSpace(x.text[:begin]) != "" {
		x.put('…')
	}
	next := 0
	for i := begin; i < len(x.text); {
		for next < len(x.hits) && x.hits[next].End <= i {
			x.close()
			next++
		}
		inside := next < len(x.hits) && x.hits[next].Start <= i
		r, size := utf8.DecodeRuneInString(x.text[i:])
		if x.full() && strings.TrimSpace(x.text[i:]) != "" {
			x.close()
			x.put('…')
			break
		}
		if r == esc {
			size = escape(x.text[i:])
		}
		x.take(r, inside)
		i += size
	}
	x.close()
	return x.out.String(), x.marks
}

// full tells whether there is only room for the … any more.
func (x *excerpt) full() bool {
	if x.blank {
		return x.n >= x.width-2
	}
	return x.n >= x.width-1
}

// take writes one character of the text.
func (x *excerpt) take(r rune, inside bool) {
	switch {
	case unicode.IsSpace(r) || unicode.IsControl(r):
		x.blank = x.blank || x.n > 0
		return
	case unsafeRune(r):
		return
	}
	if x.blank {
		x.blank = false
		x.put(' ')
	}
	if inside && x.open < 0 {
		x.open = x.n
	}
	x.put(r)
}

func (x *excerpt) put(r rune) {
	x.out.WriteRune(r)
	x.n++
}

func (x *excerpt) close() {
	if x.open >= 0 && x.n > x.open {
		x.marks = append(x.marks, [2]int{x.open, x.n})
	}
	x.open = -1
}

// unsafeRune tells what would hide or turn round the text around it.
func unsafeRune(r rune) bool {
	switch {
	case r >= '\u202A' && r <= '\u202E', r >= '\u2066' && r <= '\u2069', r == '\u200E', r == '\u200F', r == '\u061C':
		return true
	case r >= 0xE0000 && r <= 0xE007F, r == '\uFEFF':
		return true
	}
	return false
}
