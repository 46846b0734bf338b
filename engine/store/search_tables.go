package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/search"
	"github.com/fettle-cli/fettle/internal/kv"
)

// searchTables are the index of package search: which chats have a term, and
// what orders and filters them, so that a search reads only the chats that it
// shows. All is kept by chat number.
//
// Nothing in them can't be made again from chats and messages, and writing the
// same twice changes nothing; that is what recovery after a crash rests on.
type searchTables struct {
	// Words holds search.Bits by word and block of chats, pairs what
	// search.EncodePairs returns by group and block.
	Words, Pairs *kv.RawTable
	// old are words and pairs of an older form, which are removed.
	old []*kv.RawTable
	// Chats holds rows, RowBlock of them in a value.
	Chats *kv.RawTable
	State *kv.Table[searchState]
}

// searchState is a fact about the index: that it is whole, or how far the
// indexing of an older store has come.
type searchState struct {
	Name string    `json:"name"`
	At   time.Time `json:"at"`
	// Last is the key of the last message that was indexed, and Chats how many
	// chats were begun.
	Last  kv.Key `json:"last,omitempty"`
	Chats int    `json:"chats,omitempty"`
}

// Names of states. They have the number of the index's form, so that a store with an
// index of an older form is indexed again.
const (
	SearchWhole  = "whole_2"
	searchCursor = "cursor_2"
)

func newSearchTables() *searchTables {
	return &searchTables{
		Words: kv.NewRawTable("search_words_2"),
		Pairs: kv.NewRawTable("search_pairs_2"),
		old:   []*kv.RawTable{kv.NewRawTable("search_words"), kv.NewRawTable("search_pairs")},
		Chats: kv.NewRawTable("search_chats"),
		State: kv.NewTable("search_state", func(s *searchState) kv.Key { return kv.Str(s.Name) }),
	}
}

// modelTerm is how a model's name is a word: by its own kind, since it is
// matched as a whole.
func modelTerm(model string) string { return "m" + model }

func wordKey(word string, block int64) kv.Key { return kv.Str(word).Int(block) }

// pairKey is short, since a turn has a hundred of them.
func pairKey(group, block int64) kv.Key { return kv.Int(group<<groupShift | block) }

// groupShift leaves room for more blocks than there can be chats.
const groupShift = 40

// set reads the chats that have a term.
func (s *searchTables) set(tx *kv.Tx, l search.Lookup) (search.Set, error) {
	switch {
	case l.IsPair:
		return s.pairSet(tx, l.Pair)
	case l.Begin:
		return s.wordSet(tx, kv.StrPrefix(l.Word), func(string) bool { return true })
	}
	return s.wordSet(tx, kv.Str(l.Word), func(string) bool { return true })
}

// wordSet adds up what is below a prefix, as far as want wants the words.
func (s *searchTables) wordSet(tx *kv.Tx, prefix kv.Key, want func(word string) bool) (search.Set, error) {
	out := search.Set{}
	for item, err := range s.Words.Scan(tx, kv.Range{Prefix: prefix}) {
		if err != nil {
			return nil, err
		}
		word, block, err := wordIn(item.Key)
		if err != nil {
			return nil, err
		}
		if !want(word) {
			continue
		}
		bits, err := search.DecodeBits(item.Value)
		if err != nil {
			return nil, err
		}
		out.Or(block, bits)
	}
	return out, nil
}

func (s *searchTables) pairSet(tx *kv.Tx, p search.Pair) (search.Set, error) {
	out := search.Set{}
	r := kv.Range{From: pairKey(p.Group(), 0), To: pairKey(p.Group()+1, 0)}
	for item, err := range s.Pairs.Scan(tx, r) {
		if err != nil {
			return nil, err
		}
		parts, err := item.Key.Parts()
		if err != nil {
			return nil, err
		}
		key, ok := parts[0].(int64)
		if !ok || len(parts) != 1 {
			return nil, errTermKey
		}
		if err := out.AddPairs(p, key&(1<<groupShift-1), item.Value); err != nil {
			return nil, err
		}
	}
	return out, nil
}

var (
	errTermKey = fmt.Errorf("%w: not a key of it", search.ErrValue)
	errRows    = fmt.Errorf("%w: not a block of rows", search.ErrValue)
)

// damagedIndex reports whether an error means that an entry of the index can't be read.
func damagedIndex(err error) bool { return Damaged(err) || errors.Is(err, search.ErrValue) }

// mend passes an error of reading an entry that is to be changed, unless the entry does
// not exist or is damaged. A damaged one is replaced by what is written now, and the
// index is no longer marked as whole, so that the next search adds what is missing.
func (s *searchTables) mend(tx *kv.Tx, err error) error {
	switch {
	case errors.Is(err, kv.ErrNotFound):
		return nil
	case damagedIndex(err):
		return s.State.Delete(tx, kv.Str(SearchWhole))
	}
	return err
}

// rows reads a block of rows. There is none if no chat of the block was indexed.
func (s *searchTables) rows(tx *kv.Tx, key kv.Key) ([]byte, error) {
	rows, err := s.Chats.Get(tx, key)
	if err == nil && len(rows) != RowBlock*rowSize {
		err = errRows
	}
	return rows, err
}

// wordIn gives the word and the block of a key.
func wordIn(key kv.Key) (word string, block int64, err error) {
	parts, err := key.Parts()
	if err != nil {
		return "", 0, err
	}
	if len(parts) == 2 {
		word, isWord := parts[0].(string)
		block, isBlock := parts[1].(int64)
		if isWord && isBlock {
			return word, block, nil
		}
	}
	return "", 0, errTermKey
}

// A row is what orders and filters a chat: the acceptance number of its last
// turn and the second in which it was used last. There is no chat where turn
// is 0.
type row struct {
	turn int64
	used int64
}

const (
	rowSize = 12
	// RowBlock rows stay below what the store keeps beside its keys.
	RowBlock = 64
)

func rowPlace(number int64) (key kv.Key, at int) {
	return kv.Int(number / RowBlock), int(number%RowBlock) * rowSize
}

func getRow(rows []byte, at int) row {
	if len(rows) < at+rowSize {
		return row{}
	}
	return row{
		turn: int64(binary.BigEndian.Uint64(rows[at:])),
		used: int64(binary.BigEndian.Uint32(rows[at+8:])),
	}
}

// putRow writes the row of a chat. A zero row takes it out.
func (s *searchTables) putRow(tx *kv.Tx, number int64, r row) error {
	if number < 0 {
		return nil // no counter gives such a number
	}
	key, at := rowPlace(number)
	rows, err := s.rows(tx, key)
	if err != nil {
		if err := s.mend(tx, err); err != nil {
			return err
		}
		rows = nil
	}
	if getRow(rows, at) == r {
		return nil
	}
	if len(rows) < RowBlock*rowSize {
		rows = append(rows, make([]byte, RowBlock*rowSize-len(rows))...)
	}
	binary.BigEndian.PutUint64(rows[at:], uint64(r.turn))
	binary.BigEndian.PutUint32(rows[at+8:], uint32(r.used))
	return s.Chats.Put(tx, key, rows)
}

// rowOf is a chat's row. Seconds before 1970 and after 2106 are the nearest
// one there is.
func rowOf(c *chat.Chat) row {
	const last = 1<<32 - 1
	return row{turn: c.LastTurn, used: min(max(c.UpdatedAt.Unix(), 0), last)}
}
