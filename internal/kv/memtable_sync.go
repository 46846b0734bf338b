package kv

import (
	"github.com/dgraph-io/badger/v4"
)

// Badger begins another memtable when it finds the one that it has full, at the first
// write behind that, and makes a table of the full one, without a sync of either log. A
// power cut could then leave a table whose values aren't there, or the new memtable's log
// without the end of the one before it. So whatever may meet a full memtable has both
// logs synced first: what is behind the first write to a memtable's log is then on the
// disk, with its values.
//
// Badger doesn't tell how full a memtable is. What is counted here is a bound of it, some
// fifth too high, so of the Updates that fill one about the last fifth each have a sync of
// what the one before has written.

// emptyRoom is what a memtable takes before anything is in it, and what its entries'
// nodes may take above their bound (see entryRoom).
const emptyRoom = 4 << 10

// entryRoom bounds what an entry takes of a memtable: of its memory, which is more than
// of its log. A node has 16 bytes, 7 to be aligned, and 4 for each of its levels, of which
// there are one and a half on the average: two are counted. That all nodes of a memtable
// together have 800 levels more than that has a chance of less than one in 10^100. Then
// there are the key and its version of 8, and the value with up to 12.
func entryRoom(key, value int) int64 {
	if value >= valueThreshold {
		value = pointerSize
	}
	return int64(16 + 7 + 2*4 + key + 8 + value + 12)
}

// updateRoom bounds what the entry at the end of an Update takes of a memtable's log.
const updateRoom = 64

// updateSize bounds what an Update takes of the logs.
type updateSize struct {
	memtable int64 // of the memtable and its log
	values   int64 // of the value log; 0 means that nothing goes there
}

// logRoom bounds what an entry of a log takes in addition to its key and its value: a
// head of 22 bytes, the version of 8 and a sum of 4, and zeros of the next head after
// it.
const logRoom = 22 + 8 + 4 + 22

// add counts an entry.
func (u *updateSize) add(key, value int) {
	u.memtable += entryRoom(key, value)
	if value >= valueThreshold/2 { // some of them stay out of the value log
		u.values += int64(logRoom + key + value)
	}
}

// commit commits a transaction, the only one at this moment. Its logs have the room for
// it before Badger writes to them.
func (sess *session) commit(txn *badger.Txn, size updateSize) error {
	size.memtable += updateRoom
	before, err := sess.makeWhole()
	if err != nil {
		return err
	}
	if err := sess.reserve(size, before); err != nil {
		return err
	}
	if err := txn.Commit(); err != nil {
		return err
	}
	if size.values > 0 { // after the write: a sync has counted all that it finds
		sess.bigWrites.Add(1)
	}
	sess.writes.Add(1)
	if before != "" {
		if now, err := sess.memtable(); err == nil && now != before {
			sess.room = emptyRoom
			sess.memory.begin(now, size.memtable)
		}
	}
	sess.room += size.memtable
	return nil
}

// makeWhole brings what is written to the disk if the next write may begin another
// memtable, and gives the log of the present one then.
func (sess *session) makeWhole() (memtable string, err error) {
	if sess.room < sess.store.memtable {
		return "", nil
	}
	if memtable, err = sess.memtable(); err != nil {
		return "", err
	}
	if sess.writes.Load() != sess.written.Load() {
		_, err = sess.syncNow()
	}
	return memtable, err
}

// memtable is the log of the memtable that is written to.
func (sess *session) memtable() (path string, err error) {
	logs, err := sess.store.logs(".mem")
	if err != nil || len(logs[0]) == 0 {
		return "", err
	}
	return logs[0][len(logs[0])-1], nil
}
