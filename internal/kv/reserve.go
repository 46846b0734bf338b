package kv

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Badger makes its logs as files with one hole, which it writes to through a mapping, in
// its own goroutines, where a disk without room for a page ends the program. So a log
// gets its blocks before Badger writes to it: here a full disk, or a quota that is used
// up, is an error.
//
// The tables that memtables become, and that merges write, can't be given blocks: Badger
// makes their files and fills them in one step. For those the room is checked right
// before, see space.go.

const (
	// firstAhead is how much of a log is made real on the disk before anything is
	// written there, and mostAhead how much it is in a session that continues: a
	// command writes little, and the blocks ahead are written once more than needed.
	firstAhead = 64 << 10
	mostAhead  = 512 << 10
	// holdAhead is how much it is in a session that stays, which makes more
	// concurrently with its operations when half of it is used: a state of a hundred
	// changed folders is 600 KB of trees.
	holdAhead = 2 << 20
	// pageSize is the unit that is checked to see whether a part of a log is in use.
	pageSize = 4 << 10
)

// blocks is how far a log has blocks on the disk.
type blocks struct {
	path string
	used int64 // where the log ends, at most
	to   int64 // up to where it has blocks, in whole pages
}

// begin is called for a log that Badger has just made, with its first page and what has
// been reserved of it.
func (b *blocks) begin(path string, used int64) {
	*b = blocks{path: path, used: logHeader + logRoom + used}
	b.to = wholePages(b.used)
}

// wholePages rounds a number of bytes up to pages.
func wholePages(n int64) int64 { return (n + pageSize - 1) &^ (pageSize - 1) }

// reserve allocates the blocks that an Update needs to the logs that are written to.
// before is the memtable's log if Badger may begin another one for the Update.
func (sess *session) reserve(size updateSize, before string) error {
	if sess.memory.path == "" {
		if err := sess.findLogs(); err != nil {
			return err
		}
	}
	if err := sess.extend(&sess.memory, size.memtable); err != nil {
		return err
	}
	if before != "" {
		if err := sess.reserveNext(before, size.memtable); err != nil {
			return err
		}
	}
	if size.values == 0 {
		return nil
	}
	if sess.values.used > sess.db.Opts().ValueLogFileSize { // Badger may have begun another one
		if err := sess.findValues(); err != nil {
			return err
		}
	}
	return sess.extend(&sess.values, size.values)
}

// findLogs looks for the logs that a session writes to, which are empty.
func (sess *session) findLogs() error {
	memtable, err := sess.memtable()
	if err != nil {
		return err
	}
	sess.memory.begin(memtable, 0)
	return sess.findValues()
}

// findValues looks for the value log that is written to.
func (sess *session) findValues() error {
	logs, err := sess.store.logs(".vlog")
	if err != nil || len(logs[0]) == 0 {
		return err
	}
	if last := logs[0][len(logs[0])-1]; last != sess.values.path {
		sess.values.begin(last, 0)
	}
	return nil
}

// extend makes sure that a log has blocks for so many bytes more. The part beyond them
// was never written to. Blocks that a sync has been given (see makeAhead) count.
func (sess *session) extend(b *blocks, more int64) error {
	sess.aheadMu.Lock()
	defer sess.aheadMu.Unlock()
	a := sess.ahead[b.path]
	b.to = max(b.to, a.to)
	if b.path == "" || b.used+more <= b.to {
		b.used += more
		return nil
	}
	need := wholePages(b.used + more - b.to)
	n := max(need, sess.aheadOf(a))
	err := sess.store.allocate(b.path, b.to, n)
	if err != nil && isFull(err) && need < n {
		n = need
		err = sess.store.allocate(b.path, b.to, n)
	}
	if err != nil {
		return sess.store.fileFault(err)
	}
	b.used += more
	b.to += n
	sess.ahead[b.path] = ahead{b.to, n}
	return nil
}

// aheadOf returns how many blocks a log gets that has used up its blocks.
func (sess *session) aheadOf(a ahead) int64 {
	if sess.store.opts.Hold {
		return holdAhead
	}
	return min(max(2*a.made, firstAhead), mostAhead)
}

// reserveNext allocates blocks to the log of the memtable that may follow. The file has
// length zero: Badger takes it for one that it has just made.
func (sess *session) reserveNext(before string, need int64) error {
	var number int
	if _, err := fmt.Sscanf(filepath.Base(before), "%d.mem", &number); err != nil {
		return nil // not a name of Badger's
	}
	path := sess.store.file(fmt.Sprintf("%05d.mem", number+1))
	err := sess.store.allocateNew(path, logHeader+2*logRoom+need+pageSize)
	if err != nil {
		return sess.store.fileFault(err)
	}
	sess.spare = path
	return nil
}

// allocate allocates blocks on the disk to a part of a file that was never written to.
func (s *Store) allocate(path string, at, n int64) error {
	if s.allocating != nil {
		if err := s.allocating(path, at, n); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err = populate(int(f.Fd()), at, n); err != nil { // without the reason of a failure
		err = allocate(f, at, n)
	}
	if errors.Is(err, errors.ErrUnsupported) {
		err = writeZeros(f, at, n)
	}
	return errors.Join(err, f.Close())
}

// allocateNew allocates blocks to a file without changing its length, if the system
// supports that. It creates a missing file. Badger takes a file without a length for
// one that it has made.
func (s *Store) allocateNew(path string, n int64) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if s.allocating != nil {
		err = s.allocating(path, 0, n)
	}
	if err == nil {
		err = allocate(f, 0, n)
	}
	err = errors.Join(err, f.Close())
	if err != nil {
		removeEmpty(path)
	}
	if errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

// removeEmpty removes a file without a length. Where that fails the next opening does.
func removeEmpty(path string) {
	if info, err := os.Stat(path); err == nil && info.Size() == 0 {
		_ = os.Remove(path)
	}
}

// reserveDiscards reserves room, for all value logs and those to come, in the file in
// which Badger counts what can be removed of each. Merges write to it.
func (s *Store) reserveDiscards(logs int) error {
	const each, more = 16, 512
	return s.fileFault(s.allocateNew(s.file("DISCARD"), int64(logs+more)*each))
}

// writeZeros allocates blocks to a file by writing zeros, up to its end.
func writeZeros(f *os.File, at, n int64) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	var zeros [16 << 10]byte
	for end := min(at+n, info.Size()); at < end; {
		some := min(end-at, int64(len(zeros)))
		if _, err := f.WriteAt(zeros[:some], at); err != nil {
			return err
		}
		at += some
	}
	return nil
}
