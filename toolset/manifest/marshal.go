package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Marshal writes a manifest as YAML: the fields in document 004's order, in
// block style, schemas with their fields in the order in which they were read.
// The bytes depend on nothing but the manifest, and reading them gives it back.
// It fails where the manifest holds a schema or data that isn't JSON, or a
// number that a manifest can't hold.
func Marshal(m *Manifest) ([]byte, error) {
	text, err := YAML(m)
	if err != nil {
		return nil, fmt.Errorf("write manifest: %w", err)
	}
	return text, nil
}

// YAML writes a value whose JSON is an object in the style of [Marshal].
func YAML(v any) ([]byte, error) {
	var raw bytes.Buffer
	enc := json.NewEncoder(&raw)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	dec := json.NewDecoder(&raw)
	dec.UseNumber()
	object, err := ordered(dec)
	if err != nil {
		return nil, err
	}
	w := &writer{}
	top, _ := object.(pairs)
	w.topLevel(top)
	return w.buf.Bytes(), nil
}

// ordered decodes JSON without losing the order of its fields.
func ordered(dec *json.Decoder) (any, error) {
	tok, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch tok {
	case json.Delim('{'):
		obj := pairs{}
		for dec.More() {
			name, err := dec.Token()
			if err != nil {
				return nil, err
			}
			v, err := ordered(dec)
			if err != nil {
				return nil, err
			}
			obj = append(obj, pair{name.(string), v})
		}
		_, err := dec.Token()
		return obj, err
	case json.Delim('['):
		arr := []any{}
		for dec.More() {
			v, err := ordered(dec)
			if err != nil {
				return nil, err
			}
			arr = append(arr, v)
		}
		_, err := dec.Token()
		return arr, err
	case json.Delim('}'), json.Delim(']'):
		return nil, errors.Join(io.ErrUnexpectedEOF)
	}
	return tok, nil
}

// writer emits YAML in block style. It quotes more than it need, and never
// less: what it writes plainly is text to every reader of YAML 1.1 and 1.2.
type writer struct{ buf bytes.Buffer }

// topLevel sets lists of things apart by an empty line.
func (w *writer) topLevel(top pairs) {
	for i, p := range top {
		if _, scalar := p.value.(string); !scalar && i > 0 || p.name == "id" {
			w.buf.WriteByte('\n')
		}
		w.entry(p, 0)
	}
}

const step = 2

func (w *writer) indent(n int) { w.buf.WriteString(strings.Repeat(" ", n)) }

func (w *writer) entry(p pair, depth int) {
	w.indent(depth)
	w.key(p.name)
	w.buf.WriteByte(':')
	// what is versioned is quoted always, so that nobody learns it otherwise
	if s, ok := p.value.(string); ok && depth == 0 && (p.name == "version" || p.name == "manifest_version") {
		w.buf.WriteByte(' ')
		w.quoted(s)
		w.buf.WriteByte('\n')
		return
	}
	w.value(p.value, depth+step)
}

func (w *writer) key(name string) {
	if plainText(name) && len(name) < 100 {
		w.buf.WriteString(name)
		return
	}
	w.quoted(name)
}

// value writes what follows a colon or a dash: on the same line, or below it.
func (w *writer) value(v any, depth int) {
	switch v := v.(type) {
	case pairs:
		if len(v) == 0 {
			w.buf.WriteString(" {}\n")
			return
		}
		w.buf.WriteByte('\n')
		for _, p := range v {
			w.entry(p, depth)
		}
	case []any:
		if flow, ok := shortList(v); ok {
			w.buf.WriteString(" " + flow + "\n")
			return
		}
		w.buf.WriteByte('\n')
		for _, e := range v {
			w.element(e, depth)
		}
	default:
		w.buf.WriteByte(' ')
		w.scalar(v, depth)
		w.buf.WriteByte('\n')
	}
}

