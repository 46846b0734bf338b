package cas

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/fettle-cli/fettle/internal/atomicfile"
)

// DisownLayer removes the description of a layer, so that it can't be landed any more. The
// overlay may still be mounted.
func DisownLayer(layer string) error {
	err := atomicfile.Remove(filepath.Join(layer, layerMeta))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Suspect reports whether the system was started again since the layer was made: its files
// may be cut off or empty, since nothing of a layer is synced.
func (m *LayerMeta) Suspect() bool { return m.torn() }
