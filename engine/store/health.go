package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/fettle-cli/fettle/engine/journal"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/internal/lockfile"
)

// Health is the state of a data directory, as far as it can be seen without
// changing anything.
type Health struct {
	Dir    string
	Exists bool
	// Free is how many bytes may be written where Dir is, or will be, and Need
	// what the store wants free before it takes a write. Both are 0 where the
	// system doesn't say.
	Free, Need int64

	Store StoreHealth
	// Waiting are the journals of finished turns that are not in the store
	// yet, which is no fault; Live are the owners of live turns.
	Waiting int
	Live    []string
	// Damaged are the files of journals that were set aside.
	Damaged []string
	// Locks are the other locks that a living process holds.
	Locks []HeldLock
	// Err is why the folder could not be looked at.
	Err error
}

// StoreHealth is what is known of the store.
type StoreHealth struct {
	Exists bool
	// Owner is the process that has it, such as "pid 12"; nothing else is known
	// then.
	Owner string
	// Clean tells that the last process closed it in order. If not, the next
	// that opens it mends it.
	Clean bool
	// Opened tells that it was opened, for reading, and Schema the version of
	// its records; 0 where nothing was written yet.
	Opened bool
	Schema int
	// Err is a fault that says what is wrong.
	Err error
}

// HeldLock is a lock and who holds it, as its file says.
type HeldLock struct{ Name, Owner string }

// Health looks at the data directory. It makes and mends nothing, and waits for
// nobody; the store's lock is held while it is looked at, if it is free.
func (s *Store) Health(ctx context.Context) Health {
	h := Health{Dir: s.Options.DataDir}
	h.Free, h.Need = freeAt(h.Dir)
	entries, err := os.ReadDir(h.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return h
	}
	h.Exists = true
	if err != nil {
		h.Err = err
		return h
	}
	h.Locks = heldLocks(h.Dir, entries, ".lock")
	if inner, err := os.ReadDir(filepath.Join(h.Dir, "locks")); err == nil {
		h.Locks = append(h.Locks, heldLocks(filepath.Join(h.Dir, "locks"), inner, "")...)
	}
	h.Err = h.lookAtJournals(s.Journals)
	h.Store = s.storeHealth(ctx)
	return h
}

// freeAt asks for the first folder on the way up that is there.
func freeAt(dir string) (free, need int64) {
	for {
		free, need, err := kv.Free(dir)
		if err == nil {
			return free, need
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return 0, 0
		}
		dir = parent
	}
}

func (h *Health) lookAtJournals(dir *journal.Dir) error {
	state, err := dir.State()
	if err != nil {
		return err
	}
	h.Damaged = state.Damaged
	for _, turn := range state.Turns {
		if pid, ok := state.Owners[turn]; ok && ProcessAlive(pid) {
			h.Live = append(h.Live, OwnerName(pid))
		} else {
			h.Waiting++
		}
	}
	return nil
}

// OwnerName is how a process that holds a lock is named.
func OwnerName(pid int) string {
	if pid <= 0 {
		return "another process"
	}
	return fmt.Sprintf("pid %d", pid)
}

// heldLocks are the locks whose file names a living process. Owners unlink
// their files, so what a killed one left is all that is sorted out here; to
// take a lock, to be sure, would make others believe that it is held.
func heldLocks(dir string, entries []fs.DirEntry, suffix string) []HeldLock {
	var out []HeldLock
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		if !strings.HasSuffix(entry.Name(), suffix) || entry.IsDir() || entry.Name() == DataLock {
			continue // who shares the whole directory holds a chat's lock, too
		}
		if pid := lockfile.OwnerPID(path); pid > 0 && ProcessAlive(pid) {
			out = append(out, HeldLock{Name: entry.Name(), Owner: OwnerName(pid)})
		}
	}
	return out
}

func (s *Store) storeHealth(ctx context.Context) StoreHealth {
	found, err := kv.Probe(ctx, s.StoreDir())
	h := StoreHealth{Exists: found.Exists, Clean: found.Clean, Opened: found.Opened, Schema: found.Schema}
	switch {
	case err != nil:
		h.Err = s.StoreTrouble(err)
	case found.Busy:
		h.Owner = OwnerName(found.PID)
	}
	return h
}
