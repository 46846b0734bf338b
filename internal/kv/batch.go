package kv

import (
	"context"
	"errors"
)

const (
	// flushValues is how many bytes of values a Batch collects: Badger keeps
	// what a transaction writes in memory, and 16 MB is where larger ones
	// stopped being faster.
	flushValues = 16 << 20
	// flushKeys and flushEntries are half of what a transaction may hold, so
	// that an estimate may be wrong.
	flushKeys    = maxUpdateKeys / 2
	flushEntries = 5000
	// entryCost is what Badger adds to a key in its accounts, generously.
	entryCost = 32
)

// Batch collects writes and makes Updates of them. Each write is atomic, and
// they are kept in order, but a Batch that fails has kept a part of them: it is
// for writes that may be repeated.
type Batch struct {
	store   *Store
	ctx     context.Context
	ops     []op
	values  int64
	keys    int64
	entries int
	done    bool
}

// Batch runs fn and keeps what it writes, flushing every 16 MB. It holds the
// store while it flushes, not while fn runs, so fn may use View, and other
// processes get their turn in between. fn doesn't see what is not flushed yet.
func (s *Store) Batch(ctx context.Context, fn func(*Batch) error) error {
	b := &Batch{store: s, ctx: ctx}
	defer func() { b.done = true }()
	if err := fn(b); err != nil {
		return err
	}
	return b.flush()
}

// BatchSync is Batch followed by Sync.
func (s *Store) BatchSync(ctx context.Context, fn func(*Batch) error) error {
	if err := s.Batch(ctx, fn); err != nil {
		return err
	}
	return s.Sync(ctx)
}

func (b *Batch) apply(o op) error {
	if b.done {
		return ErrTxDone
	}
	if len(o.content) > MaxValue {
		return tooBig("value", int64(len(o.content)), MaxValue, o.table.recordKey(o.primary))
	}
	if !o.remove { // the one copy that is made: the caller keeps its own, and it is written as it is
		o.sealed = seal(o.table.recordKey(o.primary), o.content)
		o.content = o.sealed[envelopeSize:]
	}
	values, keys, entries := o.cost()
	over := b.values+values > flushValues || b.keys+keys > flushKeys || b.entries+entries > flushEntries
	if over {
		if err := b.flush(); err != nil {
			return err
		}
	}
	b.ops = append(b.ops, o)
	b.values, b.keys, b.entries = b.values+values, b.keys+keys, b.entries+entries
	return nil
}

// cost estimates what an op takes of a transaction. Entries of the record that
// it replaces are counted as being as many as its own.
func (o op) cost() (values, keys int64, entries int) {
	values = int64(len(o.content))
	keys = int64(len(o.primary) + entryCost)
	if values <= valueThreshold {
		keys += values
	}
	entries = 1
	for _, list := range o.keys {
		for _, k := range list {
			keys += 2 * int64(len(k)+len(o.primary)+entryCost+64)
			entries += 2
		}
	}
	return values, keys, entries
}

func (b *Batch) flush() error {
	ops := b.ops
	b.ops, b.values, b.keys, b.entries = nil, 0, 0, 0
	return b.write(ops)
}

// write applies ops in one Update, or in two halves where that is too much.
func (b *Batch) write(ops []op) error {
	if len(ops) == 0 {
		return nil
	}
	err := b.store.Update(b.ctx, func(tx *Tx) error {
		for _, o := range ops {
			if err := tx.apply(o); err != nil {
				return err
			}
		}
		return nil
	})
	var big *TooBigError
	if len(ops) == 1 || !errors.As(err, &big) || big.What != "update" {
		return err
	}
	half := len(ops) / 2
	if err := b.write(ops[:half]); err != nil {
		return err
	}
	return b.write(ops[half:])
}
