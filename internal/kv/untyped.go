package kv

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/fettle-cli/fettle/internal/record"
)

// untyped is a [Table] whose records are pointers of a type that it doesn't know:
// all that a table does, compiled once.
type untyped struct {
	core
	fresh   func() any            // a pointer to a zero record
	keyers  []func(rec any) []Key // one an index
	upgrade func(from int, text []byte) ([]byte, error)
}

func newUntyped(name string, fresh func() any) *untyped {
	return &untyped{core: newCore(name), fresh: fresh}
}

// declare adds an index.
func (t *untyped) declare(name string, unique bool, keys func(rec any) []Key) {
	t.indexes = append(t.indexes, coreIndex{name: name, unique: unique, prefix: indexPrefix(t.name, name)})
	t.keyers = append(t.keyers, keys)
	t.keysOf = t.storedKeys
}

func (t *untyped) put(w Writer, primary Key, rec any, opts []PutOption) error {
	text, err := record.Marshal(rec)
	if err != nil {
		return fmt.Errorf("encode record of table %q: %w", t.name, err)
	}
	o := op{table: &t.core, primary: primary, keys: t.keys(rec)}
	o.content = append(binary.AppendUvarint(nil, uint64(t.version)), text...)
	for _, opt := range opts {
		opt(&o)
	}
	return w.apply(o)
}

func (t *untyped) delete(w Writer, key Key) error {
	return w.apply(op{table: &t.core, primary: key, remove: true})
}

func (t *untyped) get(tx *Tx, key Key) (any, error) {
	if _, err := t.readable(tx); err != nil {
		return nil, err
	}
	return t.load(tx, key)
}

// load is get for a table that is known to be readable.
func (t *untyped) load(tx *Tx, key Key) (rec any, err error) {
	stored := t.recordKey(key)
	err = tx.get(stored, func(v value) error {
		rec, err = t.decode(tx, stored, v.content)
		return err
	})
	return rec, err
}

func (t *untyped) has(tx *Tx, key Key) (bool, error) {
	if _, err := t.readable(tx); err != nil {
		return false, err
	}
	return tx.has(t.recordKey(key))
}

var errNewer = errors.New("a newer version")

// decode reads a stored record.
func (t *untyped) decode(tx *Tx, stored, content []byte) (any, error) {
	rec, version, err := t.parse(content)
	if errors.Is(err, errNewer) {
		return nil, &VersionError{Dir: tx.store.dir, Table: t.name, Have: version, Want: t.version}
	}
	if err != nil {
		return nil, &CorruptError{Dir: tx.store.dir, File: describe(stored), Err: err}
	}
	return rec, nil
}

func (t *untyped) parse(content []byte) (rec any, version int, err error) {
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
	rec = t.fresh()
	return rec, version, json.Unmarshal(text, rec)
}

// keys computes a record's index keys.
func (t *untyped) keys(rec any) [][]Key {
	out := make([][]Key, len(t.keyers))
	for i, keys := range t.keyers {
		for _, k := range keys(rec) {
			if !contains(out[i], k) {
				out[i] = append(out[i], k)
			}
		}
	}
	return out
}

// storedKeys computes the index keys of a stored record.
func (t *untyped) storedKeys(content []byte) ([][]Key, error) {
	rec, _, err := t.parse(content)
	if err != nil {
		return nil, err
	}
	return t.keys(rec), nil
}

// row is a record with the place in its table or index where it was found.
type row struct {
	rec any // nil with an error
	at  Key
}

// records walks the table itself. Within the methods of Table it would be compiled for
// each type of record after all, and so would indexed and keysIn.
//
//go:noinline
func (t *untyped) records(tx *Tx, r Range) iter.Seq2[row, error] {
	return take(r.Limit, func(yield func(row, error) bool) {
		if _, err := t.readable(tx); err != nil {
			yield(row{}, err)
			return
		}
		prefix := recordPrefix(t.name)
		read := func(h hit) (row, error) {
			rec, err := t.decode(tx, join(prefix, h.rest), h.content)
			return row{rec: rec, at: h.rest}, err
		}
		walk(tx, r.within(prefix), read)(yield)
	})
}

// place is an index entry, taken apart.
type place struct {
	index   string
	at      Key // its key behind the value that was asked for
	key     Key // the index key
	primary Key
}

// places walks an index without the records that it leads to.
//
//go:noinline
func (t *untyped) places(tx *Tx, index string, val Key, r Range) iter.Seq2[place, error] {
	return func(yield func(place, error) bool) {
		x, err := t.covered(tx, index)
		if err != nil {
			yield(place{}, err)
			return
		}
		read := func(h hit) (place, error) {
			key, primary, err := x.split(join(val, h.rest), h.content)
			if err != nil {
				err = &CorruptError{Dir: tx.store.dir, File: describe(x.prefix), Err: err}
			}
			return place{index: x.name, at: h.rest, key: key, primary: primary}, err
		}
		walk(tx, r.within(join(x.prefix, val)), read)(yield)
	}
}

// indexed walks an index and loads what it leads to. An entry whose record is
// gone, or has another key by now, is skipped: it expired in this second, or
// the record was damaged and replaced.
//
//go:noinline
func (t *untyped) indexed(tx *Tx, index string, val Key, r Range) iter.Seq2[row, error] {
	return take(r.Limit, func(yield func(row, error) bool) {
		for p, err := range t.places(tx, index, val, r) {
			found := row{at: p.at}
			if err == nil {
				found.rec, err = t.follow(tx, p)
			}
			if errors.Is(err, ErrNotFound) {
				continue
			}
			if !yield(found, err) {
				return
			}
		}
	})
}

// follow loads the record that an index entry leads to.
func (t *untyped) follow(tx *Tx, p place) (any, error) {
	rec, err := t.load(tx, p.primary)
	if err != nil {
		return nil, err
	}
	for i, keys := range t.keyers {
		if t.indexes[i].name == p.index && !contains(keys(rec), p.key) {
			return nil, ErrNotFound
		}
	}
	return rec, nil
}

// find gives the first record that an index has under a value.
func (t *untyped) find(tx *Tx, index string, val Key) (any, error) {
	for found, err := range t.indexed(tx, index, val, Range{Limit: 1}) {
		return found.rec, err
	}
	return nil, ErrNotFound
}

func (t *untyped) scanPage(tx *Tx, r Range) (recs []any, next Key, err error) {
	return page(r, func(r Range) iter.Seq2[row, error] { return t.records(tx, r) })
}

func (t *untyped) indexPage(tx *Tx, index string, val Key, r Range) (recs []any, next Key, err error) {
	return page(r, func(r Range) iter.Seq2[row, error] { return t.indexed(tx, index, val, r) })
}

// page reads one record more than asked for, to know whether there is more.
func page(r Range, rows func(Range) iter.Seq2[row, error]) (recs []any, next Key, err error) {
	var last Key
	limit := r.Limit
	if limit > 0 {
		r.Limit++
	}
	for found, err := range rows(r) {
		if err != nil {
			return nil, nil, err
		}
		if limit > 0 && len(recs) == limit {
			return recs, last, nil
		}
		recs, last = append(recs, found.rec), found.at
	}
	return recs, nil, nil
}
