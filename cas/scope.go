package cas

import (
	"slices"
	"strings"
)

// scope is a set of paths, each with all that is below it. Undo names as many as its
// steps have changed, so each difference is looked up, and not compared with all.
type scope struct {
	has    map[string]bool
	sorted []string
}

// scopeOf is the scope of paths as states have them; of nil there is none.
func scopeOf(paths []string) *scope {
	if paths == nil {
		return nil
	}
	s := &scope{has: make(map[string]bool, len(paths)), sorted: slices.Sorted(slices.Values(paths))}
	for _, p := range paths {
		s.has[p] = true
	}
	return s
}

// covers tells whether a path is one of the scope's or below one.
func (s *scope) covers(path string) bool {
	if s == nil {
		return false
	}
	for !s.has[path] {
		if path == "" {
			return false
		}
		path, _ = split(path)
	}
	return true
}

// reaches tells whether one of the scope's paths is a folder or below it.
func (s *scope) reaches(folder string) bool {
	if folder == "" || s.has[folder] {
		return len(s.sorted) > 0
	}
	i, _ := slices.BinarySearch(s.sorted, folder+"/")
	return i < len(s.sorted) && strings.HasPrefix(s.sorted[i], folder+"/")
}
