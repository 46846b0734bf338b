package workbench

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/fettle-cli/fettle/commands/config/trust"
	"github.com/fettle-cli/fettle/commands/config/wholefile"
	"github.com/fettle-cli/fettle/commands/keystore"
	"github.com/fettle-cli/fettle/server"
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
	return []string{filepath.Join(dirs.Config, keystore.FileName), src.File, filepath.Join(dirs.State, trust.FileName)}, nil
}

// PrivateLeftovers lists what killed commands have left next to the keys, the
// configuration and the record of what is trusted, and what a killed server has left. It
// removes nothing.
func (rt *Runtime) PrivateLeftovers() ([]string, error) {
	out, err := rt.eachPrivate(wholefile.Leftovers)
	return rt.withServer(out, err, server.Leftovers)
}

// RemovePrivateLeftovers removes what PrivateLeftovers lists, and returns it.
func (rt *Runtime) RemovePrivateLeftovers(ctx context.Context) ([]string, error) {
	out, err := rt.eachPrivate(func(path string) ([]string, error) { return wholefile.RemoveLeftovers(ctx, path) })
	return rt.withServer(out, err, server.RemoveLeftovers)
}

// withServer adds the leftovers of a server to others.
func (rt *Runtime) withServer(out []string, err error, do func(dataDir, runtimeDir string) ([]string, error)) ([]string, error) {
	dirs, derr := rt.Dirs()
	if derr != nil {
		return out, errors.Join(err, derr)
	}
	more, serr := do(dirs.Data, dirs.Runtime)
	return append(out, more...), errors.Join(err, serr)
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
