package doctor

import (
	"slices"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/commands/doctor/machine"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/sandbox"
)

func TestSandboxResult(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		report sandbox.Report
		status machine.Status
		detail string
	}{
		{sandbox.Report{Level: toolset.LevelFull, Layers: []string{"user namespaces", "seccomp"}}, machine.OK, "full: user namespaces, seccomp"},
		{sandbox.Report{Level: toolset.LevelReduced, Layers: []string{"no user namespaces"}, Gaps: []string{"a"}, Fix: "b"}, machine.Warning, "reduced: no user namespaces"},
		{sandbox.Report{Level: toolset.LevelNone, Layers: []string{"no Landlock"}, Gaps: []string{"a"}}, machine.Warning, "none: no Landlock"},
	} {
		r := sandboxResult(c.report)
		if r.Status != c.status || r.Detail != c.detail || !slices.Equal(r.More, c.report.Gaps) || strings.Join(r.Hints, "") != c.report.Fix {
			t.Errorf("%+v: %+v", c.report, r)
		}
	}
}
