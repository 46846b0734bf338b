package kv

import "time"

const (
	// roomOpen is what opening needs: the first pages of its new files.
	roomOpen = 4 << 20
	// roomWrite is what a write needs besides its values: the memtable that it
	// goes to, the table that this becomes, and a merge of the tables there.
	roomWrite = 48 << 20
	// roomMerge is what a merge needs for the tables that it writes at once.
	roomMerge = 24 << 20
	// roomFlush is what the close needs for the table of a memtable, besides its entries.
	roomFlush = 1 << 20
	// roomAgain is the interval at which a wait for room checks for it.
	roomAgain = 50 * time.Millisecond
	// fullAfter is how long a close waits for room before the disk counts as full.
	fullAfter = time.Second
)

// Badger writes tables through mapped sparse files, and a write to a page that the disk
// has no room for ends the program with SIGBUS; so the room is checked right before.
// Another program can still use it up in between. The logs get theirs in reserve.go.

// roomToOpen refuses to open on a full disk. unflushed is the length of the logs that
// become tables right after the opening.
func (s *Store) roomToOpen(unflushed int64) error { return s.room(roomOpen + unflushed) }

// roomToWrite refuses a write on a disk that is nearly full.
func (s *Store) roomToWrite(values int64) error { return s.room(roomWrite + values) }

// roomToMerge refuses a merge on a disk that is nearly full.
func (s *Store) roomToMerge() error { return s.room(roomWrite) }

// waitToMerge holds a merge up while the disk is full. Badger offers no way to end it
// there: a close that waits for it is late (see finish), and the process may end.
func (s *Store) waitToMerge() {
	if s.merging != nil {
		s.merging()
	}
	tick := time.NewTicker(roomAgain)
	defer tick.Stop()
	for s.room(roomMerge) != nil {
		<-tick.C
	}
}

func (s *Store) room(need int64) error {
	free, err := freeSpace(s.dir)
	if err != nil || free >= need {
		return nil // where the system doesn't say, the write is tried
	}
	return &FullError{Dir: s.dir, Free: free, Need: need}
}

// roomToClose refuses to close a session on a full disk: its memtable becomes a table.
func (sess *session) roomToClose() error {
	if sess.writes.Load() == 0 {
		return nil
	}
	return sess.store.room(sess.room + roomFlush)
}

// waitToClose returns when there is room to close the session. While there is not, its
// writes are on the disk, in the logs that the next session reads.
func (sess *session) waitToClose() {
	tick := time.NewTicker(roomAgain)
	defer tick.Stop()
	for start := time.Now(); sess.roomToClose() != nil; <-tick.C {
		if sess.full != nil && time.Since(start) > fullAfter {
			_, _ = sess.syncNow() // the error of the close is that the disk is full
			close(sess.full)
			sess.full = nil
		}
	}
}
