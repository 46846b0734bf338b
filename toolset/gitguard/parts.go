package gitguard

import (
	"crypto/sha256"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

const (
	// maxPart bounds a file that can be written again; configurations and hooks are
	// some kilobytes long. Of a longer one a digest is compared.
	maxPart = 256 << 10
	// maxRead bounds what is read for a digest.
	maxRead = 16 << 20
)

// part is one file that decides what git runs.
type part struct {
	sum  [sha256.Size]byte // of its type, its content or its link's target
	mode fs.FileMode
	body []byte // nil where it can't be written again
}

// equal reports whether git would run the same. A mode counts for hooks, which run only
// where they are executable.
func (p part) equal(q part) bool { return p.sum == q.sum && p.mode == q.mode }

// partsOf reads the files of a repository that decide what git runs.
func partsOf(dir *os.Root, entries []entry) map[string]part {
	out := map[string]part{}
	for _, e := range entries {
		switch name := strings.ToLower(e.name); name {
		case "config", "config.worktree", "commondir":
			out[e.name] = partOf(dir, e.name)
		case "hooks":
			hooksOf(dir, e, out)
		case "modules", "worktrees":
			nested(dir, e.name, 0, out)
		}
	}
	return out
}

// maxNested bounds how deep the repositories of submodules are nested.
const maxNested = 32

// nested reads the parts of the repositories that another one contains.
func nested(dir *os.Root, at string, depth int, out map[string]part) {
	inner, err := dir.OpenRoot(native(at))
	if err != nil || depth > maxNested {
		return
	}
	defer inner.Close()
	entries, err := list(inner)
	if err != nil {
		return
	}
	if looksBare(among(entries)) {
		for name, p := range partsOf(inner, entries) {
			out[path.Join(at, name)] = p
		}
		return
	}
	for _, e := range entries {
		if e.isDir {
			nested(dir, path.Join(at, e.name), depth+1, out)
		}
	}
}

// hooksOf reads the hooks of a repository. Git runs neither samples nor what was set aside.
func hooksOf(dir *os.Root, hooks entry, out map[string]part) {
	if !hooks.isDir {
		out[hooks.name] = partOf(dir, hooks.name)
		return
	}
	inner, err := dir.OpenRoot(hooks.name)
	if err != nil {
		return
	}
	defer inner.Close()
	entries, err := list(inner)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !e.isDir && !strings.HasSuffix(e.name, ".sample") && !strings.Contains(e.name, "-set-aside") {
			out[path.Join(hooks.name, e.name)] = partOf(inner, e.name)
		}
	}
}

// partOf reads one file, or the target of a link.
func partOf(dir *os.Root, name string) part {
	info, err := dir.Lstat(name)
	if err != nil {
		return part{}
	}
	p := part{mode: info.Mode()}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, _ := dir.Readlink(name)
		body, _ := dir.ReadFile(name) // of a file that it leads to in this folder
		p.sum = sha256.Sum256([]byte("link\x00" + target + "\x00" + string(body)))
	case info.Mode().IsRegular():
		p.readFile(dir, name)
	}
	return p
}

func (p *part) readFile(dir *os.Root, name string) {
	f, err := dir.Open(name)
	if err != nil {
		return
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return
	}
	body, err := io.ReadAll(io.LimitReader(f, maxRead))
	if err != nil {
		return
	}
	p.sum = sha256.Sum256(append([]byte("file\x00"), body...))
	if len(body) <= maxPart {
		p.body = append([]byte{}, body...)
	}
}
