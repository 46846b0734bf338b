package live

import (
	"bytes"
	"strings"

	"github.com/rivo/uniseg"

	"github.com/fettle-cli/fettle/commands/term"
)

const (
	tabStop = 8
	reset   = "\x1b[0m"
)

// cellsOf is the columns that a text with colours takes.
func cellsOf(s string) int {
	n := 0
	for s != "" {
		_, text, rest := nextCode(s) // a code takes no column
		n += term.Cells(text)
		s = rest
	}
	return n
}

// nextCode splits off the text before the next colour and the colour itself.
func nextCode(s string) (code, text, rest string) {
	i := strings.IndexByte(s, 0x1b)
	if i < 0 {
		return "", s, ""
	}
	end := strings.IndexByte(s[i:], 'm')
	if end < 0 {
		return "", s[:i], ""
	}
	return s[i : i+end+1], s[:i], s[i+end+1:]
}

// cutRow shortens a row that is too wide; what sticks out isn't shown.
func cutRow(line string, width int) string {
	if cellsOf(line) <= width {
		return line
	}
	rows := chop(line, width)
	return rows[0]
}

// chop breaks a text with colours into rows of a width. Colours that are on go
// on in the next row.
func chop(line string, width int) []string {
	width = max(width, 1)
	var rows []string
	var row strings.Builder
	used, on := 0, ""
	for line != "" {
		code, text, rest := nextCode(line)
		for state := -1; text != ""; {
			var cluster string
			var w int
			cluster, text, w, state = uniseg.FirstGraphemeClusterInString(text, state)
			if cluster == "\t" {
				w = tabStop - used%tabStop
				cluster = strings.Repeat(" ", w)
			}
			if used+w > width && used > 0 {
				if on != "" {
					row.WriteString(reset)
				}
				rows = append(rows, row.String())
				row.Reset()
				row.WriteString(on)
				used = 0
			}
			if w > width {
				cluster, w = "?", 1 // wider than the whole terminal
			}
			row.WriteString(cluster)
			used += w
		}
		if code != "" {
			row.WriteString(code)
			on += code
			if code == reset || code == "\x1b[m" {
				on = ""
			}
		}
		line = rest
	}
	if on != "" {
		row.WriteString(reset)
	}
	return append(rows, row.String())
}

// chopOpen gives the last rows of the line that isn't ended.
func chopOpen(line []byte, width, most int) []string {
	if len(line) > openBytes {
		line = line[len(line)-openBytes:]
		if i := bytes.IndexByte(line, ' '); i >= 0 { // past half a code and half a character
			line = line[i+1:]
		}
	}
	rows := chop(strings.ToValidUTF8(string(line), "\uFFFD"), width)
	return rows[max(0, len(rows)-most):]
}
