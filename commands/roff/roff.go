package roff

import (
	"fmt"
	"strings"
)

// Page is a man page that is being written. Begin with Title.
type Page struct{ b strings.Builder }

// Title is what stands at the head and the foot of a page.
type Title struct {
	Name    string
	Section string // "1"
	Date    string // YYYY-MM-DD; empty where it isn't known
	Source  string // the program with its version
	Manual  string
}

// Inline is a part of a line that is escaped already.
type Inline string

// String is the page.
func (r *Page) String() string { return r.b.String() }

// Title begins the page.
func (r *Page) Title(t Title) {
	fmt.Fprintf(&r.b, ".TH %s %s %s %s %s\n",
		argument(strings.ToUpper(t.Name)), argument(t.Section), argument(t.Date), argument(t.Source), argument(t.Manual))
	// No justification and no hyphens: commands stand in the text.
	r.b.WriteString(".ad l\n.nh\n")
}

// Section begins a section.
func (r *Page) Section(name string) { r.b.WriteString(".SH " + argument(name) + "\n") }

// Subsection begins a part of a section.
func (r *Page) Subsection(name string) { r.b.WriteString(".SS " + argument(name) + "\n") }

// Break begins a paragraph.
func (r *Page) Break() { r.b.WriteString(".PP\n") }

// Line writes one line, which is filled with those around it.
func (r *Page) Line(s Inline) { r.b.WriteString(whole(string(s))) }

// Text writes prose as lines that are filled.
func (r *Page) Text(s string) {
	for l := range strings.Lines(s) {
		r.b.WriteString(line(strings.TrimSpace(l)))
	}
}

// Paragraphs writes prose with blank lines between, and what is indented, or
// in columns, as it stands.
func (r *Page) Paragraphs(s string) {
	for i, p := range splitParagraphs(s) {
		if i > 0 {
			r.Break()
		}
		if asItStands(p) {
			r.Verbatim(p)
		} else {
			r.Text(p)
		}
	}
}

// Verbatim writes lines that are not filled.
func (r *Page) Verbatim(s string) {
	r.b.WriteString(".nf\n")
	for l := range strings.Lines(s) {
		r.b.WriteString(line(strings.TrimRight(l, "\n ")))
	}
	r.b.WriteString(".fi\n")
}

// Examples writes commands, indented.
func (r *Page) Examples(s string) {
	r.b.WriteString(".RS 4\n")
	r.Verbatim(s)
	r.b.WriteString(".RE\n")
}

// Item writes a term and what it means.
func (r *Page) Item(term Inline, meaning string) {
	r.b.WriteString(".TP\n" + whole(string(term)))
	r.Text(meaning)
}

// Bold is text in bold.
func Bold(s string) Inline { return Inline(`\fB` + escape(s) + `\fR`) }

// Italic is text in italics.
func Italic(s string) Inline { return Inline(`\fI` + escape(s) + `\fR`) }

// argument quotes the argument of a request.
func argument(s string) string { return `"` + strings.ReplaceAll(escape(s), `"`, `\(dq`) + `"` }

// line is one line of text.
func line(s string) string { return whole(escape(s)) }

// whole ends a line that is escaped, so that it is text and no request.
func whole(s string) string {
	if strings.HasPrefix(s, ".") { // an apostrophe, the other one, is written by name
		s = `\&` + s
	}
	if s == "" {
		s = `\&`
	}
	return s + "\n"
}

// escape escapes what means something to roff.
func escape(s string) string {
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
