package workspace

import (
	"context"
	"path"
	"path/filepath"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/store"
)

// noneEmpty returns a usage error where a path is empty, which would mean the whole
// folder; what names the flag or the argument.
func noneEmpty(paths []string, what string) error {
	for _, p := range paths {
		if p == "" {
			return cmdline.Usagef("fettle workspace files", "%s is empty; a dot means the whole folder", what)
		}
	}
	return nil
}

// spellings returns the two names that a typed path may mean: the name that it is an
// escaped form of, as [cas.EscapePath] prints names, and its raw bytes. Mostly they are
// the same.
func spellings(typed string) (printed, raw string) {
	raw = filepath.ToSlash(typed)
	printed, err := cas.UnescapePath(typed)
	if err != nil {
		return raw, raw
	}
	return printed, raw
}

// chosenName returns the name that a typed path means: the printed reading, unless only
// the raw one exists. has is not called where both are the same.
func chosenName(typed string, has func(name string) (bool, error)) (string, error) {
	printed, raw := spellings(typed)
	if printed == raw {
		return raw, nil
	}
	if there, err := has(printed); there || err != nil {
		return printed, err
	}
	there, err := has(raw)
	if there {
		return raw, err
	}
	return printed, err
}

// nameToPut returns the name of a file to write: the printed reading of the typed path
// where there is such a file, and its raw bytes otherwise.
func nameToPut(ctx context.Context, eng *engine.Engine, ref store.ChatRef, typed string) (string, error) {
	printed, raw := spellings(typed)
	if printed == raw {
		return raw, nil
	}
	there, err := eng.HasPath(ctx, ref, printed)
	if there {
		return printed, err
	}
	return raw, err
}

// statePaths returns the names that typed paths mean in a chat's folder or in one of
// its states. The whole folder is "/", as a restore requires it.
func statePaths(ctx context.Context, eng *engine.Engine, ref store.ChatRef, typed []string) ([]string, error) {
	var out []string
	for _, p := range typed {
		name, err := chosenName(p, func(name string) (bool, error) { return eng.HasPath(ctx, ref, name) })
		if err != nil {
			return nil, err
		}
		if name = path.Clean(name); name == "." {
			name = "/"
		}
		out = append(out, name)
	}
	return out, nil
}
