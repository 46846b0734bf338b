package toolset

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/internal/atomicfile"
)

// Workspace is the folder that a call may read and write. All access goes
// through Root, which no path and no link leads out of.
type Workspace struct {
	// Path is absolute, with links resolved; for messages, and for programs
	// that are started in it.
	Path string
	Root *os.Root
	// Bound tells that the folder is the user's own, where `.git` is never
	// read or written.
	Bound bool
	// Repositories are the `.git` at any depth of a bound folder, and BareParts the
	// files and folders of bare repositories that decide what git runs, as paths below
	// it with slashes. They are those that exist when a call begins, and are set then.
	Repositories, BareParts []string
	// Outlive is called before a process starts that may write the folder and may live
	// longer than a call. It returns what Repositories and BareParts are for it; ended is
	// called, once at least, when the process is gone or was not started. It is nil where
	// no such process needs to be watched.
	Outlive func(ctx context.Context) (repositories, bareParts []string, ended func(), err error)
	// Temporaries records the files that tools write next to those that they
	// replace; nil records nothing.
	Temporaries *atomicfile.Ledger
	// Editor has the user's open files; nil where no editor does. The engine sets it.
	Editor Editor
	// Terminal runs commands instead of the sandbox; nil runs them in the sandbox. The
	// engine sets it, and asks the user about each command.
	Terminal Terminal
	// Denied returns the rule that denies a name in the workspace to the current call, with
	// slashes and without links; fold compares without case. It is nil where no rule
	// concerns the tool's paths. The engine sets it in a copy that it makes for the call.
	Denied func(name string, fold bool) (rule string, denied bool)
	// Layer collects what the call writes; nil has it written to the folder. The engine sets
	// it in the copy for a call of an [Entry] with OwnProcess or OwnLayer. If a process
	// can't have it, Run returns a [*LayerError] and has done nothing.
	Layer *Layer
}

// managedMode keeps other users out of what a chat works on.
const managedMode = 0o700

// OpenManaged opens a folder of fettle's own, and makes it where it isn't
// there. The caller closes it.
func OpenManaged(dir string) (*Workspace, error) {
	if err := os.MkdirAll(dir, managedMode); err != nil {
		return nil, fmt.Errorf("make workspace %s: %w", dir, err)
	}
	path, err := realPath(dir)
	if err != nil {
		return nil, fmt.Errorf("open workspace %s: %w", dir, err)
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("open workspace %s: %w", dir, err)
	}
	return &Workspace{Path: path, Root: root}, nil
}

// OpenBound opens the user's own folder, unless [CheckBound] refuses it. The
// caller closes it.
func OpenBound(dir string, p Places) (*Workspace, error) {
	path, err := checkBound(dir, p)
	if err != nil {
		return nil, err
	}
	checked, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("open workspace %s: %w", dir, err)
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("open workspace %s: %w", dir, err)
	}
	// What was opened must be what was checked, should a link have moved.
	opened, err := root.Stat(".")
	if err == nil && !os.SameFile(checked, opened) {
		err = errors.New("the folder was replaced while it was being opened")
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open workspace %s: %w", dir, err), root.Close())
	}
	return &Workspace{Path: path, Root: root, Bound: true}, nil
}

// On gives the policy for calls that work in a folder; what else the policy
// grants stays. In the user's own folder each `.git` is sealed, since neither a
// snapshot nor undo looks there, and git runs what it finds in it.
func (p Policy) On(w *Workspace) Policy {
	p.Workspace = w.Path
	if !p.ReadOnly {
		p.Layer = w.Layer
	}
	if w.Bound {
		p.Sealed = append(slices.Clone(p.Sealed), filepath.Join(w.Path, gitFolder))
		for _, git := range slices.Concat(w.Repositories, w.BareParts) {
			// The first may be the placeholder of a running process: the policy is the
			// same with it and without it, so that a service continues.
			if path := filepath.Join(w.Path, filepath.FromSlash(git)); !slices.Contains(p.Sealed, path) {
				p.Sealed = append(p.Sealed, path)
			}
		}
	}
	return p
}

// OnWithGit is On without the seals on repositories. A layer doesn't collect what is written
// to those that exist: git counts on it that all of a repository changes in order.
func (p Policy) OnWithGit(w *Workspace) Policy {
	own := *w
	own.BareParts = nil
	p = p.On(&own)
	if p.Layer != nil && w.Bound {
		layer := *p.Layer
		layer.Through = []string{filepath.Join(w.Path, gitFolder)}
		for _, git := range w.Repositories {
			layer.Through = append(layer.Through, filepath.Join(w.Path, filepath.FromSlash(git)))
		}
		slices.Sort(layer.Through)
		layer.Through = slices.Compact(layer.Through)
		p.Layer = &layer
	}
	return p.Unsealed()
}

