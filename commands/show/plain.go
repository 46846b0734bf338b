package show

import (
	"bufio"
	"errors"
	"strings"

	"github.com/fettle-cli/fettle/commands/term"
)

// PlainWriter gives the model's text as it is: control characters shown, and as
// few writes as the text's arrival allows.
type PlainWriter struct {
	clean *term.Cleaner
	buf   *bufio.Writer
}

// PipeBuffer is what a pipe takes in one write on Linux.
const PipeBuffer = 64 << 10

// NewPlainWriter writes text as it is, without what would act on a terminal.
func NewPlainWriter(out *term.Output) *PlainWriter {
	buf, to := bufio.NewWriterSize(out, PipeBuffer), term.ToPipe
	if out.IsTerminal() {
		to = term.ToTerminal
	}
	return &PlainWriter{clean: term.NewCleaner(buf, to), buf: buf}
}

// Write passes on what is harmless.
func (w *PlainWriter) Write(p []byte) (int, error) { return w.clean.Write(p) }

// Flush hands on what is complete; half a character is held back.
func (w *PlainWriter) Flush() error { return w.buf.Flush() }

// Close hands on everything.
func (w *PlainWriter) Close() error { return errors.Join(w.clean.Flush(), w.buf.Flush()) }

// FirstBlock gives the content of the first fenced code block of a Markdown
// text; one that isn't closed goes to the end.
func FirstBlock(text string) (string, bool) {
	var b strings.Builder
	fence := ""
	for line := range strings.Lines(text) {
		bare := strings.TrimLeft(line, " ")
		indent := len(line) - len(bare)
		mark := fenceOf(bare)
		switch {
		case fence == "" && mark != "" && indent <= 3:
			fence = mark
		case fence != "" && strings.HasPrefix(mark, fence) && strings.TrimSpace(bare) == mark && indent <= 3:
			return b.String(), true
		case fence != "":
			b.WriteString(line)
		}
	}
	return b.String(), fence != ""
}

// fenceOf gives the run of three or more backticks or tildes a line begins
// with.
func fenceOf(line string) string {
	if line == "" || line[0] != '`' && line[0] != '~' {
		return ""
	}
	n := len(line) - len(strings.TrimLeft(line, line[:1]))
	if n < 3 || line[0] == '`' && strings.Contains(line[n:], "`") {
		return ""
	}
	return line[:n]
}
