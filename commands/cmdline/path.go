package cmdline

import (
	"os"
	"path/filepath"
	"strings"
)

// ShortPath is a path as people would write it: relative below the current
// folder.
func ShortPath(path string) string {
	wd, err := os.Getwd()
	if err != nil {
		return path
	}
	rel, err := filepath.Rel(wd, path)
	if err != nil || strings.HasPrefix(rel, "..") {
		return path
	}
	return rel
}
