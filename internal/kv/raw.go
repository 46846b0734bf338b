package kv

import (
	"bytes"
	"iter"
)

// RawTable is a table of bytes as they are: event segments, blobs, trees. Like
// a [Table] it is a declaration.
type RawTable struct{ core }

// RawItem is one entry of a RawTable. Its slices are the receiver's own.
type RawItem struct {
	Key   Key
	Value []byte
}

// NewRawTable declares a table of version 1; for names see [NewTable].
func NewRawTable(name string) *RawTable { return &RawTable{core: newCore(name)} }

// Versioned declares the version of the bytes that the program writes. A
// program with a lower one refuses the table. It gives t.
func (t *RawTable) Versioned(version int) *RawTable {
	t.version = max(version, 1)
	return t
}

// Put inserts or replaces the value under key, up to MaxValue. value is copied.
func (t *RawTable) Put(w Writer, key Key, value []byte, opts ...PutOption) error {
	o := op{table: &t.core, primary: bytes.Clone(key), content: value}
	for _, opt := range opts {
		opt(&o)
	}
	return w.apply(o)
}

// Delete removes what is under key. It is no error if there is nothing.
func (t *RawTable) Delete(w Writer, key Key) error {
	return w.apply(op{table: &t.core, primary: bytes.Clone(key), remove: true})
}

// Get gives a copy of the value under key, or ErrNotFound.
func (t *RawTable) Get(tx *Tx, key Key) (out []byte, err error) {
	err = t.Read(tx, key, func(val []byte) error {
		out = bytes.Clone(val)
		return nil
	})
	return out, err
}

// Read passes the value under key to use without copying it. use must neither
// keep nor change it, nor do anything with the store.
func (t *RawTable) Read(tx *Tx, key Key, use func(val []byte) error) error {
	if _, err := t.readable(tx); err != nil {
		return err
	}
	return tx.get(t.recordKey(key), func(v value) error { return use(v.content) })
}

// Has tells whether there is something under key.
func (t *RawTable) Has(tx *Tx, key Key) (bool, error) {
	if _, err := t.readable(tx); err != nil {
		return false, err
	}
	return tx.has(t.recordKey(key))
}

// Scan yields the entries of a range; see [Table.Scan].
func (t *RawTable) Scan(tx *Tx, r Range) iter.Seq2[RawItem, error] {
	return take(r.Limit, func(yield func(RawItem, error) bool) {
		if _, err := t.readable(tx); err != nil {
			yield(RawItem{}, err)
			return
		}
		read := func(h hit) (RawItem, error) {
			return RawItem{Key: h.rest, Value: bytes.Clone(h.content)}, nil
		}
		walk(tx, r.within(recordPrefix(t.name)), read)(yield)
	})
}

// Keys yields the keys of a range without reading the values.
func (t *RawTable) Keys(tx *Tx, r Range) iter.Seq2[Key, error] { return t.keysIn(tx, r) }
