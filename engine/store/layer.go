package store

import (
	"path/filepath"
)

// LayersDir is the folder of layers in the data directory, each named after its call. It has
// those of the user's folders, too: nothing of fettle's is put next to them.
const LayersDir = "layers"

func (s *Store) LayersDir() string { return filepath.Join(s.Options.DataDir, LayersDir) }

// LayerLock is the name of the lock of a layer, which its process holds.
func LayerLock(call string) string { return "layer-" + call }
