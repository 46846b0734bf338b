package kv

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/y"
)

// valueLog is one of Badger's value logs in a closed store.
type valueLog struct {
	path string
	size int64
}

// lastLog is the log that was written to last: that with the highest number,
// which has six digits or more.
func (p plan) lastLog() (last valueLog) {
	for _, l := range p.logs {
		if cmp.Or(cmp.Compare(len(l.path), len(last.path)), cmp.Compare(l.path, last.path)) > 0 {
			last = l
		}
	}
	return last
}

// skipLastLog puts an empty value log behind a large last one. Badger reads the
// last log to its end when it opens for writing, 20 ms for 32 MB, to cut off what
// a crash has left half written; a session that closed in order has left nothing
// so, and damage would be cut off with all that follows it.
func (s *Store) skipLastLog(p plan) error {
	const worth = 256 << 10 // a file more takes as long as reading so much
	last := p.lastLog()
	if !p.clean || last.size < worth {
		return nil
	}
	var number uint32
	if _, err := fmt.Sscanf(filepath.Base(last.path), "%d.vlog", &number); err != nil || number == math.MaxUint32 {
		return nil // no name that Badger gives; it says so itself
	}
	header := make([]byte, logHeader) // no key, and what a key would be used with
	_, _ = rand.Read(header[8:])
	path := s.file(fmt.Sprintf("%06d.vlog", number+1))
	return s.fileFault(os.WriteFile(path, header, 0o644)) //nolint:gosec // as Badger's own
}

// logEntry is an entry of a log, without its value.
type logEntry struct {
	key     []byte
	version uint64
	size    int64 // of the value

	meta   byte   // Badger's own marks
	stored []byte // the key with its version behind it
	short  []byte // the value, up to shortValue bytes
	length int64  // of the entry
}

// shortValue is the size up to which a value is kept: it has a pointer to a value, and
// a version in digits.
const shortValue = 32

// The form of a value log, which Badger calls stable: a header of 20 bytes,
// then entries of meta, user meta, lengths of key and value, expiry, key with
// its version behind it, value, and a CRC-32C of all that.
const logHeader = 20

var errLog = errors.New("an entry of the value log can't be read")

// readLog lists the entries of a whole value log. It fails if anything in it,
// up to its last byte, is not an entry.
func readLog(path string) ([]logEntry, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if _, err := f.Seek(logHeader, io.SeekStart); err != nil {
		return nil, err
	}
	r := newLogReader(f, logBuffer)
	var entries []logEntry
	for {
		e, err := r.next()
		if errors.Is(err, io.EOF) {
			return entries, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		entries = append(entries, e)
	}
}

// logReader reads entries and sums what it reads.
type logReader struct {
	in    *bufio.Reader
	sum   hash.Hash32
	n     int64 // bytes of the entry that were read by now
	fault error // of the file, where reading it failed
}

// newLogReader reads f, size bytes of it at once.
func newLogReader(f io.Reader, size int64) *logReader {
	r := new(logReader)
	r.in = bufio.NewReaderSize(readerFunc(func(p []byte) (int, error) {
		n, err := f.Read(p)
		if err != nil && !errors.Is(err, io.EOF) {
			r.fault = err
		}
		return n, err
	}), int(min(size, logBuffer)))
	return r
}

// logBuffer is how much of a log is read at once.
const logBuffer = 64 << 10

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// next reads one entry; the error is io.EOF at the end only.
func (r *logReader) next() (logEntry, error) {
	if _, err := r.in.Peek(1); err != nil {
		return logEntry{}, err
	}
	r.sum, r.n = crc32.New(crc32.MakeTable(crc32.Castagnoli)), 0
	e, err := r.entry()
	if r.fault != nil {
		return logEntry{}, r.fault
	}
	if err != nil {
		return logEntry{}, fmt.Errorf("%w: %w", errLog, noEOF(err))
	}
	return e, nil
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (r *logReader) entry() (e logEntry, err error) {
	if e.meta, err = r.ReadByte(); err != nil {
		return e, err
	}
	if _, err := r.ReadByte(); err != nil { // user meta
		return e, err
	}
	var fields [3]uint64 // key length, value length, expiry
	for i := range fields {
		if fields[i], err = binary.ReadUvarint(r); err != nil {
			return e, err
		}
	}
	// The bounds of a version and of what Badger itself takes.
	if fields[0] < 8 || fields[0] > 1<<16 || fields[1] > logSize {
		return e, errLog
	}
	key := make([]byte, fields[0])
	if _, err := io.ReadFull(r, key); err != nil {
		return e, err
	}
	if err := r.value(&e, int64(fields[1])); err != nil {
		return e, err
	}
	var sum [crc32.Size]byte
	if _, err := io.ReadFull(r.in, sum[:]); err != nil {
		return e, err
	}
	if binary.BigEndian.Uint32(sum[:]) != r.sum.Sum32() {
		return e, errChecksum
	}
	e.stored, e.key, e.version = key, y.ParseKey(key), y.ParseTs(key)
	e.length = r.n + crc32.Size
	return e, nil
}

// value reads a value of n bytes, and keeps a short one.
func (r *logReader) value(e *logEntry, n int64) error {
	if e.size = n; n <= shortValue {
		e.short = make([]byte, n)
		_, err := io.ReadFull(r, e.short)
		return err
	}
	_, err := io.CopyN(io.Discard, r, n)
	return err
}

// Read reads and sums.
func (r *logReader) Read(p []byte) (int, error) {
	n, err := r.in.Read(p)
	_, _ = r.sum.Write(p[:n])
	r.n += int64(n)
	return n, err
}

// ReadByte reads and sums.
func (r *logReader) ReadByte() (byte, error) {
	b, err := r.in.ReadByte()
	if err == nil {
		_, _ = r.sum.Write([]byte{b})
		r.n++
	}
	return b, err
}

// alive gives the item of an entry that is still its key's newest, else nil.
func (e logEntry) alive(txn *badger.Txn) (*badger.Item, error) {
	item, err := txn.Get(e.key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil, nil
	}
	if err != nil || item.Version() != e.version {
		return nil, err
	}
	return item, nil
}

// putAgain writes the entry anew if it is alive.
func (e logEntry) putAgain(txn *badger.Txn) error {
	item, err := e.alive(txn)
	if err != nil || item == nil {
		return err
	}
	val, err := item.ValueCopy(nil)
	if err != nil {
		return err
	}
	again := badger.NewEntry(bytes.Clone(e.key), val)
	again.ExpiresAt = item.ExpiresAt()
	return txn.SetEntry(again)
}

// halfDead tells whether at least half of a log's bytes are no longer alive.
func halfDead(txn *badger.Txn, entries []logEntry) (bool, error) {
	var total, live int64
	for _, e := range entries {
		total += e.size
		item, err := e.alive(txn)
		if err != nil {
			return false, err
		}
		if item != nil {
			live += e.size
		}
	}
	return 2*live <= total, nil
}
