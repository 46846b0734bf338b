package toolset

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// OwnState are the files and folders of fettle itself, absolute: its data directory, its
// configuration, and the folder of its sockets. No tool reaches them by a grant.
type OwnState []string

// ownPlace is one of them as the disk has it.
type ownPlace struct {
	path   string // with links resolved as far as it exists
	exists bool
	above  []os.FileInfo // itself, where it exists, and the folders that it is inside of
	names  []string      // what above[i] is called
}

// places reads the file system. Links and letter case are the system's to judge: folders
// are compared as files.
func (o OwnState) places() []ownPlace {
	var out []ownPlace
	for _, given := range o {
		if given == "" {
			continue
		}
		abs, err := filepath.Abs(given)
		if err != nil {
			continue
		}
		at := ownPlace{path: abs}
		for p, rest := abs, ""; ; p, rest = filepath.Dir(p), filepath.Join(filepath.Base(p), rest) {
			if real, err := filepath.EvalSymlinks(p); err == nil {
				at.path, at.exists = filepath.Join(real, rest), rest == ""
				break
			}
			if filepath.Dir(p) == p {
				break
			}
		}
		for p := at.path; ; p = filepath.Dir(p) {
			if info, err := os.Stat(p); err == nil {
				at.above, at.names = append(at.above, info), append(at.names, p)
			}
			if filepath.Dir(p) == p {
				break
			}
		}
		out = append(out, at)
	}
	return out
}

// Check refuses a grant that is one of these, or is inside of one, however it is written.
func (o OwnState) Check(grant string) error {
	real, err := filepath.EvalSymlinks(grant)
	if err != nil {
		return nil // it doesn't exist, so that it grants nothing; a start reports that
	}
	for _, own := range o.places() {
		if !own.exists {
			continue
		}
		for p := real; ; p = filepath.Dir(p) {
			if info, err := os.Stat(p); err == nil && os.SameFile(info, own.above[0]) {
				return fmt.Errorf("grant %s: it is fettle's own state (%s), which no tool may reach; grant another folder", grant, own.path)
			}
			if filepath.Dir(p) == p {
				break
			}
		}
	}
	return nil
}

// Inside is a file or folder of fettle's own that is inside of a grant.
type Inside struct {
	Path   string // below the grant, as the grant is called
	Exists bool
	// Between are the folders between the grant and Path.
	Between []string
}

// Inside returns the own state that is inside of a grant, whose links are resolved. linked
// is a path of it that leads there by a link which is itself inside of the grant; a process
// that may write there could replace the link.
func (o OwnState) Inside(grant string) (in []Inside, linked string) {
	info, err := os.Stat(grant)
	if err != nil || !info.IsDir() {
		return nil, ""
	}
	for _, given := range o {
		if abs, err := filepath.Abs(given); err == nil && given != "" && strings.HasPrefix(abs, grant+string(filepath.Separator)) && hasLink(grant, abs) {
			linked = abs
		}
	}
	for _, own := range o.places() {
		for i, above := range own.above {
			rel, err := filepath.Rel(own.names[i], own.path)
			if !os.SameFile(above, info) || err != nil || rel == "." {
				continue
			}
			at := Inside{Path: filepath.Join(grant, rel), Exists: own.exists}
			for p := filepath.Dir(at.Path); p != grant && filepath.Dir(p) != p; p = filepath.Dir(p) {
				at.Between = append(at.Between, p)
			}
			in = append(in, at)
			break
		}
	}
	return in, linked
}

// hasLink reports whether a path below a folder leads over a link.
func hasLink(folder, path string) bool {
	for p := path; p != folder && filepath.Dir(p) != p; p = filepath.Dir(p) {
		if info, err := os.Lstat(p); err == nil && info.Mode()&os.ModeSymlink != 0 {
			return true
		}
	}
	return false
}
