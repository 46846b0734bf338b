package store

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/search"
	"github.com/fettle-cli/fettle/internal/kv"
)

// candidate is a chat that has the query as far as the index knows.
type candidate struct {
	number int64
	row
}

// candidates finds the chats that may be shown, in order.
func (s *Store) candidates(ctx context.Context, q SearchChats) (out []candidate, err error) {
	err = s.View(ctx, func(tx *kv.Tx) error {
		set, err := s.querySet(tx, q)
		if err != nil {
			return err
		}
		out, err = s.rowsOf(tx, set, q)
		return err
	})
	if errors.Is(err, kv.ErrNotFound) {
		return nil, nil // no store yet
	}
	slices.SortFunc(out, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.turn, a.turn), cmp.Compare(b.number, a.number))
	})
	return out, err
}

// querySet combines the sets of the clauses.
func (s *Store) querySet(tx *kv.Tx, q SearchChats) (search.Set, error) {
	var all search.Set
	narrow := func(set search.Set) {
		if all == nil {
			all = set
		} else {
			all.And(set)
		}
	}
	if q.Model != "" {
		set, err := s.modelSet(tx, q.Model)
		if err != nil {
			return nil, err
		}
		narrow(set)
	}
	for _, not := range []bool{false, true} {
		for _, c := range q.Query.Clauses {
			if c.Not != not || c.Not && !c.Exact() || all != nil && len(all) == 0 {
				continue
			}
			set, err := s.clauseSet(tx, c)
			if err != nil {
				return nil, err
			}
			if not {
				all.AndNot(set)
			} else {
				narrow(set)
			}
		}
	}
	return all, nil
}

// clauseSet is where a clause occurs, in the title or in what was said.
func (s *Store) clauseSet(tx *kv.Tx, c search.Clause) (search.Set, error) {
	out := search.Set{}
	for _, field := range []search.Field{search.Body, search.Title} {
		var all search.Set
		for _, l := range c.Lookups(field) {
			set, err := s.Tables.Search.set(tx, l)
			if err != nil {
				return nil, err
			}
			if all == nil {
				all = set
			} else {
				all.And(set)
			}
			if len(all) == 0 {
				break
			}
		}
		for block, bits := range all {
			out.Or(block, bits)
		}
	}
	return out, nil
}

// modelSet is where a model is used whose name is like a pattern.
func (s *Store) modelSet(tx *kv.Tx, pattern string) (search.Set, error) {
	all := modelTerm("")
	return s.Tables.Search.wordSet(tx, kv.StrPrefix(all), func(word string) bool {
		return likeModel(pattern, word[len(all):])
	})
}

// rowsOf gives the chats of a set that the times and the page want.
func (s *Store) rowsOf(tx *kv.Tx, set search.Set, q SearchChats) ([]candidate, error) {
	var out []candidate
	var rows []byte
	have := kv.Key(nil)
	for number := range set.Numbers() {
		key, at := rowPlace(number)
		if !slices.Equal(key, have) {
			var err error
			if rows, err = s.Tables.Search.rows(tx, key); err != nil && !errors.Is(err, kv.ErrNotFound) {
				return nil, err
			}
			have = key
		}
		c := candidate{number: number, row: getRow(rows, at)}
		if c.wanted(q) {
			out = append(out, c)
		}
	}
	return out, nil
}

// wanted tells whether the page begins before the chat, and the times hold it.
func (c candidate) wanted(q SearchChats) bool {
	switch {
	case c.turn == 0, q.After != 0 && c.turn >= q.After:
		return false
	case !q.Since.IsZero() && c.used < q.Since.Unix():
		return false
	}
	return q.Until.IsZero() || c.used < q.Until.Unix()
}

const (
	// MostMatches is how many messages of a chat are shown, if they show all
	// of the query.
	MostMatches = 3
	// FirstLook is how many of the newest messages are read at first: most
	// chats are no longer, and most matches are among them.
	FirstLook = 20
	// lookBytes is how much of a chat is read for excerpts. One that is longer
	// is shown with what was found so far, where the index is exact.
	lookBytes = 16 << 20
)

