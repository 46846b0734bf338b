package builtin

import (
	"io/fs"
	"path"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/wspath"
)

// skipped tells why a folder is mentioned but not walked; empty for one that
// is walked. siblings are the entries of the folder that it lies in.
func skipped(ws *toolset.Workspace, dir string, name string, siblings map[string]bool) string {
	full := path.Join(dir, name)
	has := func(file string) bool {
		info, err := ws.Root.Lstat(path.Join(full, file))
		return err == nil && info.Mode().IsRegular()
	}
	switch {
	case hiddenByRule(ws, full):
		return "denied by a rule"
	case name == ".git" || wspath.RefuseGit(ws, dir, name) != nil:
		return "git's own"
	case name == "node_modules" && siblings["package.json"],
		name == "target" && siblings["Cargo.toml"],
		name == "__pycache__",
		has("pyvenv.cfg"), has("CACHEDIR.TAG"):
		return "generated"
	}
	return ""
}

// hiddenByRule reports whether a rule denies a name that a walk found.
func hiddenByRule(ws *toolset.Workspace, name string) bool {
	_, yes := wspath.DeniedEntry(ws, name)
	return yes
}

// nameSet is the names of a folder's entries.
func nameSet(entries []fs.DirEntry) map[string]bool {
	names := make(map[string]bool, len(entries))
	for _, e := range entries {
		names[e.Name()] = true
	}
	return names
}
