//go:build !linux

package gitguard

import "os"

// entriesOf returns the entries of a folder that is open as f.
func entriesOf(_ *os.Root, f *os.File) ([]entry, error) {
	all, err := f.ReadDir(-1)
	out := make([]entry, len(all))
	for i, e := range all {
		out[i] = entry{e.Name(), e.IsDir()}
	}
	return out, err
}
