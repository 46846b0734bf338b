package kv

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"time"

	"github.com/dgraph-io/badger/v4"
)

const (
	// MaxValue is the largest value of a record. Values are whole in memory
	// when they are written and read; what is larger belongs in a file.
	MaxValue = 16 << 20
	// maxKey bounds a stored key. Badger takes 65,000 bytes; a key of ours
	// that long is a text where an id was meant.
	maxKey = 16 << 10
	// maxUpdateValues bounds what one Update keeps in memory until it commits.
	maxUpdateValues = 64 << 20
	// maxUpdateKeys is what Badger gives one transaction for keys and small
	// values: 15 % of the memtable.
	maxUpdateKeys = memTableSize * 15 / 100
)

// Tx is a transaction: a view of the store at one moment, with what this
// transaction itself has written. It belongs to the goroutine and the function
// that it was given to, and ends with that function.
type Tx struct {
	store *Store
	sess  *session
	ctx   context.Context
	txn   *badger.Txn
	write bool
	done  bool

	values    int64                // bytes of values written so far
	size      updateSize           // what it takes at most
	dirty     bool                 // something was written
	broken    error                // a write that failed half-way
	stamped   bool                 // this transaction has written the session's stamp
	iterators []*badger.Iterator   // those that are still open; only in a View
	marked    map[string]tableMeta // tables that this transaction has marked
}

// Generation tells whether another process may have written since the caller
// last looked: it changes with each reopening of the store that found another
// one's writes. Writes of this process don't change it.
func (tx *Tx) Generation() uint64 { return tx.sess.generation }

// end makes tx and everything got from it unusable.
func (tx *Tx) end() {
	tx.done = true
	for _, it := range tx.iterators {
		it.Close()
	}
	tx.iterators = nil
	tx.txn.Discard()
}

// usable tells why nothing may be done with tx, if that is so.
func (tx *Tx) usable() error {
	if tx.done {
		return ErrTxDone
	}
	return tx.ctx.Err()
}

// value is what is stored under a key.
type value struct {
	content []byte // only until the function that it was passed to returns
	expires uint64 // in seconds of Unix time, 0 for never
}

// get passes what is stored under a key to use.
func (tx *Tx) get(key []byte, use func(value) error) error {
	if err := tx.usable(); err != nil {
		return err
	}
	item, err := tx.find(key)
	if err != nil {
		return tx.store.fault("read", err)
	}
	return tx.open(item, key, use)
}

// getJSON decodes what is stored under a key of the store's own.
func (tx *Tx) getJSON(key []byte, into any) error {
	return tx.get(key, func(v value) error {
		if err := json.Unmarshal(v.content, into); err != nil {
			return &CorruptError{Dir: tx.store.dir, File: describe(key), Err: err}
		}
		return nil
	})
}

// find looks a key up.
func (tx *Tx) find(key []byte) (item *badger.Item, err error) {
	tx.store.work.gets.Add(1)
	err = guard(func() error {
		item, err = tx.txn.Get(key)
		return err
	})
	return item, err
}

// open checks an item's envelope and passes what is in it to use.
func (tx *Tx) open(item *badger.Item, key []byte, use func(value) error) error {
	var inner error
	err := guardMapped(func() error {
		return item.Value(func(val []byte) error {
			content, err := unseal(key, val)
			if err != nil {
				return &CorruptError{Dir: tx.store.dir, File: describe(key), Err: err}
			}
			inner = use(value{content: content, expires: item.ExpiresAt()})
			return nil
		})
	})
	if errors.Is(err, errMapped) {
		tx.sess.faulty.Store(true)
		return tx.store.fault("read", err)
	}
	if err != nil {
		var corrupt *CorruptError
		if errors.As(err, &corrupt) {
			return corrupt
		}
		// The pointer leads nowhere: a value log is missing or cut short.
		return &CorruptError{Dir: tx.store.dir, File: describe(key), Err: err}
	}
	return inner
}

func (tx *Tx) has(key []byte) (bool, error) {
	if err := tx.usable(); err != nil {
		return false, err
	}
	_, err := tx.find(key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return false, nil
	}
	return err == nil, tx.store.fault("read", err)
}

