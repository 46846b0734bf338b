package follow

import (
	"fmt"
	"strings"

	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/internal/consent"
)

// screenLines is how many rows of details are shown at once: they fit the smallest
// usual terminal together with the question.
const screenLines = 20

// Details is a whole call in screens. Nothing of it is left out.
type Details struct {
	// Seen reports that every screen was shown.
	Seen bool

	lines []string
	at    int // the first line that was not shown since First
}

// NewDetails lays a call out for a width.
func NewDetails(ask event.ConfirmRequest, width int) *Details {
	var b strings.Builder
	verb := " wants to run with"
	if ask.Review != nil {
		verb = " has run with"
	}
	indented(&b, "", consent.Line(ask.ToolID)+verb, width)
	for _, arg := range consent.Read(ask.Input).Arguments {
		line := arg.Name + ": " + arg.Text
		switch {
		case arg.Name == "":
			show.Whole(&b, "  ", arg.Text, width)
		case !strings.Contains(arg.Text, "\n") && term.Cells(line) < width-2:
			fmt.Fprintf(&b, "  %s\n", line)
		default:
			indented(&b, "  ", arg.Name+":", width)
			show.Whole(&b, "    ", arg.Text, width)
		}
	}
	if ask.Review != nil {
		indented(&b, "", "it has changed", width)
		for _, line := range ReviewDiff(ask.Review) {
			indented(&b, "  ", consent.Line(line), width)
		}
		if ask.Review.Output != "" {
			indented(&b, "", "its output:", width)
			show.Whole(&b, "    ", ask.Review.Output, width)
		}
	}
	if ask.Reach != "" {
		indented(&b, "", "it may "+consent.Line(ask.Reach), width)
	}
	if ask.Rule != "" {
		b.WriteString("c and a allow from now on\n")
		indented(&b, "  ", consent.Line(ask.Rule), width)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(b.String(), "\n"), "\n")
	lines[len(lines)-1] += "\n"
	return &Details{lines: lines, at: len(lines)}
}

// First returns the first screen.
func (d *Details) First() string {
	d.at = 0
	return d.Next()
}

// Next returns the screen after the one that was shown last.
func (d *Details) Next() string {
	return d.show(min(d.at+screenLines, len(d.lines)))
}

// Rest returns all that was not shown.
func (d *Details) Rest() string { return d.show(len(d.lines)) }

func (d *Details) show(end int) string {
	text := strings.Join(d.lines[d.at:end], "")
	d.at = end
	if d.Left() == 0 {
		d.Seen = true
		return text
	}
	return text + fmt.Sprintf("  … %s left\n", term.Count(d.Left(), "line", "lines"))
}

// Left returns how many lines follow what was shown last.
func (d *Details) Left() int { return len(d.lines) - d.at }

// MoreChoices are the ways to see the rest of the details.
func MoreChoices() []term.Choice {
	return []term.Choice{{Key: 'm', Label: "more"}, {Key: 'e', Label: "everything"}}
}
