package workspace

import (
	"testing"

	"github.com/fettle-cli/fettle/commands/show"
)

func TestChangedTextTellsACutList(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{1: "1 file changed", 199: "199 files changed", 200: "200 files or more changed"} {
		if got := show.ChangedText(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
