package schema

import (
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// nearestForm introduces the problems of the form that a value comes nearest
// to, where none of several fits.
type nearestForm struct {
	forms, nearest int // nearest counts from 1
}

// form is one alternative of an anyOf or oneOf, and why it doesn't fit.
type form struct {
	number    int
	issues    []issue
	wrongKind bool // the value has another type altogether
	wrongTag  int  // wrong const or enum values of the value or its properties
}

// forms reports a value that fits none of several alternatives. All problems
// of all of them would bury the one that matters, so:
//
//   - where each says only "another type" or "another value", one sentence
//     names all types and values;
//   - else the alternatives for other types, and those whose tag (a const or
//     enum, such as `"kind": "circle"`) says that they aren't meant, are left
//     out; of the rest the one with the fewest problems is reported.
func (t *translator) forms(err *jsonschema.ValidationError) []issue {
	var forms []form
	for i, cause := range err.Causes {
		forms = append(forms, t.form(i+1, cause, len(err.InstanceLocation)))
	}
	if len(forms) == 0 {
		return []issue{{loc: err.InstanceLocation, schema: err.SchemaURL, what: notAllowed{}}}
	}
	if merged, ok := mergeForms(forms, err); ok {
		return []issue{merged}
	}
	total := len(forms)
	if meant := slices.DeleteFunc(slices.Clone(forms), func(f form) bool { return f.wrongKind }); len(meant) > 0 {
		forms = meant
	}
	if merged, ok := mergeForms(tagsOnly(forms, len(err.InstanceLocation)), err); ok {
		return []issue{merged}
	}
	if meant := slices.DeleteFunc(slices.Clone(forms), func(f form) bool { return f.wrongTag > 0 }); len(meant) > 0 {
		forms = meant
	}
	best := slices.MinFunc(forms, func(a, b form) int { return len(a.issues) - len(b.issues) })
	if len(forms) == 1 {
		return best.issues
	}
	intro := issue{loc: err.InstanceLocation, schema: err.SchemaURL, what: nearestForm{forms: total, nearest: best.number}}
	return append([]issue{intro}, best.issues...)
}

func (t *translator) form(number int, cause *jsonschema.ValidationError, depth int) form {
	f := form{number: number, issues: t.collect(cause)}
	if len(f.issues) == 0 {
		f.issues = []issue{{loc: cause.InstanceLocation, schema: cause.SchemaURL, what: notAllowed{}}}
	}
	for _, is := range f.issues {
		switch is.what.(type) {
		case *wrongType:
			f.wrongKind = f.wrongKind || len(is.loc) == depth
		case *wrongValue:
			if len(is.loc) <= depth+1 {
				f.wrongTag++
			}
		}
	}
	return f
}

// tagsOnly keeps of each form its one wrong tag, if each has one.
func tagsOnly(forms []form, depth int) []form {
	var tags []form
	for _, f := range forms {
		if f.wrongTag != 1 {
			return nil
		}
		i := slices.IndexFunc(f.issues, func(is issue) bool {
			_, ok := is.what.(*wrongValue)
			return ok && len(is.loc) <= depth+1
		})
		tags = append(tags, form{number: f.number, issues: f.issues[i : i+1]})
	}
	return tags
}

// mergeForms makes one issue of forms that each have one, all at one place,
// all of type or value.
func mergeForms(forms []form, err *jsonschema.ValidationError) (issue, bool) {
	if len(forms) == 0 {
		return issue{}, false
	}
	merged := &wrongEither{}
	loc := forms[0].issues[0].loc
	for _, f := range forms {
		if len(f.issues) != 1 || !slices.Equal(f.issues[0].loc, loc) {
			return issue{}, false
		}
		if !merged.add(f.issues[0].what) {
			return issue{}, false
		}
	}
	return issue{loc: loc, schema: err.SchemaURL, what: merged}, true
}

// wrongEither is a value that has none of several types and is none of several
// values.
type wrongEither struct {
	types  []string
	values []any
	got    any
	name   string
	has    bool
}

func (w *wrongEither) add(what any) bool {
	switch what := what.(type) {
	case *wrongType:
		for _, t := range what.want {
			if !slices.Contains(w.types, t) {
				w.types = append(w.types, t)
			}
		}
		w.name = what.name
		if !w.has { // the library's own errors lack the value
			w.got = what.got
		}
	case *wrongValue:
		w.values = append(w.values, what.want...)
		w.got, w.has, w.name = what.got, true, typeName(what.got)
	case *wrongEither:
		w.types = append(w.types, what.types...)
		w.values = append(w.values, what.values...)
		w.got, w.has, w.name = what.got, what.has, what.name
	default:
		return false
	}
	return true
}
