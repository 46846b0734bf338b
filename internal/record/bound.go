package record

import (
	"cmp"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// smallest is the room that an element of a list needs at least. A list of more
// elements than fit with that room each is cut to its first ones.
const smallest = 64

// ErrFixed means that a record is too long though all that can be cut was cut.
var ErrFixed = errors.New("the record is too long, and nothing more of it can be cut")

// Bound shortens the record that rec points to until its encoding has at most
// limit bytes, and returns the names of the fields that it cut. An error means
// that the record can't be encoded, or has too much that is not text.
func Bound(rec any, limit int) (cut []string, err error) {
	size, err := encodedLen(rec)
	if err != nil || size <= limit {
		return nil, err
	}
	b := &bounder{}
	// What is subtracted in each round is an estimate of names and punctuation.
	for room := limit; size > limit; room = room * 3 / 4 {
		if room < smallest {
			return b.cut, fmt.Errorf("%w: %d bytes; the limit is %d", ErrFixed, size, limit)
		}
		b.shrink(reflect.ValueOf(rec).Elem(), room, "")
		if size, err = encodedLen(rec); err != nil {
			return b.cut, err
		}
	}
	return b.cut, nil
}

func encodedLen(v any) (int, error) {
	text, err := Marshal(v)
	return len(text), err
}

// sizeOf returns the length of v's encoding; 0 for what can't be encoded, which
// Bound has found before.
func sizeOf(v reflect.Value) int {
	if !v.CanInterface() {
		return 0
	}
	n, _ := encodedLen(v.Interface())
	return n
}

// bounder collects the names of the fields that were cut.
type bounder struct{ cut []string }

func (b *bounder) note(name string) {
	if name != "" && !slices.Contains(b.cut, name) {
		b.cut = append(b.cut, name)
	}
}

// opaque reports whether values of a type encode themselves, so that no part of
// them can be cut.
func opaque(t reflect.Type) bool {
	marshaler, text := reflect.TypeFor[json.Marshaler](), reflect.TypeFor[encoding.TextMarshaler]()
	return t.Implements(marshaler) || t.Implements(text) || reflect.PointerTo(t).Implements(marshaler)
}

// isRaw reports whether a type is JSON text.
func isRaw(t reflect.Type) bool { return t == reflect.TypeFor[json.RawMessage]() }

// shrink shortens v, which can be set, to about room bytes.
func (b *bounder) shrink(v reflect.Value, room int, name string) {
	size := sizeOf(v)
	if size <= room || size <= len("null") {
		return
	}
	switch t := v.Type(); {
	case isRaw(t):
		b.note(name)
		v.SetBytes(rawMark(size, room))
	case opaque(t):
		b.note(name)
		v.SetZero()
	case t.Kind() == reflect.String:
		b.note(name)
		v.SetString(Clip(v.String(), room))
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		b.note(name)
		v.SetZero()
	case t.Kind() == reflect.Slice:
		b.list(v, room, name)
	case t.Kind() == reflect.Map:
		b.table(v, room, name)
	case t.Kind() == reflect.Struct:
		b.fields(v, room, name)
	case t.Kind() == reflect.Array:
		b.elements(v, room, name)
	case t.Kind() == reflect.Pointer:
		b.copied(v, v.Elem(), room, name, reflect.Value.Addr)
	case t.Kind() == reflect.Interface:
		b.copied(v, v.Elem(), room, name, func(c reflect.Value) reflect.Value { return c })
	}
}

// copied shrinks a copy of what v leads to and has v lead to the copy.
func (b *bounder) copied(v, to reflect.Value, room int, name string, lead func(reflect.Value) reflect.Value) {
	c := reflect.New(to.Type()).Elem()
	c.Set(to)
	b.shrink(c, room, name)
	v.Set(lead(c))
}

// fields shares room among the fields of a struct.
func (b *bounder) fields(v reflect.Value, room int, name string) {
	parts, names := fieldsOf(v, name)
	for _, own := range names {
		room -= len(own) - len(name) + len(`"":,`)
	}
	for i, most := range shares(sizesOf(parts), room) {
		b.shrink(parts[i], most, names[i])
	}
}

// fieldsOf returns the fields that the JSON of a struct has, those of embedded
// structs included, and their names.
func fieldsOf(v reflect.Value, name string) (parts []reflect.Value, names []string) {
	for i := range v.NumField() {
		f, field := v.Type().Field(i), v.Field(i)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case tag == "-":
		case f.Anonymous && tag == "" && f.Type.Kind() == reflect.Struct:
			p, n := fieldsOf(field, name)
			parts, names = append(parts, p...), append(names, n...)
		case field.CanSet():
			own := cmp.Or(tag, f.Name)
			if name != "" {
				own = name + "." + own
			}
			parts, names = append(parts, field), append(names, own)
		}
	}
	return parts, names
}

