package show

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/engine/workspace"
)

// shownArgs is how much of a call's arguments is looked at for its line: more
// than any terminal is wide.
const shownArgs = 400

// MainArgs are the names of arguments that say by themselves what a call is
// about, the strongest first.
func MainArgs() []string { return []string{"command", "query", "pattern", "path", "url", "filename"} }

// ArgLine shows a call's arguments on one line: the one that matters, or all.
func ArgLine(input json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) != nil {
		return OneLine(string(input))
	}
	for _, name := range MainArgs() {
		var s string
		if raw, ok := fields[name]; ok && json.Unmarshal(raw, &s) == nil {
			return OneLine(s)
		}
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		value := string(fields[name])
		var s string
		if json.Unmarshal(fields[name], &s) == nil {
			value = s
		}
		if value = OneLine(value); len(fields) > 1 {
			value = OneLine(name) + "=" + term.CutEnd(value, 60)
		}
		parts = append(parts, value)
	}
	return term.CutEnd(strings.Join(parts, " "), shownArgs)
}

// OneLine is the begin of a text, on one line and harmless.
func OneLine(s string) string {
	if len(s) > 4*shownArgs {
		s = strings.ToValidUTF8(s[:4*shownArgs], "") + "…"
	}
	return term.CutEnd(term.Clean(s), shownArgs)
}

// Call is what a line says of one call of a tool.
type Call struct {
	Mark string // how it went, with its colour
	Tool string // its name
	Args string // the argument that matters, by ArgLine
	Note string // what came of it, in short
}

// Line fits the width of out; what doesn't is cut out of the argument. A note that is
// too long for that, such as an error, stands below.
func (c Call) Line(out *term.Output) string {
	const gap = "  "
	style, width := out.Style(), out.Width()
	mark, tool, args, note := c.Mark, term.Clean(c.Tool), c.Args, c.Note
	head := 2 + term.Cells(tool)
	below := false
	if width > 0 {
		room := width - head - 2*len(gap)
		if below = term.Cells(note) > max(room-term.Cells(args), 16); !below {
			room -= term.Cells(note)
		}
		args = term.CutMiddle(args, max(room, 8))
	}
	var b strings.Builder
	b.WriteString(mark + " " + tool)
	if args != "" {
		b.WriteString(gap + args)
	}
	switch {
	case note == "":
	case !below:
		b.WriteString(gap + style.Dim(note))
	default:
		for _, line := range term.Wrap(note, width-len(gap)) {
			b.WriteString("\n" + gap + style.Dim(line))
		}
	}
	return b.String() + "\n"
}

// ResultLines are the begin of what a call gave, below its line.
func ResultLines(out *term.Output, text string) string {
	const mark, indent, most = "← ", "  ", 3
	lines := term.Wrap(mark+OneLine(text), out.Width()-len(indent))
	if len(lines) > most {
		lines = append(lines[:most-1], term.CutEnd(strings.Join(lines[most-1:], " "), out.Width()-len(indent)))
	}
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(indent + out.Style().Dim(line) + "\n")
	}
	return b.String()
}

// ReasonOf shows why a call failed on one line: the first of the error's, and
// the next where the first only announces it.
func ReasonOf(text string) string {
	first, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if strings.HasSuffix(first, ":") {
		next, _, _ := strings.Cut(strings.TrimSpace(rest), "\n")
		first += " " + strings.TrimSpace(next)
	}
	return OneLine(first)
}

// SizeCell is a size for a person, and bytes for a program.
func SizeCell(out *term.Output, n int64) string {
	if out.IsTerminal() {
		return term.Size(n)
	}
	return strconv.FormatInt(n, 10)
}

// FirstLine is a text up to its first end of a line.
func FirstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// ChangedText counts changed files, of which an event lists so many.
func ChangedText(n int) string {
	if n >= workspace.MaxChanges {
		return term.Number(workspace.MaxChanges) + " files or more changed"
	}
	return term.Count(n, "file", "files") + " changed"
}

// WhenText is a time for a person, as long ago, and for a program.
func WhenText(out *term.Output, t time.Time) string {
	if out.IsTerminal() {
		return term.Ago(time.Now(), t)
	}
	return t.UTC().Format(time.RFC3339)
}

// ItOrThem is the word for so many things.
func ItOrThem(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

// RoomForAll is the narrowest terminal that shows all columns of the list.
const RoomForAll = 64
