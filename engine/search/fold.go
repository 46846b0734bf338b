package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// MaxToken bounds a token in bytes. What is longer is a digest or a line of
// base64, and is found by its begin.
const MaxToken = 48

// longestRaw bounds what of a word is folded at all: folding can make a word
// shorter, but not by this much in any language.
const longestRaw = 8 * MaxToken

// fold gives a word in the form in which it is compared, at most MaxToken
// bytes of it.
func fold(word string) string {
	if isASCII(word) {
		return strings.ToLower(cut(word, MaxToken))
	}
	var b strings.Builder
	for _, r := range norm.NFKD.String(cut(word, longestRaw)) {
		switch {
		case dropped(r):
		case special(r) != "":
			b.WriteString(special(r))
		default:
			b.WriteRune(unicode.ToLower(unicode.ToUpper(r))) // both, for ς and ı
		}
	}
	return cut(norm.NFC.String(b.String()), MaxToken)
}

// dropped tells marks that are left out of words: accents, vowel points,
// joiners. Marks that are letters of their script stay, as do the two that
// voice a Japanese syllable.
func dropped(r rune) bool {
	if r == '\u3099' || r == '\u309A' {
		return false
	}
	return unicode.Is(unicode.Cf, r) ||
		unicode.Is(unicode.Mn, r) && unicode.In(r, unicode.Inherited, unicode.Hebrew)
}

// special gives letters that have no decomposition, as people type them
// without their keyboard.
func special(r rune) string {
	switch r {
	case 'ß', 'ẞ':
		return "ss"
	case 'æ', 'Æ':
		return "ae"
	case 'œ', 'Œ':
		return "oe"
	case 'ø', 'Ø':
		return "o"
	case 'ł', 'Ł':
		return "l"
	case 'đ', 'Đ', 'ð', 'Ð':
		return "d"
	}
	return ""
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// cut shortens s to at most n bytes, between two runes.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
