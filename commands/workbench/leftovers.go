package workbench

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/fettle-cli/fettle/commands/config/trust"
	"github.com/fettle-cli/fettle/commands/config/wholefile"
	"github.com/fettle-cli/fettle/commands/keys"
)

// privateFiles are the files that hold what the user configures, keys first.
func (rt *Runtime) privateFiles() ([]string, error) {
	dirs, err := rt.Dirs()
	if err != nil {
		return nil, err
	}
	src, err := rt.ConfigSources(nil)
	if err != nil {
		return nil, err
	}
	return []string{filepath.Join(dirs.Config, keys.FileName), src.File, filepath.Join(dirs.State, trust.FileName)}, nil
}

// PrivateLeftovers lists what killed commands have left next to the keys, the
// configuration and the record of what is trusted. It changes nothing.
func (rt *Runtime) PrivateLeftovers() ([]string, error) {
	return rt.eachPrivate(wholefile.Leftovers)
}

// RemovePrivateLeftovers removes what PrivateLeftovers lists, and returns it.
func (rt *Runtime) RemovePrivateLeftovers(ctx context.Context) ([]string, error) {
	return rt.eachPrivate(func(path string) ([]string, error) { return wholefile.RemoveLeftovers(ctx, path) })
}

func (rt *Runtime) eachPrivate(do func(path string) ([]string, error)) ([]string, error) {
	files, err := rt.privateFiles()
	if err != nil {
		return nil, err
	}
	var out []string
	var errs []error
	for _, path := range files {
		if path == "" {
			continue
		}
		got, err := do(path)
		out = append(out, got...)
		errs = append(errs, err)
	}
	return out, errors.Join(errs...)
}
