package gallery

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/fettle-cli/fettle/toolset/manifest"
)

//go:embed chaoscontext my-toolset research research-streams reviews
var files embed.FS

// prefix begins the references of the gallery's toolsets.
const prefix = "gallery:"

// Set is one toolset of the gallery.
type Set struct {
	// Ref is what import takes, such as gallery:reviews.
	Ref      string
	Manifest *manifest.Manifest
}

// Ref returns the reference by which a toolset of the gallery is imported.
func Ref(id string) string { return prefix + id }

// ID returns the id in a reference of the gallery, and whether it is one.
func ID(ref string) (id string, ok bool) { return strings.CutPrefix(ref, prefix) }

// IDs returns the ids of all toolsets, sorted.
func IDs() []string {
	entries, err := files.ReadDir(".")
	if err != nil { // the embedded root always has a list
		return nil
	}
	out := make([]string, 0, len(entries))
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// Files returns the files of a toolset. The error is an [fs.ErrNotExist] if the gallery has
// no toolset of that id.
func Files(id string) (fs.FS, error) {
	if !slices.Contains(IDs(), id) {
		return nil, fmt.Errorf("gallery toolset %q: %w", id, fs.ErrNotExist)
	}
	return fs.Sub(files, id)
}

// All returns the toolsets with their manifests, sorted by id. The manifests are shared and
// must not be changed.
func All() ([]Set, error) { return all() }

// all parses the manifests once, since a page of the server lists them each time it opens.
var all = sync.OnceValues(func() ([]Set, error) {
	var out []Set
	for _, id := range IDs() {
		data, err := files.ReadFile(id + "/" + manifest.FileName)
		if err != nil {
			return nil, fmt.Errorf("gallery toolset %s: %w", id, err)
		}
		d := manifest.Parse(manifest.FileName, data, manifest.Options{})
		if err := d.Err(); err != nil {
			return nil, fmt.Errorf("gallery toolset %s: %w", id, err)
		}
		out = append(out, Set{Ref: Ref(id), Manifest: d.Manifest})
	}
	return out, nil
})
