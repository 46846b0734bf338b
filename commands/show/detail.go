package show

import (
	"fmt"
	"strings"

	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/internal/consent"
)

// The bounds of what [Detail] shows. detailWidth is in bytes.
const (
	detailLines = 200
	detailWidth = 2000
)

// Whole writes all of a text that the user decides about, every line of it indented, so
// that no text can look like words of ours. Blanks are counted and hidden characters
// written out.
func Whole(b *strings.Builder, indent, text string, width int) {
	for line := range strings.SplitSeq(strings.TrimSuffix(consent.Text(text), "\n"), "\n") {
		for _, part := range term.Chop(line, width-len(indent)) {
			b.WriteString(indent + part + "\n")
		}
	}
}

// Detail writes the beginning of a text, every line of it indented, and how much it
// leaves out. A text that the user decides about is written by [Whole].
func Detail(b *strings.Builder, indent, text string, width int) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	more := len(lines) - detailLines
	for _, line := range lines[:min(len(lines), detailLines)] {
		cut := ""
		if len(line) > detailWidth {
			cut = fmt.Sprintf(" [and %s more]", term.Size(int64(len(line)-detailWidth)))
			line = strings.ToValidUTF8(line[:detailWidth], "")
		}
		line = strings.ReplaceAll(term.CleanText(line), "\t", "    ")
		for _, part := range term.Chop(line+cut, width-len(indent)) {
			b.WriteString(indent + part + "\n")
		}
	}
	if more > 0 {
		fmt.Fprintf(b, "%s[and %s more]\n", indent, term.Count(more, "line", "lines"))
	}
}
