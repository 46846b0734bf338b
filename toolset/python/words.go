package python

import (
	"strings"

	"github.com/fettle-cli/fettle/internal/sanitize"
	"github.com/fettle-cli/fettle/toolset"
)

const (
	// maxMessage bounds what a model is told of a failure; the runner cuts at
	// the same length, but the runner shares its process with the tool.
	maxMessage = 4_200
	// maxTraceback bounds what people are shown of one.
	maxTraceback = 64 << 10
	// maxPrinted is how much of what a failed tool printed last stands with its
	// traceback.
	maxPrinted = 2 << 10
)

// plain removes what hides or reorders a part of a text, and bounds it.
func plain(s string, limit int) string { return sanitize.Cut(sanitize.Text(s), limit) }

// oneLine is plain text on one line.
func oneLine(s string) string { return strings.Join(strings.Fields(plain(s, maxMessage)), " ") }

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return oneLine(lines[len(lines)-1])
}

// printed is the end of what a tool printed, for beside its traceback.
func printed(out toolset.Output) string {
	s := strings.TrimSpace(string(out.Head) + string(out.Tail))
	if n := out.Dropped(); n > 0 {
		s = strings.TrimSpace(string(out.Tail))
	}
	if cut := len(s) - maxPrinted; cut > 0 {
		s = s[cut:]
		if _, rest, ok := strings.Cut(s, "\n"); ok {
			s = rest
		}
	}
	return plain(s, maxPrinted)
}
