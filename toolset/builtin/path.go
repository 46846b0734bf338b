package builtin

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fettle-cli/fettle/internal/nearest"
	"github.com/fettle-cli/fettle/toolset"
)

const (
	// maxPath is Linux's PATH_MAX; longer ones fail anyway, less clearly.
	maxPath = 4096
	// maxLinks is what systems follow before they suspect a circle.
	maxLinks = 40
)

// locate turns a path that a model gave into a name. It looks at the path
// alone, except that an absolute one may lie inside the workspace, and that a
// quoted one may be a shown name.
func locate(ws *toolset.Workspace, given string) (string, error) {
	switch {
	case given == "":
		return "", toolset.Errorf("path is empty; give a path relative to the workspace, such as notes.txt")
	case len(given) > maxPath:
		return "", toolset.Errorf("path has %d bytes; %d are allowed", len(given), maxPath)
	case given == "~" || strings.HasPrefix(given, "~/"):
		return "", toolset.Errorf("path %s: ~ is not known here; give a path relative to the workspace", show(given))
	}
	p := unquoted(ws, given)
	if strings.ContainsRune(p, 0) {
		return "", toolset.Errorf("path %s holds a NUL character", show(given))
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
		return "", toolset.Errorf("path %s is not a name that this system allows", show(given))
	}
	return name, nil
}

func outside(given string) error {
	return toolset.Errorf("path %s is outside the workspace; give a path relative to the workspace, such as notes.txt or src/main.go", show(given))
}

// below makes an absolute path relative to the workspace, where it lies in it.
func below(ws *toolset.Workspace, abs string) (string, bool) {
	for _, candidate := range []string{abs, realFolder(abs)} {
		rel, err := filepath.Rel(ws.Path, candidate)
		if err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) && !filepath.IsAbs(rel) {
			return rel, true
		}
	}
	return "", false
}

// realFolder resolves links in the part of the path that is there: on macOS,
// /tmp/x is /private/tmp/x. Only the answer "inside the workspace" comes of it.
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

// unquoted turns a shown name back, unless there is a file of just that name.
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

// show gives a name as people and models see it.
func show(name string) string {
	if utf8.ValidString(name) && !strings.HasPrefix(name, `"`) && strings.IndexFunc(name, unprintable) < 0 {
		return name
	}
	return strconv.Quote(name)
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) }

// dataName gives a name as the data of a result holds it: exact, where JSON
// can hold it.
func dataName(name string) string {
	if utf8.ValidString(name) {
		return name
	}
	return strconv.Quote(name)
}

// place is where a name leads.
type place struct {
	// given is the name as asked for; name is free of links.
	given, name string
	// info is of name; nil where there is nothing.
	info fs.FileInfo
}

// find follows a name through its links, one component at a time, so that
// what is replaced later is the file and not the link to it, and so that .git
// is seen under any name. Between this look and the use of the name others may
// change the folder; the root still confines what they can reach.
func find(ws *toolset.Workspace, name string) (place, error) {
	at := place{given: name, name: "."}
	todo := components(name)
	links := 0
	for len(todo) > 0 {
		part := todo[0]
		todo = todo[1:]
		if part == ".." {
			if at.name == "." {
				return at, leadsOut(name)
			}
			at.name = path.Dir(at.name)
			continue
		}
		if err := refuseGit(ws, at.name, part); err != nil {
			return at, err
		}
		next := path.Join(at.name, part)
		info, err := ws.Root.Lstat(next)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return missing(ws, at, next, todo)
		case err != nil:
			return at, explain("look at", name, err)
		case info.Mode()&fs.ModeSymlink != 0:
			if links++; links > maxLinks {
				return at, toolset.Errorf("%s is a link that leads in a circle", show(name))
			}
			target, err := linkTarget(ws, next)
			if err != nil {
				return at, err
			}
			todo = append(target, todo...)
			continue
		case !info.IsDir() && len(todo) > 0:
			return at, toolset.Errorf("%s is a %s, not a folder", show(next), kindName(info.Mode()))
		}
		at.name = next
	}
	info, err := ws.Root.Lstat(at.name)
	if err != nil {
		return at, explain("look at", name, err)
	}
	at.info = info
	return at, nil
}

