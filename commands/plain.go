package commands

import (
	"bufio"
	"errors"
	"strings"

	"github.com/fettle-cli/fettle/commands/term"
)

// plainWriter gives the model's text as it is: control characters shown, and as
// few writes as the text's arrival allows.
type plainWriter struct {
	clean *term.Cleaner
	buf   *bufio.Writer
}

// pipeBuffer is what a pipe takes in one write on Linux.
const pipeBuffer = 64 << 10

func newPlainWriter(out *term.Output) *plainWriter {
	buf, to := bufio.NewWriterSize(out, pipeBuffer), term.ToPipe
	if out.IsTerminal() {
		to = term.ToTerminal
	}
	return &plainWriter{clean: term.NewCleaner(buf, to), buf: buf}
}

func (w *plainWriter) Write(p []byte) (int, error) { return w.clean.Write(p) }

// Flush hands on what is complete; half a character is held back.
func (w *plainWriter) Flush() error { return w.buf.Flush() }

// Close hands on everything.
func (w *plainWriter) Close() error { return errors.Join(w.clean.Flush(), w.buf.Flush()) }

// firstBlock gives the content of the first fenced code block of a Markdown
// text; one that isn't closed goes to the end.
func firstBlock(text string) (string, bool) {
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
