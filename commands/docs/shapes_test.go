package docs

import (
	"testing"

	"github.com/fettle-cli/fettle/commands/help/helptest"
)

func TestTheOutputPageNamesTheFieldsOfDocs(t *testing.T) {
	t.Parallel()
	helptest.Names(t, helptest.OutputPage(t), map[string]any{
		"docs": addedJSON{}, "doc": docJSON{}, "search": searchJSON{}, "passage": passageJSON{},
	})
}
