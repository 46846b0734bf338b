package kv

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Index finds the records of a table by something else than their primary key.
// A function that changes needs a new name for its index, see [IndexError].
type Index[T any] struct {
	Name string
	// Keys gives the keys under which a record is found. With none it isn't
	// in the index. It depends on the record alone.
	Keys func(*T) []Key
	// Unique refuses a second record under the same key with a UniqueError.
	Unique bool
}

// On is an index with one key a record, or none where key gives nil.
func On[T any](name string, key func(*T) Key) Index[T] {
	return Index[T]{Name: name, Keys: func(rec *T) []Key {
		if k := key(rec); k != nil {
			return []Key{k}
		}
		return nil
	}}
}

// UniqueOn is a unique index with one key a record, or none where key gives
// nil.
func UniqueOn[T any](name string, key func(*T) Key) Index[T] {
	x := On(name, key)
	x.Unique = true
	return x
}

// Table is a table of JSON records. It holds no data and no store: it is a
// declaration, made once and used with any transaction, by any goroutine.
type Table[T any] struct {
	core
	key     func(*T) Key
	index   []Index[T]
	upgrade func(from int, text []byte) ([]byte, error)
}

// NewTable declares a table of version 1. The name is stored, so it never
// changes; it is of lower-case letters, digits, _ and -, and NewTable panics if
// it, or an index, is none.
func NewTable[T any](name string, key func(*T) Key, indexes ...Index[T]) *Table[T] {
	t := &Table[T]{core: newCore(name), key: key, index: indexes}
	if key == nil {
		panic(fmt.Sprintf("kv: table %q declares no key", name))
	}
	for _, x := range indexes {
		mustName("index", x.Name)
		if slices.Contains(t.indexNames(), x.Name) || x.Keys == nil {
			panic(fmt.Sprintf("kv: table %q declares index %q badly", name, x.Name))
		}
		t.indexes = append(t.indexes, coreIndex{
			name: x.Name, unique: x.Unique, prefix: indexPrefix(name, x.Name),
		})
	}
	if len(indexes) > 0 {
		t.keysOf = t.storedKeys
	}
	return t
}

// Versioned declares that the program writes this version of the records, from
// 1 up, and how the JSON of an older one becomes this one's; upgrade may be nil
// if all of them decode as they are. Records are upgraded when they are read,
// and stored so when they are next put. It is called once, with the
// declaration, and gives t.
func (t *Table[T]) Versioned(version int, upgrade func(from int, text []byte) ([]byte, error)) *Table[T] {
	t.version, t.upgrade = max(version, 1), upgrade
	return t
}

// PutOption changes how one record is put.
type PutOption func(*op)

// WithTTL lets the record and its index entries go after d, rounded up to
// whole seconds. A Put without it keeps the record for good.
func WithTTL(d time.Duration) PutOption {
	return func(o *op) { o.expires = expiry(time.Now(), d) }
}

// KeyOf is the primary key of a record.
func (t *Table[T]) KeyOf(rec *T) Key { return t.key(rec) }

// Put inserts a record or replaces the one with its key. The record is encoded
// at once and may be changed afterwards. A key of a unique index that another
// record has is a UniqueError, after which an Update may go on; after any other
// error it can't be kept. In a Batch errors come with the flush.
func (t *Table[T]) Put(w Writer, rec *T, opts ...PutOption) error {
	text, err := json.Marshal(rec)
	if err != nil {
		return fmt.Errorf("encode record of table %q: %w", t.name, err)
	}
	o := op{table: &t.core, primary: t.key(rec), keys: t.keys(rec), given: true}
	o.content = append(binary.AppendUvarint(nil, uint64(t.version)), text...)
	for _, opt := range opts {
		opt(&o)
	}
	return w.apply(o)
}

// Delete removes the record with this key. It is no error if there is none.
func (t *Table[T]) Delete(w Writer, key Key) error {
	return w.apply(op{table: &t.core, primary: key, remove: true})
}

// Get gives the record with this key, or ErrNotFound.
func (t *Table[T]) Get(tx *Tx, key Key) (*T, error) {
	if _, err := t.readable(tx); err != nil {
		return nil, err
	}
	return t.load(tx, key)
}

// load is Get for a table that is known to be readable.
func (t *Table[T]) load(tx *Tx, key Key) (rec *T, err error) {
	stored := t.recordKey(key)
	err = tx.get(stored, func(v value) error {
		rec, err = t.decode(tx, stored, v.content)
		return err
	})
	return rec, err
}

// Has tells whether there is a record with this key.
func (t *Table[T]) Has(tx *Tx, key Key) (bool, error) {
	if _, err := t.readable(tx); err != nil {
		return false, err
	}
	return tx.has(t.recordKey(key))
}

var errNewer = errors.New("a newer version")

// decode reads a stored record.
func (t *Table[T]) decode(tx *Tx, stored, content []byte) (*T, error) {
	rec, version, err := t.parse(content)
	if errors.Is(err, errNewer) {
		return nil, &VersionError{Dir: tx.store.dir, Table: t.name, Have: version, Want: t.version}
	}
	if err != nil {
		return nil, &CorruptError{Dir: tx.store.dir, File: describe(stored), Err: err}
	}
	return rec, nil
}

func (t *Table[T]) parse(content []byte) (rec *T, version int, err error) {
	n, used := binary.Uvarint(content)
	if used <= 0 || n == 0 || n > 1<<31-1 {
		return nil, 0, errEnvelope
	}
	version = int(n)
	text := content[used:]
	switch {
	case version > t.version:
		return nil, version, errNewer
	case version < t.version && t.upgrade != nil:
		if text, err = t.upgrade(version, text); err != nil {
			return nil, version, fmt.Errorf("upgrade from version %d: %w", version, err)
		}
	}
	rec = new(T)
	return rec, version, json.Unmarshal(text, rec)
}

// keys computes a record's index keys.
func (t *Table[T]) keys(rec *T) [][]Key {
	out := make([][]Key, len(t.index))
	for i, x := range t.index {
		for _, k := range x.Keys(rec) {
			if !contains(out[i], k) {
				out[i] = append(out[i], k)
			}
		}
	}
	return out
}

// storedKeys computes the index keys of a stored record.
func (t *Table[T]) storedKeys(content []byte) ([][]Key, error) {
	rec, _, err := t.parse(content)
	if err != nil {
		return nil, err
	}
	return t.keys(rec), nil
}
