package search

import "hash/fnv"

// Field is a part of a chat that is indexed by itself, so that it can change
// by itself.
type Field int

// The fields.
const (
	Body  Field = iota // what was said
	Title              // a title can be replaced
)

// The kinds of words. They are stored, so they never change.
const (
	wordTerm = 'w'
	stemTerm = 's'
	// titleBit makes a kind's capital letter.
	titleBit = 'a' - 'A'
)

func (f Field) term(kind byte, text string) string {
	if f == Title {
		kind -= titleBit
	}
	return string(kind) + text
}

// Terms are what a text has for the index.
type Terms struct {
	Words map[string]struct{} // and stems
	Pairs map[Pair]struct{}
}

// NewTerms makes an empty set of terms.
func NewTerms() Terms {
	return Terms{Words: map[string]struct{}{}, Pairs: map[Pair]struct{}{}}
}

// Add adds the terms of a text.
func (ts Terms) Add(f Field, text string) {
	before, last := "", -1
	for t := range Tokens(text) {
		ts.Words[f.term(wordTerm, t.Text)] = struct{}{}
		ts.Words[f.term(stemTerm, t.Stem)] = struct{}{}
		if t.Pos == last {
			continue
		}
		if last >= 0 {
			ts.Pairs[pairOf(f, before, t.Text)] = struct{}{}
		}
		before, last = t.Text, t.Pos
	}
}

// Without takes out what o has too.
func (ts Terms) Without(o Terms) {
	for w := range o.Words {
		delete(ts.Words, w)
	}
	for p := range o.Pairs {
		delete(ts.Pairs, p)
	}
}

// pairOf names two tokens that follow each other.
func pairOf(f Field, a, b string) Pair {
	h := fnv.New64a()
	h.Write([]byte{byte(f)})
	h.Write([]byte(a))
	h.Write([]byte{0})
	h.Write([]byte(b))
	sum := h.Sum64()
	return Pair(sum^sum>>pairBits) & (1<<pairBits - 1)
}

// Lookup is one look into the index: a word, the begin of words, or a pair.
type Lookup struct {
	Word   string
	Begin  bool // all that begin with Word together
	IsPair bool
	Pair   Pair
}

// Lookups are the terms in whose sets, all of them, a chat is that has the
// clause in a field.
func (c Clause) Lookups(f Field) []Lookup {
	var out []Lookup
	for i := range c.Tokens {
		if i > 0 && !c.open(i-1) && !c.open(i) {
			out = append(out, Lookup{IsPair: true, Pair: pairOf(f, c.Tokens[i-1].Text, c.Tokens[i].Text)})
		}
	}
	for i, t := range c.Tokens {
		out = append(out, c.lookup(f, i, t))
	}
	return out
}

func (c Clause) lookup(f Field, i int, t Token) Lookup {
	switch n := len([]rune(t.Text)); {
	case !c.open(i):
		return Lookup{Word: f.term(wordTerm, t.Text)}
	case t.Single || n == stemRunes:
		return Lookup{Word: f.term(stemTerm, t.Text)}
	case n < stemRunes:
		return Lookup{Word: f.term(stemTerm, t.Text), Begin: true}
	}
	return Lookup{Word: f.term(wordTerm, t.Text), Begin: true}
}
