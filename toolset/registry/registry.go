package registry

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/internal/lockfile"
	"github.com/fettle-cli/fettle/internal/units"
)

// Options make a Registry.
type Options struct {
	// DataDir is the absolute path of the data directory.
	DataDir string
	// Store holds the records; whoever opened it closes it.
	Store *kv.Store
	// Builtins are the ids of the builtin tools.
	Builtins []string
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// OnWait is told which process is waited for; nil isn't.
	OnWait func(owner string)
	// Hold keeps the data directory from being replaced until release is called. It
	// is called before anything is changed, for the whole of a change; nil is for a
	// data directory that nothing replaces.
	Hold func(context.Context) (release func(), err error)
}

// Registry is the installed toolsets of one data directory.
type Registry struct {
	o      Options
	tables *tables
	// pause is called at each step that a crash could come after; tests set it.
	pause func(step string)
}

// New makes a Registry. It touches no file.
func New(o Options) *Registry {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Hold == nil {
		o.Hold = func(context.Context) (func(), error) { return func() {}, nil }
	}
	return &Registry{o: o, tables: newTables(), pause: func(string) {}}
}

// NotFoundError says that there is no such toolset, tool or renderer.
type NotFoundError struct {
	// What is "toolset", "tool" or "renderer".
	What, ID string
	// Known are the ids that there are.
	Known []string
}

func (e *NotFoundError) Error() string { return fmt.Sprintf("there is no %s %s", e.What, e.ID) }

// ClashError says that a toolset can't be installed beside what is there.
type ClashError struct {
	// ID is the toolset's, With what it clashes with: a toolset's id, or
	// "fettle" for what is builtin.
	ID, With string
	Msg      string
}

func (e *ClashError) Error() string { return e.Msg }

// StateError says that a toolset is in no state to do what was asked for.
type StateError struct {
	ID, Msg string
	// Fix is what to do first; it may be zero.
	Fix Fix
}

// Fix is a way out of the state that a StateError reports.
type Fix struct {
	Kind FixKind
	// Source is what the toolset was imported from; empty where only the user knows it.
	Source string
	// Effect says what the fix does, where its kind alone does not.
	Effect string
}

// FixKind is the kind of a Fix.
type FixKind string

// The kinds of fixes.
const (
	FixImport  FixKind = "import"  // import the toolset from Source
	FixDemo    FixKind = "demo"    // let the demo install its toolset
	FixDisable FixKind = "disable" // disable the MCP server
	FixHandOn  FixKind = "hand on" // hand on Source instead of an export
)

func (e *StateError) Error() string { return e.Msg }

// TooBigError says that what is to be recorded of a toolset or an MCP server is too
// large. Nothing was changed.
type TooBigError struct {
	// What names it, such as "the MCP server x"; Server is set for an MCP server, and not for a toolset.
	What   string
	Server bool
	// Size and Limit are bytes; Size is 0 if only the excess is known.
	Size, Limit int64
	Err         error
}

func (e *TooBigError) Error() string {
	size := "more"
	if e.Size > 0 {
		size = units.Size(e.Size)
	}
	return fmt.Sprintf("%s is too large to be recorded: it has %s, the limit is %s", e.What, size, units.Size(e.Limit))
}

// Unwrap gives the store's error, if it is one.
func (e *TooBigError) Unwrap() error { return e.Err }

// tooBig gives an error of the store about a record that is too large the name of what
// was to be recorded.
func (t touched) tooBig(err error) error {
	var big *kv.TooBigError
	if !errors.As(err, &big) {
		return err
	}
	e := &TooBigError{What: "the record of a builtin tool", Size: big.Size, Limit: big.Limit, Err: err}
	switch {
	case len(t.servers) > 0:
		e.What, e.Server = "the MCP server "+t.servers[0], true
	case len(t.toolsets) > 0:
		e.What = "the toolset " + t.toolsets[0]
	}
	return e
}

var (
	// ErrChanged says that the toolset was changed since the plan was made.
	ErrChanged = errors.New("it was changed by another fettle meanwhile")
	// ErrNotApproved says that something has to be approved first.
	ErrNotApproved = errors.New("it was not approved")
	// ErrNoMirror says that there is no mirror that can be used.
	ErrNoMirror = errors.New("there is no mirror of the toolsets")
	// ErrGone says that the files of a revision are no longer there.
	ErrGone = errors.New("its files are no longer there")
)

func (r *Registry) folders() string { return filepath.Join(r.o.DataDir, "toolsets") }

// folder is where the files of a revision lie.
func (r *Registry) folder(id, revision string) string {
	return filepath.Join(r.folders(), id, revision)
}

