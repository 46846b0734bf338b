package commands

import (
	"reflect"
	"regexp"
	"strings"
	"testing"
)

func TestTheOutputPageNamesEveryFieldOfModels(t *testing.T) {
	t.Parallel()
	_, page, found := strings.Cut(outputPage(t), "\nfettle models list -o json\n")
	page, _, ended := strings.Cut(page, "\nfettle config list -o json")
	if !found || !ended {
		t.Fatal("fettle help output doesn't have them")
	}
	for what, v := range map[string]any{"list": modelsJSON{}, "show": shownModelJSON{}, "pull": pulledJSON{}} {
		names := map[string]bool{}
		jsonNames(reflect.TypeOf(v), names)
		if len(names) < 4 {
			t.Errorf("%s has only %v", what, names)
		}
		for name := range names {
			if !regexp.MustCompile(`\b` + name + `\b`).MatchString(page) {
				t.Errorf("%s: %s is not told", what, name)
			}
		}
	}
}
