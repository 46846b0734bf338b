package term

import "strings"

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
		for width > cells {
			begin := head(word, cells)
			if begin == "" { // a character that is wider than the line
				break
			}
			lines = append(lines, begin)
			word = word[len(begin):]
			width = Cells(word)
		}
		line, used = word, width
	}
	if used > 0 || len(lines) == 0 {
		lines = append(lines, line)
	}
	return lines
}
