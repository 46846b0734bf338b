package workspace

import (
	"testing"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/commands/show"
)

func TestChangesTextCountsFilesAlone(t *testing.T) {
	t.Parallel()
	file, folder := &cas.Entry{Name: "x", Kind: cas.File}, &cas.Entry{Name: "x", Kind: cas.Folder}
	for want, changes := range map[string][]cas.Change{
		"no file had to be changed": {{Old: folder}, {New: folder}},
		"2 files back":              {{New: folder}, {New: file}, {Old: file, New: file}},
		"1 file removed":            {{Old: folder}, {Old: file}},
		"1 file back, 2 removed":    {{New: file}, {Old: file}, {Old: file, New: folder}},
	} {
		if got := ChangesText(changes); got != want {
			t.Errorf("%v: %q, want %q", changes, got, want)
		}
	}
}

func TestChangedTextTellsACutList(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{1: "1 file changed", 199: "199 files changed", 200: "200 files or more changed"} {
		if got := show.ChangedText(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
