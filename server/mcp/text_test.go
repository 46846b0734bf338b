package mcp

import (
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/fault"
)

// A client gets no command or flag of a shell with an error of any kind.
func TestErrorsHaveNoShellAdvice(t *testing.T) {
	t.Parallel()
	for _, code := range fault.Codes() {
		got := explain(fault.New(code, "it failed", fault.Run("fettle ask -c -m MODEL …   with another model")))
		if !strings.HasPrefix(got, "it failed") || strings.Contains(got, "fettle ask") || strings.Contains(got, " -m") {
			t.Errorf("%s: %q", code, got)
		}
	}
}
