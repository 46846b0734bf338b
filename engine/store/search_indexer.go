package store

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/search"
	"github.com/fettle-cli/fettle/internal/kv"
)

const (
	// indexPending is how many bytes of entries an indexer holds before it
	// writes them. A value of a common word is written again by each flush, so
	// a flush covers some hundred chats, and the bytes written stay
	// proportional to the text.
	indexPending = 24 << 20
	// wordCost, groupCost, placeCost and pairCost are about what a word, a
	// group of pairs, a place and a pair take in memory.
	wordCost, groupCost, placeCost, pairCost = 120, 80, 2, 4
	// WordsUpdate and pairsUpdate are how many values one transaction writes;
	// see the limits of kv.Store.Update. A value of pairs grows with chats.
	WordsUpdate = 3000
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

// indexer collects the entries that are to be added to the index, or removed
// from it.
type indexer struct {
	e      *Store
	remove bool
	words  map[wordAt][]uint16
	pairs  map[pairAt][]search.PairAt // in any order, and some of them twice
	size   int                        // bytes of both, about
}

func (s *Store) indexer() *indexer {
	return &indexer{e: s, words: map[wordAt][]uint16{}, pairs: map[pairAt][]search.PairAt{}}
}

// add collects the terms of a chat, and flushes when there are many.
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
	block, place := search.BlockOf(number)
	for word := range terms.Words {
		at := wordAt{word, block}
		places, known := x.words[at]
		if n := len(places); n > 0 && places[n-1] == uint16(place) {
			continue // an earlier message of the chat has the word
		}
		if !known {
			x.size += wordCost + len(word)
		}
		x.words[at] = append(places, uint16(place))
		x.size += placeCost
	}
	for pair := range terms.Pairs {
		block, entry := pair.At(number)
		at := pairAt{pair.Group(), block}
		entries, known := x.pairs[at]
		if !known {
			x.size += groupCost
		}
		x.pairs[at] = append(entries, entry)
		x.size += pairCost
	}
}

func (x *indexer) message(ctx context.Context, number int64, m *chat.Message) error {
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
	err := inParts(ctx, x.e.KV, words, WordsUpdate, x.applyWord)
	if err == nil {
		err = inParts(ctx, x.e.KV, pairs, pairsUpdate, x.applyPairs)
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
	table, key := x.e.Tables.Search.Words, wordKey(at.word, at.block)
	var had search.Bits
	err := table.Read(tx, key, func(val []byte) (err error) {
		had, err = search.DecodeBits(val)
		return err
	})
	if err != nil {
		if err := x.e.Tables.Search.mend(tx, err); err != nil {
			return err
		}
		had = search.Bits{}
	}
	is := had
	for _, place := range x.words[at] {
		if x.remove {
			is.Remove(int(place))
		} else {
			is.Add(int(place))
		}
	}
	if is == had {
		return nil
	}
	return putOrDelete(tx, table, key, is.Encode())
}

// applyPairs changes one value of pairs.
func (x *indexer) applyPairs(tx *kv.Tx, at pairAt) error {
	table, key := x.e.Tables.Search.Pairs, pairKey(at.group, at.block)
	var had []search.PairAt
	err := table.Read(tx, key, func(val []byte) (err error) {
		had, err = search.DecodePairs(val)
		return err
	})
	if err != nil {
		if err := x.e.Tables.Search.mend(tx, err); err != nil {
			return err
		}
		had = nil
	}
	change := x.pairs[at]
	slices.Sort(change)
	change = slices.Compact(change)
	var is []search.PairAt
	if x.remove {
		is = search.WithoutPairs(had, change)
	} else {
		is = search.JoinPairs(had, change)
	}
	if len(is) == len(had) {
		return nil
	}
	return putOrDelete(tx, table, key, search.EncodePairs(is))
}

func putOrDelete(tx *kv.Tx, table *kv.RawTable, key kv.Key, value []byte) error {
	if len(value) == 0 {
		return table.Delete(tx, key)
	}
	return table.Put(tx, key, value)
}
