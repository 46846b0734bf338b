package mcp

import (
	"slices"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/fault"
)

// A client gets words for each kind of remedy, and no command or flag of a shell.
func TestClientsGetEachRemedy(t *testing.T) {
	t.Parallel()
	for _, kind := range fault.Kinds() {
		got := explain(fault.New(fault.NotFound, "it failed", fault.Try(kind, "one", "two")))
		if strings.Contains(got, "next: ") != (kind != fault.Command) {
			t.Errorf("%s: %q", kind, got)
		}
		if i := slices.IndexFunc([]string{"fettle ask", "fettle chats", "--", "export "}, func(s string) bool { return strings.Contains(got, s) }); i >= 0 {
			t.Errorf("%s: %q is for a shell", kind, got)
		}
	}
}
