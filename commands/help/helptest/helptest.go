package helptest

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/help"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
)

// OutputPage is what `fettle help output` prints.
func OutputPage(t *testing.T) string {
	t.Helper()
	streams := term.Test(term.TestOptions{})
	app := &cli.App{Commands: []*cli.Command{help.New(workbench.New(streams.Streams))}}
	if err := app.RunContext(t.Context(), []string{"fettle", "help", "output"}); err != nil {
		t.Fatal(err)
	}
	return streams.Stdout.String()
}

// Section is the part of the output page from the shape with one title to that
// with the next.
func Section(t *testing.T, title, next string) string {
	t.Helper()
	_, page, found := strings.Cut(OutputPage(t), "\n"+title+"\n")
	page, _, ended := strings.Cut(page, "\n"+next)
	if !found || !ended {
		t.Fatalf("the page of shapes has no %q, or no %q behind it", title, next)
	}
	return page
}

// inStore is the field of messages that the store alone has: no command prints it.
const inStore = "pieces"

// Names fails the test for each field of the printed types, by any name, that the
// page doesn't name, and for a type that prints nothing.
func Names(t *testing.T, page string, printed map[string]any) {
	t.Helper()
	for what, v := range printed {
		names := Fields(v)
		if len(names) == 0 {
			t.Errorf("%s prints no field", what)
		}
		for name := range names {
			if name != inStore && !regexp.MustCompile(`\b`+regexp.QuoteMeta(name)+`\b`).MatchString(page) {
				t.Errorf("%s: %s is not on the page", what, name)
			}
		}
	}
}

// Fields are the names under which a value's fields are printed as JSON, those of
// the types inside it included.
func Fields(v any) map[string]bool {
	names := map[string]bool{}
	gather(reflect.TypeOf(v), names, map[reflect.Type]bool{})
	return names
}

// gather adds the names of a type's fields. seen are the structs that were visited, since
// types may contain themselves.
func gather(t reflect.Type, names map[string]bool, seen map[reflect.Type]bool) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		gather(t.Elem(), names, seen)
	case reflect.Struct:
		if seen[t] {
			return
		}
		seen[t] = true
		for i := range t.NumField() {
			f := t.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name != "" && name != "-" {
				names[name] = true
			}
			if name != "" && name != "-" || f.Anonymous {
				gather(f.Type, names, seen)
			}
		}
	}
}
