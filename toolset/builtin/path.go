package builtin

import (
	"path"
	"strconv"
	"unicode/utf8"

	"github.com/fettle-cli/fettle/internal/didyoumean"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/wspath"
)

// place is where a path leads.
type place = wspath.Place

// resolve returns the place in the workspace that a path means.
func resolve(ws *toolset.Workspace, given string) (place, error) {
	name, err := wspath.Name(ws, given)
	if err != nil {
		return place{}, err
	}
	return wspath.Find(ws, name)
}

// dataName returns a name as the data of a result holds it: exact, where JSON
// can hold it.
func dataName(name string) string {
	if utf8.ValidString(name) {
		return name
	}
	return strconv.Quote(name)
}

// maxSuggest bounds the names looked at for a suggestion.
const maxSuggest = 1000

// notThere says that there is no such file, and which one may be meant.
func notThere(ws *toolset.Workspace, at place) error {
	name := at.Given
	if at.Name != name {
		return toolset.Errorf("%s leads to %s, and there is no such file", wspath.Show(name), wspath.Show(at.Name))
	}
	dir, base := path.Split(name)
	dir = path.Clean(dir)
	if info, err := ws.Root.Stat(dir); err != nil || !info.IsDir() {
		return toolset.Errorf("there is no file %s: there is no folder %s", wspath.Show(name), wspath.Show(dir))
	}
	entries, _, err := readDir(ws, dir, maxSuggest)
	if err != nil {
		return toolset.Errorf("there is no file %s", wspath.Show(name))
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if near := didyoumean.Of(base, names); near != "" {
		return toolset.Errorf("there is no file %s; did you mean %s?", wspath.Show(name), wspath.Show(path.Join(dir, near)))
	}
	return toolset.Errorf("there is no file %s; list_files shows what is there", wspath.Show(name))
}
