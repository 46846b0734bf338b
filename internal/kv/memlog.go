package kv

import (
	"encoding/binary"
	"errors"
	"io"
	"iter"
	"os"
	"strconv"
)

// The log of a memtable has the form of a value log. An Update is a run of entries with
// one version and the mark of a transaction, and one behind them that has the mark of
// its end and the version as its value, in digits. In the place of a value that is in a
// value log there is a pointer to it, which is marked, too.
const (
	bitValuePointer = 1 << 1
	bitTxn          = 1 << 6
	bitTxnEnd       = 1 << 7

	pointerSize = 12
)

// pointer is an entry of a memtable's log whose value is in a value log.
type pointer struct {
	begin int64  // of its Update, in the log
	key   []byte // with its version
	log   uint32 // the number of the value log
	at    int64  // of the entry there
	size  int64  // of that entry
}

// decode takes the place of a value from what stands in its stead: three numbers as the
// machine has them.
func (p *pointer) decode(raw []byte) bool {
	if len(raw) != pointerSize {
		return false
	}
	p.log = binary.NativeEndian.Uint32(raw)
	p.size = int64(binary.NativeEndian.Uint32(raw[4:]))
	p.at = int64(binary.NativeEndian.Uint32(raw[8:]))
	return true
}

// pointers yields what a memtable's log points to, as far as Badger reads it, and of an
// Update that breaks off there. The error is one of the file.
func pointers(f io.ReadSeeker) iter.Seq2[*pointer, error] {
	return func(yield func(*pointer, error) bool) {
		if _, err := f.Seek(logHeader, io.SeekStart); err != nil {
			yield(nil, err)
			return
		}
		w := memWalk{begin: logHeader}
		r := newLogReader(f, logBuffer)
		for at := int64(logHeader); ; {
			e, err := r.next()
			if r.fault != nil {
				yield(nil, r.fault)
				return
			}
			if err != nil || !w.take(&e, at) {
				return
			}
			at += e.length
			if e.meta&bitValuePointer == 0 {
				continue
			}
			p := &pointer{begin: w.begin, key: e.stored}
			if !p.decode(e.short) {
				p.size = 0 // leads nowhere
			}
			if !yield(p, nil) {
				return
			}
		}
	}
}

// memWalk follows the Updates of a log.
type memWalk struct {
	begin   int64  // of the Update that the last entry belongs to
	version uint64 // of the one that has begun, 0 between two
}

// take takes the entry at a place in, and tells whether it can follow there.
func (w *memWalk) take(e *logEntry, at int64) bool {
	switch {
	case e.meta&bitTxn != 0:
		if w.version == 0 {
			w.begin, w.version = at, e.version
		}
		return w.version == e.version
	case e.meta&bitTxnEnd != 0:
		version, err := strconv.ParseUint(string(e.short), 10, 64)
		if err != nil || version != w.version {
			return false
		}
		w.version = 0
		return true
	}
	w.begin = at
	return w.version == 0
}

// readEntry reads the entry of a value log that is at a place and has a size. One that
// isn't whole is an errLog.
func readEntry(f io.ReaderAt, at, size int64) (logEntry, error) {
	e, err := newLogReader(io.NewSectionReader(f, at, size), size).next()
	if errors.Is(err, io.EOF) {
		err = errLog
	}
	return e, err
}

// wholeUpTo gives where the first entry of a value log begins that can't be read.
func wholeUpTo(path string) (end int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	if _, err := f.Seek(logHeader, io.SeekStart); err != nil {
		return 0, err
	}
	r := newLogReader(f, logBuffer)
	for end = logHeader; ; {
		e, err := r.next()
		if r.fault != nil {
			return 0, r.fault
		}
		if err != nil {
			return end, nil
		}
		end += e.length
	}
}
