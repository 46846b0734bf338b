package author

import (
	"testing"

	"github.com/fettle-cli/fettle/commands/help/helptest"
)

func TestTheOutputPageNamesEveryField(t *testing.T) {
	t.Parallel()
	helptest.Names(t, helptest.OutputPage(t), map[string]any{
		"validate": validatedJSON{}, "test": testedJSON{}, "pack": packedJSON{},
	})
}