func components(name string) []string {
	var parts []string
	for _, p := range strings.Split(name, "/") {
		if p != "" && p != "." {
			parts = append(parts, p)
		}
	}
	return parts
}

// missing ends find where there is nothing: the rest is taken as written.
func missing(ws *toolset.Workspace, at place, next string, todo []string) (place, error) {
	at.name = next
	for _, part := range todo {
		if part == ".." {
			return at, leadsOut(at.given)
		}
		if err := refuseGit(ws, at.name, part); err != nil {
			return at, err
		}
		at.name = path.Join(at.name, part)
	}
	return at, nil
}

func leadsOut(name string) error {
	return toolset.Errorf("%s is a link that leads out of the workspace", show(name))
}

func linkTarget(ws *toolset.Workspace, link string) ([]string, error) {
	target, err := ws.Root.Readlink(link)
	if err != nil {
		return nil, explain("read the link", link, err)
	}
	if filepath.IsAbs(target) || filepath.VolumeName(target) != "" {
		rel, ok := below(ws, target)
		if !ok {
			return nil, leadsOut(link)
		}
		// From the root down, whatever folder the link lies in.
		up := make([]string, strings.Count(link, "/"))
		for i := range up {
			up[i] = ".."
		}
		return append(up, components(filepath.ToSlash(rel))...), nil
	}
	return components(filepath.ToSlash(target)), nil
}

// refuseGit keeps a bound workspace's .git out of reach. Besides its name,
// Windows and macOS know it by others (GIT~1, ".git ", invisible characters),
// so an odd name is compared as the system compares it.
func refuseGit(ws *toolset.Workspace, dir, part string) error {
	if !ws.Bound {
		return nil
	}
	plain, _, _ := strings.Cut(part, ":") // Windows: a stream of the folder
	git := strings.EqualFold(strings.TrimRight(plain, ". "), ".git")
	if !git && (strings.ContainsRune(part, '~') || strings.IndexFunc(part, func(r rune) bool { return r > unicode.MaxASCII }) >= 0) {
		a, errA := ws.Root.Lstat(path.Join(dir, part))
		b, errB := ws.Root.Lstat(path.Join(dir, ".git"))
		git = errA == nil && errB == nil && os.SameFile(a, b)
	}
	if git {
		return toolset.Errorf("%s belongs to git; these tools neither read nor write it", show(path.Join(dir, part)))
	}
	return nil
}

// kindName says what a file is, where it is no regular one.
func kindName(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "folder"
	case m.IsRegular():
		return "file"
	case m&fs.ModeSymlink != 0:
		return "link"
	case m&fs.ModeNamedPipe != 0:
		return "named pipe"
	case m&fs.ModeSocket != 0:
		return "socket"
	case m&fs.ModeDevice != 0:
		return "device"
	}
	return "special file"
}

// explain puts a file system's error into words for the model. What it doesn't
// know stays trouble of ours, without the path that Go puts in front.
func explain(doing, name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return toolset.Errorf("there is no %s", show(name))
	case errors.Is(err, fs.ErrPermission):
		return toolset.Errorf("no permission to %s %s", doing, show(name))
	}
	var pe *fs.PathError
	var le *os.LinkError
	switch {
	case errors.As(err, &pe):
		err = pe.Err
	case errors.As(err, &le):
		err = le.Err
	}
	return toolset.Errorf("can't %s %s: %w", doing, show(name), err)
}

// maxSuggest bounds the names looked at for a suggestion.
const maxSuggest = 1000

// notThere says that there is no such file, and which one may be meant.
func notThere(ws *toolset.Workspace, at place) error {
	name := at.given
	if at.name != name {
		return toolset.Errorf("%s leads to %s, and there is no such file", show(name), show(at.name))
	}
	dir, base := path.Split(name)
	dir = path.Clean(dir)
	if info, err := ws.Root.Stat(dir); err != nil || !info.IsDir() {
		return toolset.Errorf("there is no file %s: there is no folder %s", show(name), show(dir))
	}
	entries, _, err := readDir(ws, dir, maxSuggest)
	if err != nil {
		return toolset.Errorf("there is no file %s", show(name))
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if near := nearest.Of(base, names); near != "" {
		return toolset.Errorf("there is no file %s; did you mean %s?", show(name), show(path.Join(dir, near)))
	}
	return toolset.Errorf("there is no file %s; list_files shows what is there", show(name))
}
