package search

import (
	"iter"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// stemRunes is how many characters of a word are its stem. Begins that short
// have so many words that looking all of them up would take long.
const stemRunes = 3

// Token is one word of a text and where it stands.
type Token struct {
	Text string // folded
	Stem string // how Text begins, see stemRunes; one character where there are no words
	// Start and End are its bytes in the text, and Unit the end of its first
	// character where it is a piece of text without words.
	Start, End, Unit int
	// Pos counts the tokens. The last character of a text without words is a
	// token of its own too, with the Pos of the one that it is a part of.
	Pos int
	// Dense tells that it is a piece of text without words.
	Dense bool
	// Single tells that it is one character of such a text.
	Single bool
}

// Tokens yields the words of a text in their order. Bytes that are no UTF-8
// stand between words.
func Tokens(text string) iter.Seq[Token] {
	return func(yield func(Token) bool) {
		pos := 0
		for at := 0; at < len(text); {
			start, end, dense := run(text, at)
			if start == end {
				return
			}
			at = end
			if !dense {
				if t, ok := word(text, start, end); ok {
					if t.Pos = pos; !yield(t) {
						return
					}
					pos++
				}
				continue
			}
			first := pos
			for t := range denseTokens(text, start, end) {
				t.Pos += first
				if pos = t.Pos + 1; !yield(t) {
					return
				}
			}
		}
	}
}

// run finds the next stretch of letters, digits and marks of one kind at or
// behind a place.
func run(text string, at int) (start, end int, dense bool) {
	start = -1
	for i := at; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		kind := kindOf(r)
		switch {
		case r == utf8.RuneError && size == 1:
			kind = between
		case r == esc:
			size = escape(text[i:])
		}
		switch {
		case start < 0:
			if kind == ofWord || kind == ofDense {
				start, end, dense = i, i+size, kind == ofDense
			}
		case kind == between, dense && kind == ofWord && !unicode.IsMark(r), !dense && kind == ofDense:
			return start, end, dense
		case kind != invisible:
			end = i + size
		}
		i += size
	}
	if start < 0 {
		return len(text), len(text), false
	}
	return start, end, dense
}

const esc = '\x1b'

// escape is the length of the control sequence that a text begins with, whose
// letters are nobody's words.
func escape(text string) int {
	if len(text) < 2 || text[1] != '[' {
		return 1
	}
	for i := 2; i < len(text); i++ {
		switch c := text[i]; {
		case c >= 0x40 && c <= 0x7e:
			return i + 1
		case c < 0x20 || c > 0x7e:
			return i // a broken one ends here
		}
	}
	return len(text)
}

type kind int

const (
	between   kind = iota
	ofWord         // of a word
	ofDense        // of a text without spaces between words
	invisible      // within a word, and no part of it
)

// firstDense is where the first script without spaces begins, Thai.
const firstDense = 0x0E00

func kindOf(r rune) kind {
	if r < utf8.RuneSelf {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' {
			return ofWord
		}
		return between
	}
	switch {
	case unicode.Is(unicode.Cf, r):
		return invisible
	case !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r):
		return between
	case r >= firstDense && isDense(r):
		return ofDense
	}
	return ofWord
}

func isDense(r rune) bool {
	const longSound = 'ー' // and its narrow form, and the narrow voicing marks: no script of their own
	return r == longSound || r == 'ｰ' || r == 'ﾞ' || r == 'ﾟ' ||
		unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
			unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// word makes the token of a run. A run of marks alone is none.
func word(text string, start, end int) (Token, bool) {
	folded := fold(text[start:end])
	if folded == "" {
		return Token{}, false
	}
	return Token{Text: folded, Stem: runes(folded, stemRunes), Start: start, End: end, Unit: end}, true
}

// runes gives the first n characters.
func runes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// denseTokens yields every two neighbouring characters of a run, and its last
// one. A character is what normalisation doesn't take apart.
func denseTokens(text string, start, end int) iter.Seq[Token] {
	return func(yield func(Token) bool) {
		var before Token // the character before
		n := 0
		for at := start; at < end; {
			size := norm.NFKC.NextBoundaryInString(text[at:end], true)
			unit := Token{Start: at, End: at + size, Unit: at + size, Text: cut(fold(text[at:at+size]), MaxToken/2), Dense: true, Single: true}
			unit.Stem = unit.Text
			at += size
			if unit.Text == "" {
				continue
			}
			if n > 0 {
				pair := before
				pair.Text, pair.End, pair.Single, pair.Pos = before.Text+unit.Text, unit.End, false, n-1
				if !yield(pair) {
					return
				}
			}
			before, n = unit, n+1
		}
		if n > 0 {
			before.Pos = max(n-2, 0)
			yield(before)
		}
	}
}
