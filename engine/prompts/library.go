package prompts

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/internal/didyoumean"
	"github.com/fettle-cli/fettle/internal/textenc"
)

const (
	// dirName is the folder of prompts, beside the configuration and in a
	// project's .fettle.
	dirName    = "prompts"
	projectDir = ".fettle"
	// maxPrompts bounds the files of one place that are looked at.
	maxPrompts = 1000
	// maxSchema bounds a schema's file; real ones have a few kilobytes.
	maxSchema = 1 << 20
)

// Library is the prompts that can be used in one place.
type Library struct {
	user    string // the folder
	project string // the folder that holds .fettle, or ""
}

// Places say where prompts are.
type Places struct {
	// Config is the folder of the user's configuration.
	Config string
	// Project is the folder that holds a .fettle with prompts; empty where
	// there is none, or none that counts.
	Project string
}

// New makes a Library. It touches no file.
func New(p Places) *Library {
	return &Library{user: filepath.Join(p.Config, dirName), project: p.Project}
}

// Dir is the folder of a source's prompts; empty where there is none.
func (l *Library) Dir(s Source) string {
	switch {
	case s == User:
		return l.user
	case l.project == "":
		return ""
	}
	return filepath.Join(l.project, projectDir, dirName)
}

// NotFoundError is a name that no prompt has.
type NotFoundError struct {
	Name string
	Near string // the prompt that was meant, where one is near
}

func (e *NotFoundError) Error() string {
	msg := "no prompt " + shown(e.Name)
	if e.Near != "" {
		msg += " (did you mean " + e.Near + "?)"
	}
	return msg
}

// Load reads the prompt of a name: the project's, else the user's.
func (l *Library) Load(name string) (*Prompt, error) { return l.LoadFrom("", name) }

// LoadFrom is Load for one source alone, or for both where s is empty.
func (l *Library) LoadFrom(s Source, name string) (*Prompt, error) {
	if CheckName(name) != nil {
		return nil, l.missing(name)
	}
	for _, from := range []Source{Project, User} {
		if s != "" && s != from {
			continue
		}
		p, err := l.read(from, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if p != nil && from == Project && l.Has(User, name) {
			p.Hides = l.Path(User, name)
		}
		return p, err
	}
	return nil, l.missing(name)
}

func (l *Library) missing(name string) error {
	return &NotFoundError{Name: name, Near: didyoumean.Of(name, l.Names())}
}

// Path is where a source's prompt of a name is, or would be.
func (l *Library) Path(s Source, name string) string { return filepath.Join(l.Dir(s), name+ext) }

// Has tells whether a source has a file for a name, whatever is in it.
func (l *Library) Has(s Source, name string) bool {
	if l.Dir(s) == "" || CheckName(name) != nil {
		return false
	}
	_, err := os.Lstat(l.Path(s, name))
	return err == nil
}

// read reads one prompt. A file that can't be used is an *Error, and the
// prompt is nil; one that isn't there is fs.ErrNotExist.
func (l *Library) read(s Source, name string) (*Prompt, error) {
	if l.Dir(s) == "" {
		return nil, fs.ErrNotExist
	}
	p := &Prompt{Name: name, Source: s, Path: l.Path(s, name)}
	data, err := l.open(s, name+ext, MaxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err != nil {
		return nil, &Error{Problems: []Problem{{Path: p.Path, Msg: err.Error()}}}
	}
	if err := parse(p, data); err != nil {
		return nil, err
	}
	return p, nil
}

// open reads a file of a place. The project's is opened beneath the project, so
// that no link in it leads to files of the user's.
func (l *Library) open(s Source, name string, limit int) ([]byte, error) {
	if s == User {
		f, err := os.OpenFile(filepath.Join(l.user, filepath.FromSlash(name)), os.O_RDONLY|nonblock, 0)
		if err != nil {
			return nil, reason(err)
		}
		return readAll(f, limit)
	}
	var data []byte
	err := l.within(Project, false, func(root *os.Root, dir string) error {
		f, err := root.OpenFile(filepath.Join(dir, filepath.FromSlash(name)), os.O_RDONLY|nonblock, 0)
		if err != nil {
			return reason(err)
		}
		data, err = readAll(f, limit)
		return err
	})
	return data, err
}

// readAll reads and closes a regular file of at most limit bytes.
func readAll(f *os.File, limit int) ([]byte, error) {
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, reason(err)
	case info.IsDir():
		return nil, errors.New("this is a folder, not a file")
	case !info.Mode().IsRegular():
		return nil, errors.New("this is not a regular file")
	}
	data, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err != nil {
		return nil, reason(err)
	}
	if len(data) > limit {
		return nil, fmt.Errorf("the file is larger than %d KB, the limit", limit>>10)
	}
	return textenc.ToUTF8(data), nil
}

// reason is an error without the operation and the path, which the message
// names already.
func reason(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return fmt.Errorf("the file can't be read: %w", pe.Err)
	}
	return err
}

