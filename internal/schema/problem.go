package schema

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/fettle-cli/fettle/internal/sanitize"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// MaxProblems bounds what one check reports; a further Problem says how many
// were left out.
const MaxProblems = 50

// Problem is one thing that is wrong with a document.
type Problem struct {
	// Pointer is the JSON pointer of the value, or of the place where one is
	// missing; empty for the whole document. It is exact, so it may hold
	// whatever characters a key holds; String shows it safely.
	Pointer string `json:"pointer"`
	// Message says what is wrong, on one line without control characters.
	Message string `json:"message"`
}

// String is `/items/3/price: expected number, got string "12"`.
func (p Problem) String() string {
	if p.Pointer == "" {
		return p.Message
	}
	return shownPointer(p.Pointer) + ": " + p.Message
}

// Explain gives the problems one a line, as a model or a person reads them.
func Explain(problems []Problem) string {
	lines := make([]string, len(problems))
	for i, p := range problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// maxShownPointer keeps a hostile key from filling the message.
const maxShownPointer = 300

func shownPointer(p string) string { return clip(sanitize.Mask(p), maxShownPointer) }

// clip shortens a text to about n bytes, at a character.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	cut := n
	for cut > 0 && s[cut]&0xC0 == 0x80 {
		cut--
	}
	return s[:cut] + "…"
}

// issue is a leaf of the library's error tree.
type issue struct {
	loc    []string
	schema string // the location of the subschema, for the order and for names
	what   any    // an ErrorKind or one of the hook's errors
}

// unexpected is a property, at its own place, that the subschema doesn't know.
type unexpected struct{}

// translator turns the library's error tree into problems.
type translator struct {
	schema *Schema // nil for errors of a schema against its metaschema
}

func (t *translator) problems(err *jsonschema.ValidationError) []Problem {
	issues := t.collect(err)
	slices.SortFunc(issues, compareIssues)
	var out []Problem
	dropped := 0
	seen := make(map[Problem]bool)
	for _, is := range issues {
		if len(out) >= MaxProblems {
			dropped++
			continue
		}
		for _, p := range t.words(is) {
			if !seen[p] {
				seen[p] = true
				out = append(out, p)
			}
		}
	}
	switch {
	case len(out) == 0:
		return []Problem{{Message: "it doesn't fit the schema"}}
	case dropped > 0 || len(out) > MaxProblems:
		dropped += max(len(out)-MaxProblems, 0)
		out = append(out[:min(len(out), MaxProblems)], Problem{Message: fmt.Sprintf("and %d more problems", dropped)})
	}
	return out
}

// compareIssues orders by place in the document, then by subschema; an
// introduction stands before what it introduces.
func compareIssues(a, b issue) int {
	if c := slices.CompareFunc(a.loc, b.loc, compareTokens); c != 0 {
		return c
	}
	if a.intro() != b.intro() {
		if a.intro() {
			return -1
		}
		return 1
	}
	if c := cmp.Compare(a.schema, b.schema); c != 0 {
		return c
	}
	return cmp.Compare(fmt.Sprintf("%T", a.what), fmt.Sprintf("%T", b.what))
}

func (is issue) intro() bool {
	_, ok := is.what.(nearestForm)
	return ok
}

// compareTokens puts 9 before 10.
func compareTokens(a, b string) int {
	x, errA := strconv.Atoi(a)
	y, errB := strconv.Atoi(b)
	if errA == nil && errB == nil && x != y {
		return cmp.Compare(x, y)
	}
	return cmp.Compare(a, b)
}

func (t *translator) collect(err *jsonschema.ValidationError) []issue {
	leaf := issue{loc: err.InstanceLocation, schema: err.SchemaURL, what: err.ErrorKind}
	switch k := err.ErrorKind.(type) {
	case nil:
		return nil // the library doesn't say what it wasn't asked
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf:
		var all []issue
		for _, cause := range err.Causes {
			all = append(all, t.collect(cause)...)
		}
		return all
	case *kind.AnyOf:
		return t.forms(err)
	case *kind.OneOf:
		if len(k.Subschemas) == 0 {
			return t.forms(err)
		}
	case *kind.Format:
		if k.Want == "" { // ours
			leaf.what = k.Err
		}
	case *kind.Type:
		leaf.what = &wrongType{want: k.Want, name: k.Got}
	case *kind.Enum:
		leaf.what = &wrongValue{want: k.Want, got: k.Got, has: true}
	case *kind.Const:
		leaf.what = &wrongValue{want: []any{k.Want}, got: k.Got, has: true}
	case *kind.FalseSchema:
		leaf.what = notAllowed{}
	case *kind.AdditionalProperties:
		var all []issue
		for _, name := range k.Properties {
			all = append(all, issue{loc: append(slices.Clone(leaf.loc), name), schema: leaf.schema, what: unexpected{}})
		}
		return all
	}
	return []issue{leaf}
}

// locationPointer is the part of a schema's location after the #.
func locationPointer(location string) string {
	_, frag, _ := strings.Cut(location, "#")
	if plain, err := url.PathUnescape(frag); err == nil {
		return plain
	}
	return frag
}

func escapeFragment(pointer string) string {
	tokens := strings.Split(pointer, "/")
	for i, token := range tokens {
		tokens[i] = url.PathEscape(token)
	}
	return strings.Join(tokens, "/")
}
