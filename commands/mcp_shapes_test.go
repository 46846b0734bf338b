package commands

import (
	"testing"

	"github.com/fettle-cli/fettle/commands/help/helptest"
)

func TestTheOutputPageNamesTheFieldsOfMCP(t *testing.T) {
	t.Parallel()
	helptest.Names(t, helptest.OutputPage(t), map[string]any{
		"list": mcpListJSON{}, "show": mcpShowJSON{}, "test": mcpTestJSON{}, "add": mcpOneJSON{}, "import": mcpImportJSON{},
		"rm": mcpRemovedJSON{}, "login": mcpSignedJSON{},
	})
}