// element writes an entry of a list; a mapping begins beside its dash.
func (w *writer) element(v any, depth int) {
	w.indent(depth)
	w.buf.WriteByte('-')
	obj, ok := v.(pairs)
	if !ok || len(obj) == 0 {
		w.value(v, depth+step)
		return
	}
	w.buf.WriteByte(' ')
	for i, p := range obj {
		start := w.buf.Len()
		w.entry(p, depth+step)
		if i == 0 { // the dash and the space stand for the indentation
			rest := bytes.Clone(w.buf.Bytes()[start+depth+step:])
			w.buf.Truncate(start)
			w.buf.Write(rest)
		}
	}
}

// maxFlow is the longest list that stands on one line.
const maxFlow = 70

// shortList writes a list of plain words on one line.
func shortList(list []any) (string, bool) {
	if len(list) == 0 {
		return "[]", true
	}
	var words []string
	n := 0
	for _, e := range list {
		s, ok := e.(string)
		if !ok || !plainText(s) || strings.ContainsAny(s, ",[]{}") {
			return "", false
		}
		words = append(words, s)
		if n += len(s) + 2; n > maxFlow {
			return "", false
		}
	}
	return "[" + strings.Join(words, ", ") + "]", true
}

func (w *writer) scalar(v any, depth int) {
	switch v := v.(type) {
	case nil:
		w.buf.WriteString("null")
	case bool:
		fmt.Fprintf(&w.buf, "%t", v)
	case json.Number:
		w.buf.WriteString(v.String())
	case string:
		switch {
		case plainText(v):
			w.buf.WriteString(v)
		case blockText(v):
			w.block(v, depth)
		default:
			w.quoted(v)
		}
	}
}

// plainText tells whether every reader of YAML takes s for that text when it
// stands without quotes: words of letters and digits with little between.
func plainText(s string) bool {
	if s == "" || len(s) > 4<<10 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		switch {
		case letter:
		case i == 0:
			return false // digits, signs and all that YAML gives a meaning
		case c >= '0' && c <= '9', strings.IndexByte("_-./(),;+@'=<>!?", c) >= 0:
		case c == ' ' && i+1 < len(s) && s[i-1] != ' ':
		case c == ':' && i+1 < len(s) && s[i+1] != ' ':
		default:
			return false
		}
	}
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf", "infinity":
		return false
	}
	return true
}

// blockText tells whether a text of several lines can stand as a block and
// come back as it was.
func blockText(s string) bool {
	if !strings.Contains(strings.TrimRight(s, "\n"), "\n") || strings.HasPrefix(s, " ") || strings.HasPrefix(s, "\n") || strings.HasSuffix(s, "\n\n") {
		return false
	}
	for line := range strings.SplitSeq(s, "\n") {
		if strings.HasSuffix(line, " ") || strings.ContainsFunc(line, unprintable) {
			return false
		}
	}
	return true
}

// unprintable is what a block can't hold, or some reader would change.
func unprintable(r rune) bool {
	return r < ' ' || r == 0x7f || r >= 0x80 && r <= 0x9f || r == '\u2028' || r == '\u2029' || r == '\ufeff' || r == 0xfffd || r > 0xffff ||
		r >= 0xd800 && r <= 0xdfff || r == 0xfffe || r == 0xffff
}

func (w *writer) block(s string, depth int) {
	if body, ok := strings.CutSuffix(s, "\n"); ok {
		w.buf.WriteString("|\n")
		s = body
	} else {
		w.buf.WriteString("|-\n")
	}
	for i, line := range strings.Split(s, "\n") {
		if i > 0 {
			w.buf.WriteByte('\n')
		}
		if line != "" {
			w.indent(depth)
			w.buf.WriteString(line)
		}
	}
}

// quoted writes a text in double quotes, with YAML's escapes.
func (w *writer) quoted(s string) {
	w.buf.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			w.buf.WriteByte('\\')
			w.buf.WriteRune(r)
		case r == '\n':
			w.buf.WriteString(`\n`)
		case r == '\t':
			w.buf.WriteString(`\t`)
		case r == '\r':
			w.buf.WriteString(`\r`)
		case r > 0xffff:
			fmt.Fprintf(&w.buf, `\U%08X`, r)
		case unprintable(r) || r == 0xa0 || r == 0x85:
			fmt.Fprintf(&w.buf, `\u%04X`, r)
		default:
			w.buf.WriteRune(r)
		}
	}
	w.buf.WriteByte('"')
}
