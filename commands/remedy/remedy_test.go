package remedy

import (
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// Arguments are quoted for a shell, and an effect follows its command.
func TestLine(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]fault.Remedy{
		"fettle chats fork 3":                    fault.Try(fault.ForkChat, "3"),
		"fettle chats fork 3 --at 2   keeps it":  fault.Try(fault.ForkChat, "3", "2").That("keeps it"),
		`fettle toolset import "a b.zip"`:        fault.Try(fault.ImportToolset, "a b.zip"),
		"fettle toolset import FILE":             fault.Try(fault.ImportToolset, ""),
		"fettle docs rm '$(x)'   first":          fault.Try(fault.RemoveDocument, "$(x)").That("first"),
		"git diff | fettle ask":                  fault.Run("git diff | fettle ask"),
		"do it   helps":                          {Kind: "of_a_newer_server", Text: "do it", Effect: "helps"},
		"export A_KEY=…   or: fettle keys set a": fault.Try(fault.AddKey, "a", "A_KEY"),
		"wait a while, or ask another model with -m; the setting fallback does so by itself": fault.Try(fault.Wait, "a while"),
	} {
		if got := Line(r); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// The reasons of the registry are followed by the command that changes them.
func TestReason(t *testing.T) {
	t.Parallel()
	for _, why := range []string{registry.WhyRevoked, registry.WhyNew, registry.WhyChanged} {
		if got := Reason("docs", why); !strings.HasPrefix(got, why+"; fettle ") || !strings.Contains(got, " docs ") {
			t.Errorf("%q became %q", why, got)
		}
	}
	if got := Reason("docs", "its files are not there"); got != "its files are not there" {
		t.Errorf("got %q", got)
	}
}

// An error event of an older version has commands, which are shown as they are.
func TestHintsOfOlderVersions(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]event.Error{
		"fettle models list":                    {Hints: []string{"fettle models list"}},
		"fettle models list   lists the models": {Hints: []string{"list the models"}, Remedies: []fault.Remedy{fault.Try(fault.ListModels).That("lists the models")}},
	} {
		if got := strings.Join(Lines(e.Fault()), "; "); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
