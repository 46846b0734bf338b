package chats

import (
	"testing"

	"github.com/fettle-cli/fettle/commands/help/helptest"
)

func TestTheOutputPageNamesEveryField(t *testing.T) {
	t.Parallel()
	helptest.Names(t, helptest.OutputPage(t), map[string]any{
		"list": chatsJSON{}, "show": chatJSON{}, "search": searchJSON{},
		"ways": branchesJSON{}, "switch": switchedJSON{}, "compact": compactJSON{},
	})
}
