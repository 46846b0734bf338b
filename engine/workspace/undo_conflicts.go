package workspace

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/toolset"
)

// conflicts is the fault that lists what is in the way of a restore: the foreign paths that
// its steps show, and those that the folder shows.
func (w *Folders) conflicts(ctx context.Context, r restoring, req RestoreRequest, foreign []cas.Blocked) error {
	req.Plan = true
	plan, err := w.restore(ctx, r, req)
	if err != nil {
		return err
	}
	return conflictFault(r.ws, joinBlocked(foreign, plan.Blocked))
}

// outside are the paths that aren't kept as they are.
func outside(paths []cas.Blocked, keep []string) []cas.Blocked {
	return slices.DeleteFunc(paths, func(p cas.Blocked) bool { return covered(p.Path, keep) })
}

// within are those of paths that are some of these or below them; all where
// these are nil.
func within(paths []cas.Blocked, these []string) []cas.Blocked {
	if these == nil {
		return paths
	}
	return slices.DeleteFunc(paths, func(p cas.Blocked) bool { return !covered(p.Path, these) })
}

// covered tells whether a path is one of these or below one; "/" is the whole folder.
func covered(path string, these []string) bool {
	return slices.ContainsFunc(these, func(k string) bool {
		k = strings.Trim(k, "/")
		return k == "" || path == k || strings.HasPrefix(path, k+"/")
	})
}

// joinBlocked adds to a list what it hasn't.
func joinBlocked(list, more []cas.Blocked) []cas.Blocked {
	has := make(map[string]bool, len(list))
	for _, b := range list {
		has[b.Path] = true
	}
	for _, b := range more {
		if !has[b.Path] {
			list = append(list, b)
		}
	}
	return list
}

// conflictFault lists what somebody else has changed, and when: the first of it,
// where it is much.
func conflictFault(ws *toolset.Workspace, paths []cas.Blocked) error {
	conflict := &cas.ConflictError{Paths: paths}
	f := fault.New(fault.Failed, fault.Plural(len(paths), "file")+" can't be brought back as they were; nothing was changed")
	if len(paths) == 1 {
		f.Msg = "1 file can't be brought back as it was; nothing was changed"
	}
	f.Err = conflict
	f.List(len(paths), func(i int) string {
		p := paths[i]
		line := cas.EscapePath(p.Path) + "  " + p.Reason
		if info, err := ws.Root.Lstat(filepath.FromSlash(p.Path)); err == nil && info.Mode().IsRegular() {
			line += ", last written " + info.ModTime().Local().Format("2006-01-02 15:04:05")
		}
		return line
	})
	return f
}
