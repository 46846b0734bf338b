package retrieval

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// Form is the version of [Passages]. It changes when the same text would give other
	// passages, so that vectors of earlier ones are not used for them.
	Form = 1
	// MaxPassage is the largest number of bytes of a passage: some 300 tokens, which even
	// small embedding models take (all-minilm 256 or 512, others 512 or more), and short
	// enough that a vector is of one subject.
	MaxPassage = 1200
	// minPassage is the number of bytes from which on a passage may end, so that a text of
	// short paragraphs does not become passages of one line each.
	minPassage = MaxPassage / 3
)

// Span is a stretch of a text, in bytes.
type Span struct{ Start, End int }

// Passages cuts a text into passages: before a heading if possible, else between paragraphs,
// lines, sentences or words. A passage neither begins nor ends with white space, and white
// space is all that is between two passages.
func Passages(text string) []Span {
	var out []Span
	for at := 0; ; {
		at += len(text[at:]) - len(strings.TrimLeftFunc(text[at:], unicode.IsSpace))
		if at == len(text) {
			return out
		}
		end := at + passageEnd(text[at:])
		out = append(out, Span{at, at + len(strings.TrimRightFunc(text[at:end], unicode.IsSpace))})
		at = end
	}
}

// passageEnd returns where the passage ends with which a text begins.
func passageEnd(text string) int {
	if len(text) <= MaxPassage {
		return len(text)
	}
	limit := MaxPassage
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	if limit == 0 { // bytes that are not UTF-8
		return MaxPassage
	}
	window := text[minPassage:limit]
	for _, border := range []string{"\n#", "\n\n", "\n", ". ", "。", " "} {
		i := strings.LastIndex(window, border)
		if i < 0 {
			continue
		}
		if border == ". " || border == "。" {
			i += len(border)
		}
		return minPassage + i
	}
	return limit
}
