package store

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/fettle-cli/fettle/internal/lockfile"
)

// DataLock is the name of the lock of the data directory as a whole. Every process
// holds it shared while it changes something there, for all steps of that change;
// [Restore] holds it alone while it replaces the directory's contents.
const DataLock = "data"

// holding counts the operations of one Engine that change the data directory. The
// first of them takes the lock for all, and the last one releases it, so that an
// operation may be a part of another one.
type holding struct {
	taking chan struct{} // has one element while an operation takes the lock

	Mu      sync.Mutex
	Count   int
	release func()
}

// join counts one more operation if the lock is held already.
func (h *holding) join() bool {
	h.Mu.Lock()
	defer h.Mu.Unlock()
	if h.Count == 0 {
		return false
	}
	h.Count++
	return true
}

// begin counts the first operation, which has taken the lock.
func (h *holding) begin(release func()) {
	h.Mu.Lock()
	defer h.Mu.Unlock()
	h.Count, h.release = 1, release
}

// leave ends an operation.
func (h *holding) leave() {
	h.Mu.Lock()
	defer h.Mu.Unlock()
	if h.Count--; h.Count == 0 {
		h.release()
	}
}

// ShareData keeps the data directory from being replaced until release is called. If a
// crash has cut off such a replacement, ShareData finishes that first. Every function
// that changes the store or a file of the data directory calls it, for the whole of the
// change; a test fails if one does not, see unheldWrite. onWait, which may be nil, is
// called with the owner of the lock if that is another process.
func (s *Store) ShareData(ctx context.Context, onWait func(string)) (release func(), err error) {
	h := &s.Held
	if h.join() {
		return sync.OnceFunc(h.leave), nil
	}
	select {
	case h.taking <- struct{}{}:
		defer func() { <-h.taking }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if h.join() {
		return sync.OnceFunc(h.leave), nil
	}
	shared, err := s.takeShared(ctx, onWait)
	if err != nil {
		return nil, err
	}
	h.begin(shared)
	return sync.OnceFunc(h.leave), nil
}

// takeShared takes the lock of the data directory, shared with other processes.
func (s *Store) takeShared(ctx context.Context, onWait func(string)) (release func(), err error) {
	if onWait == nil {
		onWait = func(owner string) { s.Options.Notice("waiting for a backup that is being restored, " + owner) }
	}
	for {
		shared, err := s.lockShared(ctx, DataLock, onWait)
		if err != nil {
			return nil, err
		}
		if _, err := os.Lstat(filepath.Join(s.Options.DataDir, RestoreMarkName)); errors.Is(err, fs.ErrNotExist) {
			return func() {
				shared()
				// A shared holder leaves the lock's file; the last one removes it.
				if last, ok, err := lockfile.Try(filepath.Join(s.Options.DataDir, "locks", DataLock)); ok && err == nil {
					last()
				}
			}, nil
		}
		shared()
		if err := FinishRestore(ctx, s.Options.DataDir, s.Options.Notice); err != nil {
			return nil, err
		}
	}
}

// unheldWrite is set by the tests, which fail when it is called: a write of the store
// began without the lock of the data directory, so other steps of the same change may
// have gone into another store.
var unheldWrite = func() {}

// OnUnheldWrite sets what is called then, for tests, and returns what was called before.
func OnUnheldWrite(f func()) (was func()) {
	was, unheldWrite = unheldWrite, f
	return was
}

// holdWrite keeps the data directory from being replaced during one write of the store.
// The operation that the write belongs to should hold it already.
func (s *Store) holdWrite(ctx context.Context) (release func(), err error) {
	if s.Held.join() {
		return s.Held.leave, nil
	}
	unheldWrite()
	return s.ShareData(ctx, nil)
}

// lockShared is lock for what many may hold.
func (s *Store) lockShared(ctx context.Context, name string, onWait func(string)) (func(), error) {
	path, err := s.LockPath(name)
	if err != nil {
		return nil, err
	}
	release, err := lockfile.AcquireShared(ctx, path, onWait)
	if err != nil {
		return nil, WaitFault(ctx, "take the lock "+name, err)
	}
	return release, nil
}

// Lock takes a lock of the data directory. A wait is reported to onWait at once; if
// that is nil, it becomes a notice after a while, since such locks are mostly held for
// milliseconds.
func (s *Store) Lock(ctx context.Context, name string, onWait func(string)) (func(), error) {
	path, err := s.LockPath(name)
	if err != nil {
		return nil, err
	}
	p := lockfile.Patience{OnWait: onWait}
	if onWait == nil {
		p = lockfile.Patience{Quiet: lockfile.Soon, OnWait: s.noticeWait}
	}
	release, err := lockfile.Wait(ctx, path, p)
	if err != nil {
		return nil, WaitFault(ctx, "take the lock "+name, err)
	}
	return release, nil
}

// noticeWait emits a notice that names the process that is waited for.
func (s *Store) noticeWait(owner string) {
	s.Options.Notice("waiting for " + cmp.Or(owner, "another process"))
}

// LockPath is the file of a lock of the data directory; the folder is made.
func (s *Store) LockPath(name string) (string, error) {
	dir := filepath.Join(s.Options.DataDir, "locks")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", StoreFault("make the folder of locks", err)
	}
	return filepath.Join(dir, name), nil
}

// DataAlone keeps everybody out: turns and undo by the lock of the data
// directory, folds and snapshots by theirs.
func (s *Store) DataAlone(ctx context.Context, onWait func(string)) (release func(), err error) {
	var held []func()
	release = func() {
		for i := len(held) - 1; i >= 0; i-- {
			held[i]()
		}
	}
	defer func() {
		if err != nil {
			release()
		}
	}()
	let, err := s.Lock(ctx, DataLock, func(owner string) { onWait("the data directory is in use by " + cmp.Or(owner, "another process")) })
	if err != nil {
		return nil, err
	}
	held = append(held, let)
	if err := os.MkdirAll(filepath.Join(s.Options.DataDir, "journal"), 0o700); err != nil {
		return nil, err
	}
	if let, err = s.Journals.AcquireFold(ctx); err != nil {
		return nil, s.StoreTrouble(err)
	}
	held = append(held, let)
	if let, err = s.Snapshots.GuardAlone(ctx); err != nil {
		return nil, err
	}
	held = append(held, let)
	return release, nil
}

// LockRecord locks a record for the process that wrote it.
func (s *Store) LockRecord(name string) (release func(), err error) {
	path, err := s.LockPath("guard-" + name)
	if err != nil {
		return nil, err
	}
	release, free, err := lockfile.Try(path)
	if err == nil && !free {
		err = errors.New("another process has its lock")
	}
	if err != nil {
		return nil, StoreFault("note the repositories of a folder", err)
	}
	return release, nil
}
