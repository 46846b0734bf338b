package kv

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// prepare gives the logs of a session that stays their first blocks, so that even
// its first sync is a short one. It goes on beside the session's first operations.
func (sess *session) prepare() {
	logs, err := sess.store.logs(".mem", ".vlog")
	if err != nil {
		return
	}
	for _, list := range logs {
		if len(list) == 0 {
			continue
		}
		sess.stayAhead(list[len(list)-1])
	}
}

// stayAhead gives a log more blocks, if half of those that it was given are used, and
// brings them to the disk, beside whatever else is done.
func (sess *session) stayAhead(path string) {
	sess.preparing.Go(func() {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return
		}
		defer func() { _ = f.Close() }()
		if sess.makeAhead(f, true) {
			_ = unix.Fdatasync(int(f.Fd())) // a fault of the disk is met by the next sync, too
		}
	})
}

// makeAhead gives a log blocks before it needs them. Badger makes a log as one
// hole, and a sync that finds new blocks in a file has the file system's journal
// brought to the disk, with all that other programs have in it; one that finds
// only bytes doesn't, and takes a quarter of the time. The blocks come to the disk
// with the sync that follows. It is worth no error: without it a sync is only slow.
//
// It is done when half of what was made is used; in a session that stays, whoever
// waits for a sync only does it when there is none left.
func (sess *session) makeAhead(f *os.File, beside bool) (made bool) {
	sess.aheadMu.Lock()
	defer sess.aheadMu.Unlock()
	hold := sess.store.opts.Hold
	a, fd := sess.ahead[f.Name()], int(f.Fd())
	if !a.short(f, hold && !beside) {
		return false
	}
	hole, err := unix.Seek(fd, a.to, unix.SEEK_HOLE)
	if err != nil {
		return false
	}
	more := sess.aheadOf(a)
	if err := populate(fd, hole, more); err != nil {
		return false
	}
	sess.ahead[f.Name()] = ahead{hole + more, more}
	return true
}

// isShort tells whether half of what was made for a log is used.
func (sess *session) isShort(f *os.File) bool {
	sess.aheadMu.Lock()
	defer sess.aheadMu.Unlock()
	return sess.ahead[f.Name()].short(f, false)
}

// short tells whether half of what was made is used, or all of it.
func (a ahead) short(f *os.File, all bool) bool {
	return a.made == 0 || !empty(f, a.to-pageSize) || !all && !empty(f, a.to-a.made/2)
}

// empty tells whether a page of a file is zeros. A log is filled from its beginning
// on, so what lies behind an empty page isn't used either; where the page is a part
// of somebody's zeros, the next sync is a slow one.
func empty(f *os.File, at int64) bool {
	var buf, zeros [pageSize]byte
	_, err := f.ReadAt(buf[:], at)
	return err == nil && buf == zeros
}

// populate has the system do what a write to each page of a hole does, but for the
// writing: whoever writes there at this moment loses nothing. A file that is cut
// off meanwhile, a full disk, and a kernel before 5.14 are errors.
func populate(fd int, at, n int64) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if page := int64(os.Getpagesize()); at%page != 0 || at+n > st.Size {
		return unix.EINVAL // the end of the log
	}
	m, err := unix.Mmap(fd, at, int(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	return errors.Join(unix.Madvise(m, unix.MADV_POPULATE_WRITE), unix.Munmap(m))
}
