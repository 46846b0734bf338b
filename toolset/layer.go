package toolset

import (
	"errors"
	"fmt"
	"path/filepath"
)

// Layer names the folders of an overlay that collects what one call writes to its
// workspace. The workspace is the lower layer, and is not written. Both folders are empty,
// on one file system, in one folder that no grant contains. They serve one process: the
// next one needs new ones.
type Layer struct {
	// Upper receives what the call writes. Work is the kernel's own.
	Upper string `json:"upper"`
	Work  string `json:"work"`
	// Through are folders and files in the workspace that the process writes directly, not
	// by way of the overlay. Sealed ones stay sealed.
	Through []string `json:"through,omitempty"`
}

// LayerError reports that a process was not started since the overlay of [Policy.Layer]
// can't be mounted. Nothing has run: the caller may start the process without a layer.
type LayerError struct{ Why string }

// Error returns the reason.
func (e *LayerError) Error() string { return "mount the overlay of the workspace: " + e.Why }

// check refuses folders that an overlay can't use. The kernel reports the rest.
func (l *Layer) check(p Policy) error {
	switch {
	case p.Workspace == "" || p.ReadOnly:
		return errors.New("layer: the workspace is not writable, so it needs no layer")
	case !filepath.IsAbs(l.Upper) || filepath.Dir(l.Upper) != filepath.Dir(l.Work) || l.Upper == l.Work:
		return fmt.Errorf("layer %q and %q: want absolute paths of two folders in one folder", l.Upper, l.Work)
	}
	if within(l.Upper, p.Workspace) {
		return fmt.Errorf("layer %s: it is inside the workspace %s", l.Upper, p.Workspace)
	}
	return nil
}

// within reports whether a path is a folder or below it, by their names.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
