package engine

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/fettle-cli/fettle/engine/search"
	"github.com/fettle-cli/fettle/internal/kv"
)

const (
	// indexPending is how many entries are gathered before they are written:
	// turns share words, so that together they write less.
	indexPending = 16 << 10
	// wordsUpdate and pairsUpdate are how many values one transaction writes;
	// see the limits of kv.Store.Update. A value of pairs grows with chats.
	wordsUpdate = 3000
	pairsUpdate = 800
)

// A wordAt and a pairAt are the places of one value of the index.
type (
	wordAt struct {
		word  string
		block int64
	}
	pairAt struct{ group, block int64 }
)

// indexer gathers what is to be added to the index, or taken out of it.
type indexer struct {
	e      *Engine
	remove bool
	words  map[wordAt]search.Bits
	pairs  map[pairAt]map[search.PairAt]struct{}
	size   int // of both
}

func (e *Engine) indexer() *indexer {
	return &indexer{e: e, words: map[wordAt]search.Bits{}, pairs: map[pairAt]map[search.PairAt]struct{}{}}
}

// add gathers the terms of a chat, and writes when there is much.
func (x *indexer) add(ctx context.Context, number int64, terms search.Terms) error {
	x.gather(number, terms)
	if x.size < indexPending {
		return nil
	}
	return x.flush(ctx)
}

func (x *indexer) gather(number int64, terms search.Terms) {
	if number < 0 {
		return // no counter gives such a number
	}
	x.size += len(terms.Words) + len(terms.Pairs)
	block, place := search.BlockOf(number)
	for word := range terms.Words {
		at := wordAt{word, block}
		bits := x.words[at]
		bits.Add(place)
		x.words[at] = bits
	}
	for pair := range terms.Pairs {
		block, entry := pair.At(number)
		at := pairAt{pair.Group(), block}
		if x.pairs[at] == nil {
			x.pairs[at] = map[search.PairAt]struct{}{}
		}
		x.pairs[at][entry] = struct{}{}
	}
}

func (x *indexer) message(ctx context.Context, number int64, m *Message) error {
	terms := search.NewTerms()
	for _, p := range passages(m) {
		terms.Add(search.Body, p.text)
	}
	if m.Model != "" {
		terms.Words[modelTerm(m.Model)] = struct{}{}
	}
	return x.add(ctx, number, terms)
}

// flush writes what was gathered, in as many transactions as it takes. Any
// part of it may be written twice.
func (x *indexer) flush(ctx context.Context) error {
	words := slices.SortedFunc(maps.Keys(x.words), func(a, b wordAt) int {
		return cmp.Or(cmp.Compare(a.word, b.word), cmp.Compare(a.block, b.block))
	})
	pairs := slices.SortedFunc(maps.Keys(x.pairs), func(a, b pairAt) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.block, b.block))
	})
	err := inParts(ctx, x.e.store, words, wordsUpdate, x.applyWord)
	if err == nil {
		err = inParts(ctx, x.e.store, pairs, pairsUpdate, x.applyPairs)
	}
	x.reset()
	return err
}

func inParts[K any](ctx context.Context, s *kv.Store, keys []K, n int, apply func(*kv.Tx, K) error) error {
	for part := range slices.Chunk(keys, n) {
		err := s.Update(ctx, func(tx *kv.Tx) error {
			for _, key := range part {
				if err := apply(tx, key); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (x *indexer) reset() {
	clear(x.words)
	clear(x.pairs)
	x.size = 0
}

// within applies a small change in a transaction that is under way.
func (x *indexer) within(tx *kv.Tx) error {
	defer x.reset()
	for at := range x.words {
		if err := x.applyWord(tx, at); err != nil {
			return err
		}
	}
	for at := range x.pairs {
		if err := x.applyPairs(tx, at); err != nil {
			return err
		}
	}
	return nil
}

// applyWord changes one value. One that is so already isn't written, which is
// what most words of a chat's later turns are.
func (x *indexer) applyWord(tx *kv.Tx, at wordAt) error {
	table, key := x.e.tables.search.words, wordKey(at.word, at.block)
	var had search.Bits
	err := table.Read(tx, key, func(val []byte) (err error) {
		had, err = search.DecodeBits(val)
		return err
	})
	if err != nil && !errors.Is(err, kv.ErrNotFound) {
		return err
	}
	is, change := had, x.words[at]
	for i := range is {
		if x.remove {
			is[i] &^= change[i]
		} else {
			is[i] |= change[i]
		}
	}
	if is == had {
		return nil
	}
	return putOrDelete(tx, table, key, is.Encode())
}

// applyPairs changes one value of pairs.
func (x *indexer) applyPairs(tx *kv.Tx, at pairAt) error {
	table, key := x.e.tables.search.pairs, pairKey(at.group, at.block)
	set := map[search.PairAt]struct{}{}
	err := table.Read(tx, key, func(val []byte) (err error) {
		set, err = search.DecodePairs(val)
		return err
	})
	if err != nil && !errors.Is(err, kv.ErrNotFound) {
		return err
	}
	had := len(set)
	for entry := range x.pairs[at] {
		if x.remove {
			delete(set, entry)
		} else {
			set[entry] = struct{}{}
		}
	}
	if len(set) == had {
		return nil
	}
	return putOrDelete(tx, table, key, search.EncodePairs(set))
}

func putOrDelete(tx *kv.Tx, table *kv.RawTable, key kv.Key, value []byte) error {
	if len(value) == 0 {
		return table.Delete(tx, key)
	}
	return table.Put(tx, key, value)
}
