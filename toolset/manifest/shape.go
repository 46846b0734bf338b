package manifest

import (
	"regexp"
	"sync"
)

// kind is what a value is.
type kind int

const (
	anyKind     kind = iota // any JSON value
	textKind                // text that fits pattern, lengths and enum
	flagKind                // true or false
	listKind                // a list of item
	tableKind               // names that fit pattern, each with a value item
	objectKind              // fields
	variantKind             // an object whose fields depend on the one called tag
	schemaKind              // a JSON Schema of an object
)

// shape says what a value must be. The reader and the published schema both
// come from it, so that they can't come to differ.
type shape struct {
	kind kind
	// about is the description in the published schema.
	about string
	// want completes "expected …" where the value isn't right.
	want string

	pattern  string // of a text, or of a table's names
	min, max int    // of a text in characters, of a list or table in entries; max 0: no bound
	enum     []string
	check    func(string) *complaint // what no schema can say of a text

	item *shape // of a list's or table's entries

	fields []field
	oneOf  []string    // exactly one of these must be there
	needs  [][2]string // where the first is, the second must be

	tag      string // of a variant
	variants []variant

	anyRoot bool // a schema whose root need not be of type object
}

// field is one field of an object.
type field struct {
	name     string
	required bool
	shape    *shape
}

// variant is the fields that go with one value of the tag.
type variant struct {
	value string
	shape *shape
}

// complaint is what a check has to say of a text.
type complaint struct{ code, msg string }

func complain(code, msg string) *complaint { return &complaint{code, msg} }

func (s *shape) find(name string) *shape {
	for _, f := range s.fields {
		if f.name == name {
			return f.shape
		}
	}
	return nil
}

func (s *shape) names() []string {
	names := make([]string, len(s.fields))
	for i, f := range s.fields {
		names[i] = f.name
	}
	return names
}

func text(about, want string, low, high int) *shape {
	return &shape{kind: textKind, about: about, want: want, min: low, max: high}
}

func matching(about, want, pattern string, high int) *shape {
	return &shape{kind: textKind, about: about, want: want, pattern: pattern, min: 1, max: high}
}

func choice(about string, values ...string) *shape {
	return &shape{kind: textKind, about: about, enum: values}
}

func toggle(about string) *shape { return &shape{kind: flagKind, about: about, want: "true or false"} }

func list(about string, item *shape, high int) *shape {
	return &shape{kind: listKind, about: about, want: "a list", item: item, max: high}
}

func table(about, pattern string, value *shape, high int) *shape {
	return &shape{kind: tableKind, about: about, want: "names and values below it", pattern: pattern, item: value, max: high}
}

func object(about string, fields ...field) *shape {
	return &shape{kind: objectKind, about: about, want: "fields and values below it", fields: fields}
}

func need(name string, s *shape) field { return field{name: name, required: true, shape: s} }

func may(name string, s *shape) field { return field{name: name, shape: s} }

// patterns compiles each pattern once; a manifest uses a dozen.
type patterns struct{ known sync.Map }

func (p *patterns) match(pattern, s string) bool {
	re, ok := p.known.Load(pattern)
	if !ok {
		re, _ = p.known.LoadOrStore(pattern, regexp.MustCompile(pattern))
	}
	return re.(*regexp.Regexp).MatchString(s)
}

var compiled = sync.OnceValue(func() *patterns { return new(patterns) })