// view reads the store; where none was ever made, fn isn't called.
func (r *Registry) view(ctx context.Context, fn func(*kv.Tx) error) error {
	if _, err := os.Stat(r.o.Store.Dir()); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return r.o.Store.View(ctx, fn)
}

const (
	// changeWait is how long a change waits for another one, which may be
	// extracting the largest bundle there is onto a slow disk.
	changeWait = 2 * time.Minute
	// mirrorWait is for the records and the mirror alone: a wait for the store,
	// and some room.
	mirrorWait = kv.DefaultWait + 5*time.Second
)

// BusyError says that another process changes the toolsets, for longer than
// one waits.
type BusyError struct{ Owner string }

func (e *BusyError) Error() string {
	if e.Owner == "" {
		return "another process changes the toolsets"
	}
	return e.Owner + " changes the toolsets"
}

// lock takes one of the locks in the data directory, after it has taken the lock of the
// whole directory: nothing is changed without one of them.
func (r *Registry) lock(ctx context.Context, name string) (func(), error) {
	letGo, err := r.o.Hold(ctx)
	if err != nil {
		return nil, err
	}
	unlock, err := r.lockNamed(ctx, name)
	if err != nil {
		letGo()
		return nil, err
	}
	return func() { unlock(); letGo() }, nil
}

func (r *Registry) lockNamed(ctx context.Context, name string) (func(), error) {
	path, err := lockPath(r.o.DataDir, name)
	if err != nil {
		return nil, err
	}
	p := lockfile.Patience{Bound: changeWait, OnWait: r.o.OnWait}
	if name == mirrorLock {
		p.Bound = mirrorWait
	}
	release, err := lockfile.Wait(ctx, path, p)
	var busy *lockfile.BusyError
	if errors.As(err, &busy) {
		return nil, &BusyError{Owner: busy.Owner}
	}
	return release, err
}

func lockPath(dataDir, name string) (string, error) {
	dir := filepath.Join(dataDir, "locks")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the folder of locks: %w", err)
	}
	return filepath.Join(dir, name), nil
}

// change runs fn as one transaction that is safe from a power cut, with the mirror
// removed, and writes the mirror after it. fn changes the records of nothing but t. The
// caller holds the lock of changes.
func (r *Registry) change(ctx context.Context, t touched, fn func(*kv.Tx) error) error {
	release, err := r.lock(ctx, mirrorLock)
	if err != nil {
		return err
	}
	defer release()
	before, err := ReadIndex(r.o.DataDir)
	if err != nil {
		before = nil // it is written from the records
	}
	if err := dropMirror(r.o.DataDir); err != nil {
		return err
	}
	r.pause("mirror dropped")
	err = r.o.Store.UpdateSync(ctx, func(tx *kv.Tx) error {
		if err := fn(tx); err != nil {
			return err
		}
		return r.count(tx)
	})
	if err == nil {
		r.pause("records written")
	}
	if err != nil {
		return errors.Join(t.tooBig(err), r.bringUp(ctx, before, t))
	}
	// The change is made. If the mirror can't be written, the next reader finds none
	// and reads the records.
	_ = r.bringUp(ctx, before, t)
	return nil
}

// count notes that the records have changed.
func (r *Registry) count(tx *kv.Tx) error {
	now, err := r.generation(tx)
	if err != nil {
		return err
	}
	if now < 0 { // no mirror has this number
		now = r.o.Now().Unix()
	}
	return r.tables.counter.Put(tx, &generation{Number: now + 1})
}

// changing is change under the lock of changes, which it takes.
func (r *Registry) changing(ctx context.Context, t touched, fn func(*kv.Tx) error) error {
	release, err := r.lock(ctx, changeLock)
	if err != nil {
		return err
	}
	defer release()
	return r.change(ctx, t, fn)
}

// Hold keeps other processes from changing records, files and mirror of the
// toolsets until release is called. The caller holds it for a moment only.
func (r *Registry) Hold(ctx context.Context) (release func(), err error) {
	return r.lock(ctx, changeLock)
}

// The names of the locks that the package's documentation explains.
const (
	changeLock = "toolsets"
	mirrorLock = "toolsets-mirror"
)

// missing makes the error for an id that isn't there.
func (r *Registry) missing(tx *kv.Tx, id string) error {
	e := &NotFoundError{What: "toolset", ID: id}
	for t, err := range r.tables.toolsets.Scan(tx, kv.Range{}) {
		if err == nil {
			e.Known = append(e.Known, t.ID)
		}
	}
	return e
}

// load is [tables.load] with an error that knows the toolsets there are.
func (r *Registry) load(tx *kv.Tx, id string) (*rows, error) {
	set, err := r.tables.load(tx, id)
	if errors.Is(err, kv.ErrNotFound) {
		return nil, r.missing(tx, id)
	}
	return set, err
}
