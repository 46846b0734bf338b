package engine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/search"
	"github.com/fettle-cli/fettle/internal/kv"
)

const (
	// searchedText is how much of a message is indexed: a long answer several
	// times over. It bounds what a turn adds to the index.
	searchedText = 64 << 10
	// indexPending is how many entries are gathered before they are written:
	// turns share words, so that together they write less.
	indexPending = 16 << 10
	// wordsUpdate and pairsUpdate are how many values one transaction writes;
	// see the limits of kv.Store.Update. A value of pairs grows with chats.
	wordsUpdate = 3000
	pairsUpdate = 800
	// rowsUpdate is how many chats' records one transaction indexes: a title
	// has a hundred terms, and a hostile one some five hundred.
	rowsUpdate = 8
)

// passage is a part of a message that is searched by itself.
type passage struct {
	kind provider.PartKind
	text string
}

// passages are what can be found of a message: what was said, the names and
// texts of files, and what tools were called with. What the model thought and
// what tools gave back is left out: they are long and nobody remembers them.
func passages(m *Message) []passage {
	var out []passage
	left := searchedText
	add := func(kind provider.PartKind, text string) {
		text = cutBytes(text, left)
		if text != "" {
			out, left = append(out, passage{kind, text}), left-len(text)
		}
	}
	for _, p := range m.Parts {
		if p.Kind == provider.TextPart {
			add(p.Kind, p.Text)
		}
	}
	for _, p := range m.Parts {
		switch {
		case p.Kind == provider.FilePart, p.Kind == provider.ImagePart:
			add(p.Kind, p.Name)
			add(p.Kind, p.Text)
		case p.Kind == provider.ToolCallPart && p.Call != nil:
			add(p.Kind, p.Call.Name+" "+argTexts(p.Call.Args, left))
		}
	}
	return out
}

// argTexts are the values of a call's arguments in their order.
func argTexts(args json.RawMessage, limit int) string {
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.UseNumber()
	var out []string
	for n := 0; n < limit; {
		t, err := dec.Token()
		if err != nil {
			break // the end, or no JSON: what came before counts
		}
		switch v := t.(type) {
		case string:
			out, n = append(out, v), n+len(v)
		case json.Number:
			out, n = append(out, v.String()), n+len(v)
		}
	}
	return strings.Join(out, " ")
}

// cutBytes shortens s to n bytes, between two characters.
func cutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}

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

// indexGroup brings the turns of a group into the index, after they were
// recorded and before their journals go: a crash in between leaves journals
// whose turns are recorded, and they come here again.
func (e *Engine) indexGroup(ctx context.Context, group []*folding) error {
	ids := make([]string, 0, len(group))
	for _, f := range group {
		ids = append(ids, f.accept.Chat.ID)
	}
	numbers, err := e.indexRows(ctx, ids)
	if err != nil {
		return err
	}
	x := e.indexer()
	for _, f := range group {
		number, ok := numbers[f.accept.Chat.ID]
		if !ok {
			continue // it was removed meanwhile
		}
		if f.recorded { // what it brought along is not known any more
			if err := e.indexAgain(ctx, x, f.accept.Chat.ID, number); err != nil {
				return err
			}
			continue
		}
		for _, m := range append(f.brought, f.accept.question(), f.answer) {
			if err := x.message(ctx, number, &m); err != nil {
				return err
			}
		}
	}
	return x.flush(ctx)
}

// indexRows brings titles, models and rows of chats into the index, and gives
// the numbers of those that are there.
func (e *Engine) indexRows(ctx context.Context, ids []string) (map[string]int64, error) {
	slices.Sort(ids)
	numbers := map[string]int64{}
	for some := range slices.Chunk(slices.Compact(ids), rowsUpdate) {
		err := e.store.Update(ctx, func(tx *kv.Tx) error {
			x := e.indexer()
			for _, id := range some {
				chat, err := e.tables.chats.Get(tx, kv.Str(id))
				if errors.Is(err, kv.ErrNotFound) {
					continue
				}
				if err != nil {
					return err
				}
				numbers[id] = chat.Number
				x.gather(chat.Number, headTerms(chat))
				if err := e.tables.search.putRow(tx, chat.Number, rowOf(chat)); err != nil {
					return err
				}
			}
			return x.within(tx)
		})
		if err != nil {
			return nil, err
		}
	}
	return numbers, nil
}

