package manifest

import (
	"bytes"
	"encoding/json"
	"slices"
	"sync"
)

// SchemaID is the `$id` of the published schema.
const SchemaID = "urn:fettle:toolset-1"

// Schema is the published JSON Schema (draft 2020-12) of a toolset.yaml, for
// editors and other programs. A file with a structural problem doesn't fit it;
// one without does. What no schema can say (references, duplicate ids, schemas
// in schemas) is this package's alone. The bytes are the caller's.
func Schema() []byte { return slices.Clone(published()) }

var published = sync.OnceValue(func() []byte {
	top := root().schema()
	head := pairs{
		{"$schema", "https://json-schema.org/draft/2020-12/schema"},
		{"$id", SchemaID},
		{"title", FileName},
	}
	raw, err := json.Marshal(append(head, top...))
	if err != nil {
		return nil // texts, numbers and pairs can be encoded
	}
	var out bytes.Buffer
	if json.Indent(&out, raw, "", "  ") != nil {
		return nil
	}
	out.WriteByte('\n')
	return out.Bytes()
})

// pairs is a JSON object in the order in which it was written.
type pairs []pair

type pair struct {
	name  string
	value any
}

// MarshalJSON writes the pairs in order.
func (p pairs) MarshalJSON() ([]byte, error) {
	var buf bytes.Buffer
	buf.WriteByte('{')
	for i, e := range p {
		if i > 0 {
			buf.WriteByte(',')
		}
		writeText(&buf, e.name)
		buf.WriteByte(':')
		enc := json.NewEncoder(&buf)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(e.value); err != nil {
			return nil, err
		}
		buf.Truncate(buf.Len() - 1)
	}
	buf.WriteByte('}')
	return buf.Bytes(), nil
}

// schema is the shape as a JSON Schema.
func (s *shape) schema() pairs {
	var out pairs
	if s.about != "" {
		out = append(out, pair{"description", s.about})
	}
	switch s.kind {
	case textKind:
		return append(out, s.textSchema()...)
	case flagKind:
		return append(out, pair{"type", "boolean"})
	case listKind:
		out = append(out, pair{"type", "array"}, pair{"items", s.item.schema()})
		return append(out, bounds("minItems", s.min, "maxItems", s.max)...)
	case tableKind:
		out = append(out, pair{"type", "object"})
		if s.pattern != "" {
			out = append(out, pair{"propertyNames", pairs{{"pattern", s.pattern}}})
		}
		out = append(out, pair{"additionalProperties", s.item.schema()})
		return append(out, bounds("minProperties", s.min, "maxProperties", s.max)...)
	case objectKind:
		return append(out, s.objectSchema()...)
	case variantKind:
		return append(out, s.variantSchema()...)
	case schemaKind:
		out = append(out, pair{"type", "object"})
		if !s.anyRoot {
			out = append(out, pair{"required", []string{"type"}}, pair{"properties", pairs{{"type", pairs{{"const", "object"}}}}})
		}
	}
	return out
}

func (s *shape) textSchema() pairs {
	out := pairs{{"type", "string"}}
	if len(s.enum) == 1 {
		return append(out, pair{"const", s.enum[0]})
	}
	if len(s.enum) > 1 {
		return append(out, pair{"enum", s.enum})
	}
	if s.pattern != "" {
		out = append(out, pair{"pattern", s.pattern})
	}
	return append(out, bounds("minLength", s.min, "maxLength", s.max)...)
}

func bounds(lowName string, low int, highName string, high int) pairs {
	var out pairs
	if low > 0 {
		out = append(out, pair{lowName, low})
	}
	if high > 0 {
		out = append(out, pair{highName, high})
	}
	return out
}

func (s *shape) objectSchema() pairs {
	var (
		required []string
		props    pairs
	)
	for _, f := range s.fields {
		props = append(props, pair{f.name, f.shape.schema()})
		if f.required {
			required = append(required, f.name)
		}
	}
	out := pairs{{"type", "object"}, {"properties", props}, {"additionalProperties", false}}
	if len(required) > 0 {
		out = append(out, pair{"required", required})
	}
	if len(s.oneOf) > 0 {
		var forms []pairs
		for _, name := range s.oneOf {
			forms = append(forms, pairs{{"required", []string{name}}})
		}
		out = append(out, pair{"oneOf", forms})
	}
	if len(s.needs) > 0 {
		var needs pairs
		for _, n := range s.needs {
			needs = append(needs, pair{n[0], []string{n[1]}})
		}
		out = append(out, pair{"dependentRequired", needs})
	}
	return out
}

// variantSchema says which fields go with which tag by if and then, so that an
// editor speaks of the one that is meant.
func (s *shape) variantSchema() pairs {
	var (
		values []string
		forms  []pairs
	)
	for _, v := range s.variants {
		values = append(values, v.value)
		forms = append(forms, pairs{
			{"if", pairs{{"properties", pairs{{s.tag, pairs{{"const", v.value}}}}}, {"required", []string{s.tag}}}},
			{"then", v.shape.schema()},
		})
	}
	return pairs{
		{"type", "object"},
		{"required", []string{s.tag}},
		{"properties", pairs{{s.tag, pairs{{"enum", values}}}}},
		{"allOf", forms},
	}
}
