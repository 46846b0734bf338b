package script

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/fettle-cli/fettle/internal/didyoumean"
)

const (
	// keptScripts is how many scripts a provider keeps in memory: more than
	// one process plays at once, few enough for a long-lived server.
	keptScripts = 16
	// unsettled is how old a file's time must be for an unchanged time to
	// prove that nothing was written since; file systems count in up to two
	// seconds.
	unsettled = 2 * time.Second
)

// errNoScript is the cause of an error for a name that no file has.
var errNoScript = errors.New("no such script")

// source is where a script is read from: a path of the machine, or a name in
// an fs.FS.
type source struct {
	fsys fs.FS // nil is the machine
	path string
}

// locate finds the source of a model's name.
func (p *Provider) locate(name string) (source, error) {
	if within, ok := strings.CutPrefix(name, ":"); ok {
		return p.builtin(within)
	}
	if name == "" || strings.ContainsRune(name, 0) {
		return source{}, fmt.Errorf("%w as %s", errNoScript, shown(name))
	}
	if p.o.Named != nil && !p.o.Named(name) {
		return source{}, errNotNamed
	}
	return source{path: against(p.o.Dir, filepath.FromSlash(name))}, nil
}

// builtin finds a name in the FS, with an ending added where it lacks one.
func (p *Provider) builtin(name string) (source, error) {
	if p.o.FS == nil || !fs.ValidPath(name) {
		return source{}, fmt.Errorf("%w as :%s among the built-in ones", errNoScript, clean(name))
	}
	for _, ending := range []string{"", ".yaml", ".yml", ".jsonl"} {
		info, err := fs.Stat(p.o.FS, name+ending)
		if err == nil && info.Mode().IsRegular() {
			return source{fsys: p.o.FS, path: name + ending}, nil
		}
	}
	err := fmt.Errorf("%w as :%s among the built-in ones", errNoScript, clean(name))
	if near := didyoumean.Of(name, p.builtins()); near != "" {
		err = fmt.Errorf("%w; did you mean :%s?", err, near)
	}
	return source{}, err
}

// builtins are the names at the top of the FS, without their endings.
func (p *Provider) builtins() []string {
	entries, err := fs.ReadDir(p.o.FS, ".")
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		switch ext := filepath.Ext(e.Name()); ext {
		case ".yaml", ".yml", ".jsonl":
			names = append(names, strings.TrimSuffix(e.Name(), ext))
		}
	}
	return names
}

// against puts a path below dir unless it has a root of its own. On Windows a
// path may lack the drive and have a root, and then means dir's drive.
func against(dir, path string) string {
	switch {
	case filepath.IsAbs(path) || filepath.VolumeName(path) != "":
		return path
	case os.IsPathSeparator(path[0]):
		return filepath.VolumeName(dir) + path
	}
	return filepath.Join(dir, path)
}

func (s source) stat() (fs.FileInfo, error) {
	if s.fsys != nil {
		return fs.Stat(s.fsys, s.path)
	}
	return os.Stat(s.path)
}

func (s source) open() (fs.File, error) {
	if s.fsys != nil {
		return s.fsys.Open(s.path)
	}
	return os.Open(s.path)
}

// read gives the file's text and what identifies this state of it. A file that
// isn't a regular one is refused before it is opened, since opening a pipe
// could wait for ever.
func (s source) read() ([]byte, stamp, error) {
	info, err := s.stat()
	if err != nil {
		return nil, stamp{}, err
	}
	if err := regular(info); err != nil {
		return nil, stamp{}, err
	}
	f, err := s.open()
	if err != nil {
		return nil, stamp{}, err
	}
	defer f.Close() // it was only read from
	if info, err = f.Stat(); err != nil {
		return nil, stamp{}, err
	}
	if err := regular(info); err != nil {
		return nil, stamp{}, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	return data, stampOf(info), err
}

func regular(info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return errors.New("it is a folder")
	case !info.Mode().IsRegular():
		return errors.New("it is not a regular file")
	}
	return nil
}

// stamp identifies the state of a file.
type stamp struct {
	size int64
	time time.Time
}

func stampOf(info fs.FileInfo) stamp { return stamp{size: info.Size(), time: info.ModTime()} }

// file is one script that is kept. Its lock is held while it is read, so that
// chats that begin together read it once.
type file struct {
	mu      sync.Mutex
	used    uint64 // guarded by the provider's lock
	stamp   stamp
	settled bool // a change would have changed the stamp
	script  *script
	err     error
}

// load gives the script of a name, read again if it has changed.
func (p *Provider) load(name string) (*script, error) {
	src, err := p.locate(name)
	if err != nil {
		return nil, err
	}
	f := p.kept(name)
	f.mu.Lock()
	defer f.mu.Unlock()
	info, err := src.stat()
	if err != nil {
		f.settled = false
		return nil, err
	}
	if f.settled && f.stamp.size == info.Size() && f.stamp.time.Equal(info.ModTime()) {
		return f.script, f.err
	}
	f.settled = false
	begun := time.Now()
	data, is, err := src.read()
	if err != nil {
		return nil, err
	}
	f.script, f.err = parse(name, data, bounds())
	f.stamp, f.settled = is, begun.Sub(is.time) > unsettled
	return f.script, f.err
}

// kept gives the place where a script is kept, and makes room for it.
func (p *Provider) kept(name string) *file {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clock++
	f := p.files[name]
	if f == nil {
		if len(p.files) >= keptScripts {
			p.forget()
		}
		f = &file{}
		if p.files == nil {
			p.files = map[string]*file{}
		}
		p.files[name] = f
	}
	f.used = p.clock
	return f
}

// forget drops the script that wasn't used for longest.
func (p *Provider) forget() {
	oldest, used := "", p.clock+1
	for name, f := range p.files {
		if f.used < used {
			oldest, used = name, f.used
		}
	}
	delete(p.files, oldest)
}
