package models

import (
	"testing"

	"github.com/fettle-cli/fettle/commands/help/helptest"
)

func TestTheOutputPageNamesEveryFieldOfModels(t *testing.T) {
	t.Parallel()
	page := helptest.Section(t, "fettle models list -o json", "fettle config list -o json")
	helptest.Names(t, page, map[string]any{"list": listJSON{}, "show": shownJSON{}, "pull": pulledJSON{}, "update": updatedJSON{}})
}
