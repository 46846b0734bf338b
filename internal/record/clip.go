package record

import (
	"fmt"
	"unicode/utf8"
)

// longestMark is room for the mark of a text that was cut, as encoded.
const longestMark = len(`\n[9223372036854775807 more bytes were cut]`)

// Clip returns s with a mark in place of its end where its JSON, with the
// quotes, would have more than most bytes. It cuts between runes.
func Clip(s string, most int) string {
	room := most - len(`""`)
	end := 0 // where s is cut, so that the mark fits after it
	used := 0
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		used += escapedLen(r, n)
		if used > room {
			if room < longestMark {
				return ""
			}
			return s[:end] + fmt.Sprintf("\n[%d more bytes were cut]", len(s)-end)
		}
		i += n
		if used <= room-longestMark {
			end = i
		}
	}
	return s
}

// escapedLen is the length of a rune in a JSON string as [Marshal] writes it, or
// a little more.
func escapedLen(r rune, n int) int {
	switch {
	case r == '"', r == '\\', r == '\n', r == '\r', r == '\t':
		return 2
	case r < ' ', r == '\u2028', r == '\u2029', r == utf8.RuneError && n == 1:
		return len(`\u0000`)
	}
	return n
}
