package kv

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// Badger's own compactors start up to a second after an open, so sessions of
// milliseconds would never meet them, and every session that writes leaves a
// table and, with values over 1 KB, a value log: each later open and close pays
// for all of them. So sessions tidy up as they close, a little at a time.
//
// Tables: a session that opened on mergeTables unmerged ones merges them into
// the level below, by Badger's CompactL0OnClose. A later session pushes what gathers
// there to the last level, once it is worth the rewriting (see pushAfter).
//
// Value logs: Badger can't merge logs whose values are all alive. Here their
// values are put again, into the session's own log, and the old files removed
// when the database has closed, when everything is safe on the disk. A crash at
// any point leaves the old files, and a later session does it again.

// tidy does a session's share. One that wrote nothing has none to do, and in a
// process that stays Badger does it.
func (sess *session) tidy() error {
	if sess.store.opts.Hold || !sess.stamped || sess.store.roomToMerge() != nil {
		return nil
	}
	push := sess.plan.push
	if !push {
		var err error
		if push, err = sess.mayPush(); err != nil {
			return err
		}
	}
	if push {
		if err := sess.db.Flatten(1); err != nil {
			return sess.store.fault("merge tables of", err)
		}
	}
	return guardMapped(func() error { return sess.mergeLogs(sess.plan.tooMany()) })
}

// mayPush reports whether a session has itself filled the levels above the last one, so
// that it pushes them and not the next session, which may be a short command. The tables
// are read whole first, as those of a plan are.
func (sess *session) mayPush() (bool, error) {
	var middle, last int64
	for _, l := range sess.db.Levels() {
		switch l.Level {
		case 0:
		case lastLevel:
			last += l.Size
		default:
			middle += l.Size
		}
	}
	if middle <= pushAfter(last) {
		return false, nil
	}
	for _, t := range sess.db.Tables() {
		if _, err := sess.store.checkTable(t.ID, true); err != nil {
			return false, err
		}
	}
	return true, nil
}

// tooMany picks the value logs to merge, smallest first, if there are more than
// a store of that size needs.
func (p plan) tooMany() []valueLog {
	var total int64
	for _, l := range p.logs {
		total += l.size
	}
	if int64(len(p.logs)) <= mergeLogs+total/fullLog {
		return nil
	}
	var sum int64
	for i, l := range p.logs {
		if sum += l.size; i >= 2 && sum > mergeBytes {
			return p.logs[:i]
		}
	}
	return p.logs
}

// mergeLogs puts what is alive in some value logs again, and notes the logs for
// removal. One that can't be read to its end stays.
func (sess *session) mergeLogs(logs []valueLog) error {
	for _, l := range logs {
		entries, err := readLog(l.path)
		if err != nil {
			continue
		}
		if err := sess.putAgain(entries); err != nil {
			return err
		}
		sess.dead = append(sess.dead, l.path)
	}
	return nil
}

// putAgain writes the entries of a log that are still their keys' newest, in
// transactions well below the limit.
func (sess *session) putAgain(entries []logEntry) error {
	const atOnce = 256
	for len(entries) > 0 {
		n := min(atOnce, len(entries))
		var bytes int64
		for i, e := range entries[:n] {
			if bytes += e.size; bytes > flushValues && i > 0 {
				n = i
				break
			}
		}
		if err := sess.putSome(entries[:n]); err != nil {
			return err
		}
		entries = entries[n:]
	}
	return nil
}

func (sess *session) putSome(entries []logEntry) error {
	txn := sess.db.NewTransaction(true)
	defer txn.Discard()
	var size updateSize
	for _, e := range entries {
		size.add(len(e.key), int(e.size))
		if err := e.putAgain(txn); err != nil {
			return sess.store.fault("merge value logs of", err)
		}
	}
	return sess.store.fault("merge value logs of", sess.commit(txn, size))
}

// removeDead removes the logs that are no longer referenced. The database is closed and
// the store's lock still held. A log that can't be removed is merged again, and
// removed, by a later session.
func (sess *session) removeDead() {
	for _, path := range sess.dead {
		_ = os.Remove(path)
	}
}

// Verify checks the checksums of every table and every value.
func (s *Store) Verify(ctx context.Context) error {
	sess, err := s.enter(ctx, reading)
	if err != nil {
		return err
	}
	defer s.leave(sess)
	if err := guard(sess.db.VerifyChecksum); err != nil {
		return &CorruptError{Dir: s.dir, File: fileIn(err, "a table"), Err: err}
	}
	return sess.run(ctx, reading, func(tx *Tx) error {
		for item, err := range tx.items(span{low: lowestKey()}) {
			if err != nil {
				return err
			}
			if err := tx.open(item, item.KeyCopy(nil), func(value) error { return nil }); err != nil {
				return err
			}
		}
		return nil
	})
}

// Compact merges all tables, and removes the value logs of which at least half is
// dead. It rewrites the whole store, which takes seconds for gigabytes, and holds
// it for as long; [Store.Reclaim] does so only where it pays. Files can be removed
// only when the database is closed, so Compact ends with a close, also of a store
// that is held; where another operation is running at that moment, the files are
// removed at the next close.
func (s *Store) Compact(ctx context.Context) error {
	return s.rewrite(ctx, compacting, func(valueLog) bool { return true })
}

// rewrite merges the tables, where need is compacting, and removes those of the
// chosen value logs of which at least half is dead.
func (s *Store) rewrite(ctx context.Context, need access, chosen func(valueLog) bool) error {
	release, err := s.beforeWrite(ctx)
	if err != nil {
		return err
	}
	defer release()
	sess, err := s.enter(ctx, need)
	if err != nil {
		return err
	}
	err = guardMapped(func() error { return s.compact(ctx, sess, need, chosen) })
	if errors.Is(err, errMapped) {
		err = s.fault("compact", err)
	}
	s.leave(sess)
	return errors.Join(err, s.letGo())
}

// compact does the work of rewrite in one session.
func (s *Store) compact(ctx context.Context, sess *session, need access, chosen func(valueLog) bool) error {
	// The writer's token keeps Updates of this process away.
	select {
	case s.writer <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("compact store %s: %w", s.dir, ctx.Err())
	}
	defer func() { <-s.writer }()
	if need == compacting {
		if err := sess.db.Flatten(2); err != nil {
			return s.fault("compact", err)
		}
	}
	for _, l := range sess.plan.logs {
		if slices.Contains(sess.dead, l.path) || !chosen(l) {
			continue // removed by an earlier Compact, or kept
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("compact store %s: %w", s.dir, err)
		}
		entries, err := readLog(l.path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // Badger removes a log without entries when it opens
		}
		if err != nil {
			return &CorruptError{Dir: s.dir, File: l.path, Err: err}
		}
		if err := sess.putLiving(l, entries); err != nil {
			return err
		}
	}
	return nil
}

// putLiving makes a log removable if enough of it is dead.
func (sess *session) putLiving(l valueLog, entries []logEntry) error {
	txn := sess.db.NewTransaction(false)
	worth, err := halfDead(txn, entries)
	txn.Discard()
	if err != nil || !worth {
		return sess.store.fault("compact", err)
	}
	if err := sess.putAgain(entries); err != nil {
		return err
	}
	sess.dead = append(sess.dead, l.path)
	return nil
}
