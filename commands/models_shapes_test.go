package commands

import (
	"reflect"
	"regexp"
	"strings"
	"testing"
)

func TestTheOutputPageNamesEveryFieldOfModels(t *testing.T) {
	t.Parallel()
	var page strings.Builder
	for _, s := range modelShapes() {
		for _, f := range s.fields {
			page.WriteString(f.name + " " + f.meaning + "\n")
		}
	}
	for what, v := range map[string]any{"list": modelsJSON{}, "show": shownModelJSON{}, "pull": pulledJSON{}} {
		names := map[string]bool{}
		jsonNames(reflect.TypeOf(v), names)
		if len(names) < 4 {
			t.Errorf("%s has only %v", what, names)
		}
		for name := range names {
			if !regexp.MustCompile(`\b` + name + `\b`).MatchString(page.String()) {
				t.Errorf("%s: %s is not told", what, name)
			}
		}
	}
	if !strings.Contains(outputPage(), "fettle models list -o json") {
		t.Error("fettle help output doesn't have them")
	}
}
