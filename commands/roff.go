package commands

import (
	"fmt"
	"strings"
)

// roff writes a man page in the macros of man(7). Text is escaped: no line of
// it can begin a request, and what isn't ASCII is named by its number, so that
// a page reads the same whatever encoding man takes it for.
type roff struct{ b strings.Builder }

// roffTitle is what stands at the head and the foot of a page.
type roffTitle struct{ name, section, date, source, manual string }

// title begins the page.
func (r *roff) title(t roffTitle) {
	fmt.Fprintf(&r.b, ".TH %s %s %s %s %s\n",
		roffArg(strings.ToUpper(t.name)), t.section, roffArg(t.date), roffArg(t.source), roffArg(t.manual))
	// No justification and no hyphens: commands stand in the text.
	r.b.WriteString(".ad l\n.nh\n")
}

func (r *roff) section(name string) { r.b.WriteString(".SH " + roffArg(name) + "\n") }

// text writes prose as lines that are filled.
func (r *roff) text(s string) {
	for line := range strings.Lines(s) {
		r.b.WriteString(roffLine(strings.TrimSpace(line)))
	}
}

// paragraphs writes prose with blank lines between, and what is indented, or
// in columns, as it stands.
func (r *roff) paragraphs(s string) {
	for i, p := range splitParagraphs(s) {
		if i > 0 {
			r.b.WriteString(".PP\n")
		}
		if asItStands(p) {
			r.verbatim(p)
		} else {
			r.text(p)
		}
	}
}

// verbatim writes lines that are not filled.
func (r *roff) verbatim(s string) {
	r.b.WriteString(".nf\n")
	for line := range strings.Lines(s) {
		r.b.WriteString(roffLine(strings.TrimRight(line, "\n ")))
	}
	r.b.WriteString(".fi\n")
}

// examples writes commands, indented.
func (r *roff) examples(s string) {
	r.b.WriteString(".RS 4\n")
	r.verbatim(s)
	r.b.WriteString(".RE\n")
}

// item writes a term and what it means.
func (r *roff) item(term, meaning string) {
	r.b.WriteString(".TP\n" + term + "\n")
	r.text(meaning)
}

// bold is escaped text in bold, italic in italics, for the parts of a line.
func bold(s string) string   { return `\fB` + roffText(s) + `\fR` }
func italic(s string) string { return `\fI` + roffText(s) + `\fR` }

// roffArg quotes the argument of a request.
func roffArg(s string) string { return `"` + strings.ReplaceAll(roffText(s), `"`, `\(dq`) + `"` }

// roffLine is one line of text.
func roffLine(s string) string {
	s = roffText(s)
	if strings.HasPrefix(s, ".") { // an apostrophe, the other one, is written by name
		s = `\&` + s
	}
	if s == "" {
		s = `\&`
	}
	return s + "\n"
}

// roffText escapes what means something to roff.
func roffText(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\\':
			b.WriteString(`\e`)
		case r == '-': // else it may be shown as a hyphen, which no shell takes
			b.WriteString(`\-`)
		case r == '~':
			b.WriteString(`\(ti`)
		case r == '^':
			b.WriteString(`\(ha`)
		case r == '`':
			b.WriteString(`\(ga`)
		case r == '\'':
			b.WriteString(`\(aq`)
		case r == '\t':
			b.WriteString("    ")
		case r < ' ' || r == 0x7f:
			// a control character has no place in a page
		case r > 0x7e:
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// splitParagraphs splits at blank lines.
func splitParagraphs(s string) []string {
	var out []string
	for p := range strings.SplitSeq(s, "\n\n") {
		if strings.TrimSpace(p) != "" {
			out = append(out, strings.Trim(p, "\n"))
		}
	}
	return out
}

// asItStands tells a paragraph that has been laid out by hand: lines that are
// indented, or columns.
func asItStands(p string) bool {
	for line := range strings.Lines(p) {
		if strings.HasPrefix(line, " ") || strings.Contains(strings.TrimSpace(line), "   ") {
			return true
		}
	}
	return false
}
