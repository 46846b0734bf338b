package search

import (
	"encoding/binary"
	"hash/fnv"
)

// Field is a part of a chat that is indexed by itself, so that it can change
// by itself.
type Field int

// The fields.
const (
	Body  Field = iota // what was said
	Title              // a title can be replaced
)

// The kinds of terms. They are stored, so they never change.
const (
	wordTerm = 'w'
	stemTerm = 's'
	pairTerm = 'p'
	// titleBit makes a kind's capital letter.
	titleBit = 'a' - 'A'
)

func (f Field) term(kind byte, text string) string {
	if f == Title {
		kind -= titleBit
	}
	return string(kind) + text
}

// AddTerms adds the terms of a text to a set.
func AddTerms(set map[string]struct{}, f Field, text string) {
	before, last := "", -1
	for t := range Tokens(text) {
		set[f.term(wordTerm, t.Text)] = struct{}{}
		set[f.term(stemTerm, t.Stem)] = struct{}{}
		if t.Pos == last {
			continue
		}
		if last >= 0 {
			set[f.term(pairTerm, pairOf(before, t.Text))] = struct{}{}
		}
		before, last = t.Text, t.Pos
	}
}

// pairOf names two tokens that follow each other. 48 bits are enough for a
// false one not to be met: a store of a million chats has some 10^8 pairs.
func pairOf(a, b string) string {
	h := fnv.New64a()
	h.Write([]byte(a))
	h.Write([]byte{0})
	h.Write([]byte(b))
	sum := binary.BigEndian.AppendUint64(nil, h.Sum64())
	return string(sum[2:])
}

// Lookup is one look into the index.
type Lookup struct {
	Term string
	// Begin takes all terms that begin with Term together.
	Begin bool
}

// Lookups are the terms in whose sets, all of them, a chat is that has the
// clause in a field.
func (c Clause) Lookups(f Field) []Lookup {
	var out []Lookup
	covered := make([]bool, len(c.Tokens))
	for i := 1; i < len(c.Tokens); i++ {
		if !c.open(i-1) && !c.open(i) {
			out = append(out, Lookup{Term: f.term(pairTerm, pairOf(c.Tokens[i-1].Text, c.Tokens[i].Text))})
			covered[i-1], covered[i] = true, true
		}
	}
	for i, t := range c.Tokens {
		if !covered[i] {
			out = append(out, c.lookup(f, i, t))
		}
	}
	return out
}

func (c Clause) lookup(f Field, i int, t Token) Lookup {
	switch n := len([]rune(t.Text)); {
	case !c.open(i):
		return Lookup{Term: f.term(wordTerm, t.Text)}
	case t.Single || n == stemRunes:
		return Lookup{Term: f.term(stemTerm, t.Text)}
	case n < stemRunes:
		return Lookup{Term: f.term(stemTerm, t.Text), Begin: true}
	}
	return Lookup{Term: f.term(wordTerm, t.Text), Begin: true}
}
