//go:build !linux

package sandbox

import "context"

// devices are the file systems of a workspace and of the folder that has its layers.
type devices struct{}

// Layers reports why the calls of a workspace can't have layers: only Linux has overlays.
func (l *Launcher) Layers(context.Context, string, string) (why string, err error) {
	return "only Linux has overlays", nil
}
