package kv

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/fettle-cli/fettle/internal/lockfile"
)

var (
	// ErrNotFound means that there is no such record.
	ErrNotFound = errors.New("no such record")
	// ErrClosed means that the Store has been closed.
	ErrClosed = errors.New("the store is closed")
	// ErrTxDone means that a transaction, or an iterator of one, was used
	// after its function had returned.
	ErrTxDone = errors.New("the transaction has ended")
	// ErrReadOnly means that a View tried to write.
	ErrReadOnly = errors.New("the transaction can't write")
)

// BusyError means that an operation couldn't get the store, see Options.Wait.
type BusyError struct {
	Dir    string
	PID    int // of the holder, this process's own included; 0 where it isn't known
	Waited time.Duration
}

func (e *BusyError) Error() string {
	who := "another process"
	if e.PID > 0 {
		who = lockfile.Process(e.PID)
	}
	return fmt.Sprintf("open store %s: held by %s, waited %s", e.Dir, who, e.Waited.Round(time.Millisecond))
}

// CorruptError means that something stored can't be what was written. File is
// the path of the damaged file, or names a record where only that is known to
// be damaged.
type CorruptError struct {
	Dir  string
	File string
	Err  error
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("read store %s: %s is damaged: %v", e.Dir, e.File, e.Err)
}

// OfRecord reports whether one record or one entry of an index is damaged, and not a
// file of the store.
func (e *CorruptError) OfRecord() bool {
	return strings.HasPrefix(e.File, "record ") || strings.HasPrefix(e.File, "index ")
}

// Unwrap gives what was found.
func (e *CorruptError) Unwrap() error { return e.Err }

// VersionError means that a newer program wrote what this one would misread.
// Table is empty where that is said of the whole store.
type VersionError struct {
	Dir        string
	Table      string
	Have, Want int // the version found, and the newest that this program knows
}

func (e *VersionError) Error() string {
	what := "the store"
	if e.Table != "" {
		what = fmt.Sprintf("table %q", e.Table)
	}
	return fmt.Sprintf("read store %s: %s has version %d, this program knows up to %d", e.Dir, what, e.Have, e.Want)
}

// FullError means that the disk has too little room for a write to be safe.
// Free and Need are bytes, and zero where the system said no more than "full".
type FullError struct {
	Dir        string
	Free, Need int64
	Err        error
}

func (e *FullError) Error() string {
	if e.Need == 0 {
		return fmt.Sprintf("write store %s: no space left on the disk", e.Dir)
	}
	return fmt.Sprintf("write store %s: %d MB free on the disk, %d MB needed", e.Dir, e.Free>>20, (e.Need+1<<20-1)>>20)
}

// Unwrap gives the system's error, if there was one.
func (e *FullError) Unwrap() error { return e.Err }

// DirError means that the store's folder can't be made, read or written, or
// that its database can't be opened for another reason.
type DirError struct {
	Dir string
	Err error
}

func (e *DirError) Error() string { return fmt.Sprintf("open store %s: %v", e.Dir, e.Err) }

// Unwrap gives the cause, such as [io/fs.ErrPermission].
func (e *DirError) Unwrap() error { return e.Err }

// TooBigError means that one value, one key or one Update is over its limit.
type TooBigError struct {
	What  string // "value", "key", "update"
	Size  int64  // 0 where only the excess is known
	Limit int64
	// Record names the record that is too big, or with which an update became too big.
	// It is empty if only the whole update is known.
	Record string
}

// tooBig makes the error of a record that is written under a key.
func tooBig(what string, size int64, limit int, key []byte) error {
	return &TooBigError{What: what, Size: size, Limit: int64(limit), Record: shorten(describe(key))}
}

// shorten cuts a record's name: a key that is too long is among its parts.
func shorten(name string) string {
	const most = 200
	if len(name) <= most {
		return name
	}
	return strings.ToValidUTF8(name[:most], "") + "…"
}

func (e *TooBigError) Error() string {
	text := fmt.Sprintf("%s of %d bytes, the limit is %d", e.What, e.Size, e.Limit)
	if e.Size == 0 {
		text = fmt.Sprintf("%s of more than %d bytes", e.What, e.Limit)
	}
	if e.Record != "" {
		text = e.Record + ": " + text
	}
	return "write store: " + text
}

// UniqueError means that another record holds this key of a unique index.
type UniqueError struct {
	Table, Index string
	Key          Key // the index key
	Holder       Key // the primary key of the record that has it
}

func (e *UniqueError) Error() string {
	return fmt.Sprintf("write table %q: index %q already has %s", e.Table, e.Index, e.Key)
}

// IndexError means that a table holds records which this index doesn't cover,
// since it was declared after they had been written. [Table.Reindex] mends it.
type IndexError struct {
	Table, Index string
}

func (e *IndexError) Error() string {
	return fmt.Sprintf("read table %q: index %q hasn't been built", e.Table, e.Index)
}

// tellsRefusal knows the messages with which Badger refuses what it reads.
func tellsRefusal(text string) bool {
	text = strings.ToLower(text)
	return strings.Contains(text, "checksum") || strings.Contains(text, "encryption key mismatch") ||
		strings.Contains(text, "manifest has bad magic")
}

// fault gives Badger's errors the types above. Badger wraps causes as text
// only, so some can be known by nothing but their words.
func (s *Store) fault(doing string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, badger.ErrKeyNotFound):
		return ErrNotFound
	case errors.Is(err, badger.ErrTxnTooBig):
		return &TooBigError{What: "update", Limit: maxUpdateKeys}
	case errors.Is(err, badger.ErrDiscardedTxn):
		return ErrTxDone
	case errors.Is(err, badger.ErrReadOnlyTxn):
		return ErrReadOnly
	case isFull(err):
		return &FullError{Dir: s.dir, Err: err}
	case errors.Is(err, errMapped):
		return s.mappedFault(err)
	case tellsRefusal(err.Error()):
		return &CorruptError{Dir: s.dir, File: fileIn(err, "a file"), Err: err}
	}
	return fmt.Errorf("%s store %s: %w", doing, s.dir, err)
}

// mappedFault types a fault over a mapped file: most often it is a full disk.
func (s *Store) mappedFault(err error) error {
	var full *FullError
	if errors.As(s.roomToOpen(0), &full) {
		full.Err = err
		return full
	}
	return &DirError{Dir: s.dir, Err: err}
}

// fileFault gives the types above to errors about the store's files and folder.
func (s *Store) fileFault(err error) error {
	switch {
	case err == nil:
		return nil
	case isFull(err):
		return &FullError{Dir: s.dir, Err: err}
	}
	return &DirError{Dir: s.dir, Err: err}
}

// isFull reports whether an error is "no space left" or a quota that is used up, of any
// system, also if it is only text.
func isFull(err error) bool {
	const windowsDiskFull = syscall.Errno(112)
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, windowsDiskFull) && windows ||
		strings.Contains(err.Error(), syscall.ENOSPC.Error()) || strings.Contains(err.Error(), syscall.EDQUOT.Error())
}
