package payloads

import (
	"testing"

	"github.com/fettle-cli/fettle/commands/help/helptest"
)

func TestTheOutputPageNamesTheFieldsOfPayloads(t *testing.T) {
	t.Parallel()
	helptest.Names(t, helptest.OutputPage(t), map[string]any{
		"list": listJSON{}, "show": payloadJSON{}, "accept": decidedJSON{}, "types": typesJSON{},
	})
}