// set writes one entry. content is sealed into a new slice, so the caller's
// stays its own; key must not be changed afterwards. expires is in seconds of
// Unix time, 0 for never.
func (tx *Tx) set(key, content []byte, expires uint64) error {
	if len(content) > MaxValue {
		return tooBig("value", int64(len(content)), MaxValue, key)
	}
	return tx.setSealed(key, seal(key, content), expires)
}

// setSealed is set of a value that [seal] gave for this key, which must not be changed
// afterwards either.
func (tx *Tx) setSealed(key, sealed []byte, expires uint64) error {
	if err := tx.writable(key); err != nil {
		return err
	}
	content := sealed[envelopeSize:]
	if tx.values += int64(len(content)); tx.values > maxUpdateValues {
		return tooBig("update", tx.values, maxUpdateValues, key)
	}
	if err := tx.stamp(); err != nil {
		return err
	}
	tx.size.add(len(key), len(sealed))
	tx.store.work.wrote(len(key) + len(sealed))
	e := badger.NewEntry(key, sealed)
	e.ExpiresAt = expires
	return tx.writeFault(key, tx.txn.SetEntry(e))
}

// writeFault is [Store.fault] of a write, with the name of the record if the update
// became too big with it.
func (tx *Tx) writeFault(key []byte, err error) error {
	if errors.Is(err, badger.ErrTxnTooBig) {
		return tooBig("update", 0, maxUpdateKeys, key)
	}
	return tx.store.fault("write", err)
}

func (tx *Tx) delete(key []byte) error {
	if err := tx.writable(key); err != nil {
		return err
	}
	if err := tx.stamp(); err != nil {
		return err
	}
	tx.size.add(len(key), 0)
	tx.store.work.wrote(len(key))
	return tx.writeFault(key, tx.txn.Delete(key))
}

func (tx *Tx) writable(key []byte) error {
	if err := tx.usable(); err != nil {
		return err
	}
	if !tx.write {
		return ErrReadOnly
	}
	if len(key) > maxKey {
		return tooBig("key", int64(len(key)), maxKey, key)
	}
	return nil
}

// A stored value is an envelope: 0x01, the CRC-32C of key and content, the
// content. Badger checks a table's blocks when it is asked to, but a block
// that fails then counts as "no such key"; so it isn't asked, and a value that
// was damaged is known by this sum.
const (
	envelope     = 0x01
	envelopeSize = 1 + crc32.Size
)

func seal(key, content []byte) []byte {
	out := make([]byte, envelopeSize, envelopeSize+len(content))
	out[0] = envelope
	binary.BigEndian.PutUint32(out[1:], checksum(key, content))
	return append(out, content...)
}

var (
	errEnvelope = errors.New("not a record of this program")
	errChecksum = errors.New("its checksum differs")
)

func unseal(key, val []byte) ([]byte, error) {
	if len(val) < envelopeSize || val[0] != envelope {
		return nil, errEnvelope
	}
	content := val[envelopeSize:]
	if binary.BigEndian.Uint32(val[1:]) != checksum(key, content) {
		return nil, errChecksum
	}
	return content, nil
}

func checksum(key, content []byte) uint32 {
	castagnoli := crc32.MakeTable(crc32.Castagnoli) // the standard library keeps this one
	return crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, content)
}

// expiry turns a time to live into the second in which a record is gone,
// rounded up so that it never lives shorter than asked.
func expiry(now time.Time, ttl time.Duration) uint64 {
	if ttl <= 0 {
		return 0
	}
	end := now.Add(ttl)
	seconds := end.Unix()
	if end.Nanosecond() > 0 && seconds < math.MaxInt64 {
		seconds++
	}
	return uint64(max(seconds, 1))
}

// commit keeps what was written.
func (tx *Tx) commit() error {
	if err := tx.ctx.Err(); err != nil {
		return err
	}
	if tx.broken != nil {
		return fmt.Errorf("a write of this Update has failed: %w", tx.broken)
	}
	if !tx.dirty {
		return nil
	}
	if err := tx.store.roomToWrite(tx.values); err != nil {
		return err
	}
	if err := tx.sess.commit(tx.txn, tx.size); err != nil {
		return tx.store.fault("write", err)
	}
	if tx.stamped {
		tx.sess.stamped = true
		tx.store.wrote(tx.sess.next)
	}
	tx.sess.learn(tx.marked)
	return nil
}
