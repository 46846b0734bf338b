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
	newResolver(ws).of(&m, value)
	return m
}

func (r resolver) of(m *Meaning, value string) {
	for _, p := range spellings(r.ws, value) {
		r.read(m, p)
	}
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
func (r resolver) read(m *Meaning, p string) {
	clean := path.Clean(p)
	if r.ws == nil || r.ws.Root == nil {
		m.add([]string{clean})
		return
	}
	r.reading(m, clean)
	if slices.Contains(strings.Split(p, "/"), "..") {
		r.reading(m, p)
	}
}

// reading adds the file to which a path leads in the workspace, else outside of it.
func (r resolver) reading(m *Meaning, p string) {
	rel, inside := p, true
	if filepath.IsAbs(filepath.FromSlash(p)) {
		rel, inside = below(r.ws, filepath.FromSlash(p))
		rel = filepath.ToSlash(rel)
	}
	if inside && r.readInside(m, rel) {
		return
	}
	abs := filepath.FromSlash(p)
	if !filepath.IsAbs(abs) {
		abs = r.ws.Path + string(filepath.Separator) + abs
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		real = realFolder(abs)
	}
	at, rel, inside, fold := r.locate(filepath.ToSlash(real))
	m.Fold = m.Fold || fold
	if inside && r.readInside(m, rel) {
		return
	}
	if inside { // such as a path into .git
		m.add([]string{path.Clean(rel), filepath.ToSlash(real)})
		return
	}
	m.add([]string{at})
}

// readInside adds the file to which a path below the workspace leads, unless it leads out
// or into .git.
func (r resolver) readInside(m *Meaning, rel string) bool {
	at, err := r.follow(rel)
	if err != nil {
		return false
	}
	m.Fold = m.Fold || at.Fold
	m.add([]string{at.Name, filepath.ToSlash(filepath.Join(r.ws.Path, filepath.FromSlash(at.Name)))})
	return true
}

// splitRoot splits an absolute path with slashes into the root of its volume and its
// parts.
func splitRoot(abs string) (root string, parts []string) {
	volume := filepath.ToSlash(filepath.VolumeName(filepath.FromSlash(abs)))
	return volume + "/", components(strings.TrimPrefix(abs, volume))
}
