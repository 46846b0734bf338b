package workspace

import (
	"fmt"
	"strings"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/fault"
)

// NamedFiles is how many files a message about undo, redo or a restore names.
const NamedFiles = 5

// FilesSummary is what a message tells about the files that were restored, or would be.
type FilesSummary struct {
	// Files are the first changed files, in the order of paths, with unprintable bytes
	// escaped; More counts the others.
	Files []string `json:"files"`
	More  int      `json:"more"`
	// Restored counts files that got another content or were made again, Removed those
	// that were removed, and Modes those of which only the permission bits changed.
	Restored int `json:"restored"`
	Removed  int `json:"removed"`
	Modes    int `json:"modes"`
}

// Summary returns what a message tells about the changed files.
func (r *Restored) Summary() FilesSummary {
	s := FilesSummary{Files: []string{}}
	for _, c := range r.Changes {
		switch {
		case c.PermsOnly():
			s.Modes++
		case c.New != nil && c.New.Kind != cas.Folder:
			s.Restored++
		case c.Old != nil && c.Old.Kind != cas.Folder:
			s.Removed++
		default:
			continue // a folder alone
		}
		if len(s.Files) < NamedFiles {
			s.Files = append(s.Files, cas.EscapePath(c.Path))
		} else {
			s.More++
		}
	}
	return s
}

// Counts describes how many files were changed, such as "restored 2 files, removed 1".
func (s FilesSummary) Counts() string {
	var parts []string
	add := func(n int, verb, what string) {
		switch {
		case n == 0:
		case len(parts) > 0 && what == "file":
			parts = append(parts, fmt.Sprintf("%s %d", verb, n))
		default:
			parts = append(parts, verb+" "+fault.Plural(n, what))
		}
	}
	add(s.Restored, "restored", "file")
	add(s.Removed, "removed", "file")
	add(s.Modes, "restored the mode of", "path")
	if len(parts) == 0 {
		return "no file had to be changed"
	}
	return strings.Join(parts, ", ")
}

// Names lists the files, such as "a.go, b.go and 3 more"; it is empty if there are none.
func (s FilesSummary) Names() string {
	text := strings.Join(s.Files, ", ")
	if s.More > 0 {
		text += fmt.Sprintf(" and %d more", s.More)
	}
	return text
}
