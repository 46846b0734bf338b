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
	}
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