// confirm reads a chat: it makes sure of what the index can't tell, and takes
// the excerpts. ok is false where the chat is none to show.
func (s *Store) confirm(ctx context.Context, q SearchChats, number int64) (found FoundChat, ok bool, err error) {
	err = s.View(ctx, func(tx *kv.Tx) error {
		chat, err := s.Tables.Chats.Find(tx, "number", kv.Int(number))
		if err == nil {
			found.Chat, ok = *chat, chat.Visible()
		}
		return err
	})
	if errors.Is(err, kv.ErrNotFound) || err == nil && !ok {
		return FoundChat{}, false, nil
	}
	if err != nil {
		return FoundChat{}, false, err
	}
	l := newLook(q, &found)
	err = s.read(ctx, l)
	slices.SortStableFunc(found.Matches, newestFirst)
	return found, err == nil && !l.excluded && l.whole(), err
}

// newestFirst puts an answer before its question: they have one time.
func newestFirst(a, b Match) int {
	return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(a.Role, b.Role))
}

// read goes through the messages of a chat, the newest first, until enough is
// known.
func (s *Store) read(ctx context.Context, l *look) error {
	r := kv.Range{Prefix: kv.Str(l.found.Chat.ID), Reverse: true, Limit: FirstLook}
	for size := 0; !l.enough(size); {
		messages, next, err := s.someMessages(ctx, r, s.LeavesOut)
		if err != nil {
			return err
		}
		for _, m := range messages {
			l.message(m)
			if size += sizeOf(m); l.enough(size) {
				return nil
			}
		}
		if next == nil {
			l.ended = true
			return nil
		}
		r.After, r.Limit = next, 0
	}
	return nil
}

// look is what is known of a chat while it is read.
type look struct {
	q        SearchChats
	found    *FoundChat
	seen     []bool // clauses
	excluded bool   // what must not occur does
	ended    bool   // all messages were read
	fresh    []bool // which matches brought what was not seen before
}

func newLook(q SearchChats, found *FoundChat) *look {
	l := &look{q: q, found: found, seen: make([]bool, len(q.Query.Clauses))}
	hits, _ := l.see(q.Query.Find(found.Chat.Title))
	found.TitleAt = search.Places(found.Chat.Title, hits)
	return l
}

// see notes which clauses occur. It gives the hits of those that may, and
// whether one of them is new.
func (l *look) see(hits []search.Hit) (wanted []search.Hit, fresh bool) {
	for _, h := range hits {
		if l.q.Query.Clauses[h.Clause].Not {
			l.excluded = true
			continue
		}
		fresh = fresh || !l.seen[h.Clause]
		l.seen[h.Clause] = true
		wanted = append(wanted, h)
	}
	return wanted, fresh
}

// all tells whether every clause was seen that has to occur.
func (l *look) all() bool {
	for i, c := range l.q.Query.Clauses {
		if !c.Not && !l.seen[i] {
			return false
		}
	}
	return true
}

// enough tells whether reading on would change nothing that is shown.
func (l *look) enough(size int) bool {
	if l.excluded || l.ended {
		return true
	}
	if l.q.Query.Exact() {
		return size >= lookBytes || l.all() && len(l.found.Matches) >= MostMatches
	}
	for _, c := range l.q.Query.Clauses {
		if c.Not && !c.Exact() {
			return false // it could be in any message
		}
	}
	return l.all() && len(l.found.Matches) >= MostMatches
}

// whole tells whether the chat has the query: it was seen, or reading was
// given up on the index's word.
func (l *look) whole() bool { return l.all() || !l.ended }

// message looks into one message.
func (l *look) message(m *chat.Message) {
	best := Match{MessageID: m.ID, Role: m.Role, Model: m.Model, CreatedAt: m.CreatedAt}
	most, fresh := 0, false
	for _, p := range passages(m) {
		hits, isNew := l.see(l.q.Query.Find(p.text))
		fresh = fresh || isNew
		if n := clausesIn(hits); n > most {
			most, best.In = n, p.kind
			best.Excerpt, best.At = search.Excerpt(p.text, hits, l.q.Width)
		}
	}
	if most == 0 {
		return
	}
	matches := &l.found.Matches
	if len(*matches) >= MostMatches {
		old := slices.Index(l.fresh, false)
		if !fresh {
			return
		}
		if old >= 0 {
			*matches, l.fresh = slices.Delete(*matches, old, old+1), slices.Delete(l.fresh, old, old+1)
		}
	}
	*matches, l.fresh = append(*matches, best), append(l.fresh, fresh)
}

func clausesIn(hits []search.Hit) int {
	seen := map[int]bool{}
	for _, h := range hits {
		seen[h.Clause] = true
	}
	return len(seen)
}
