package show

import (
	"strings"

	"github.com/fettle-cli/fettle/commands/term"
)

// Aside writes prose beside the answer as it comes, such as reasoning: dim,
// indented, and on a terminal broken between words. Half a word is held back
// until the rest of it has come.
type Aside struct {
	Out  *term.Output
	used int // columns of the line that is open; 0 where none is
	word strings.Builder
	// lines counts line ends that were given and not yet written, so that
	// none are left at the end.
	lines int
}

// asideIndent sets prose apart where there is no colour to do it.
const asideIndent = "  "

// maxWord bounds what is held back of a word that doesn't end.
const maxWord = 4096

// Write adds to it.
func (a *Aside) Write(text string) {
	var b strings.Builder
	for text != "" {
		i := strings.IndexAny(text, " \t\n")
		if i < 0 {
			a.word.WriteString(text)
			break
		}
		a.word.WriteString(text[:i])
		a.flush(&b)
		if text[i] == '\n' {
			a.lines++
		}
		text = text[i+1:]
	}
	if a.word.Len() > maxWord {
		a.flush(&b)
	}
	if b.Len() > 0 {
		a.Out.WriteString(b.String())
	}
}

// flush puts the word that has ended on its line.
func (a *Aside) flush(b *strings.Builder) {
	word := term.Clean(strings.TrimSuffix(a.word.String(), "\r"))
	a.word.Reset()
	if word == "" {
		return
	}
	room := a.Out.Width() - len(asideIndent)
	width := term.Cells(word)
	switch {
	case a.used == 0:
	case a.lines > 0:
		b.WriteString(strings.Repeat("\n", min(a.lines, 2)))
		a.used = 0
	case room > 0 && a.used+1+width > room:
		b.WriteByte('\n')
		a.used = 0
	default:
		b.WriteByte(' ')
		a.used++
	}
	a.lines = 0
	lines := []string{word}
	if room > 0 {
		lines = term.Wrap(word, room)
	}
	dim := a.Out.Style().Dim
	for i, line := range lines {
		if i > 0 {
			b.WriteByte('\n')
			a.used = 0
		}
		if a.used == 0 {
			b.WriteString(asideIndent)
		}
		b.WriteString(dim(line))
		a.used += term.Cells(line)
	}
}

// Close ends the last line.
func (a *Aside) Close() {
	var b strings.Builder
	a.flush(&b)
	if a.used > 0 {
		b.WriteByte('\n')
	}
	a.used, a.lines = 0, 0
	if b.Len() > 0 {
		a.Out.WriteString(b.String())
	}
}
