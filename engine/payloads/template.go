package payloads

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/fettle-cli/fettle/internal/schema"
)

// MaxContext bounds a request's context.
const MaxContext = 1 << 20

// What a context may become.
const (
	maxFilled = 64 << 10 // the filled template
	maxValue  = 8 << 10  // one value in it
	// maxPath is how many parts an expression may have, maxExpressions how many
	// there may be: each is looked up and written anew.
	maxPath        = 50
	maxExpressions = 500
)

// Fill fills a context template. `$context.stream.name` stands for that value
// of the context, `$context.items.0` for an array's first, `$context` for all of
// it; everything else is text. A line with expressions of which none has a
// value is left out.
//
// A value is written as JSON: a text stands in quotes on one line, with <, >
// and & escaped. Where it holds one of the markers or a [[tool:, the first
// character of that is written as a JSON escape, so that it reads the same and
// is none. A value over 8 KB is cut, and is then a text.
//
// Nothing is filled in twice, and no value can add an expression.
func Fill(template string, context json.RawMessage, markers []string) (string, error) {
	if len(context) > MaxContext {
		return "", fmt.Errorf("read context: it has %d KB; %d are allowed", len(context)>>10, MaxContext>>10)
	}
	var root any
	if len(bytes.TrimSpace(context)) > 0 {
		var err error
		if root, err = schema.Decode(context); err != nil {
			return "", fmt.Errorf("read context: %w", err)
		}
		if _, ok := root.(map[string]any); !ok && root != nil {
			return "", errors.New("read context: it is no JSON object")
		}
	}
	f := &filler{root: root, words: append([]string{"[[tool:"}, markers...)}
	var out strings.Builder
	for line := range strings.Lines(template) {
		out.WriteString(f.line(line))
		if f.asked > maxExpressions {
			return "", fmt.Errorf("fill context: it has more than %d expressions", maxExpressions)
		}
		if out.Len() > maxFilled {
			return "", fmt.Errorf("fill context: it has more than %d KB", maxFilled>>10)
		}
	}
	return out.String(), nil
}

// filler fills the lines of one template.
type filler struct {
	root  any
	words []string // what no value may hold
	asked int      // expressions so far
}

func (f *filler) line(line string) string {
	var b strings.Builder
	asked, got := 0, 0
	for rest := line; ; {
		open := strings.Index(rest, contextName)
		if open < 0 {
			b.WriteString(rest)
			break
		}
		path, n := expression(rest[open:])
		if n == 0 {
			b.WriteString(rest[:open+len(contextName)])
			rest = rest[open+len(contextName):]
			continue
		}
		b.WriteString(rest[:open])
		rest = rest[open+n:]
		asked++
		f.asked++
		if v, ok := lookup(f.root, path); ok {
			got++
			b.WriteString(f.value(v))
		}
	}
	if asked > 0 && got == 0 {
		return ""
	}
	return b.String()
}

// contextName is what expressions begin with, as in a toolset's manifest.
const contextName = "$context"

// expression reads the $context.path that s begins with; n is 0 where it is
// none, such as $contexts.
func expression(s string) (path []string, n int) {
	n = len(contextName)
	for n < len(s) && s[n] == '.' {
		end := n + 1
		for end < len(s) && (isWord(s[end]) || s[end] == '-') {
			end++
		}
		if end == n+1 || len(path) == maxPath {
			break // the dot that ends a sentence
		}
		path = append(path, s[n+1:end])
		n = end
	}
	if n < len(s) && isWord(s[n]) && len(path) == 0 {
		return nil, 0
	}
	return path, n
}

// lookup gives the value at a path; null counts as none.
func lookup(v any, path []string) (any, bool) {
	for _, name := range path {
		switch in := v.(type) {
		case map[string]any:
			v = in[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(in) {
				return nil, false
			}
			v = in[i]
		default:
			return nil, false
		}
	}
	return v, v != nil
}

// value writes a value as harmless JSON.
func (f *filler) value(v any) string {
	text := encode(v)
	if len(text) > maxValue {
		if long, ok := v.(string); ok {
			text = long
		}
		text = encode(strings.ToValidUTF8(text[:maxValue], "") + "…")
	}
	return f.safe(text)
}

// maxEscapes bounds the escaping of one value: an escape can make a word anew,
// for words that look like escapes themselves.
const maxEscapes = 1000

// safe writes the first character of each forbidden word as a JSON escape.
// Those words hold no quotes, braces and brackets but for "[[tool:", which JSON
// has within texts only, so the JSON means the same. A value for which that
// can't be done is an empty text.
func (f *filler) safe(text string) string {
	for range maxEscapes {
		at, w := f.forbidden(text)
		if at < 0 {
			return text
		}
		if !insideText(text, at) {
			break
		}
		first, size := utf8.DecodeRuneInString(w)
		text = text[:at] + escaped(first) + text[at+size:]
	}
	return `""`
}

// forbidden finds a word that the text may not hold; at is -1 where there is none.
func (f *filler) forbidden(text string) (at int, word string) {
	for _, w := range f.words {
		if w == "" {
			continue
		}
		if at := strings.Index(text, w); at >= 0 {
			return at, w
		}
	}
	return -1, ""
}

// insideText tells whether a place in JSON is within a string, and no part of
// an escape.
func insideText(text string, at int) bool {
	in := false
	for i := 0; i < at; i++ {
		switch {
		case in && text[i] == '\\':
			i++
			if i < len(text) && text[i] == 'u' {
				i += 4
			}
			if i >= at {
				return false
			}
		case text[i] == '"':
			in = !in
		}
	}
	return in
}

func escaped(r rune) string {
	if hi, lo := utf16.EncodeRune(r); hi != utf8.RuneError {
		return fmt.Sprintf(`\u%04x\u%04x`, hi, lo)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// encode is compact JSON with <, > and & escaped, and line separators too.
func encode(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return "null" // what was decoded can be encoded
	}
	return string(raw)
}
