package kv

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/y"
)

// valueLog is one of Badger's value logs in a closed store.
type valueLog struct {
	path string
	size int64
}

// valueLogs lists a store's logs, smallest first.
func valueLogs(dir string, entries []fs.DirEntry) []valueLog {
	var logs []valueLog
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".vlog" {
			continue
		}
		if info, err := e.Info(); err == nil {
			logs = append(logs, valueLog{path: filepath.Join(dir, e.Name()), size: info.Size()})
		}
	}
	slices.SortFunc(logs, func(a, b valueLog) int { return int(a.size - b.size) })
	return logs
}

// logEntry is an entry of a value log, without its value.
type logEntry struct {
	key     []byte
	version uint64
	size    int64
}

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
	r := &logReader{in: bufio.NewReaderSize(f, 1<<16)}
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
	in  *bufio.Reader
	sum hash.Hash32
}

// next reads one entry; the error is io.EOF at the end only.
func (r *logReader) next() (logEntry, error) {
	if _, err := r.in.Peek(1); err != nil {
		return logEntry{}, err
	}
	r.sum = crc32.New(crc32.MakeTable(crc32.Castagnoli))
	e, err := r.entry()
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
	for range 2 { // meta, user meta
		if _, err := r.ReadByte(); err != nil {
			return e, err
		}
	}
	var fields [3]uint64 // key length, value length, expiry
	for i := range fields {
		if fields[i], err = binary.ReadUvarint(r); err != nil {
			return e, err
		}
	}
	// The bounds of a version and of what Badger itself takes.
	if fields[0] < 8 || fields[0] > 1<<16 || fields[1] > logSizeHold {
		return e, errLog
	}
	key := make([]byte, fields[0])
	if _, err := io.ReadFull(r, key); err != nil {
		return e, err
	}
	if _, err := io.CopyN(io.Discard, r, int64(fields[1])); err != nil {
		return e, err
	}
	var sum [crc32.Size]byte
	if _, err := io.ReadFull(r.in, sum[:]); err != nil {
		return e, err
	}
	if binary.BigEndian.Uint32(sum[:]) != r.sum.Sum32() {
		return e, errChecksum
	}
	return logEntry{key: y.ParseKey(key), version: y.ParseTs(key), size: int64(fields[1])}, nil
}

// Read reads and sums.
func (r *logReader) Read(p []byte) (int, error) {
	n, err := r.in.Read(p)
	_, _ = r.sum.Write(p[:n])
	return n, err
}

// ReadByte reads and sums.
func (r *logReader) ReadByte() (byte, error) {
	b, err := r.in.ReadByte()
	if err == nil {
		_, _ = r.sum.Write([]byte{b})
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
