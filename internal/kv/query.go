package kv

import (
	"context"
	"errors"
	"fmt"
	"iter"
)

// Page is a part of a list.
type Page[T any] struct {
	Records []*T
	Next    Key // for Range.After of the next page; nil where there is none
}

// Scan yields the records of a range in the order of their primary keys. After
// an error about one record it may go on; any other ends it. In an Update it
// collects the keys before it yields, Limit of them or all, so the loop may
// write; it doesn't meet what it adds, nor what it has removed.
func (t *Table[T]) Scan(tx *Tx, r Range) iter.Seq2[*T, error] {
	return typedSeq[T](t.table.records(tx, r))
}

// ByIndex yields the records that an index has under a value, in the order of
// the index and then of their primary keys. The value may be the beginning of
// the index key's tuple, or nil for all; r selects among what follows it. A
// record with several keys in the index appears once for each.
func (t *Table[T]) ByIndex(tx *Tx, index string, val Key, r Range) iter.Seq2[*T, error] {
	return typedSeq[T](t.table.indexed(tx, index, val, r))
}

// FromPrimary is the [Range.From] of [Table.ByIndex] for the records under a whole
// value whose primary key is that one or a later one.
func FromPrimary(primary Key) Key { return join([]byte{nameEnd}, primary) }

// Find gives the first record that an index has under a value, or ErrNotFound.
func (t *Table[T]) Find(tx *Tx, index string, val Key) (*T, error) {
	return typed[T](t.table.find(tx, index, val))
}

// ScanPage is Scan for a list that is shown in parts.
func (t *Table[T]) ScanPage(tx *Tx, r Range) (Page[T], error) {
	return typedPage[T](t.table.scanPage(tx, r))
}

// IndexPage is ByIndex for a list that is shown in parts.
func (t *Table[T]) IndexPage(tx *Tx, index string, val Key, r Range) (Page[T], error) {
	return typedPage[T](t.table.indexPage(tx, index, val, r))
}

// Count tells how many records a range has, without reading them.
func (t *Table[T]) Count(tx *Tx, r Range) (int, error) { return t.table.count(tx, r) }

func (c *core) count(tx *Tx, r Range) (int, error) {
	n := 0
	for _, err := range c.keysIn(tx, r) {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// Keys yields the primary keys of a range without reading the records.
func (t *Table[T]) Keys(tx *Tx, r Range) iter.Seq2[Key, error] { return t.table.keysIn(tx, r) }

// IndexKeys yields the primary keys that an index has under a value, without reading the
// records: a record that is damaged is among them, and so may be one that has another
// value by now.
func (t *Table[T]) IndexKeys(tx *Tx, index string, val Key, r Range) iter.Seq2[Key, error] {
	return func(yield func(Key, error) bool) {
		for p, err := range t.table.places(tx, index, val, r) {
			if !yield(p.primary, err) {
				return
			}
		}
	}
}

//go:noinline
func (c *core) keysIn(tx *Tx, r Range) iter.Seq2[Key, error] {
	return take(r.Limit, func(yield func(Key, error) bool) {
		if _, err := c.readable(tx); err != nil {
			yield(nil, err)
			return
		}
		sp := r.within(recordPrefix(c.name))
		sp.keys = true
		walk(tx, sp, func(h hit) (Key, error) { return h.rest, nil })(yield)
	})
}

// reindexBatch is how many records Reindex does in one transaction: few enough
// for its limits with a handful of index entries each, and for a short hold.
const reindexBatch = 500

// Reindex builds the table's indexes anew from its records, in steps between
// which other processes may have the store. It may be run again, and must be
// when an IndexError asks for it.
func (t *Table[T]) Reindex(ctx context.Context, s *Store) error { return t.table.rebuild(ctx, s) }

// rebuild is Reindex.
func (c *core) rebuild(ctx context.Context, s *Store) error {
	if err := s.Update(ctx, c.unmark); err != nil {
		return fmt.Errorf("reindex table %q: %w", c.name, err)
	}
	for done := false; !done; {
		err := s.Update(ctx, func(tx *Tx) (err error) {
			done, err = c.dropEntries(tx)
			return err
		})
		if err != nil {
			return fmt.Errorf("reindex table %q: %w", c.name, err)
		}
	}
	for last := Key(nil); ; {
		err := s.Update(ctx, func(tx *Tx) (err error) {
			last, err = c.reput(tx, last)
			return err
		})
		if err != nil {
			return fmt.Errorf("reindex table %q: %w", c.name, err)
		}
		if last == nil {
			return nil
		}
	}
}

// unmark notes that no index is whole.
func (c *core) unmark(tx *Tx) error {
	m, err := c.readable(tx)
	if err != nil || m.Version == 0 {
		return err
	}
	return tx.mark(c.name, tableMeta{Version: c.version})
}

// dropEntries removes a batch of the table's index entries, those of indexes
// that are no longer declared too.
func (c *core) dropEntries(tx *Tx) (done bool, err error) {
	sp := Range{Limit: 4 * reindexBatch}.within(indexPrefix(c.name, ""))
	keys, more, err := tx.collect(sp)
	if err != nil {
		return false, err
	}
	for _, key := range keys {
		if err := tx.delete(key); err != nil {
			return false, err
		}
	}
	return !more, nil
}

// reput writes the index entries of a batch of records behind last, and marks
// the indexes as whole after the last batch. It gives the last key, or nil at
// the end.
func (c *core) reput(tx *Tx, last Key) (Key, error) {
	n := 0
	for primary, err := range c.keysIn(tx, Range{After: last, Limit: reindexBatch}) {
		if err == nil {
			err = c.reputOne(tx, primary)
		}
		if err != nil {
			return nil, err
		}
		n, last = n+1, primary
	}
	if n == reindexBatch {
		return last, nil
	}
	m, err := c.readable(tx)
	if err != nil || m.Version == 0 {
		return nil, err
	}
	return nil, tx.mark(c.name, tableMeta{Version: c.version, Indexes: c.indexNames()})
}

// reputOne writes the index entries of one record.
func (c *core) reputOne(tx *Tx, primary Key) error {
	if c.keysOf == nil {
		return nil
	}
	key := c.recordKey(primary)
	now := op{table: c, primary: primary}
	err := tx.get(key, func(v value) (err error) {
		now.expires = v.expires
		if now.keys, err = c.keysOf(v.content); err != nil {
			return &CorruptError{Dir: tx.store.dir, File: describe(key), Err: err}
		}
		return nil
	})
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := c.mustBeUnique(tx, now, stored{}); err != nil {
		return err
	}
	return c.reindex(tx, now, stored{})
}
