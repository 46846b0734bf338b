package mcp

import (
	"testing"

	"github.com/fettle-cli/fettle/commands/help/helptest"
)

func TestTheOutputPageNamesTheFieldsOfMCP(t *testing.T) {
	t.Parallel()
	helptest.Names(t, helptest.OutputPage(t), map[string]any{
		"list": listJSON{}, "show": showJSON{}, "test": testJSON{}, "add": oneJSON{}, "import": importJSON{},
		"rm": removedJSON{}, "login": signedJSON{},
	})
}
