package kv

import (
	"fmt"
	"iter"
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
	// table does the work, and the methods of Table give its records their type. The
	// compiler makes those anew for each type of record in each package that sees a
	// table, be it in a field of a field: what they hold is compiled hundreds of times.
	table *untyped
	key   func(*T) Key
}

// NewTable declares a table of version 1. The name is stored, so it never
// changes; it is of lower-case letters, digits, _ and -, and NewTable panics if
// it, or an index, is none.
func NewTable[T any](name string, key func(*T) Key, indexes ...Index[T]) *Table[T] {
	table := newUntyped(name, func() any { return new(T) })
	if key == nil {
		panic(fmt.Sprintf("kv: table %q declares no key", name))
	}
	for _, x := range indexes {
		mustName("index", x.Name)
		if slices.Contains(table.indexNames(), x.Name) || x.Keys == nil {
			panic(fmt.Sprintf("kv: table %q declares index %q badly", name, x.Name))
		}
		table.declare(x.Name, x.Unique, func(rec any) []Key { return x.Keys(rec.(*T)) })
	}
	return &Table[T]{table: table, key: key}
}

// Versioned declares that the program writes this version of the records, from
// 1 up, and how the JSON of an older one becomes this one's; upgrade may be nil
// if all of them decode as they are. Records are upgraded when they are read,
// and stored so when they are next put. It is called once, with the
// declaration, and gives t.
func (t *Table[T]) Versioned(version int, upgrade func(from int, text []byte) ([]byte, error)) *Table[T] {
	t.table.version, t.table.upgrade = max(version, 1), upgrade
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
	return t.table.put(w, t.key(rec), rec, opts)
}

// Delete removes the record with this key. It is no error if there is none.
func (t *Table[T]) Delete(w Writer, key Key) error { return t.table.delete(w, key) }

// Get gives the record with this key, or ErrNotFound.
func (t *Table[T]) Get(tx *Tx, key Key) (*T, error) { return typed[T](t.table.get(tx, key)) }

// Has tells whether there is a record with this key.
func (t *Table[T]) Has(tx *Tx, key Key) (bool, error) { return t.table.has(tx, key) }

// typed gives a record its type. There is none where there is an error.
func typed[T any](rec any, err error) (*T, error) {
	found, _ := rec.(*T)
	return found, err
}

// typedSeq is typed for each record of a sequence.
func typedSeq[T any](rows iter.Seq2[row, error]) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		rows(func(found row, err error) bool { return yield(typed[T](found.rec, err)) })
	}
}

// typedPage is typed for the records of a page.
func typedPage[T any](recs []any, next Key, err error) (Page[T], error) {
	p := Page[T]{Next: next}
	for _, rec := range recs {
		p.Records = append(p.Records, rec.(*T))
	}
	return p, err
}
