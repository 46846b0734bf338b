package workflows

import (
	"testing"

	"github.com/fettle-cli/fettle/commands/help/helptest"
)

func TestTheOutputPageNamesTheFieldsOfWorkflows(t *testing.T) {
	t.Parallel()
	helptest.Names(t, helptest.OutputPage(t), map[string]any{
		"flows": listJSON{},
	})
}
