package acp

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/fault"
)

// An editor gets no command or flag of a shell with an error of any kind, in its message and
// its data.
func TestErrorsHaveNoShellAdvice(t *testing.T) {
	t.Parallel()
	a := &agent{log: slog.New(slog.DiscardHandler)}
	for _, code := range fault.Codes() {
		err := fault.New(code, "it failed", "fettle ask -c -m MODEL …   with another model", "export KEY=…")
		err.Detail = []string{"where it failed"}
		got := a.explain(err)
		text := got.Message + " " + strings.Join(got.Data.(failure).Hints, " ")
		for _, shell := range []string{"fettle ask", " -m", "--", "export "} {
			if strings.Contains(text, shell) {
				t.Errorf("%s: %q contains %q", code, text, shell)
			}
		}
		if !strings.HasPrefix(got.Message, "it failed\nwhere it failed") {
			t.Errorf("%s: %q", code, got.Message)
		}
	}
	if got := a.explain(fault.New(fault.Context, "too long")).Message; !strings.Contains(got, "next: /compact") {
		t.Errorf("a full context has the next step %q", got)
	}
}
