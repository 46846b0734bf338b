package recordtest

import (
	"encoding/json"
	"reflect"
	"time"
)

// nested is how many pointers, lists and maps EachText follows from a field.
const nested = 3

// EachText calls do for each text within the record that rec points to, with its name and
// a function that sets it. A text of a list or a map that is empty is reached by adding an
// element. The record is as it was after each call of do.
func EachText(rec any, do func(name string, set func(string))) {
	v := reflect.ValueOf(rec).Elem()
	eachText(v, v.Type().String(), nested, do)
}

func eachText(v reflect.Value, name string, depth int, do func(name string, set func(string))) {
	was := reflect.New(v.Type()).Elem()
	was.Set(v)
	switch v.Kind() {
	case reflect.String:
		do(name, v.SetString)
		v.Set(was)
	case reflect.Pointer:
		if depth > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			eachText(v.Elem(), name, depth-1, do)
			v.Set(was)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Tag.Get("json") != "-" {
				eachText(v.Field(i), name+"."+f.Name, depth, do)
			}
		}
	case reflect.Slice:
		eachElement(v, name, depth, do)
		v.Set(was)
	case reflect.Map:
		if v.Type().Key().Kind() == reflect.String && depth > 0 {
			eachValue(v, name, depth-1, do)
			v.Set(was)
		}
	}
}

// eachElement does it for a list: JSON text is one text, and bytes are none.
func eachElement(v reflect.Value, name string, depth int, do func(name string, set func(string))) {
	switch {
	case v.Type() == reflect.TypeFor[json.RawMessage]():
		do(name, func(s string) {
			raw, _ := json.Marshal(s) // a string can't fail
			v.SetBytes(raw)
		})
	case v.Type().Elem().Kind() != reflect.Uint8 && depth > 0:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		eachText(v.Index(1), name+"[]", depth-1, do)
	}
}

// eachValue does it for the values of a map.
func eachValue(v reflect.Value, name string, depth int, do func(name string, set func(string))) {
	elem := reflect.New(v.Type().Elem()).Elem()
	eachText(elem, name+"{}", depth, func(name string, set func(string)) {
		do(name, func(s string) {
			set(s)
			m := reflect.MakeMap(v.Type())
			m.SetMapIndex(reflect.ValueOf("key").Convert(v.Type().Key()), elem)
			v.Set(m)
		})
	})
}
