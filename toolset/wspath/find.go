package wspath

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/fettle-cli/fettle/toolset"
)

const (
	// maxLinks is how many links systems follow before they report a loop.
	maxLinks = 40
	// maxEntries bounds how many names of a folder are compared to find a name's true case.
	maxEntries = 100_000
)

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
	at, err := follow(ws, name)
	if err != nil {
		return at, err
	}
	if rule, denied := Denied(ws, at); denied {
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

func follow(ws *toolset.Workspace, name string) (Place, error) {
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
		if err := RefuseGit(ws, at.Name, part); err != nil {
			return at, err
		}
		next := path.Join(at.Name, part)
		info, err := ws.Root.Lstat(next)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return missing(ws, at, next, todo)
		case err != nil:
			return at, Explain("look at", name, err)
		case info.Mode()&fs.ModeSymlink != 0:
			if links++; links > maxLinks {
				return at, toolset.Errorf("%s is a link that leads in a circle", Show(name))
			}
			target, err := linkTarget(ws, next)
			if err != nil {
				return at, err
			}
			todo = append(target, todo...)
			continue
		case !info.IsDir() && len(todo) > 0:
			return at, toolset.Errorf("%s is a %s, not a folder", Show(next), KindName(info.Mode()))
		}
		at.step(ws, part, info)
	}
	info, err := ws.Root.Lstat(at.Name)
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
func (at *Place) step(ws *toolset.Workspace, part string, info fs.FileInfo) {
	if ignoresCase(ws, at.Name, part, info) {
		at.Fold = true
		part = trueName(ws, at.Name, part, info)
	}
	at.Name = path.Join(at.Name, part)
}

// ignoresCase reports whether a component can be the name of an entry that is listed
// under another one: the file system ignores case, or it may normalise or shorten names.
// One more look-up decides for plain names, which are nearly all.
func ignoresCase(ws *toolset.Workspace, dir, part string, info fs.FileInfo) bool {
	if strings.ContainsAny(part, "~:") || strings.TrimRight(part, ". ") != part || strings.IndexFunc(part, func(r rune) bool { return r > unicode.MaxASCII }) >= 0 {
		return trueName(ws, dir, part, info) != part
	}
	other := swapCase(part)
	if other == part {
		return false
	}
	again, err := ws.Root.Lstat(path.Join(dir, other))
	if err != nil || !os.SameFile(info, again) {
		return false
	}
	// A hard link of that very name would be the same file, too.
	return !listed(ws, dir, part) || !listed(ws, dir, other)
}

func swapCase(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return r
	}, s)
}

// listed reports whether a folder lists just this name.
func listed(ws *toolset.Workspace, dir, name string) bool {
	found := false
	eachName(ws, dir, func(n string) bool { found = n == name; return !found })
	return found
}

// trueName returns the name by which a folder lists an entry; the given one if it is
// listed as it is.
func trueName(ws *toolset.Workspace, dir, part string, info fs.FileInfo) string {
	other := ""
	exact := false
	eachName(ws, dir, func(n string) bool {
		if exact = n == part; exact {
			return false
		}
		if other == "" && mayMean(part, n) {
			if at, err := ws.Root.Lstat(path.Join(dir, n)); err == nil && os.SameFile(at, info) {
				other = n
			}
		}
		return true
	})
	if exact || other == "" {
		return part
	}
	return other
}

// mayMean is a quick check before a look-up: names that a file system takes for one have
// the same beginning, unless they were shortened or normalised.
func mayMean(part, listed string) bool {
	return strings.ContainsAny(part, "~:") || strings.EqualFold(strings.TrimRight(part, ". "), listed) ||
		strings.IndexFunc(part+listed, func(r rune) bool { return r > unicode.MaxASCII }) >= 0
}

// eachName calls more with the names in a folder until it returns false.
func eachName(ws *toolset.Workspace, dir string, more func(string) bool) {
	f, err := ws.Root.Open(dir)
	if err != nil {
		return
	}
	defer f.Close()
	for n := 0; n < maxEntries; {
		names, err := f.Readdirnames(1000)
		for _, name := range names {
			if !more(name) {
				return
			}
		}
		if n += len(names); err != nil || errors.Is(err, io.EOF) {
			return
		}
	}
}

// missing ends follow where nothing exists: the rest is kept as written.
func missing(ws *toolset.Workspace, at Place, next string, todo []string) (Place, error) {
	at.Fold = at.Fold || folds(ws, at.Name)
	at.Name = next
	for _, part := range todo {
		if part == ".." {
			return at, leadsOut(at.Given)
		}
		if err := RefuseGit(ws, at.Name, part); err != nil {
			return at, err
		}
		at.Name = path.Join(at.Name, part)
	}
	return at, nil
}

// folds reports whether a folder's file system ignores case, by the folder's own name or
// by an entry in it.
func folds(ws *toolset.Workspace, dir string) bool {
	check := func(parent, name string) (fold, decided bool) {
		other := swapCase(name)
		if other == name {
			return false, false
		}
		a, errA := ws.Root.Lstat(path.Join(parent, name))
		b, errB := ws.Root.Lstat(path.Join(parent, other))
		return errA == nil && errB == nil && os.SameFile(a, b), errA == nil
	}
	if dir != "." {
		if fold, decided := check(path.Dir(dir), path.Base(dir)); decided {
			return fold
		}
	}
	fold := false
	eachName(ws, dir, func(n string) bool {
		f, decided := check(dir, n)
		fold = f
		return !decided
	})
	return fold
}

func leadsOut(name string) error {
	return toolset.Errorf("%s is a link that leads out of the workspace", Show(name))
}

func linkTarget(ws *toolset.Workspace, link string) ([]string, error) {
	target, err := ws.Root.Readlink(link)
	if err != nil {
		return nil, Explain("read the link", link, err)
	}
	if filepath.IsAbs(target) || filepath.VolumeName(target) != "" {
		rel, ok := below(ws, target)
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
