package render

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Ref is an expression in a config, such as $return.stats.rows.
type Ref struct {
	Root string   // args, return, chat_id, workspace or toolset
	Path []string // of args and return only
}

// String is the expression as it is written.
func (r Ref) String() string { return "$" + strings.Join(append([]string{r.Root}, r.Path...), ".") }

// piece is a part of a string: text as it is, or an expression.
type piece struct {
	text string
	ref  *Ref
}

// parse cuts a string into its pieces. There is no wrong string: what is no
// expression is text.
func parse(s string) []piece {
	var out []piece
	text := 0 // where the text that isn't in out yet begins
	for i := 0; i < len(s); {
		if s[i] != '$' {
			i++
			continue
		}
		if strings.HasPrefix(s[i:], "$$") {
			if _, n := readRef(s[i+1:]); n > 0 { // an escaped expression
				out = appendText(out, s[text:i])
				text, i = i+1, i+1+n
				continue
			}
			i++
			continue
		}
		ref, n := readRef(s[i:])
		if n == 0 {
			i++
			continue
		}
		out = append(appendText(out, s[text:i]), piece{ref: &ref})
		i += n
		text = i
	}
	return appendText(out, s[text:])
}

func appendText(pieces []piece, text string) []piece {
	if text == "" {
		return pieces
	}
	if n := len(pieces); n > 0 && pieces[n-1].ref == nil {
		pieces[n-1].text += text
		return pieces
	}
	return append(pieces, piece{text: text})
}

// readRef reads the expression that s begins with, and how long it is; 0 where
// there is none. s begins with a dollar.
func readRef(s string) (Ref, int) {
	n := wordEnd(s, 1)
	root := s[1:n]
	switch root {
	case "chat_id", "workspace", "toolset":
		return Ref{Root: root}, n
	case "args", "return":
	default:
		return Ref{}, 0
	}
	ref := Ref{Root: root}
	for n < len(s) && s[n] == '.' {
		end := wordEnd(s, n+1)
		if end == n+1 {
			break // a full stop behind the expression
		}
		ref.Path = append(ref.Path, s[n+1:end])
		n = end
	}
	return ref, n
}

// wordEnd is where the word that begins at i ends. A hyphen is part of it only
// between letters or digits, so that "$args.a - b" and "$args.a-" read as they
// look.
func wordEnd(s string, i int) int {
	for i < len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c >= 0x80:
			i++
		case c == '-' && i+1 < len(s) && isWord(s[i+1]) && i > 0 && isWord(s[i-1]):
			i++
		default:
			return i
		}
	}
	return i
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c >= 0x80
}

// Refs are the expressions of a config, in the order in which they stand; for
// a validator.
func Refs(config json.RawMessage) ([]Ref, error) {
	var out []Ref
	_, err := transform(config, 0, func(s string) json.RawMessage {
		for _, p := range parse(s) {
			if p.ref != nil {
				out = append(out, *p.ref)
			}
		}
		return nil
	})
	return out, err
}

// Lookup finds the value at a path of a document: names of objects' fields and
// indexes of lists. The value has the digits and the escapes that it came with.
func Lookup(doc json.RawMessage, path []string) (json.RawMessage, bool) {
	for _, name := range path {
		doc = json.RawMessage(strings.TrimLeft(string(doc), " \t\r\n"))
		switch {
		case strings.HasPrefix(string(doc), "{"):
			var fields map[string]json.RawMessage
			if json.Unmarshal(doc, &fields) != nil {
				return nil, false
			}
			value, ok := fields[name]
			if !ok {
				return nil, false
			}
			doc = value
		case strings.HasPrefix(string(doc), "["):
			var items []json.RawMessage
			i, err := strconv.Atoi(name)
			if err != nil || json.Unmarshal(doc, &items) != nil || i < 0 || i >= len(items) {
				return nil, false
			}
			doc = items[i]
		default:
			return nil, false
		}
	}
	return doc, len(doc) > 0
}
