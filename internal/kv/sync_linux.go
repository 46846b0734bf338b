package kv

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// syncLogs brings the memtable's log and the value log that are written to to the
// disk. Badger's Sync does so, too, one after the other and always both. A flush of
// the disk is what a small write takes its time for: here they go side by side, which
// most file systems do in one step, and a value log that nothing went to stays out.
// What is in a mapping is what is in the file, on Linux.
//
// written are the Updates that had been counted before the logs were listed.
func (sess *session) syncLogs(memtable, values string, written int64) error {
	if sess.db.Opts().ReadOnly {
		return nil
	}
	if values == "" || written == sess.bigSynced.Load() {
		return sess.syncMapped(memtable)
	}
	done := make(chan error, 1)
	go func() { done <- sess.syncMapped(values) }()
	err := errors.Join(sess.syncMapped(memtable), <-done)
	if err == nil {
		sess.bigSynced.Store(written) // too few, where another was quicker, costs a sync
	}
	return err
}

// syncMapped brings a file to the disk that is written to through a mapping. One
// that has gone meanwhile is a table by now, or was merged: both are synced by then.
func (sess *session) syncMapped(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	sess.makeAhead(f, false)
	err = unix.Fdatasync(int(f.Fd()))
	if sess.store.opts.Hold && sess.isShort(f) {
		sess.stayAhead(path)
	}
	err = errors.Join(err, f.Close())
	if err == nil && sess.store.synced != nil {
		sess.store.synced(path)
	}
	return err
}

// syncValues brings the value log to the disk before the memtable becomes a table.
func (sess *session) syncValues() error {
	written := sess.bigWrites.Load()
	if written == 1 || written == sess.bigSynced.Load() {
		return nil
	}
	logs, err := sess.store.logs(".vlog")
	if err != nil || len(logs[0]) == 0 {
		return err
	}
	if err := sess.syncMapped(logs[0][len(logs[0])-1]); err != nil {
		return err
	}
	sess.bigSynced.Store(written)
	return nil
}
