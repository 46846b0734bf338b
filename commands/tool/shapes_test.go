package tool

import (
	"testing"

	"github.com/fettle-cli/fettle/commands/help/helptest"
	"github.com/fettle-cli/fettle/commands/workbench"
)

func TestTheOutputPageNamesEveryField(t *testing.T) {
	t.Parallel()
	helptest.Names(t, helptest.OutputPage(t), map[string]any{
		"call": CallJSON{}, "switched": workbench.SwitchedJSON{},
		"tool list": toolsJSON{}, "tool show": toolShowJSON{}, "tool services": servicesJSON{}, "renderer": rendererJSON{},
	})
}
