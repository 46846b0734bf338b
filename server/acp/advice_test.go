package acp

import (
	"log/slog"
	"slices"
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
		err := fault.New(code, "it failed", fault.Run("fettle ask -c -m MODEL …   with another model"), fault.Run("export KEY=…"))
		err.Detail = []string{"where it failed"}
		got := a.explain(err)
		text := got.Message + " " + strings.Join(got.Data.(failure).Hints, " ")
		if isShell(text) {
			t.Errorf("%s: %q is for a shell", code, text)
		}
		if !strings.HasPrefix(got.Message, "it failed\nwhere it failed") {
			t.Errorf("%s: %q", code, got.Message)
		}
	}
	if got := a.explain(fault.New(fault.Context, "too long")).Message; !strings.Contains(got, "next: /compact") {
		t.Errorf("a full context has the next step %q", got)
	}
}

// Each kind of remedy has words for an editor, or text that fits one.
func TestEditorsGetEachRemedy(t *testing.T) {
	t.Parallel()
	for _, kind := range fault.Kinds() {
		got := advice(fault.New(fault.NotFound, "it failed", fault.Try(kind, "one", "two")))
		if (len(got) == 1) != (kind != fault.Command) || isShell(strings.Join(got, " ")) {
			t.Errorf("%s: %q", kind, got)
		}
	}
	for kind := range editorWords() {
		if !slices.Contains(fault.Kinds(), kind) {
			t.Errorf("%s is no kind of remedy", kind)
		}
	}
}

func isShell(text string) bool {
	return slices.ContainsFunc([]string{"fettle ask", "fettle chats", " -m", "--", "export "}, func(s string) bool { return strings.Contains(text, s) })
}
