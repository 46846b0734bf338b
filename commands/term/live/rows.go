package live

import (
	"strings"

	"github.com/rivo/uniseg"

	"github.com/fettle-cli/fettle/commands/term"
)

// Prompt is what stands before the line, and before its further rows.
type Prompt struct{ First, Next string }

// Rows lays the line out: rows of a width, at most so many of them around the
// cursor, and the cursor's place in them.
func (e *Editor) Rows(p Prompt, width, most int) Rows {
	var out Rows
	out.Row = -1
	row, used := p.First, term.Cells(p.First)
	next := func() {
		out.Lines = append(out.Lines, row)
		row, used = p.Next, term.Cells(p.Next)
	}
	mark := func(at int) {
		if at == e.at {
			out.Row, out.Col = len(out.Lines), used
		}
	}
	at := 0
	for rest, state := e.text, -1; rest != ""; {
		var c string
		c, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		text := c
		if r := []rune(c); len(r) == 1 {
			text = e.shown(r[0])
		}
		if c == "\n" {
			mark(at)
			next()
			at += len(c)
			continue
		}
		for _, part := range pieces(text) {
			if w := term.Cells(part); used+w > width-1 && used > term.Cells(p.Next) {
				next()
			}
			if part == text || strings.HasPrefix(text, part) {
				mark(at)
			}
			row += part
			used += term.Cells(part)
		}
		at += len(c)
	}
	mark(at)
	out.Lines = append(out.Lines, row)
	return out.window(most)
}

// pieces are what a row may be broken between: a fold's words, else one
// character.
func pieces(text string) []string {
	if strings.HasPrefix(text, "[paste ") {
		return []string{text}
	}
	return []string{term.Clean(text)}
}

// window keeps the rows around the cursor.
func (r Rows) window(most int) Rows {
	if most < 1 || len(r.Lines) <= most {
		return r
	}
	from := min(max(r.Row-most/2, 0), len(r.Lines)-most)
	r.Lines, r.Row = r.Lines[from:from+most], r.Row-from
	return r
}
