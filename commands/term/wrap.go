package term

import (
	"strings"

	"github.com/rivo/uniseg"
)

// Wrap breaks one line into lines of at most cells columns: between words
// where it can, inside a word that is wider than a line. White space around a
// break goes. Where cells is 0, as for a stream that is no terminal, the line
// stays whole.
func Wrap(s string, cells int) []string {
	if cells <= 0 || Cells(s) <= cells {
		return []string{s}
	}
	var lines []string
	line, used := "", 0
	for word := range strings.FieldsSeq(s) {
		width := Cells(word)
		if used > 0 && used+1+width <= cells {
			line, used = line+" "+word, used+1+width
			continue
		}
		if used > 0 {
			lines = append(lines, line)
		}
		parts := Chop(word, cells)
		last := len(parts) - 1
		lines = append(lines, parts[:last]...)
		line, used = parts[last], Cells(parts[last])
	}
	if used > 0 || len(lines) == 0 {
		lines = append(lines, line)
	}
	return lines
}

// Chop breaks one line into pieces of at most cells columns, blanks and all. A
// character that is wider than that has a piece of its own.
func Chop(s string, cells int) []string {
	var parts []string
	for cells > 0 && Cells(s) > cells {
		begin := head(s, cells)
		if begin == "" {
			_, rest, _, _ := uniseg.FirstGraphemeClusterInString(s, -1)
			if begin = s[:len(s)-len(rest)]; rest == "" {
				break
			}
		}
		parts = append(parts, begin)
		s = s[len(begin):]
	}
	return append(parts, s)
}
