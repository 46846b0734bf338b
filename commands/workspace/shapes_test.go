package workspace

import (
	"testing"

	"github.com/fettle-cli/fettle/commands/help/helptest"
)

func TestTheOutputPageNamesEveryField(t *testing.T) {
	t.Parallel()
	helptest.Names(t, helptest.OutputPage(t), map[string]any{
		"log": logJSON{}, "files": filesJSON{}, "state": stateShowJSON{}, "diff": diffJSON{}, "undo": restoredJSON{},
		"import": importedJSON{},
	})
}
