package wspath

import (
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fettle-cli/fettle/toolset"
)

// maxPath is Linux's PATH_MAX. Systems refuse longer paths, with a less clear error.
const maxPath = 4096

// Name returns the name below the workspace that a path means by its spelling: relative,
// clean, with slashes. It reads the file system only for an absolute path, which may lie
// inside the workspace, and for a quoted one, which may be a name as [Show] writes it.
// Errors are [*toolset.ToolError]s.
func Name(ws *toolset.Workspace, given string) (string, error) {
	switch {
	case given == "":
		return "", toolset.Errorf("path is empty; give a path relative to the workspace, such as notes.txt")
	case len(given) > maxPath:
		return "", toolset.Errorf("path has %d bytes; %d are allowed", len(given), maxPath)
	case given == "~" || strings.HasPrefix(given, "~/"):
		return "", toolset.Errorf("path %s: ~ is not known here; give a path relative to the workspace", Show(given))
	}
	p := unquoted(ws, given)
	if strings.ContainsRune(p, 0) {
		return "", toolset.Errorf("path %s holds a NUL character", Show(given))
	}
	p = filepath.ToSlash(p)
	if filepath.IsAbs(filepath.FromSlash(p)) {
		rel, ok := below(ws, filepath.FromSlash(p))
		if !ok {
			return "", outside(given)
		}
		p = filepath.ToSlash(rel)
	}
	name := path.Clean(p)
	if name == ".." || strings.HasPrefix(name, "../") || strings.HasPrefix(name, "/") {
		return "", outside(given)
	}
	if !filepath.IsLocal(filepath.FromSlash(name)) { // Windows: drives, NUL, COM1
		return "", toolset.Errorf("path %s is not a name that this system allows", Show(given))
	}
	return name, nil
}

func outside(given string) error {
	return toolset.Errorf("path %s is outside the workspace; give a path relative to the workspace, such as notes.txt or src/main.go", Show(given))
}

// below returns an absolute path relative to the workspace, if it lies in it.
func below(ws *toolset.Workspace, abs string) (string, bool) {
	for _, candidate := range []string{abs, realFolder(abs)} {
		rel, err := filepath.Rel(ws.Path, candidate)
		if err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) && !filepath.IsAbs(rel) {
			return rel, true
		}
	}
	return "", false
}

// realFolder resolves the links in the part of an absolute path that exists: on macOS,
// /tmp/x is /private/tmp/x.
func realFolder(abs string) string {
	rest := ""
	for p := filepath.Clean(abs); ; p = filepath.Dir(p) {
		if real, err := filepath.EvalSymlinks(p); err == nil {
			return filepath.Join(real, rest)
		}
		if filepath.Dir(p) == p {
			return abs
		}
		rest = filepath.Join(filepath.Base(p), rest)
	}
}

// unquoted returns the name that [Show] wrote in quotes, unless a file has just the
// quoted name.
func unquoted(ws *toolset.Workspace, given string) string {
	if len(given) < 2 || given[0] != '"' || given[len(given)-1] != '"' {
		return given
	}
	plain, err := strconv.Unquote(given)
	if err != nil {
		return given
	}
	if _, err := ws.Root.Lstat(given); err == nil {
		return given
	}
	return plain
}

// Show returns a name as users and models see it: in Go's quotes where it has characters
// that cannot be printed, begins with a quote, or is not valid UTF-8.
func Show(name string) string {
	if utf8.ValidString(name) && !strings.HasPrefix(name, `"`) && strings.IndexFunc(name, unprintable) < 0 {
		return name
	}
	return strconv.Quote(name)
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) }
