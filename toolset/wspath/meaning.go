package wspath

import (
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/toolset"
)

// Meaning is which files a value can mean as the path argument of some tool.
type Meaning struct {
	// Readings has an element for each way in which a tool can read the value; they are
	// equal for nearly all values. Builtin tools remove dots before they follow links, the
	// system follows links first; some programs expand ~ and file addresses. An element
	// holds the names of one file: relative to the workspace where the file lies in it, and
	// absolute. All have slashes.
	Readings [][]string
	// Fold reports that a file system on the way ignores case.
	Fold bool
}

// Of returns what a value means as a path. It accepts every string: a value that cannot be
// a path means itself. Without a workspace (nil, or one without a root) only the spelling
// is used.
func Of(ws *toolset.Workspace, value string) Meaning {
	var m Meaning
	if value == "" || len(value) > maxPath || strings.ContainsRune(value, 0) {
		m.add([]string{value})
		return m
	}
	for _, p := range spellings(ws, value) {
		m.read(ws, p)
	}
	return m
}

// spellings returns the paths as which tools read a value, with slashes.
func spellings(ws *toolset.Workspace, value string) []string {
	out := []string{filepath.ToSlash(value)}
	if ws != nil && ws.Root != nil {
		out = append(out, filepath.ToSlash(unquoted(ws, value)))
	}
	if rest, ok := strings.CutPrefix(value, "~"); ok && (rest == "" || rest[0] == '/' || rest[0] == filepath.Separator) {
		if home, err := os.UserHomeDir(); err == nil {
			out = append(out, filepath.ToSlash(home+rest))
		}
	}
	if u, err := url.Parse(value); err == nil && strings.EqualFold(u.Scheme, "file") && u.Path != "" {
		out = append(out, filepath.ToSlash(u.Path))
	}
	return out
}

func (m *Meaning) add(names []string) {
	if !slices.ContainsFunc(m.Readings, func(have []string) bool { return slices.Equal(have, names) }) {
		m.Readings = append(m.Readings, names)
	}
}

// read adds the two readings of a path: dots first, and links first.
func (m *Meaning) read(ws *toolset.Workspace, p string) {
	clean := path.Clean(p)
	if ws == nil || ws.Root == nil {
		m.add([]string{clean})
		return
	}
	m.follow(ws, clean)
	if slices.Contains(strings.Split(p, "/"), "..") {
		m.follow(ws, p)
	}
}

// follow adds the file to which a path leads in the workspace, else outside of it.
func (m *Meaning) follow(ws *toolset.Workspace, p string) {
	rel, inside := p, true
	if filepath.IsAbs(filepath.FromSlash(p)) {
		rel, inside = below(ws, filepath.FromSlash(p))
		rel = filepath.ToSlash(rel)
	}
	if inside {
		if at, err := follow(ws, rel); err == nil {
			m.Fold = m.Fold || at.Fold
			m.add([]string{at.Name, filepath.ToSlash(filepath.Join(ws.Path, filepath.FromSlash(at.Name)))})
			return
		}
	}
	abs := filepath.FromSlash(p)
	if !filepath.IsAbs(abs) {
		abs = ws.Path + string(filepath.Separator) + abs
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		real = realFolder(abs)
	}
	if rel, ok := below(ws, real); ok { // such as a path into .git
		m.add([]string{filepath.ToSlash(rel), filepath.ToSlash(real)})
		return
	}
	m.add([]string{filepath.ToSlash(real)})
}