// headTerms are the terms of a chat's record.
func headTerms(chat *Chat) search.Terms {
	terms := search.NewTerms()
	terms.Add(search.Title, cutBytes(chat.Title, 4*titleLength))
	if chat.Model != "" {
		terms.Words[modelTerm(chat.Model)] = struct{}{}
	}
	return terms
}

// indexAgain brings all messages of a chat into the index, or takes them out.
func (e *Engine) indexAgain(ctx context.Context, x *indexer, chatID string, number int64) error {
	for last := kv.Key(nil); ; {
		messages, next, err := e.someMessages(ctx, kv.Range{Prefix: kv.Str(chatID), After: last})
		if err != nil {
			return err
		}
		for _, m := range messages {
			if err := x.message(ctx, number, m); err != nil {
				return err
			}
		}
		if next == nil {
			return nil
		}
		last = next
	}
}

const (
	// someCount and someBytes are where a reading of many messages ends, so
	// that the store is let go and memory stays small.
	someCount = 200
	someBytes = 4 << 20
)

// someMessages reads messages in the order of their keys, and gives the key of
// the last where there may be more. A limit of r ends it earlier.
func (e *Engine) someMessages(ctx context.Context, r kv.Range) (out []*Message, next kv.Key, err error) {
	count := someCount
	if r.Limit > 0 {
		count = r.Limit
	}
	err = e.view(ctx, func(tx *kv.Tx) error {
		size := 0
		for m, err := range e.tables.messages.Scan(tx, r) {
			if err != nil {
				return err
			}
			if err := e.loadParts(tx, m); err != nil {
				return fmt.Errorf("read message %s: %w", m.ID, err)
			}
			out, size = append(out, m), size+sizeOf(m)
			if len(out) == count || size >= someBytes {
				next = e.tables.messages.KeyOf(m)
				return nil
			}
		}
		return nil
	})
	return out, next, err
}

// sizeOf is about what a message takes in memory.
func sizeOf(m *Message) int {
	n := 0
	for _, p := range m.Parts {
		n += len(p.Text) + len(p.Data)
		if p.Result != nil {
			n += len(p.Result.Text)
		}
	}
	return n
}

// unindexChat takes a chat out of the index, for good. Call it before its
// messages are removed, while nothing is added to it; it may be stopped and
// called again. A search shows no chat that isn't [Chat.visible], so until
// then there is no hurry.
func (e *Engine) unindexChat(ctx context.Context, chat *Chat) error {
	x := e.indexer()
	x.remove = true
	if err := e.indexAgain(ctx, x, chat.ID, chat.Number); err != nil {
		return err
	}
	if err := x.add(ctx, chat.Number, headTerms(chat)); err != nil {
		return err
	}
	if err := x.flush(ctx); err != nil {
		return err
	}
	return e.store.Update(ctx, func(tx *kv.Tx) error { return e.tables.search.putRow(tx, chat.Number, row{}) })
}

// retitle changes the index for a chat whose title was changed, in the
// transaction that changes it. was is the chat as it was before.
func (e *Engine) retitle(tx *kv.Tx, was *Chat, title string) error {
	is := *was
	is.Title = title
	old, now := headTerms(was), headTerms(&is)
	x := e.indexer()
	x.remove = true
	old.Without(now)
	x.gather(was.Number, old)
	if err := x.within(tx); err != nil {
		return err
	}
	x.remove = false
	x.gather(was.Number, now)
	return x.within(tx)
}
