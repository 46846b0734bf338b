package workbench

import (
	"context"
	"path/filepath"
	"time"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/toolset/python"
)

// packagesIdle is how long Python packages that no installed toolset needs stay
// after their last use, before they are removed unasked: whoever works on a
// toolset tests it now and then and installs it nowhere.
const packagesIdle = 7 * 24 * time.Hour

// PrunePackages removes Python packages that no installed toolset needs, and
// what was compiled of toolsets that are gone.
func (rt *Runtime) PrunePackages(ctx context.Context, eng *engine.Engine, idle time.Duration) (python.Pruned, error) {
	dirs, err := rt.Dirs()
	if err != nil {
		return python.Pruned{}, err
	}
	m, err := eng.ToolsetMirror(ctx)
	if err != nil {
		return python.Pruned{}, err
	}
	o := python.PruneOptions{Idle: idle}
	for _, set := range m.Toolsets {
		o.Used = append(o.Used, set.Requirements)
	}
	return python.Prune(ctx, pythonCache(dirs.Data), o)
}

// pythonCache is where interpreters, packages and compiled files are kept.
func pythonCache(data string) string { return filepath.Join(data, "cache", "python") }
