package wspath

import (
	"io/fs"
	"os"
	"path"
	"strings"
	"unicode"

	"github.com/fettle-cli/fettle/toolset"
)

// maxEntries bounds how many names of a folder are compared to find a name's true case.
const maxEntries = 100_000

// disk is what a resolution reads of a file system. Names have slashes.
type disk struct {
	lstat    func(name string) (fs.FileInfo, error)
	readlink func(name string) (string, error)
	open     func(name string) (*os.File, error)
}

// resolver resolves paths of a workspace: in reads below the workspace's root, by relative
// names, and all reads every file of the system, by absolute names.
type resolver struct {
	ws  *toolset.Workspace
	in  disk
	all disk
}

func newResolver(ws *toolset.Workspace) resolver {
	r := resolver{ws: ws, all: disk{lstat: os.Lstat, readlink: os.Readlink, open: os.Open}}
	if ws != nil && ws.Root != nil {
		r.in = disk{lstat: ws.Root.Lstat, readlink: ws.Root.Readlink, open: ws.Root.Open}
	}
	return r
}

// trueCase returns the name by which a folder lists an entry that exists; the given one if
// it is listed. fold reports that the folder takes names that differ in case alone, or in
// how the system shortens or normalises them, for one. The identity of the files decides,
// so that the answer is right on any file system.
func (d disk) trueCase(dir, part string, info fs.FileInfo) (name string, fold bool) {
	if isOdd(part) {
		if name = d.listedName(dir, part, info); name != part {
			return name, true
		}
	}
	other := swapCase(part)
	if other == part {
		return part, false
	}
	again, err := d.lstat(path.Join(dir, other))
	if err != nil || !os.SameFile(info, again) {
		return part, false
	}
	// A hard link of that very name is the same file, too.
	if d.lists(dir, part) && d.lists(dir, other) {
		return part, false
	}
	return d.listedName(dir, part, info), true
}

// isOdd reports whether a system can take a name for another one for other reasons than its
// case: it shortens, normalises or trims names.
func isOdd(part string) bool {
	return strings.ContainsAny(part, "~:") || strings.TrimRight(part, ". ") != part || !isASCII(part)
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r > unicode.MaxASCII }) < 0
}

// swapCase returns a name with the case of its ASCII letters changed; of all letters where
// it has none, since some systems ignore the case of ASCII letters alone.
func swapCase(s string) string {
	swap := func(limit rune) string {
		return strings.Map(func(r rune) rune {
			switch {
			case r > limit:
				return r
			case unicode.IsUpper(r):
				return unicode.ToLower(r)
			}
			return unicode.ToUpper(r)
		}, s)
	}
	if other := swap(unicode.MaxASCII); other != s {
		return other
	}
	return swap(unicode.MaxRune)
}

// lists reports whether a folder lists just this name.
func (d disk) lists(dir, name string) bool {
	found := false
	d.eachName(dir, func(n string) bool { found = n == name; return !found })
	return found
}

// listedName returns the name by which a folder lists an entry; the given one if it is
// listed as it is.
func (d disk) listedName(dir, part string, info fs.FileInfo) string {
	other := ""
	exact := false
	d.eachName(dir, func(n string) bool {
		if exact = n == part; exact {
			return false
		}
		if other == "" && mayMean(part, n) {
			if at, err := d.lstat(path.Join(dir, n)); err == nil && os.SameFile(at, info) {
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
	return strings.ContainsAny(part, "~:") || strings.EqualFold(strings.TrimRight(part, ". "), listed) || !isASCII(part+listed)
}

// eachName calls more with the names in a folder until it returns false.
func (d disk) eachName(dir string, more func(string) bool) {
	f, err := d.open(dir)
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
		if n += len(names); err != nil {
			return
		}
	}
}

// folds reports whether a folder takes names that differ in case alone for one. The first
// entry whose name has letters decides: folders of one disk can differ in this. A folder
// without such an entry does not show it, and counts as one that does, so that a rule which
// denies a name also denies the name in other letters there.
func (d disk) folds(dir string) bool {
	fold := true
	d.eachName(dir, func(name string) bool {
		info, err := d.lstat(path.Join(dir, name))
		other := swapCase(name)
		if err != nil || other == name {
			return true
		}
		again, err := d.lstat(path.Join(dir, other))
		fold = err == nil && os.SameFile(info, again)
		return false
	})
	return fold
}

// foldsOnTheWay reports whether one of the folders that lead to a listed name folds.
func (r resolver) foldsOnTheWay(name string) bool {
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		if r.in.folds(dir) {
			return true
		}
		if dir == "." || dir == "/" {
			return false
		}
	}
}

// locate returns the true names on the way to an absolute path without links, and where
// it comes into the workspace, whatever the folders on the way are called: rel is its path
// below the workspace then. The part of the path that does not exist is kept as written.
func (r resolver) locate(abs string) (real, rel string, inside, fold bool) {
	root, rest := splitRoot(abs)
	home, err := r.in.lstat(".")
	real = root
	for i, part := range rest {
		at, infoErr := r.all.lstat(path.Join(real, part))
		if infoErr != nil {
			fold = fold || r.all.folds(real)
			return path.Join(append([]string{real}, rest[i:]...)...), "", false, fold
		}
		name, folded := r.all.trueCase(real, part, at)
		real, fold = path.Join(real, name), fold || folded
		if err == nil && os.SameFile(home, at) {
			return real, path.Join(rest[i+1:]...), true, fold
		}
	}
	return real, "", false, fold
}
