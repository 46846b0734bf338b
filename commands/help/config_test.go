package help

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/keys"
	"github.com/fettle-cli/fettle/commands/settings"
	"github.com/fettle-cli/fettle/commands/trust"
)

// topNames are the names under which a type's own fields are printed.
func topNames(t reflect.Type) []string {
	var out []string
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			out = append(out, topNames(f.Type)...)
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		out = append(out, name)
	}
	return out
}

// Each shape tells exactly the fields of its type, and what it says of the
// types inside it names their fields.
func TestTheOutputPageIsTrueOfTheConfiguration(t *testing.T) {
	t.Parallel()
	of := settings.Printed()
	maps.Copy(of, keys.Printed())
	maps.Copy(of, trust.Printed())
	printed := []any{
		of["config list"], of["setting"], config.Origin{}, of["config set"], of["config path"], of["config check"], of["problem"],
		of["keys list"], of["key source"], of["keys set"], of["keys path"], of["trust"], of["trust list"],
	}
	shapes := configShapes()
	if len(shapes) != len(printed) {
		t.Fatalf("%d shapes for %d types", len(shapes), len(printed))
	}
	for i, s := range shapes {
		var told []string
		for _, f := range s.fields {
			told = append(told, strings.Split(f.name, ", ")...)
		}
		names := topNames(reflect.TypeOf(printed[i]))
		slices.Sort(told)
		slices.Sort(names)
		if !slices.Equal(told, names) {
			t.Errorf("%s: told %v, printed %v", s.title, told, names)
		}
	}
	meaning := func(shape int, name string) string {
		i := slices.IndexFunc(shapes[shape].fields, func(f field) bool { return f.name == name })
		return shapes[shape].fields[i].meaning
	}
	for text, inner := range map[string]any{
		meaning(7, "keys"): of["key"], meaning(11, "grants"): of["grant"],
		meaning(12, "projects"): of["project"], meaning(12, "commands"): of["command"],
	} {
		for _, name := range topNames(reflect.TypeOf(inner)) {
			if !strings.Contains(text, name) {
				t.Errorf("%q doesn't name %s", text, name)
			}
		}
	}
	if len(topNames(reflect.TypeOf(of["config get"]))) != 1+len(topNames(reflect.TypeOf(of["setting"]))) {
		t.Error("config get prints more than a setting and the version")
	}
}
