package yamledit

import (
	"fmt"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v4"
)

// Value is what a key is set to.
type Value struct {
	text string
	word bool // text is YAML already: a number or a word
	list []string
	many bool
}

// Text is a text; it is quoted where YAML would take it for something else.
func Text(s string) Value { return Value{text: s} }

// Word is a number, true, on and the like, written as it is.
func Word(s string) Value { return Value{text: s, word: true} }

// List is a list of texts.
func List(elems []string) Value { return Value{list: elems, many: true} }

// wide is how long a line with a list in brackets may become; longer ones are
// written an element a line.
const wide = 80

// inline writes the value for one line.
func (v Value) inline(flow bool) string {
	switch {
	case v.many:
		parts := make([]string, len(v.list))
		for i, e := range v.list {
			parts[i] = scalar(e, true)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case v.word:
		return v.text
	}
	return scalar(v.text, flow)
}

// block writes the value behind a key: what stands on the key's line, and the
// lines below it, without their indent of two.
func (v Value) block(keyWidth int) (head string, body []string) {
	if v.many {
		if line := v.inline(true); keyWidth+len(line) <= wide || len(v.list) == 0 {
			return line, nil
		}
		for _, e := range v.list {
			body = append(body, "- "+scalar(e, false))
		}
		return "", body
	}
	if !v.word && literal(v.text) {
		head = "|"
		text, ended := strings.CutSuffix(v.text, "\n")
		if !ended {
			head = "|-"
		}
		return head, strings.Split(text, "\n")
	}
	return v.inline(false), nil
}

// literal tells whether a text of several lines can be written below a |.
func literal(s string) bool {
	if !strings.Contains(s, "\n") {
		return false
	}
	lines := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	if lines[0] == "" || lines[len(lines)-1] == "" || strings.ContainsAny(lines[0][:1], " \t#") {
		return false
	}
	for _, l := range lines {
		if l != "" && strings.TrimSpace(l) == "" || strings.ContainsFunc(l, func(r rune) bool { return !unicode.IsPrint(r) }) {
			return false
		}
	}
	return true
}

// scalar writes a text on one line, quoted where it has to be.
func scalar(s string, flow bool) string {
	if plain(s, flow) {
		return s
	}
	return doubleQuoted(s)
}

// plain tells whether a text may stand without quotes.
func plain(s string, flow bool) bool {
	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return false
	}
	first := rune(s[0])
	if !unicode.IsLetter(first) && !unicode.IsDigit(first) && first != '_' && first != '/' && first < 0x80 {
		return false
	}
	if strings.ContainsAny(s, "\"'") || flow && (strings.ContainsAny(s, ",[]{}") || strings.Contains(s, ":")) ||
		strings.Contains(s, ": ") || strings.Contains(s, " #") || strings.HasSuffix(s, ":") {
		return false
	}
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off": // what older readers take for true and false
		return false
	}
	n, ok := parsed(s)
	return ok && n.Kind == yaml.ScalarNode && n.ShortTag() == tagText && n.Value == s
}

const (
	tagText = "!!str"
	tagNull = "!!null"
)

// parsed gives the node of a text of its own.
func parsed(s string) (*yaml.Node, bool) {
	d, err := parse(s)
	if err != nil || d.root == nil {
		return nil, false
	}
	return d.root, true
}

func doubleQuoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r <= 0xff:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
