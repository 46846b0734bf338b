package trust

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/fettle-cli/fettle/commands/config/wholefile"
)

const (
	// FileName is the name of the file in the state directory.
	FileName = "trust.json"
	// version is that of the file's form.
	version = 1
	// maxFile bounds the file: thousands of projects.
	maxFile = 8 << 20
)

// Project is a project's file that is trusted.
type Project struct {
	File string    `json:"file"` // its real path
	Sum  string    `json:"sha256"`
	Time time.Time `json:"time"`
	// Lines is what the file was allowed, a text for each key, so that a
	// changed file can be shown against it. No secret is in them.
	Lines []string `json:"lines"`
}

// Command is a command that is trusted.
type Command struct {
	Sum string `json:"sha256"`
	// Shown is the command without what looks like a key.
	Shown string    `json:"shown"`
	Time  time.Time `json:"time"`
	// Project is the file that the command was trusted with; empty where it
	// was allowed by itself. It is forgotten with the project's trust.
	Project string `json:"project,omitempty"`
}

// content is the file.
type content struct {
	Version  int       `json:"version"`
	Projects []Project `json:"projects"`
	Commands []Command `json:"commands"`
}

// ErrExposed says that others could have written the file.
var ErrExposed = errors.New("others than its owner can read or change it")

// Store is the file of what is trusted.
type Store struct {
	// Notice is called with a line if a change waits for another process. It may be nil.
	Notice func(string)

	path string

	mu   sync.Mutex
	once func() (content, error) // reads the file; a change sets another one
}

// Open names the store's file; it is read when it is asked for something.
func Open(path string) *Store {
	s := &Store{path: path}
	s.reread()
	return s
}

func (s *Store) reread() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.once = sync.OnceValues(s.load)
}

func (s *Store) read() (content, error) {
	s.mu.Lock()
	once := s.once
	s.mu.Unlock()
	return once()
}

// Path is where the store is kept.
func (s *Store) Path() string { return s.path }

func (s *Store) load() (content, error) {
	var c content
	data, info, err := wholefile.Read(s.path, maxFile)
	switch {
	case err != nil:
		return c, fmt.Errorf("read what is trusted: %w", err)
	case data == nil:
		return c, nil
	case wholefile.Exposed(info):
		return c, fmt.Errorf("read what is trusted: %s: %w", s.path, ErrExposed)
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return content{}, fmt.Errorf("read what is trusted: %s: %w", s.path, err)
	}
	if c.Version != version {
		return content{}, fmt.Errorf("read what is trusted: %s has the form %d, and %d is known", s.path, c.Version, version)
	}
	return c, nil
}

// RealPath is the path by which a file is trusted.
func RealPath(file string) string {
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real
	}
	if abs, err := filepath.Abs(file); err == nil {
		return abs
	}
	return file
}

// SumOf is the digest of a text, in hex.
func SumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Project tells whether a project's file of that digest is trusted.
func (s *Store) Project(file, sum string) bool {
	p, ok := s.Known(file)
	return ok && p.Sum == sum
}

// Known gives what is remembered of a project's file, whether or not it is
// still what was trusted.
func (s *Store) Known(file string) (Project, bool) {
	c, err := s.read()
	if err != nil {
		return Project{}, false
	}
	file = RealPath(file)
	i := slices.IndexFunc(c.Projects, func(p Project) bool { return p.File == file })
	if i < 0 {
		return Project{}, false
	}
	return c.Projects[i], true
}

// Command tells whether a command of exactly that text is trusted.
func (s *Store) Command(text string) bool {
	c, err := s.read()
	sum := SumOf(text)
	return err == nil && slices.ContainsFunc(c.Commands, func(c Command) bool { return c.Sum == sum })
}

// List gives all that is trusted. The error is that of reading the file: then
// nothing is.
func (s *Store) List() ([]Project, []Command, error) {
	c, err := s.read()
	return slices.Clone(c.Projects), slices.Clone(c.Commands), err
}

// TrustProject remembers a project's file, and the commands in it, in place of
// what was known of that file.
func (s *Store) TrustProject(ctx context.Context, p Project, commands []Command) error {
	p.File = RealPath(p.File)
	return s.change(ctx, func(c *content) bool {
		c.forget(p.File)
		c.Projects = append(c.Projects, p)
		for _, cmd := range commands {
			cmd.Project = p.File
			c.add(cmd)
		}
		return true
	})
}

// TrustCommand remembers a command.
func (s *Store) TrustCommand(ctx context.Context, cmd Command) error {
	return s.change(ctx, func(c *content) bool { c.add(cmd); return true })
}

// RevokeProject forgets a project's file, and the commands that were trusted
// with it. It tells whether there was something to forget.
func (s *Store) RevokeProject(ctx context.Context, file string) (bool, error) {
	file, found := RealPath(file), false
	err := s.change(ctx, func(c *content) bool {
		found = c.forget(file)
		return found
	})
	return found, err
}

// RevokeCommand forgets a command by its text.
func (s *Store) RevokeCommand(ctx context.Context, text string) (bool, error) {
	sum, found := SumOf(text), false
	err := s.change(ctx, func(c *content) bool {
		before := len(c.Commands)
		c.Commands = slices.DeleteFunc(c.Commands, func(o Command) bool { return o.Sum == sum })
		found = len(c.Commands) < before
		return found
	})
	return found, err
}

// forget drops a project's file with its commands.
func (c *content) forget(file string) bool {
	before := len(c.Projects)
	c.Projects = slices.DeleteFunc(c.Projects, func(o Project) bool { return o.File == file })
	c.Commands = slices.DeleteFunc(c.Commands, func(o Command) bool { return o.Project == file })
	return len(c.Projects) < before
}

// add remembers a command; one that was allowed by itself stays that.
func (c *content) add(cmd Command) {
	i := slices.IndexFunc(c.Commands, func(o Command) bool { return o.Sum == cmd.Sum })
	switch {
	case i < 0:
		c.Commands = append(c.Commands, cmd)
	case cmd.Project == "":
		c.Commands[i] = cmd
	}
}

// change reads the file anew, lets edit change it, and writes it if edit says
// so. Nothing is written over a file that can't be read.
func (s *Store) change(ctx context.Context, edit func(*content) bool) error {
	release, err := wholefile.Lock(ctx, s.path, s.Notice)
	if err != nil {
		return err
	}
	defer release()
	c, err := s.load()
	if err != nil {
		return err
	}
	if !edit(&c) {
		return nil
	}
	c.Version = version
	if c.Projects == nil {
		c.Projects = []Project{}
	}
	if c.Commands == nil {
		c.Commands = []Command{}
	}
	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return fmt.Errorf("write what is trusted: %w", err)
	}
	if err := wholefile.ReplacePrivate(s.path, append(data, '\n')); err != nil {
		return fmt.Errorf("write what is trusted: %w", err)
	}
	s.reread()
	return nil
}
