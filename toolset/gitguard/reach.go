package gitguard

import (
	"iter"
	"os"
	"path"
	"slices"
	"strings"
)

// ReachesBare reports whether a layer that is going to be merged into a folder writes to a bare
// repository, or makes a folder one. layer yields each folder of the layer, with the names in it
// that are written or removed. A layer with a .git of its own is for [Found.SetAside].
//
// It costs a few lookups for each folder of the layer, and no search of the whole folder.
func ReachesBare(root *os.Root, layer iter.Seq2[string, []string]) bool {
	for folder, names := range layer {
		merged := func(name string) bool {
			if slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) }) {
				return true
			}
			_, err := root.Lstat(native(path.Join(folder, name)))
			return err == nil
		}
		if folder != "" && looksBare(merged) { // git does not take the root for one
			return true
		}
	}
	return false
}
