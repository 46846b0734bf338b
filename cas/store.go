package cas

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/fettle-cli/fettle/internal/atomicfile"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/internal/lockfile"
)

// Workspace is a folder whose states are kept.
type Workspace struct {
	// Path is absolute, with links resolved: the folder's name in messages and
	// in the store.
	Path string
	Root *os.Root
	// Bound tells that the folder is the user's own: `.git` is left alone, and
	// what the rules name is left out.
	Bound bool
}

// key names the workspace in the store.
func (w *Workspace) key() string {
	sum := sha256.Sum256([]byte(w.Path))
	return hex.EncodeToString(sum[:16])
}

// Options configure a Store.
type Options struct {
	// Dir is the data directory: large blobs are in its folder blobs, the lock
	// of the collector in its folder locks.
	Dir string
	// KV keeps everything else. The caller closes it, after the Store's last
	// operation.
	KV *kv.Store
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// OnRecover is called when a restore that was cut short has been reverted, or
	// finished. It may be nil.
	OnRecover func(context.Context, Recovery)
	// OnWait is called when an operation has to wait for another process that
	// collects garbage, or the other way round. It may be nil.
	OnWait func(owner string)
}

// Store keeps the states of workspaces. It may be used by many goroutines; see
// the package comment for what they and other processes may do at once.
type Store struct {
	records
	kv     *kv.Store
	dir    string
	now    func() time.Time
	onWait func(string)
	// onRecover is Options.OnRecover.
	onRecover func(context.Context, Recovery)
	workers   int
	// fault and pause are for tests: see tree.fault; pause is called between
	// the steps of an operation with the step's name.
	fault func(call, name string) error
	pause func(step string)

	mu      sync.Mutex
	folders map[string]*folderState
	ids     *ulid.MonotonicEntropy
}

// folderState is what is remembered of a workspace between operations. Its turn
// makes operations on one folder take turns.
type folderState struct {
	turn  chan struct{} // has one element while an operation runs
	index *index        // nil where nothing is known
	// foreign is an entry that belongs to another user or group, "" for none; nil is unknown.
	foreign *string

	users int // who has or waits for turn; guarded by Store.mu, like used
	used  time.Time
}

const (
	// maxFolders bounds the indexes in memory: 100,000 files are 20 MB.
	maxFolders = 4
	// maxWorkers bounds reading and writing side by side. Two were 1.4 times as
	// fast as one, and eight no faster than that where two processors are.
	maxWorkers = 8
)

// Open gives a Store. It does nothing else.
func Open(o Options) *Store {
	s := &Store{
		records: newRecords(), kv: o.KV, dir: o.Dir, now: o.Now, onWait: o.OnWait, onRecover: o.OnRecover,
		workers: min(2*runtime.GOMAXPROCS(0), maxWorkers),
		folders: make(map[string]*folderState),
		ids:     ulid.Monotonic(randomReader{}, 0),
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.onWait == nil {
		s.onWait = func(string) {}
	}
	if s.onRecover == nil {
		s.onRecover = func(context.Context, Recovery) {}
	}
	s.pause = func(string) {}
	return s
}

// Hook lets fn be called between the steps of an operation, with the step's name. It is
// for tests of packages that use a Store, and is set before the Store is used.
func (s *Store) Hook(fn func(step string)) { s.pause = fn }

// newID makes an id that sorts after those made before.
func (s *Store) newID(now time.Time) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, err := ulid.New(ulid.Timestamp(now), s.ids)
	if err != nil { // the clock stands, and 2^80 ids of this millisecond are used
		id = ulid.MustNew(ulid.Timestamp(now), randomReader{})
	}
	return id.String()
}

// folder locks a workspace for this process and gives what is remembered of it.
// The operation before may be a long one, so it waits no longer than ctx lets it.
func (s *Store) folder(ctx context.Context, key string) (f *folderState, release func(), err error) {
	s.mu.Lock()
	f = s.folders[key]
	if f == nil {
		f = &folderState{turn: make(chan struct{}, 1)}
		s.folders[key] = f
	}
	f.used = s.now()
	f.users++
	s.mu.Unlock()
	leave := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		f.users--
		s.dropOldest()
	}
	select {
	case f.turn <- struct{}{}:
	case <-ctx.Done():
		leave()
		return nil, nil, fmt.Errorf("wait for the folder: %w", ctx.Err())
	}
	return f, func() { <-f.turn; leave() }, nil
}

// dropOldest forgets the index that was used longest ago, if there are many.
// The caller has s.mu.
func (s *Store) dropOldest() {
	if len(s.folders) <= maxFolders {
		return
	}
	oldest := ""
	for key, f := range s.folders {
		if f.users == 0 && (oldest == "" || f.used.Before(s.folders[oldest].used)) {
			oldest = key
		}
	}
	if oldest != "" {
		delete(s.folders, oldest)
	}
}

// Forget drops what is known of a folder's files, in memory and in the store.
// The next snapshot reads every file. It is always safe.
func (s *Store) Forget(ctx context.Context, ws *Workspace) error {
	f, release, err := s.folder(ctx, ws.key())
	if err != nil {
		return err
	}
	defer release()
	f.index = nil
	return s.dropCache(ctx, ws.key())
}

// share keeps the collector away until release is called: from the first look
// at what the store has to the record that needs it.
func (s *Store) share(ctx context.Context) (release func(), err error) {
	path, err := s.lockPath()
	if err != nil {
		return nil, err
	}
	return lockfile.AcquireShared(ctx, path, s.onWait)
}

// alone keeps everyone else away.
func (s *Store) alone(ctx context.Context) (release func(), err error) {
	path, err := s.lockPath()
	if err != nil {
		return nil, err
	}
	return lockfile.Acquire(ctx, path, s.onWait)
}

func (s *Store) lockPath() (string, error) {
	dir := filepath.Join(s.dir, "locks")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("lock the collector out: %w", err)
	}
	return filepath.Join(dir, "gc.lock"), nil
}

// epoch names the time since the last collection. Whatever is known to be in
// the store stays there within an epoch.
func (s *Store) epoch() (string, error) {
	text, err := atomicfile.ReadFile(s.epochPath())
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return strings.TrimSpace(string(text)), err
}

func (s *Store) epochPath() string { return filepath.Join(s.blobDir(), "epoch") }

// nextEpoch begins a new epoch before anything is removed.
func (s *Store) nextEpoch() error {
	if err := s.check("tempfile", ""); err != nil {
		return fmt.Errorf("begin an epoch: %w", err)
	}
	err := makeDir(s.blobDir())
	if err == nil {
		err = atomicfile.Write(s.epochPath(), []byte(s.newID(s.now())+"\n"), atomicfile.Synced)
	}
	if err != nil {
		return fmt.Errorf("begin an epoch: %w", err)
	}
	return nil
}

// OpenDir is Open with records of its own in the folder store of a data
// directory, for a program that keeps nothing else there. It holds the records,
// so other processes have to wait, until close ends both.
func OpenDir(dir string) (s *Store, close func() error) {
	return openDir(dir, kv.Options{Hold: true})
}

// OpenShared is OpenDir for a short while: as a command does, it has the records
// while operations run, and lets other processes have them in between.
func OpenShared(dir string) (s *Store, close func() error) {
	return openDir(dir, kv.Options{})
}

func openDir(dir string, o kv.Options) (*Store, func() error) {
	records := kv.Open(filepath.Join(dir, "store"), o)
	return Open(Options{Dir: dir, KV: records}), records.Close
}
