package kv

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// core is the part of a table that doesn't depend on its type.
type core struct {
	name    string
	version int
	indexes []coreIndex
	// keysOf computes the index keys of a stored record: one list an index.
	// It is nil where the table has no indexes.
	keysOf func(content []byte) ([][]Key, error)
}

type coreIndex struct {
	name   string
	unique bool
	prefix []byte
}

// newCore makes a table's core. A name that can't be one is a mistake in the
// program, so it panics, as regexp.MustCompile does.
func newCore(name string) core {
	mustName("table", name)
	return core{name: name, version: 1}
}

// mustName accepts what is safe in keys and in messages.
func mustName(what, name string) {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789_-"
	if name == "" || len(name) > 64 || strings.Trim(name, letters) != "" {
		panic(fmt.Sprintf("kv: %q can't be the name of a %s", name, what))
	}
}

func (c *core) indexNames() []string {
	var names []string
	for _, x := range c.indexes {
		names = append(names, x.name)
	}
	return names
}

func (c *core) recordKey(primary Key) []byte { return join(recordPrefix(c.name), primary) }

// entry is the stored key and content of one index entry.
func (x *coreIndex) entry(value, primary Key) (key, content []byte) {
	if x.unique {
		return join(x.prefix, value), bytes.Clone(primary)
	}
	key = join(x.prefix, value, []byte{nameEnd}, primary)
	return key, binary.AppendUvarint(nil, uint64(len(primary)))
}

// split is the reverse of entry; rest is the key behind the index's prefix.
func (x *coreIndex) split(rest, content []byte) (value, primary Key, err error) {
	if x.unique {
		return bytes.Clone(rest), bytes.Clone(content), nil
	}
	n, used := binary.Uvarint(content)
	if used <= 0 || n >= uint64(len(rest)) {
		return nil, nil, errEnvelope
	}
	at := len(rest) - int(n)
	return bytes.Clone(rest[:at-1]), bytes.Clone(rest[at:]), nil
}

// op is one write to a table, complete: it can be applied later and again.
type op struct {
	table   *core
	primary Key
	remove  bool
	content []byte
	sealed  []byte  // with content at its end, once it waits in a Batch
	keys    [][]Key // one list an index
	expires uint64  // in seconds of Unix time, 0 for never
}

// Writer takes writes: a *Tx of an Update, or a *Batch.
type Writer interface {
	apply(o op) error
}

var (
	_ Writer = (*Tx)(nil)
	_ Writer = (*Batch)(nil)
)

func (tx *Tx) apply(o op) error {
	if !tx.write {
		return ErrReadOnly
	}
	if len(o.primary) == 0 {
		return fmt.Errorf("write table %q: a record without a key", o.table.name)
	}
	if err := o.table.prepare(tx); err != nil {
		return err
	}
	old, err := o.table.stored(tx, o.primary)
	if err != nil {
		return err
	}
	if err := o.table.mustBeUnique(tx, o, old); err != nil {
		return err
	}
	// From here on a failure leaves a part of the write in the transaction,
	// which must not be kept, whatever the function makes of the error.
	if err := o.write(tx, old); err != nil {
		tx.broken = err
		return err
	}
	return nil
}

func (o op) write(tx *Tx, old stored) error {
	if err := o.table.reindex(tx, o, old); err != nil {
		return err
	}
	key := o.table.recordKey(o.primary)
	if o.remove {
		return tx.delete(key)
	}
	if o.sealed != nil {
		return tx.setSealed(key, o.sealed, o.expires)
	}
	return tx.set(key, o.content, o.expires)
}

// stored is what the index entries of the record that is there now depend on.
type stored struct {
	keys    [][]Key
	expires bool
}

func (c *core) stored(tx *Tx, primary Key) (stored, error) {
	var old stored
	if c.keysOf == nil {
		return old, nil
	}
	var unknown error
	err := tx.get(c.recordKey(primary), func(v value) error {
		old.expires = v.expires > 0
		old.keys, unknown = c.keysOf(v.content)
		return nil
	})
	var corrupt *CorruptError
	if errors.Is(err, ErrNotFound) || errors.As(err, &corrupt) || (err == nil && unknown != nil) {
		// A damaged record can be replaced or removed. Entries that it leaves
		// lead to no record that has their key, and readers skip those.
		return stored{}, nil
	}
	return old, err
}

// reindex replaces the entries of the old record by those of the new one.
func (c *core) reindex(tx *Tx, o op, old stored) error {
	for i := range c.indexes {
		x := &c.indexes[i]
		var was, is []Key
		if old.keys != nil {
			was = old.keys[i]
		}
		if o.keys != nil {
			is = o.keys[i]
		}
		for _, k := range was {
			if contains(is, k) {
				continue
			}
			key, _ := x.entry(k, o.primary)
			if err := tx.delete(key); err != nil {
				return err
			}
		}
		for _, k := range is {
			kept := contains(was, k) && !old.expires && o.expires == 0
			if kept {
				continue
			}
			key, content := x.entry(k, o.primary)
			if err := tx.set(key, content, o.expires); err != nil {
				return err
			}
		}
	}
	return nil
}

// mustBeUnique refuses a record whose key in a unique index another has.
func (c *core) mustBeUnique(tx *Tx, o op, old stored) error {
	for i := range o.keys {
		if !c.indexes[i].unique {
			continue
		}
		for _, k := range o.keys[i] {
			if old.keys != nil && contains(old.keys[i], k) {
				continue
			}
			if err := c.mustBeFree(tx, &c.indexes[i], k, o.primary); err != nil {
				return err
			}
		}
	}
	return nil
}

// mustBeFree refuses an entry of a unique index that another record has. One
// that leads to a record which is gone, or has another key now, is free.
func (c *core) mustBeFree(tx *Tx, x *coreIndex, k, primary Key) error {
	key, _ := x.entry(k, primary)
	var holder Key
	err := tx.get(key, func(v value) error {
		holder = bytes.Clone(v.content)
		return nil
	})
	if errors.Is(err, ErrNotFound) || (err == nil && bytes.Equal(holder, primary)) {
		return nil
	}
	if err != nil {
		return err
	}
	theirs, err := c.stored(tx, holder)
	if err != nil {
		return err
	}
	for i := range c.indexes {
		if c.indexes[i].name == x.name && theirs.keys != nil && contains(theirs.keys[i], k) {
			return &UniqueError{Table: c.name, Index: x.name, Key: k, Holder: holder}
		}
	}
	return nil
}

func contains(keys []Key, k Key) bool {
	return slices.ContainsFunc(keys, func(other Key) bool { return bytes.Equal(other, k) })
}
