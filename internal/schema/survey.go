package schema

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// survey is what one walk over a schema document finds. It sees every object,
// also those inside `enum` or `examples`, so its counts are upper bounds.
type survey struct {
	objects int
	ids     int
	// anchors are the pointers of objects with `$dynamicAnchor`, which a
	// schema can reach although nothing names them.
	anchors []string
	refs    []reference
	// odd are the targets of references that are no schema's place.
	odd map[string]bool
}

// reference is one `$ref` or the like.
type reference struct {
	pointer string // of the keyword
	target  string // as written
}

func (s *survey) walk(v any, path []string) {
	switch v := v.(type) {
	case map[string]any:
		s.objects++
		for _, key := range slices.Sorted(maps.Keys(v)) {
			s.note(key, v[key], path)
			s.walk(v[key], append(path, key))
		}
	case []any:
		for i, item := range v {
			s.walk(item, append(path, strconv.Itoa(i)))
		}
	}
}

func (s *survey) note(key string, value any, path []string) {
	text, ok := value.(string)
	if !ok {
		return
	}
	switch key {
	case "$id", "id":
		s.ids++
	case "$dynamicAnchor":
		s.anchors = append(s.anchors, pointer(path))
	case "$ref", "$dynamicRef", "$recursiveRef", "$schema":
		s.refs = append(s.refs, reference{pointer: pointer(append(path, key)), target: text})
		if _, frag := cutFragment(text); strings.HasPrefix(frag, "/") && !schemaPlace(frag) {
			if s.odd == nil {
				s.odd = make(map[string]bool)
			}
			s.odd[text] = true
		}
	}
}

// tooMuch refuses a document whose compiling would cost too much.
func (s *survey) tooMuch() error {
	for _, b := range []struct {
		what     string
		got, max int
	}{
		{"objects", s.objects, maxObjects},
		{"ids", s.ids, maxIDs},
		{"dynamic anchors", len(s.anchors), maxAnchors},
		{"references to what is no schema", len(s.odd), maxOddPlaces},
	} {
		if b.got > b.max {
			return compileError("", "the schema has %d %s; %d are allowed", b.got, b.what, b.max)
		}
	}
	return nil
}

// schemaPlace tells whether a pointer leads from subschema to subschema by the
// drafts' own keywords.
func schemaPlace(frag string) bool {
	tokens := strings.Split(frag, "/")[1:]
	for len(tokens) > 0 {
		switch tokens[0] {
		case "$defs", "definitions", "properties", "patternProperties", "dependentSchemas", "dependencies",
			"allOf", "anyOf", "oneOf", "prefixItems":
			if len(tokens) < 2 {
				return false
			}
			tokens = tokens[2:]
		case "items": // a schema, or a list of them
			tokens = tokens[1:]
			if len(tokens) > 0 {
				if _, err := strconv.Atoi(tokens[0]); err == nil {
					tokens = tokens[1:]
				}
			}
		case "not", "if", "then", "else", "additionalProperties", "propertyNames", "contains", "additionalItems",
			"unevaluatedProperties", "unevaluatedItems", "contentSchema":
			tokens = tokens[1:]
		default:
			return false
		}
	}
	return true
}

// find gives the first reference that may mean the URL, since the library says
// where a reference leads, not where it stands.
func (s *survey) find(full string) (reference, bool) {
	base, frag := cutFragment(full)
	for _, r := range s.refs {
		rbase, rfrag := cutFragment(r.target)
		switch {
		case r.target == full:
		case frag != "" && !strings.HasSuffix(frag, rfrag):
			continue
		case rbase == "" && (rfrag == "" || frag == ""):
			continue
		case rbase != "" && !strings.HasSuffix(base, strings.TrimLeft(rbase, "./")):
			continue
		}
		return r, true
	}
	return reference{}, false
}

// cutFragment splits a URL reference and decodes the part after the #.
func cutFragment(ref string) (base, frag string) {
	base, frag, _ = strings.Cut(ref, "#")
	if plain, err := url.PathUnescape(frag); err == nil {
		frag = plain
	}
	return base, frag
}

// pointer writes a JSON pointer.
func pointer(path []string) string {
	var b strings.Builder
	for _, token := range path {
		b.WriteByte('/')
		b.WriteString(strings.NewReplacer("~", "~0", "/", "~1").Replace(token))
	}
	return b.String()
}
