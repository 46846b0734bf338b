package store

import (
	"context"
	"crypto/rand"
	"path/filepath"
	"time"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/journal"
	"github.com/fettle-cli/fettle/internal/atomicfile"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/oklog/ulid/v2"
)

// Options configure a Store.
type Options struct {
	// DataDir is the absolute path of the data directory. It is created when something is
	// first written.
	DataDir string
	// Own are the other files and folders of fettle's own state. No folder that contains
	// one, or is inside of one, becomes a workspace.
	Own toolset.OwnState
	// States limit what is kept of workspaces.
	States cas.Limits
	// Collect is called after a collection that no user asked for, to remove unused files
	// that are not in the data directory; nil does nothing. It ends with its context; the
	// next call removes the rest.
	Collect func(context.Context) error
	// Hold keeps the store open until Close, as serve needs it.
	Hold bool
	// StoreTaken is called while another process holds the store, before the wait and from
	// time to time during it; it may ask that process to share the store. An error, a
	// fault, says why that process does not. Nil waits.
	StoreTaken func(context.Context) error
	// Notice receives one line about each thing that was repaired or set aside, such as a
	// journal with a torn last line; nil drops them. Several goroutines may call it at once.
	Notice func(string)
	// Word writes a remedy as a part of a notice, in the terms of the reader of notices; nil
	// writes its text.
	Word func(fault.Remedy) string
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// complete sets the defaults.
func (o *Options) complete() {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Notice == nil {
		o.Notice = func(string) {}
	}
	if o.Word == nil {
		o.Word = func(r fault.Remedy) string { return r.Text }
	}
}

// Store is a data directory: its tables, journals, snapshots and locks. It runs no turns.
// Several goroutines may use it at once, and several processes may have a Store of the same
// directory. New makes one; Close closes it.
type Store struct {
	Options   *Options
	KV        *kv.Store
	Snapshots *cas.Store // the states of workspaces
	Tables    *tables
	Journals  *journal.Dir
	Counter   *journal.Counter
	// Temporaries records temporary files that are outside of the data
	// directory, or that have random names.
	Temporaries *atomicfile.Ledger
	Minted      minted
	folding     chan struct{} // holds one token: the fold of this process
	indexing    chan struct{} // holds one token: the embedding of documents in this process
	Held        holding       // the lock of the data directory
	damage      damageTold

	// running reports whether a turn of this process still writes to its journal.
	Writes func(TurnID) bool
	// Services are the processes of tools that outlive their calls.
	Services FolderServices

	// TakeFolder records the files of a chat's own folder as a state and returns its id, or
	// "" if no state can have all of them.
	TakeFolder func(ctx context.Context, chatID string) (state string, err error)
	// Builtins returns the ids of the tools that belong to the program, which no toolset may
	// have.
	Builtins func() []string

	RecordLimit int // largestRecord, but in tests
	// Pause is called at each step of a fold and of a start that a crash or
	// another process could come between; tests set it.
	Pause func(step string)
}

// FolderServices are the processes of tools that work in folders of chats after their calls.
type FolderServices interface {
	// EndServices ends those that match, for a reason that their users see, waits until
	// they are gone and returns them.
	EndServices(why string, match func(toolset.Service) bool) []toolset.Service
	// HoldServices stops those that match until release is called.
	HoldServices(ctx context.Context, match func(toolset.Service) bool) (release func())
}

// NoServices is for stores without any.
type NoServices struct{}

// EndServices ends none.
func (NoServices) EndServices(string, func(toolset.Service) bool) []toolset.Service { return nil }

// HoldServices stops none.
func (NoServices) HoldServices(context.Context, func(toolset.Service) bool) func() { return func() {} }

// New makes a Store. It opens no file.
func New(o Options) *Store { return NewFrom(&o) }

// NewFrom makes a Store that reads its options from o, which may change until the Store is
// first used.
func NewFrom(o *Options) *Store {
	o.complete()
	s := &Store{
		Options:     o,
		Tables:      newTables(),
		Journals:    journal.Open(filepath.Join(o.DataDir, "journal")),
		Temporaries: atomicfile.OpenLedger(o.DataDir),
		folding:     make(chan struct{}, 1),
		indexing:    make(chan struct{}, 1),
		Held:        holding{taking: make(chan struct{}, 1)},
		Writes:      func(TurnID) bool { return false },
		Services:    NoServices{},
		TakeFolder:  func(context.Context, string) (string, error) { return "", nil },
		Builtins:    func() []string { return nil },
		RecordLimit: largestRecord,
		Pause:       func(string) {},
	}
	s.KV = kv.Open(s.StoreDir(), kv.Options{Hold: o.Hold, Taken: o.StoreTaken, Writing: s.holdWrite, OnWait: s.noticeWait})
	s.Snapshots = cas.Open(cas.Options{
		Dir: o.DataDir, KV: s.KV, Now: o.Now,
		OnWait:    func(owner string) { o.Notice("waiting for the store of files, " + owner) },
		OnRecover: s.recovered,
	})
	s.Counter = journal.NewCounter(o.DataDir, s.highest)
	s.Journals.OnWait, s.Counter.OnWait = s.noticeWait, s.noticeWait
	return s
}

// Close releases the store. The caller has ended what uses it.
func (s *Store) Close() error { return s.KV.Close() }

// StoreDir is the folder of the tables.
func (s *Store) StoreDir() string { return filepath.Join(s.Options.DataDir, "store") }

// NewID makes an id that sorts by time.
func (s *Store) NewID() string {
	return ulid.MustNew(ulid.Timestamp(s.Options.Now()), rand.Reader).String()
}

// ManagedDir is the folder of a chat that has one of its own.
func (s *Store) ManagedDir(chatID string) string {
	return filepath.Join(s.Options.DataDir, "chats", chatID, "workspace")
}

// ShareStore has an Engine that holds the store take turns with other processes
// until end is called, as Engines without Options.Hold do.
func (s *Store) ShareStore() (end func()) { return s.KV.Share() }
