package toolset

import (
	"testing"

	"github.com/fettle-cli/fettle/commands/help/helptest"
)

func TestTheOutputPageNamesEveryField(t *testing.T) {
	t.Parallel()
	helptest.Names(t, helptest.OutputPage(t), map[string]any{
		"toolset plan": toolsetPlanJSON{}, "toolset list": toolsetsJSON{}, "toolset show": toolsetShowJSON{},
		"toolset export": exportedJSON{}, "toolset rm": toolsetRemovedJSON{}, "toolset trust": toolsetTrustJSON{},
	})
}
