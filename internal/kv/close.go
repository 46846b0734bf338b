package kv

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
)

// lost is the error of a close after which writes may not be safe from a power cut.
// They are in logs that the next session reads and syncs, so the error is returned
// once, and it is over when a later session has synced.
type lost struct {
	err  error
	told bool // Sync, LetGo or Close has returned it
}

// take returns the error if it has not been returned before.
func (l *lost) take() error {
	if l.told {
		return nil
	}
	l.told = true
	return l.err
}

// finish closes the session. The caller holds s.mu, which finish unlocks. It returns
// after closeLimit at the latest: then no operation gets the database before the close
// has ended.
func (s *Store) finish(sess *session) {
	s.moving, s.changing = true, time.Now()
	s.mu.Unlock()
	_ = sess.tidy() // loses nothing: the next session merges what it could not merge
	full := sess.full
	done := sess.close()
	limit := time.NewTimer(closeLimit)
	defer limit.Stop()
	var late error
	select {
	case err := <-done:
		s.finished(err)
		return
	case <-full:
		late = cmp.Or(sess.roomToClose(), error(&FullError{Dir: s.dir}))
	case <-limit.C:
		late = sess.notClosed()
	}
	s.mu.Lock()
	s.late, s.lost = late, lost{err: late}
	s.signal()
	s.mu.Unlock()
	go func() { s.finished(<-done) }()
}

// finished notes that the database has been closed, and what that could not bring to
// the disk.
func (s *Store) finished(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.late != nil && err == nil {
		s.lost = lost{} // the close has ended in order after all
	}
	s.sess, s.draining, s.late = nil, false, nil
	s.moving, s.changing = s.broken != nil, time.Time{}
	s.nearer = time.Now()
	if err != nil {
		s.lost = lost{err: err}
	}
	s.signal()
}

// Sync returns when everything that was written before is safe from a power cut. If the
// database has been released, this already holds. An error of a close that has lost
// this safety for earlier writes is returned once, by Sync, LetGo or Close; the next
// Sync mends it or fails.
func (s *Store) Sync(ctx context.Context) error {
	s.mu.Lock()
	sess := s.sess
	if sess == nil || s.moving || s.draining {
		s.mu.Unlock()
		return s.syncClosed(ctx, sess)
	}
	s.running++
	s.mu.Unlock()
	defer s.leave(sess)
	return s.syncOpen(ctx, sess)
}

// syncOpen syncs an open session, which the caller has entered. What an earlier close
// has not written to the disk is on the disk afterwards, since the session has read and
// synced it as it opened for writing.
func (s *Store) syncOpen(ctx context.Context, sess *session) error {
	if err := sess.sync(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.lost.take()
	s.lost = lost{}
	return err
}

// syncClosed waits for a session that is closing, which syncs it. If that fails the
// caller gets the error; if another caller has got it, the database is opened and
// synced. sess is nil if none is open.
func (s *Store) syncClosed(ctx context.Context, sess *session) error {
	for {
		s.mu.Lock()
		open, changed, late := sess != nil && s.sess == sess, s.changed, s.late
		if !open || late != nil {
			known, err := s.lost.told && s.lost.err != nil, s.lost.take()
			s.mu.Unlock()
			if !known || err != nil {
				return err
			}
			return s.syncAgain(ctx)
		}
		s.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("sync store %s: %w", s.dir, ctx.Err())
		}
	}
}

// syncAgain opens the database for writing and syncs it.
func (s *Store) syncAgain(ctx context.Context) error {
	sess, err := s.enter(ctx, writing)
	if err != nil {
		return err
	}
	defer s.leave(sess)
	return s.syncOpen(ctx, sess)
}

// LetGo closes the database now, unless an operation runs or the Store holds
// it: before a long wait, or at the end of a command that still has other
// things to do. It waits for a close that is under way. The next operation opens the
// database again. LetGo returns what could not be brought to the disk, if Sync has not
// returned it before.
func (s *Store) LetGo() error {
	s.mu.Lock()
	held := s.holds()
	for !held && s.moving && s.late == nil && s.broken == nil {
		changed := s.changed
		s.mu.Unlock()
		<-changed
		s.mu.Lock()
	}
	s.mu.Unlock()
	if held {
		return nil
	}
	return s.letGo()
}

func (s *Store) letGo() error {
	s.mu.Lock()
	if s.sess == nil || s.running > 0 || s.moving {
		s.mu.Unlock()
		return nil
	}
	s.finish(s.sess)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lost.take()
}

// Close waits for the operations that run, closes the database and stops what the Store
// has started. Operations that begin later return ErrClosed. It returns the error of
// what could not be written to the disk, if Sync or LetGo has not returned it before.
func (s *Store) Close() error {
	s.mu.Lock()
	s.closed = true
	s.signal()
	for s.running > 0 || s.moving && s.late == nil && s.broken == nil {
		changed := s.changed
		s.mu.Unlock()
		<-changed
		s.mu.Lock()
	}
	if s.sess != nil && !s.moving {
		s.finish(s.sess)
	} else {
		s.mu.Unlock()
	}
	s.watchers.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lost.take()
}

// close starts to close the database and to release the lock. It sends the error if
// something could not be written to the disk.
func (sess *session) close() <-chan error {
	done := make(chan error, 1)
	go func() {
		defer close(sess.gone)
		done <- sess.closeDB()
	}()
	return done
}

// closeDB closes the database and releases the lock.
func (sess *session) closeDB() error {
	err := sess.store.beforeClose()
	if serr := sess.syncValues(); err == nil {
		err = serr
	}
	sess.preparing.Wait()
	if sess.faulty.Load() {
		_, serr := sess.syncNow()
		return sess.store.breaks(sess.store.fault("close", cmp.Or(err, serr, errMapped)))
	}
	sess.waitToClose()
	cerr := guardMapped(sess.db.Close)
	if errors.Is(cerr, errMapped) {
		return sess.store.breaks(sess.store.fault("close", cerr))
	}
	if err == nil {
		err = cerr
	}
	if sess.spare != "" {
		removeEmpty(sess.spare)
	}
	if sess.access == reading {
		err = nil // nothing was written
	}
	if err == nil && sess.access > reading {
		sess.removeDead()
		sess.store.seal(&sess.plan)
	}
	sess.release()
	return sess.store.fault("close", err)
}

// beforeClose lets tests do something before a close, and have it fail.
func (s *Store) beforeClose() error {
	s.mu.Lock()
	closing := s.closing
	s.mu.Unlock()
	if closing == nil {
		return nil
	}
	return closing()
}

// closeNow is close for a session that no operation has used. If it does not end within
// closeLimit, the store stays locked, and this process can't open it any more.
func (sess *session) closeNow() error {
	limit := time.NewTimer(closeLimit)
	defer limit.Stop()
	select {
	case err := <-sess.close():
		return err
	case <-limit.C:
		return sess.store.breaks(sess.notClosed())
	}
}

// notClosed is the error of a close that has not ended within closeLimit.
func (sess *session) notClosed() error {
	return fmt.Errorf("close store %s: not done after %s: %s", sess.store.dir, closeLimit, sess.log.last())
}

// breaks notes that this process can't open the database any more, since Badger may
// still be writing to it. The store's lock is kept until the process ends.
func (s *Store) breaks(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = err
	return err
}

// giveBack releases the store's lock, unless the store is broken.
func (s *Store) giveBack(release func()) {
	s.mu.Lock()
	broken := s.broken != nil
	s.mu.Unlock()
	if !broken {
		release()
	}
}
