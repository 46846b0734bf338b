package clientconfig

import (
	"maps"
	"slices"
)

// object returns the fields of a value and records which were taken, so that rest can
// list those that nothing took.
type object struct {
	fields map[string]*value
	left   map[string]bool
}

// newObject wraps a value; a value that is not an object has no fields.
func newObject(v *value) *object {
	o := &object{fields: v.fields, left: map[string]bool{}}
	for name, field := range v.fields {
		if field.kind != nullKind { // null is absent
			o.left[name] = true
		}
	}
	return o
}

// take returns a field and counts it as used; nil where it is absent or null.
func (o *object) take(name string) *value {
	if !o.left[name] {
		return nil
	}
	delete(o.left, name)
	return o.fields[name]
}

// text takes a scalar field as it is written; empty if there is none. A field of
// another kind is not taken.
func (o *object) text(name string) string {
	if v := o.fields[name]; v == nil || !v.scalar() {
		return ""
	}
	if v := o.take(name); v != nil {
		return v.text
	}
	return ""
}

// rest returns the names of the unused fields, sorted.
func (o *object) rest() []string { return slices.Sorted(maps.Keys(o.left)) }
