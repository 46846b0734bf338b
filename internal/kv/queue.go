package kv

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/fettle-cli/fettle/internal/lockfile"
)

// Processes take turns with the store by locks beside its folder.
//
// `<store>.lock` is held with the database. The others are the places of a
// queue: who has `wait.lock` is next, `wait.1.lock` is the place behind it, and
// so on. A newcomer takes the place behind the last one; who stands in the
// queue moves up when the place before him is free; who is next waits for the
// store. A holder that sees somebody in the first places lets go after the
// operation that runs, and may not come back without queueing. So everyone is
// served in the order of coming, however busy one process is, and a process
// that dies leaves its place to the one behind.
const (
	lockSuffix = ".lock"
	waitName   = "wait.lock"
	// places bounds the queue. Those who find it full wait for the last place,
	// in no order.
	places = 64
)

const (
	// pollNext is how often the next in turn tries the store's lock. Only one
	// process does, so it can be often.
	pollNext = time.Millisecond
	// pollQueue is how often the others try to move up. Fifty of them take a
	// twentieth of a processor.
	pollQueue = 5 * time.Millisecond
	// surely is how many looks go by without trying a lock whose file is still
	// there. Owners unlink, so the file's presence says enough, and a look
	// costs a hundredth of a try; but an owner that was killed leaves it.
	surely = 16
	// noticeAfter is how long an operation waits before it reports that a stopped
	// process has the store, and slowAfter how long its turn may come no nearer before
	// it reports which process has it: turns are mostly shorter, and a notice is of no
	// use then.
	noticeAfter = time.Second
	slowAfter   = 3 * time.Second
	// askAgain is how often who waits asks the holder to let go.
	askAgain = 250 * time.Millisecond
	// pollForeign is how often, in the end, the database is tried where it is
	// open though its lock beside it was free.
	pollForeign = 50 * time.Millisecond
)

func (s *Store) lockPath() string { return s.dir + lockSuffix }

// placePath is the lock of a place in the queue, from 0.
func (s *Store) placePath(i int) string {
	name := waitName
	if i > 0 {
		name = fmt.Sprintf("wait.%d.lock", i)
	}
	return filepath.Join(filepath.Dir(s.dir), name)
}

// awaited tells whether another process stands in the queue. The first place
// can be empty for the moment in which the second moves up. Most often neither
// file is there, which costs two microseconds to learn.
func (s *Store) awaited() bool { return taken(s.placePath(0)) || taken(s.placePath(1)) }

// taken tells whether another process holds a lock.
func taken(path string) bool {
	if !exists(path) {
		return false
	}
	release, free, err := lockfile.Try(path)
	if free {
		release() // left behind by a process that was killed
	}
	return err == nil && !free
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// waiting is one operation's way to the store's lock.
type waiting struct {
	store  *Store
	start  time.Time
	since  time.Time // when its turn last came nearer
	asked  time.Time // when the holder was last asked to let go
	onWait func(owner string)
}

// nearer notes that the turn has come nearer, also for the operations of this
// process that wait for this one to open the store.
func (w *waiting) nearer() {
	w.since = time.Now()
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	w.store.nearer = w.since
}

// lock takes the store's lock: at once where it is free and nobody queues, else
// when it is its turn.
func (w *waiting) lock(ctx context.Context) (release func(), err error) {
	s := w.store
	if !s.awaited() {
		release, free, err := s.try(s.lockPath())
		if free || err != nil {
			return release, err
		}
	}
	if err := w.ask(ctx); err != nil {
		return nil, err
	}
	leave, err := w.queue(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	return w.poll(ctx, s.lockPath(), pollNext)
}

// ask asks the holder to let go, where that can be done, and again after a while:
// one that shares its store does so for a time.
func (w *waiting) ask(ctx context.Context) error {
	if w.store.opts.Taken == nil || time.Since(w.asked) < askAgain {
		return nil
	}
	err := w.store.opts.Taken(ctx)
	w.asked = time.Now()
	return err
}

// poll waits for a lock.
func (w *waiting) poll(ctx context.Context, path string, every time.Duration) (release func(), err error) {
	for look := 0; ; look++ {
		if look%surely == 0 || !exists(path) {
			release, free, err := w.store.try(path)
			if free || err != nil {
				return release, err
			}
		}
		if err := w.pause(ctx, every, w.store.holder); err != nil {
			return nil, err
		}
		if err := w.ask(ctx); err != nil {
			return nil, err
		}
	}
}

// queue stands in the queue until its place is the first.
func (w *waiting) queue(ctx context.Context) (leave func(), err error) {
	at, leave, err := w.join(ctx)
	if err != nil {
		return nil, err
	}
	for ; at > 0; at-- {
		before, err := w.poll(ctx, w.store.placePath(at-1), pollQueue)
		leave()
		if err != nil {
			return nil, err
		}
		leave = before
		w.nearer()
	}
	return leave, nil
}

// join takes the place behind the last that is taken.
func (w *waiting) join(ctx context.Context) (at int, leave func(), err error) {
	s := w.store
	for {
		at = places - 1
		for at > 0 && !exists(s.placePath(at-1)) {
			at--
		}
		leave, free, err := s.try(s.placePath(at))
		if free || err != nil {
			return at, leave, err
		}
		if err := w.pause(ctx, pollNext, s.holder); err != nil {
			return 0, nil, err
		}
	}
}

// try is lockfile.Try with the store's error.
func (s *Store) try(path string) (release func(), free bool, err error) {
	if release, free, err = lockfile.Try(path); err != nil {
		err = &DirError{Dir: s.dir, Err: err}
	}
	return release, free, err
}

// holder is the pid of who has the store, or 0.
func (s *Store) holder() int { return lockfile.OwnerPID(s.lockPath()) }

// tell calls onWait once: immediately if the holder is stopped, and otherwise if the
// turn has come no nearer for slowAfter.
func (w *waiting) tell(pid int) {
	if !lockfile.Stopped(pid) && time.Since(w.since) < slowAfter {
		return
	}
	w.onWait(lockfile.Process(pid))
	w.onWait = nil
}

// pause waits about d, or says that there is no more time. holder tells the pid
// of who has the store.
func (w *waiting) pause(ctx context.Context, d time.Duration, holder func() int) error {
	s := w.store
	waited := time.Since(w.start)
	if w.onWait != nil && waited >= noticeAfter {
		w.tell(holder())
	}
	if time.Since(w.since) >= s.opts.Wait {
		if pid := holder(); waited >= lockfile.StoppedBound || !lockfile.Stopped(pid) {
			return &BusyError{Dir: s.dir, PID: pid, Waited: waited}
		}
		w.since = time.Now() // the user has been asked to continue it
	}
	t := time.NewTimer(d/2 + rand.N(d))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("open store %s: %w", s.dir, ctx.Err())
	}
}
