package show

import (
	"fmt"
	"strings"

	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/internal/consent"
	"github.com/fettle-cli/fettle/internal/patch"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// Labelled writes things on lines of their own: two blanks, a label, the thing, and
// what is said of it. What somebody else wrote is indented, so that it can't look like
// words of ours.
type Labelled struct{ Out *term.Output }

// labelCells is how wide the column of labels is.
const labelCells = 10

// Line writes one thing, with what is said of it beside it or, where there is
// no room, below.
func (v Labelled) Line(label, text, about string) {
	width := v.Out.Width()
	text = consent.Line(text)
	lines := term.Wrap(text, max(width-labelCells-3, 20))
	if width == 0 {
		lines = []string{text}
	}
	style := v.Out.Style()
	for i, line := range lines {
		if i > 0 {
			label = ""
		}
		v.Out.Printf("  %-*s %s", labelCells, label, line)
		if i < len(lines)-1 {
			v.Out.Printf("\n")
		}
	}
	about = consent.Line(about)
	last := term.Cells(lines[len(lines)-1])
	switch {
	case about == "":
		v.Out.Printf("\n")
	case width == 0 || labelCells+5+max(last, 34)+term.Cells(about) <= width:
		v.Out.Printf("%s  %s\n", strings.Repeat(" ", max(34-last, 0)), style.Dim(about))
	default:
		v.Out.Printf("\n  %-*s   %s\n", labelCells, "", style.Dim(about))
	}
}

// Text writes all of a text that comes from elsewhere, every line of it indented.
func (v Labelled) Text(s string) {
	var b strings.Builder
	Whole(&b, "  ", s, v.Out.Width())
	v.Out.WriteString(b.String())
}

// KindWords is what people call a kind of item.
func KindWords(kind string) string {
	switch kind {
	case registry.KindServer:
		return "MCP server"
	case registry.KindEnv:
		return "variable"
	case registry.KindRead:
		return "path"
	case registry.KindRequirement:
		return "package"
	case registry.KindNetwork:
		return "host"
	}
	return kind
}

// diffLines bounds what is shown of one field that changed; the details and the
// JSON have all of it.
const diffLines = 40

// Change shows the two sides of a field as a diff, and reports whether that is all of it.
func (v Labelled) Change(f registry.FieldChange) (whole bool) {
	style := v.Out.Style()
	indent := strings.Repeat(" ", labelCells+3)
	v.Out.Printf("%s%s\n", indent, style.Dim(f.Field))
	lines := diffOf(f.Old, f.New)
	for i, line := range lines {
		if i == diffLines {
			v.Out.Printf("%s%s\n", indent, style.Dim(fmt.Sprintf("[and %s more]", term.Count(len(lines)-i, "line", "lines"))))
			return false
		}
		// a long line goes on below itself, so that no text of the bundle's can
		// begin a line of the terminal and look like words of ours
		for _, part := range chopped(line, v.Out.Width()-len(indent)) {
			switch line[0] {
			case '+':
				part = style.Green(part)
			case '-':
				part = style.Red(part)
			}
			v.Out.Printf("%s%s\n", indent, part)
		}
	}
	return true
}

// chopped cleans a line of a diff and cuts it into what the width takes.
func chopped(line string, width int) []string {
	line = line[:1] + consent.Text(line[1:])
	if width < 20 { // no terminal, or one that is too narrow to be read
		return []string{line}
	}
	return term.Chop(line, width)
}

// diffOf gives the lines of a diff, each with its sign.
func diffOf(before, after string) []string {
	p := patch.Of(patch.File{Path: "field", Old: []byte(ended(before)), New: []byte(ended(after)), OldMode: "100644", NewMode: "100644"})
	var out []string
	hunk := false
	for line := range strings.Lines(p.Text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "@@"):
			hunk = true
		case hunk && line != "":
			out = append(out, line)
		}
	}
	return out
}

// ended ends a text's last line, if there is any.
func ended(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}
