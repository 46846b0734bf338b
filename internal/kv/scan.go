package kv

import (
	"bytes"
	"errors"
	"iter"
	"slices"

	"github.com/dgraph-io/badger/v4"
)

// Range says which records of a table or an index are wanted, and in what
// order. The zero value is all of them, ascending.
//
// For an index the keys are index keys, without the components that were
// passed as its value.
type Range struct {
	Prefix   Key  // only keys that begin with these components
	From, To Key  // From <= key < To
	After    Key  // where an earlier page ended: what Page.Next gave, or a primary key
	Limit    int  // at most so many records; 0 means all
	Reverse  bool // from the end
}

// span is a range of stored keys.
type span struct {
	prefix  []byte // of the table or index
	low     []byte // inclusive
	high    []byte // exclusive; nil: to the end
	reverse bool
	limit   int  // how many are likely to be wanted; 0: all
	keys    bool // contents are not wanted
}

// within turns a Range into stored keys that begin with prefix.
func (r Range) within(prefix []byte) span {
	sp := span{prefix: prefix, reverse: r.Reverse, limit: r.Limit}
	sp.low = join(prefix, r.Prefix)
	sp.high = after(sp.low)
	if r.From != nil {
		sp.low = greater(sp.low, join(prefix, r.From))
	}
	if r.To != nil {
		sp.high = lesser(sp.high, join(prefix, r.To))
	}
	if r.After == nil {
		return sp
	}
	if at := join(prefix, r.After); r.Reverse {
		sp.high = lesser(sp.high, at)
	} else {
		sp.low = greater(sp.low, append(at, 0)) // the first key behind it
	}
	return sp
}

func greater(a, b []byte) []byte {
	if bytes.Compare(a, b) > 0 {
		return a
	}
	return b
}

func lesser(a, b []byte) []byte {
	if a != nil && bytes.Compare(a, b) < 0 {
		return a
	}
	return b
}

// hit is one stored entry of a span. rest is its key behind the span's prefix.
type hit struct {
	rest    []byte
	content []byte // nil where keys alone are wanted
}

// walk yields what read makes of the entries of a span. Badger has a value log
// locked while read runs, so read must neither keep the content nor do anything
// with the store; the loop's body may.
//
// In a View it reads as it goes. In an Update it collects the keys first,
// since Badger allows one iterator in a writing transaction, and since a loop
// that writes would meet its own work again; what the loop has removed by the
// time is left out.
func walk[V any](tx *Tx, sp span, read func(hit) (V, error)) iter.Seq2[V, error] {
	return func(yield func(V, error) bool) {
		if err := tx.usable(); err != nil {
			var none V
			yield(none, err)
			return
		}
		if sp.high != nil && bytes.Compare(sp.low, sp.high) >= 0 {
			return
		}
		if tx.write {
			walkCollected(tx, sp, read, yield)
		} else {
			walkStreamed(tx, sp, read, yield)
		}
	}
}

func walkStreamed[V any](tx *Tx, sp span, read func(hit) (V, error), yield func(V, error) bool) {
	for item, err := range tx.items(sp) {
		var got V
		if err == nil {
			key := item.KeyCopy(nil)
			h := hit{rest: key[len(sp.prefix):]}
			if sp.keys {
				got, err = read(h)
			} else {
				err = tx.open(item, key, func(v value) (err error) {
					h.content = v.content
					got, err = read(h)
					return err
				})
			}
		}
		if !yield(got, err) {
			return
		}
	}
}

func walkCollected[V any](tx *Tx, sp span, read func(hit) (V, error), yield func(V, error) bool) {
	for {
		keys, more, err := tx.collect(sp)
		if err != nil {
			var none V
			yield(none, err)
			return
		}
		for _, key := range keys {
			got, err := readKey(tx, sp, key, read)
			if errors.Is(err, ErrNotFound) {
				continue
			}
			if !yield(got, err) {
				return
			}
		}
		if !more {
			return
		}
		if last := keys[len(keys)-1]; sp.reverse {
			sp.high = last
		} else {
			sp.low = append(bytes.Clone(last), 0)
		}
	}
}

// readKey reads the entry under a collected key, if it is still there.
func readKey[V any](tx *Tx, sp span, key []byte, read func(hit) (V, error)) (got V, err error) {
	err = tx.get(key, func(v value) (err error) {
		h := hit{rest: key[len(sp.prefix):]}
		if !sp.keys {
			h.content = v.content
		}
		got, err = read(h)
		return err
	})
	return got, err
}

// collect gives the keys of a span, or so many as are likely to be wanted, and
// whether there are more.
func (tx *Tx) collect(sp span) (keys [][]byte, more bool, err error) {
	for item, err := range tx.items(sp) {
		if err != nil {
			return nil, false, err
		}
		if sp.limit > 0 && len(keys) == sp.limit {
			return keys, true, nil
		}
		keys = append(keys, item.KeyCopy(nil))
	}
	return keys, false, nil
}

// items iterates over a span. Its iterator is closed with the loop, and with
// the transaction if the loop was left hanging (iter.Pull).
func (tx *Tx) items(sp span) iter.Seq2[*badger.Item, error] {
	return func(yield func(*badger.Item, error) bool) {
		it := tx.txn.NewIterator(sp.options())
		tx.iterators = append(tx.iterators, it)
		defer tx.closeIterator(it)
		for move := sp.seek(it); ; move = it.Next {
			item, err := tx.step(sp, it, move)
			if item == nil && err == nil {
				return
			}
			if !yield(item, err) || err != nil {
				return
			}
		}
	}
}

// step moves the iterator and gives the item that it comes to, or nil at the
// end of the span.
func (tx *Tx) step(sp span, it *badger.Iterator, move func()) (*badger.Item, error) {
	for {
		if err := tx.usable(); err != nil {
			return nil, err
		}
		err := guard(func() error { move(); return nil })
		if err != nil {
			return nil, tx.store.fault("read", err)
		}
		if !it.Valid() {
			return nil, nil
		}
		key := it.Item().Key()
		switch beyond := sp.high != nil && bytes.Compare(key, sp.high) >= 0; {
		case sp.reverse && beyond: // the seek lands on the bound itself
			move = it.Next
		case beyond || bytes.Compare(key, sp.low) < 0:
			return nil, nil
		default:
			tx.store.work.steps.Add(1)
			return it.Item(), nil
		}
	}
}

func (tx *Tx) closeIterator(it *badger.Iterator) {
	if i := slices.Index(tx.iterators, it); i >= 0 {
		tx.iterators = slices.Delete(tx.iterators, i, i+1)
		it.Close()
	}
}

// options has no prefetching: small values are beside their keys, and large
// ones are mapped.
func (sp span) options() badger.IteratorOptions {
	o := badger.DefaultIteratorOptions
	o.PrefetchValues = false
	o.Reverse = sp.reverse
	if !sp.reverse {
		o.Prefix = sp.prefix // skips tables; in reverse it would end the seek early
	}
	return o
}

// seek is the move to where the span begins.
func (sp span) seek(it *badger.Iterator) func() {
	start := sp.low
	if sp.reverse {
		start = sp.high
	}
	if start == nil {
		return it.Rewind
	}
	return func() { it.Seek(start) }
}

// take passes on at most limit of seq's records; errors don't count.
func take[V any](limit int, seq iter.Seq2[V, error]) iter.Seq2[V, error] {
	if limit <= 0 {
		return seq
	}
	return func(yield func(V, error) bool) {
		n := 0
		for v, err := range seq {
			if !yield(v, err) {
				return
			}
			if err == nil {
				n++
			}
			if n == limit {
				return
			}
		}
	}
}
