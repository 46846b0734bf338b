package lockfile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

const (
	// firstPoll is the first wait between two tries: most locks are held for
	// a few milliseconds.
	firstPoll = time.Millisecond
	// maxPoll bounds the wait between two tries: a person doesn't notice it,
	// and twenty tries a second cost nothing.
	maxPoll = 50 * time.Millisecond
	// maxRaces is how often one try starts again because the file was
	// unlinked under it. Each round means that another owner came and went;
	// past this many the lock is plainly in use and the try says so.
	maxRaces = 64
	// maxRefused is how often one try starts again when Windows refuses to
	// open a file that is being deleted. Such a state lasts until the last
	// handle is closed, which takes a scheduler's slice on a busy machine.
	maxRefused = 200
)

// Try takes the exclusive lock if nobody holds it. Where ok is false somebody
// does and release is nil; an error means that locking itself failed, for
// instance since the folder isn't there. release may be called again.
func Try(path string) (release func(), ok bool, err error) {
	return try(path, exclusive)
}

// TryShared takes a shared lock if nobody holds the exclusive one.
func TryShared(path string) (release func(), ok bool, err error) {
	return try(path, shared)
}

// Acquire takes the exclusive lock, waiting until it is free or ctx ends. onWait, which
// may be nil, is called as soon as it has to wait, with the owner as [Owner] describes
// it, or "" where that isn't known; and again if the owner turns out to be a stopped
// process.
func Acquire(ctx context.Context, path string, onWait func(owner string)) (release func(), err error) {
	return acquire(ctx, path, exclusive, Patience{OnWait: onWait})
}

// AcquireShared takes a shared lock, waiting as [Acquire] does.
func AcquireShared(ctx context.Context, path string, onWait func(owner string)) (release func(), err error) {
	return acquire(ctx, path, shared, Patience{OnWait: onWait})
}

// Patience configures how to wait for a lock.
type Patience struct {
	// Bound is how long; 0 is until the context ends. The end of it is a [BusyError]. A
	// holder that is stopped is waited for up to [StoppedBound], since it is up to the
	// user to continue it, and OnWait was called with that.
	Bound time.Duration
	// Quiet is how long a wait lasts before OnWait is called; 0 calls it at once. Most
	// locks are held for milliseconds.
	Quiet time.Duration
	// OnWait is called with the owner, as by [Acquire]. It may be nil.
	OnWait func(owner string)
}

const (
	// Soon is a Quiet after which a user wonders what is waited for.
	Soon = time.Second
	// StoppedBound is how long a stopped holder is waited for.
	StoppedBound = 10 * time.Minute
	// lookAgain is the interval at which the holder is checked: it may have been
	// stopped.
	lookAgain = time.Second
)

// Wait takes the exclusive lock, with patience.
func Wait(ctx context.Context, path string, p Patience) (release func(), err error) {
	return acquire(ctx, path, exclusive, p)
}

// BusyError is the error of a lock that did not become free within the bound of the
// wait.
type BusyError struct {
	Path   string
	Owner  string // as [Owner] describes it; "another process" where that isn't known
	Waited time.Duration
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("lock %s: held by %s, waited %s", e.Path, e.Owner, e.Waited.Round(time.Second))
}

// mode tells the two kinds of lock apart.
type mode int

const (
	exclusive mode = iota
	shared
)

func acquire(ctx context.Context, path string, m mode, p Patience) (func(), error) {
	w := waiter{Patience: p, path: path, begun: time.Now(), look: p.Quiet}
	for wait := firstPoll; ; wait = min(2*wait, maxPoll) {
		if err := ctx.Err(); err != nil {
			return nil, w.ended(err)
		}
		release, ok, err := try(path, m)
		if ok || err != nil {
			return release, err
		}
		if err := w.waits(); err != nil {
			return nil, err
		}
		if !sleep(ctx, wait/2+rand.N(wait)) { // jitter, so that waiters don't march in step
			return nil, w.ended(ctx.Err())
		}
	}
}

