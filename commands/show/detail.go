package show

import (
	"fmt"
	"strings"

	"github.com/fettle-cli/fettle/commands/term"
)

// The bounds of what is shown of a call: what nobody reads to its end hides
// more than it tells. DetailWidth is in bytes.
const (
	detailLines = 200
	DetailWidth = 2000
)

// Detail shows a text with every line of it indented, so that no text can
// look like words of ours.
func Detail(b *strings.Builder, indent, text string, width int) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	more := len(lines) - detailLines
	for _, line := range lines[:min(len(lines), detailLines)] {
		cut := ""
		if len(line) > DetailWidth {
			cut = fmt.Sprintf(" [and %s more]", term.Size(int64(len(line)-DetailWidth)))
			line = strings.ToValidUTF8(line[:DetailWidth], "")
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
