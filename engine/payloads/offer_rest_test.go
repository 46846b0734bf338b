package payloads

import "testing"

func TestATemplateHasAPlaceForWhatItNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		template, field string
		want            bool
	}{
		{"The title is $context.title.", "title", true},
		{"Keep the width, and list $context.title.first.", "title", true},
		{"Keep the width, and list $context.title.", "id", false},
		{"Keep the width, and list $context.title.", "list", false},
		{"All: $context", "id", true},
		{"$contexts are no expression", "s", false},
		{"", "id", false},
	} {
		if got := hasPlace(c.template, c.field); got != c.want {
			t.Errorf("%q has a place for %s: %v", c.template, c.field, got)
		}
	}
}