// waiter is one wait for a lock.
type waiter struct {
	Patience
	path  string
	begun time.Time
	look  time.Duration // when to check the holder next, since begun
	told  string        // the owner that OnWait was called with
	spoke bool
}

// waits reports the owner that is waited for to OnWait, or returns the error of a wait
// that took too long.
func (w *waiter) waits() error {
	waited := time.Since(w.begun)
	over := w.Bound > 0 && waited >= w.Bound
	if waited < w.look && !over {
		return nil
	}
	w.look = waited + lookAgain
	pid := Holder(w.path)
	stopped, owner := Stopped(pid), Process(pid)
	if w.OnWait != nil && (!w.spoke && !over || stopped && owner != w.told) {
		w.OnWait(owner)
		w.told, w.spoke = owner, true
	}
	if !over || stopped && waited < StoppedBound {
		return nil
	}
	return &BusyError{Path: w.path, Owner: cmp.Or(owner, "another process"), Waited: waited}
}

// ended is the error of a wait whose context has ended.
func (w *waiter) ended(err error) error {
	if owner := Owner(w.path); owner != "" {
		return fmt.Errorf("wait for lock %s, held by %s: %w", w.path, owner, err)
	}
	return fmt.Errorf("wait for lock %s: %w", w.path, err)
}

// sleep waits for d and tells whether ctx let it.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func try(path string, m mode) (func(), bool, error) {
	refused := 0
	for range maxRaces {
		// Read and write: an exclusive lock on NFS and on some systems
		// needs a file that is open for writing.
		fl := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
		ok, err := tryLock(fl, m)
		if err != nil {
			if refusedForNow(err) && refused < maxRefused {
				refused++
				time.Sleep(firstPoll)
				continue
			}
			return nil, false, fmt.Errorf("lock %s: %w", path, err)
		}
		if !ok {
			return nil, false, nil
		}
		named, err := names(path, fl)
		if err != nil {
			return nil, false, errors.Join(fmt.Errorf("lock %s: %w", path, err), fl.Unlock())
		}
		if named {
			writeOwner(path)
			return releaser(path, fl, m), true, nil
		}
		if err := fl.Unlock(); err != nil {
			return nil, false, fmt.Errorf("lock %s: %w", path, err)
		}
	}
	return nil, false, nil
}

func tryLock(fl *flock.Flock, m mode) (bool, error) {
	if m == shared {
		return fl.TryRLock()
	}
	return fl.TryLock()
}

// errSharingViolation is ERROR_SHARING_VIOLATION of Windows: another process has
// the file open for deletion at this moment.
const errSharingViolation = syscall.Errno(32)

// refusedForNow reports whether an error is one that Windows returns while a
// file is being removed, or was removed and is still open somewhere.
func refusedForNow(err error) bool {
	return runtime.GOOS == "windows" && (errors.Is(err, fs.ErrPermission) || errors.Is(err, errSharingViolation))
}

// names tells whether path still is the file that fl has locked.
func names(path string, fl *flock.Flock) (bool, error) {
	locked, err := fl.Stat()
	if err != nil {
		return false, err
	}
	there, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || (err != nil && refusedForNow(err)) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return os.SameFile(locked, there), nil
}

// releaser makes the function that gives the lock back. Its errors can't be
// acted on by anyone: a file that wasn't removed is reused, and the kernel
// frees the lock with the process at the latest.
func releaser(path string, fl *flock.Flock, m mode) func() {
	return sync.OnceFunc(func() {
		if m == shared {
			_ = fl.Unlock()
			return
		}
		if runtime.GOOS == "windows" {
			_ = fl.Unlock()
			_ = os.Remove(path) // refused while another has it open
			return
		}
		// The path is ours while we hold the lock, unless a person removed
		// the file by hand; then it may be another owner's by now.
		if named, err := names(path, fl); err == nil && named {
			_ = os.Remove(path)
		}
		_ = fl.Unlock()
	})
}
