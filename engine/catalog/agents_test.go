package catalog

import (
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/google/go-cmp/cmp"
)

// An agent that hands over to one which isn't there is left out with those that
// hand over to it, and nobody else.
func TestAgentsThatCantBeUsed(t *testing.T) {
	t.Parallel()
	all, err := UncheckedAgents(
		store.Agent{ID: "a", Handoffs: []string{"gone:x"}}, store.Agent{ID: "b", Handoffs: []string{"a"}}, store.Agent{ID: "c", Handoffs: []string{"c"}},
	)
	if err != nil {
		t.Fatal(err)
	}
	all = all.usable()
	want := map[string]string{"a": "it hands over to gone:x, which isn't there", "b": "it hands over to a, which isn't there"}
	if diff := cmp.Diff(want, all.Unusable()); diff != "" {
		t.Error(diff)
	}
	if got := all.All(); len(got) != 1 || got[0].ID != "c" {
		t.Errorf("%v are left", got)
	}
	if _, err := all.Find("b"); fault.CodeOf(err) != fault.NotFound || !strings.Contains(err.Error(), "can't be used: it hands over to a") {
		t.Errorf("%v", err)
	}
}
