package wspath

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/fettle-cli/fettle/toolset"
)

// maxLinks is how many links systems follow before they report a loop.
const maxLinks = 40

// Place is where a name leads.
type Place struct {
	// Given is the name as Find got it. Name has no links, and is spelled as the folder
	// lists it, also where the file system ignores case.
	Given, Name string
	// Info describes Name; nil if nothing exists there.
	Info fs.FileInfo
	// Fold reports that the file system ignores case in one of the folders on the way, so
	// that names that differ in case alone are one name.
	Fold bool
}

// Find follows a name through its links, one component at a time, so that a tool that
// replaces a file replaces the file and not the link to it, and so that `.git` is
// recognised by any name. Components that do not exist are kept as written. It refuses
// names that the workspace's rules deny ([toolset.Workspace.Denied]). Errors are
// [*toolset.ToolError]s.
func Find(ws *toolset.Workspace, name string) (Place, error) {
	return newResolver(ws).find(name)
}

func (r resolver) find(name string) (Place, error) {
	at, err := r.follow(name)
	if err != nil {
		return at, err
	}
	if rule, denied := Denied(r.ws, at); denied {
		return at, toolset.Errorf("%s is denied by the rule %s", Show(at.Name), rule)
	}
	return at, nil
}

// Denied returns the rule that denies a place to the current call.
func Denied(ws *toolset.Workspace, at Place) (rule string, denied bool) {
	if ws.Denied == nil {
		return "", false
	}
	return ws.Denied(at.Name, at.Fold)
}

// DeniedEntry returns the rule that denies the current call a name that a folder lists, as
// a walk finds it.
func DeniedEntry(ws *toolset.Workspace, name string) (rule string, denied bool) {
	if ws.Denied == nil {
		return "", false
	}
	if rule, denied = ws.Denied(name, false); denied {
		return rule, denied
	}
	if rule, denied = ws.Denied(name, true); denied && newResolver(ws).foldsOnTheWay(name) {
		return rule, denied
	}
	return "", false
}

func (r resolver) follow(name string) (Place, error) {
	at := Place{Given: name, Name: "."}
	todo := components(name)
	links := 0
	for len(todo) > 0 {
		part := todo[0]
		todo = todo[1:]
		if part == ".." {
			if at.Name == "." {
				return at, leadsOut(name)
			}
			at.Name = path.Dir(at.Name)
			continue
		}
		if err := RefuseGit(r.ws, at.Name, part); err != nil {
			return at, err
		}
		next := path.Join(at.Name, part)
		info, err := r.in.lstat(next)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return r.missing(at, next, todo)
		case err != nil:
			return at, Explain("look at", name, err)
		case info.Mode()&fs.ModeSymlink != 0:
			if links++; links > maxLinks {
				return at, toolset.Errorf("%s is a link that leads in a circle", Show(name))
			}
			target, err := r.linkTarget(next)
			if err != nil {
				return at, err
			}
			todo = append(target, todo...)
			continue
		case !info.IsDir() && len(todo) > 0:
			return at, toolset.Errorf("%s is a %s, not a folder", Show(next), KindName(info.Mode()))
		}
		r.step(&at, part, info)
	}
	info, err := r.in.lstat(at.Name)
	if err != nil {
		return at, Explain("look at", name, err)
	}
	at.Info = info
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

// step continues to a component that exists, by its true name.
func (r resolver) step(at *Place, part string, info fs.FileInfo) {
	part, fold := r.in.trueCase(at.Name, part, info)
	at.Fold = at.Fold || fold
	at.Name = path.Join(at.Name, part)
}

// missing ends follow where nothing exists: the rest is kept as written.
func (r resolver) missing(at Place, next string, todo []string) (Place, error) {
	at.Fold = at.Fold || r.in.folds(at.Name)
	at.Name = next
	for _, part := range todo {
		if part == ".." {
			return at, leadsOut(at.Given)
		}
		if err := RefuseGit(r.ws, at.Name, part); err != nil {
			return at, err
		}
		at.Name = path.Join(at.Name, part)
	}
	return at, nil
}

func leadsOut(name string) error {
	return toolset.Errorf("%s is a link that leads out of the workspace", Show(name))
}

func (r resolver) linkTarget(link string) ([]string, error) {
	target, err := r.in.readlink(link)
	if err != nil {
		return nil, Explain("read the link", link, err)
	}
	if filepath.IsAbs(target) || filepath.VolumeName(target) != "" {
		rel, ok := below(r.ws, target)
		if !ok {
			return nil, leadsOut(link)
		}
		// From the root down, regardless of the folder that contains the link.
		up := make([]string, strings.Count(link, "/"))
		for i := range up {
			up[i] = ".."
		}
		return append(up, components(filepath.ToSlash(rel))...), nil
	}
	return components(filepath.ToSlash(target)), nil
}

// RefuseGit returns an error for a component that is a bound workspace's `.git`. Windows
// and macOS accept other names for it (GIT~1, ".git ", invisible characters), so an odd
// name is compared as the system compares it.
func RefuseGit(ws *toolset.Workspace, dir, part string) error {
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
		return toolset.Errorf("%s belongs to git; these tools neither read nor write it", Show(path.Join(dir, part)))
	}
	return nil
}

// KindName returns the kind of a file that is not a regular one.
func KindName(m fs.FileMode) string {
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

// Explain returns a file system's error in words for the model, without the path that Go
// puts in front.
func Explain(doing, name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return toolset.Errorf("there is no %s", Show(name))
	case errors.Is(err, fs.ErrPermission):
		return toolset.Errorf("no permission to %s %s", doing, Show(name))
	}
	var pe *fs.PathError
	var le *os.LinkError
	switch {
	case errors.As(err, &pe):
		err = pe.Err
	case errors.As(err, &le):
		err = le.Err
	}
	return toolset.Errorf("can't %s %s: %w", doing, Show(name), err)
}