// Unsealed gives the policy without the seal on a repository's `.git`.
func (p Policy) Unsealed() Policy {
	p.Sealed = slices.DeleteFunc(slices.Clone(p.Sealed), func(path string) bool { return strings.EqualFold(filepath.Base(path), gitFolder) })
	return p
}

const gitFolder = ".git"

// ForOutliving returns the workspace for a process that may live longer than a call, and
// what is to be called when that process is gone or was not started. w may be nil.
func (w *Workspace) ForOutliving(ctx context.Context) (own *Workspace, ended func(), err error) {
	if w == nil {
		return w, func() {}, nil
	}
	c := *w
	c.Layer = nil
	if w.Outlive == nil {
		return &c, func() {}, nil
	}
	if c.Repositories, c.BareParts, ended, err = w.Outlive(ctx); err != nil {
		return nil, nil, fmt.Errorf("look for repositories in %s: %w", w.Path, err)
	}
	return &c, ended, nil
}

// Close closes the root.
func (w *Workspace) Close() error { return w.Root.Close() }

// Places are the folders that a bound workspace must keep away from.
type Places struct {
	// Home is the home directory; empty asks the system.
	Home string
	// DataDir is fettle's data directory; it need not exist yet.
	DataDir string
	// Own are further files and folders of fettle's own state.
	Own OwnState
}

// RefusedError says why a folder can't be a workspace.
type RefusedError struct {
	Path   string
	Reason string // a clause, such as "it is your home directory"
}

// Error names the folder and the reason.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("use %s as workspace: %s", e.Path, e.Reason)
}

// CheckBound tells whether a folder may be bound as a workspace. Refused, with
// a [*RefusedError], are: what is no folder, the root of a file system, the
// home directory and what is above it, and the data directory, what is above
// it and what is inside it. A snapshot of those would take in far more than
// anyone meant, or itself. Links and letter case don't get around it: folders
// are compared as the system compares them.
func CheckBound(dir string, p Places) error {
	_, err := checkBound(dir, p)
	return err
}

func checkBound(dir string, p Places) (string, error) {
	refuse := func(reason string) (string, error) {
		return "", &RefusedError{Path: dir, Reason: reason}
	}
	path, err := realPath(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return refuse("there is no such folder")
	}
	if err != nil {
		return "", fmt.Errorf("use %s as workspace: %w", dir, err)
	}
	if info, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("use %s as workspace: %w", dir, err)
	} else if !info.IsDir() {
		return refuse("it is not a folder")
	}
	if filepath.Dir(path) == path {
		return refuse("it is the root of the file system")
	}
	home := p.Home
	if home == "" {
		home, _ = os.UserHomeDir() // a system without one has nothing to protect there
	}
	if home != "" {
		switch home = existing(home); {
		case sameDir(path, home):
			return refuse("it is your home directory")
		case inside(home, path):
			return refuse("your home directory is inside it")
		}
	}
	if p.DataDir != "" {
		switch data := existing(p.DataDir); {
		case sameDir(path, data) && exists(p.DataDir):
			return refuse("it is fettle's data directory")
		case sameDir(path, data), inside(data, path):
			return refuse("fettle's data directory is inside it")
		case inside(path, data) && exists(p.DataDir):
			return refuse("it is inside fettle's data directory")
		}
	}
	if p.Own.Check(path) != nil {
		return refuse("it is inside fettle's own configuration or runtime directory")
	}
	if in, linked := p.Own.Inside(path); len(in) > 0 || linked != "" {
		return refuse("fettle's own configuration or runtime directory is inside it")
	}
	return path, nil
}

func realPath(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

func exists(dir string) bool {
	_, err := os.Stat(dir)
	return err == nil
}

// existing is the real path of the folder, or of the nearest one above it
// that is there.
func existing(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return dir
	}
	for p := abs; ; p = filepath.Dir(p) {
		if real, err := filepath.EvalSymlinks(p); err == nil {
			return real
		}
		if filepath.Dir(p) == p {
			return abs
		}
	}
}

func sameDir(a, b string) bool {
	ia, errA := os.Stat(a)
	ib, errB := os.Stat(b)
	if errA != nil || errB != nil {
		return a == b
	}
	return os.SameFile(ia, ib)
}

// inside tells whether a folder lies below another, at any depth.
func inside(dir, above string) bool {
	for p := dir; filepath.Dir(p) != p; {
		p = filepath.Dir(p)
		if sameDir(p, above) {
			return true
		}
	}
	return false
}
