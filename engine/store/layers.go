package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/fettle-cli/fettle/cas"
)

// LayersDir is the folder of layers in the data directory, each named after its call. It has
// those of the user's folders, too: nothing of fettle's is put next to them.
const LayersDir = "layers"

// LayersDir is the path of the folder of layers.
func (s *Store) LayersDir() string { return filepath.Join(s.Options.DataDir, LayersDir) }

// LayerLock is the name of the lock of a layer, which its process holds.
func LayerLock(call string) string { return "layer-" + call }

// WroteNothing reports whether a call left nothing in its layer but what the sandbox puts in
// the place of a repository. A layer that can't be read may have something.
func WroteNothing(layer string) bool {
	upper := filepath.Join(layer, "upper")
	entries, err := os.ReadDir(upper)
	if err != nil || len(entries) > 1 {
		return false
	}
	if len(entries) == 0 {
		return true
	}
	inside, err := os.ReadDir(filepath.Join(upper, entries[0].Name()))
	return err == nil && entries[0].Name() == ".git" && len(inside) == 0
}

// layers are the layers of calls that were cancelled, and what was never one.
func (s *sweep) layers(ctx context.Context) error {
	entries, err := os.ReadDir(s.e.LayersDir())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	errs := []error{err}
	for _, entry := range entries {
		path := filepath.Join(s.e.LayersDir(), entry.Name())
		if ctx.Err() != nil || strings.HasPrefix(entry.Name(), "probe-") {
			continue // a probe has a record of its own
		}
		release, free, err := s.e.TryLayer(entry.Name())
		if err != nil || !free {
			errs = append(errs, err)
			continue
		}
		_, metaErr := cas.ReadLayerMeta(path)
		if !errors.Is(metaErr, os.ErrNotExist) && !(metaErr == nil && WroteNothing(path)) {
			release()
			continue // the user decides about it
		}
		if s.remove {
			err = cas.DropLayer(path)
		}
		release()
		if errs = append(errs, err); err == nil {
			s.found = append(s.found, Leftover{path, LeftTemporary, 0})
		}
	}
	return errors.Join(errs...)
}
