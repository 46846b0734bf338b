package agents

import (
	"testing"

	"github.com/fettle-cli/fettle/commands/help/helptest"
)

func TestTheOutputPageNamesTheFieldsOfAgents(t *testing.T) {
	t.Parallel()
	helptest.Names(t, helptest.OutputPage(t), map[string]any{
		"list": listJSON{}, "show": agentJSON{},
	})
}