// list shares room among the elements of a slice. A list of structs keeps its
// length where it can: other parts of the record may count on it. Of other lists
// the first elements stay whole.
func (b *bounder) list(v reflect.Value, room int, name string) {
	v.Set(reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, v.Len()), v)) // a copy
	elem := v.Type().Elem()
	for elem.Kind() == reflect.Pointer {
		elem = elem.Elem()
	}
	if elem.Kind() == reflect.Struct && room/v.Len() >= 2*smallest {
		b.elements(v, room, name)
		return
	}
	b.note(name)
	room -= len("[]")
	kept := 0
	for i := range v.Len() {
		e := v.Index(i)
		if most := room / 2; sizeOf(e) > most {
			if most < smallest || isRaw(e.Type()) {
				continue // a mark would replace a value of another form
			}
			b.shrink(e, most, name)
		}
		if room -= sizeOf(e) + len(","); room < 0 {
			break
		}
		v.Index(kept).Set(e)
		kept++
	}
	v.SetLen(kept)
}

// elements shares room among the elements of an array or a slice.
func (b *bounder) elements(v reflect.Value, room int, name string) {
	parts := make([]reflect.Value, v.Len())
	for i := range parts {
		parts[i] = v.Index(i)
	}
	for i, most := range shares(sizesOf(parts), room-len("[]")-v.Len()) {
		b.shrink(parts[i], most, fmt.Sprintf("%s[%d]", name, i))
	}
}

// table shares room among the values of a map. Entries with long keys are left
// out, since a key that was cut is another key.
func (b *bounder) table(v reflect.Value, room int, name string) {
	out := reflect.MakeMap(v.Type())
	var keys, values []reflect.Value
	most := max(smallest, room/(4*v.Len()))
	for _, k := range v.MapKeys() {
		n := sizeOf(k)
		if n > most {
			b.note(name)
			continue
		}
		room -= n + len(":,")
		c := reflect.New(v.Type().Elem()).Elem()
		c.Set(v.MapIndex(k))
		keys, values = append(keys, k), append(values, c)
	}
	for i, most := range shares(sizesOf(values), room-len("{}")) {
		if sizeOf(values[i]) > most && most < smallest {
			b.note(name)
			continue
		}
		b.shrink(values[i], most, name)
		out.SetMapIndex(keys[i], values[i])
	}
	v.Set(out)
}

func sizesOf(parts []reflect.Value) []int {
	sizes := make([]int, len(parts))
	for i, p := range parts {
		sizes[i] = sizeOf(p)
	}
	return sizes
}

// shares divides room among parts: a part that needs less than an equal share
// gets what it needs, and the others get equal shares of the rest.
func shares(sizes []int, room int) []int {
	order := make([]int, len(sizes))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(sizes[i], sizes[j]) })
	out := make([]int, len(sizes))
	for n, i := range order {
		out[i] = min(sizes[i], max(0, room)/(len(order)-n))
		room -= out[i]
	}
	return out
}

// rawMark replaces a JSON value that was cut. It is an object, as most such values are.
func rawMark(size, room int) json.RawMessage {
	mark := fmt.Sprintf(`{"cut":"%d bytes"}`, size)
	if len(mark) > room {
		return json.RawMessage("null")
	}
	return json.RawMessage(mark)
}
