//go:build !linux

package kv

// syncLogs leaves it to Badger where a mapping must be synced by who has it.
func (sess *session) syncLogs(_, _ string, _ int64) error { return sess.db.Sync() }

// syncValues brings the value log to the disk before the memtable becomes a table.
func (sess *session) syncValues() error {
	if sess.writes.Load() == sess.written.Load() {
		return nil
	}
	return sess.db.Sync()
}

// prepare does nothing where Badger syncs.
func (*session) prepare() {}
