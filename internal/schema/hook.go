package schema

import (
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// hook does the first part of a subschema's work in the library's place: the
// steps are counted before anything else happens, and `type`, `const` and
// `enum` are checked here, since the library compares an enum's values one by
// one as exact fractions.
type hook struct {
	run    *run
	never  bool     // the schema `false`
	types  []string // nil where any will do
	values []any    // const or enum
	isEnum bool
	consts bool
	text   map[string]bool // the strings among an enum's values
}

// instrument hangs a hook on every subschema. The library calls a schema's
// Format before anything that costs more, and we assert no formats.
func instrument(root *jsonschema.Schema, all []*jsonschema.Schema, r *run) *Schema {
	s := &Schema{
		root:  root,
		hooks: make(map[*jsonschema.Schema]*hook, len(all)),
		at:    make(map[string]*jsonschema.Schema, len(all)),
		run:   r,
	}
	for _, sub := range all {
		s.at[sub.Location] = sub
		if sub.Bool != nil && *sub.Bool {
			continue
		}
		h := &hook{run: r}
		h.takeOver(sub)
		s.hooks[sub] = h
		sub.Format = &jsonschema.Format{Validate: h.check}
		if sub.PropertyNames != nil {
			sub.Extensions = append(sub.Extensions, names{sub.PropertyNames})
			sub.PropertyNames = nil
		}
	}
	return s
}

func (h *hook) takeOver(s *jsonschema.Schema) {
	if s.Bool != nil {
		h.never = true
		s.Bool = nil
	}
	if s.Types != nil && !s.Types.IsEmpty() {
		h.types = s.Types.ToStrings()
		s.Types = nil
	}
	if s.Const != nil {
		h.consts = true
		h.values = []any{*s.Const}
		s.Const = nil
	}
	if s.Enum != nil {
		if !h.consts { // with both, the const decides unless the enum lacks it
			h.values = s.Enum.Values
		} else if !slices.ContainsFunc(s.Enum.Values, func(v any) bool { return equal(v, h.values[0]) }) {
			h.values = nil
		}
		h.isEnum = true
		s.Enum = nil
	}
	h.text = make(map[string]bool)
	for _, v := range h.values {
		if t, ok := v.(string); ok {
			h.text[t] = true
		}
	}
}

// The hook's errors; words.go puts them into words.
type (
	wrongType struct {
		want []string
		got  any // the value; gotType alone where it isn't known
		name string
	}
	wrongValue struct {
		want []any
		got  any
		has  bool // got is known
	}
	notAllowed struct{}
	badName    struct {
		property string
		err      error
	}
)

func (*wrongType) Error() string  { return "wrong type" }
func (*wrongValue) Error() string { return "wrong value" }
func (notAllowed) Error() string  { return "not allowed" }

func (h *hook) check(v any) error {
	h.run.step()
	switch v := v.(type) { // a long value is costly further on (uniqueItems)
	case []any:
		if len(v) > clockEvery {
			h.run.look()
		}
	case map[string]any:
		if len(v) > clockEvery {
			h.run.look()
		}
	}
	if h.never {
		return notAllowed{}
	}
	if h.types != nil && !slices.ContainsFunc(h.types, func(t string) bool { return hasType(v, t) }) {
		return &wrongType{want: h.types, got: v, name: typeName(v)}
	}
	if (h.consts || h.isEnum) && !h.allows(v) {
		return &wrongValue{want: h.values, got: v, has: true}
	}
	return nil
}

func (h *hook) allows(v any) bool {
	if t, ok := v.(string); ok {
		return h.text[t]
	}
	for i, want := range h.values {
		if i%clockEvery == clockEvery-1 {
			h.run.look()
		}
		if equal(v, want) {
			return true
		}
	}
	return false
}

// names checks `propertyNames`. The library's own check may report the wrong
// place: its error keeps a slice that later values overwrite.
type names struct{ schema *jsonschema.Schema }

func (n names) Validate(ctx *jsonschema.ValidatorContext, v any) {
	obj, ok := v.(map[string]any)
	if !ok {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(obj)) {
		if err := n.schema.Validate(name); err != nil {
			ctx.AddError(&badNameKind{badName{property: name, err: err}})
		}
	}
}

func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
}

func hasType(v any, want string) bool {
	name := typeName(v)
	if want != "integer" {
		return name == want
	}
	n, ok := v.(json.Number)
	return ok && isInteger(n)
}

func isInteger(n json.Number) bool {
	if !strings.ContainsAny(string(n), ".eE") {
		return true
	}
	r, ok := new(big.Rat).SetString(string(n))
	return ok && r.IsInt()
}

// equal compares as JSON Schema does: 1, 1.0 and 1e0 are one number.
func equal(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for k, va := range a {
			vb, ok := b[k]
			if !ok || !equal(va, vb) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equal)
	case json.Number:
		b, ok := b.(json.Number)
		return ok && sameNumber(a, b)
	}
	switch b.(type) {
	case map[string]any, []any:
		return false // not comparable with ==
	}
	return a == b
}

func sameNumber(a, b json.Number) bool {
	if a == b {
		return true
	}
	if !strings.ContainsAny(string(a)+string(b), ".eE-") {
		return false // two whole numbers have one spelling each
	}
	x, okX := new(big.Rat).SetString(string(a))
	y, okY := new(big.Rat).SetString(string(b))
	return okX && okY && x.Cmp(y) == 0
}
