package show

import (
	"strings"

	"github.com/fettle-cli/fettle/commands/term"
)

// Marked returns a line cut to so many columns, with places in it highlighted. The places are
// in characters, as [begin, end) each. With 0 columns the line stays whole.
func Marked(line string, places [][2]int, style term.Style, room int) string {
	var b strings.Builder
	left := room
	put := func(text []rune, show func(string) string) {
		s := term.Clean(string(text))
		if room > 0 {
			if left <= 0 {
				return
			}
			s = term.CutEnd(s, left)
			left -= term.Cells(s)
		}
		b.WriteString(show(s))
	}
	plain := func(s string) string { return s }
	runes, at := []rune(line), 0
	if room > 0 && term.Cells(term.Clean(line)) > room {
		left-- // for the … at the end
	}
	for _, p := range places {
		begin, end := min(max(p[0], at), len(runes)), min(p[1], len(runes))
		if end <= begin {
			continue
		}
		put(runes[at:begin], plain)
		put(runes[begin:end], func(s string) string { return style.Bold(style.Yellow(s)) })
		at = end
	}
	put(runes[at:], plain)
	return b.String()
}