// Entry is one file of the library.
type Entry struct {
	Name   string
	Source Source
	Path   string
	// Hidden tells that the project has a prompt of this name, which is used.
	Hidden bool
	// Prompt is nil where Err says why the file can't be used.
	Prompt *Prompt
	Err    error
}

// List reads all prompts, by name, the project's before the user's.
func (l *Library) List() ([]Entry, error) {
	var out []Entry
	for _, s := range []Source{Project, User} {
		names, err := l.namesOf(s)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			e := Entry{Name: name, Source: s, Path: l.Path(s, name), Hidden: s == User && l.Has(Project, name)}
			e.Prompt, e.Err = l.read(s, name)
			if errors.Is(e.Err, fs.ErrNotExist) && e.Prompt == nil {
				e.Err = &Error{Problems: []Problem{{Path: e.Path, Msg: "this link leads to no file"}}}
			}
			out = append(out, e)
		}
	}
	slices.SortStableFunc(out, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// Names lists the names that Load knows, without reading the files. A place
// that can't be read has none.
func (l *Library) Names() []string {
	var out []string
	for _, s := range []Source{Project, User} {
		names, err := l.namesOf(s)
		if err == nil {
			out = append(out, names...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// namesOf lists the names in one place; one that isn't there has none.
func (l *Library) namesOf(s Source) ([]string, error) {
	if l.Dir(s) == "" {
		return nil, nil
	}
	dir, err := l.openDir(s)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the prompts in %s: %w", l.Dir(s), reason(err))
	}
	defer dir.Close()
	var names []string
	for len(names) < maxPrompts {
		found, err := dir.Readdirnames(100)
		for _, file := range found {
			if name, ok := strings.CutSuffix(file, ext); ok && CheckName(name) == nil {
				names = append(names, name)
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("list the prompts in %s: %w", l.Dir(s), reason(err))
		}
	}
	slices.Sort(names)
	return names, nil
}

// Stamp returns a text that differs after a prompt's file was added, removed or written.
// It reads the names, sizes and times of the files, and not their text.
func (l *Library) Stamp() string {
	var b strings.Builder
	for _, s := range []Source{Project, User} {
		names, err := l.namesOf(s)
		if err != nil {
			continue // a folder that cannot be read has no prompts
		}
		for _, name := range names {
			if info, err := os.Stat(l.Path(s, name)); err == nil {
				fmt.Fprintf(&b, "%s/%s %d %d\n", s, name, info.Size(), info.ModTime().UnixNano())
			}
		}
	}
	return b.String()
}

func (l *Library) openDir(s Source) (*os.File, error) {
	if s == User {
		return os.Open(l.user)
	}
	root, err := os.OpenRoot(l.project)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.Open(filepath.Join(projectDir, dirName))
}

// Schema reads the JSON Schema that a prompt names; nil where it names none.
func (l *Library) Schema(p *Prompt) ([]byte, error) {
	if p.Schema == "" {
		return nil, nil
	}
	data, err := l.open(p.Source, p.Schema, maxSchema)
	if err != nil {
		return nil, fmt.Errorf("read the schema %s of prompt %s: %w", p.Schema, p.Name, err)
	}
	return data, nil
}

// Create makes the file of a new prompt and gives its path. It replaces
// nothing: where there is a file, the cause is fs.ErrExist.
func (l *Library) Create(s Source, name, text string) (string, error) {
	if err := CheckName(name); err != nil {
		return "", err
	}
	err := l.within(s, true, func(root *os.Root, dir string) error {
		if err := root.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		path := filepath.Join(dir, name+ext)
		f, err := root.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return err
		}
		_, err = io.WriteString(f, text)
		if err := errors.Join(err, f.Close()); err != nil {
			return errors.Join(err, root.Remove(path))
		}
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("make prompt %s: %w", name, err)
	}
	return l.Path(s, name), nil
}

// Remove removes the file of a prompt.
func (l *Library) Remove(s Source, name string) error {
	if !l.Has(s, name) {
		return l.missing(name)
	}
	err := l.within(s, false, func(root *os.Root, dir string) error {
		return root.Remove(filepath.Join(dir, name+ext))
	})
	if err != nil {
		return fmt.Errorf("remove prompt %s: %w", name, err)
	}
	return nil
}

// within runs do in the root that a source's prompts are beneath: the project,
// which no link may leave, or the user's own folder, wherever that leads. dir
// is the folder of prompts in it.
func (l *Library) within(s Source, make bool, do func(root *os.Root, dir string) error) error {
	base, dir := l.user, "."
	if s == Project {
		base, dir = l.project, filepath.Join(projectDir, dirName)
	}
	if base == "" {
		return errors.New("there is no project here")
	}
	if make && s == User {
		if err := os.MkdirAll(base, 0o755); err != nil {
			return err
		}
	}
	root, err := os.OpenRoot(base)
	if err != nil {
		return err
	}
	defer root.Close()
	return do(root, dir)
}
