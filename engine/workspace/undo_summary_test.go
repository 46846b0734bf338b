package workspace

import (
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/cas"
)

func TestASummaryCountsFilesAndNamesTheFirst(t *testing.T) {
	t.Parallel()
	file, folder := &cas.Entry{Name: "x", Kind: cas.File}, &cas.Entry{Name: "x", Kind: cas.Folder}
	for want, changes := range map[string][]cas.Change{
		"no file had to be changed: ":               {{Path: "a", Old: folder}, {Path: "b", New: folder}},
		"restored 2 files: b, c":                    {{Path: "a", New: folder}, {Path: "b", New: file}, {Path: "c", Old: file, New: file}},
		"removed 1 file: b":                         {{Path: "a", Old: folder}, {Path: "b", Old: file}},
		"restored 1 file, removed 2: a, b, c\\x0a":  {{Path: "a", New: file}, {Path: "b", Old: file}, {Path: "c\n", Old: file, New: folder}},
		"removed 7 files: a, b, c, d, e and 2 more": removals("abcdefg"),
	} {
		s := (&Restored{Changes: changes}).Summary()
		if got := s.Counts() + ": " + s.Names(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func removals(names string) (out []cas.Change) {
	for name := range strings.SplitSeq(names, "") {
		out = append(out, cas.Change{Path: name, Old: &cas.Entry{Name: name, Kind: cas.File}})
	}
	return out
}
