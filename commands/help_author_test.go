package commands

import (
	"reflect"
	"regexp"
	"testing"

	"github.com/fettle-cli/fettle/commands/author"
)

// The page of shapes names every field that the commands of authors print.
func TestTheOutputPageNamesAuthorsFields(t *testing.T) {
	t.Parallel()
	page := outputPage(t)
	for what, v := range author.Printed() {
		names := map[string]bool{}
		jsonNames(reflect.TypeOf(v), names)
		if len(names) < 8 {
			t.Errorf("%s: only the fields %v", what, names)
		}
		for name := range names {
			if !regexp.MustCompile(`\b` + name + `\b`).MatchString(page) {
				t.Errorf("%s: %s is not on the page", what, name)
			}
		}
	}
}
