package search

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

const (
	// maxQuery bounds a query in bytes; a longer one is a text that was pasted
	// by mistake.
	maxQuery = 2000
	// maxClauses and maxTokens bound what one query looks up.
	maxClauses = 32
	maxTokens  = 100
)

// Query is a parsed query; see [Parse].
type Query struct {
	Clauses []Clause
}

// Clause is a word, the begin of one or a phrase.
type Clause struct {
	Text   string  // as it was typed, without minus, quotes and star
	Tokens []Token // at least one; more are a phrase
	Prefix bool    // the last one is the begin of a word
	Not    bool    // what has it is left out
}

// What a query can lack.
var (
	// ErrEmpty is a query without a word to look for.
	ErrEmpty = errors.New("there is nothing to search for")
	// ErrOnlyNot is one that only says what is left out.
	ErrOnlyNot = errors.New("the query only says what to leave out")
)

// Parse reads a query: words, "phrases", begin* of a word, and each of them
// with a minus in front for what must not occur. A word that holds several, as
// foo_bar or don't, is a phrase. What has no letter or digit is ignored.
func Parse(text string) (Query, error) {
	var q Query
	if len(text) > maxQuery {
		return q, fmt.Errorf("the query has %d bytes; at most %d can be searched for", len(text), maxQuery)
	}
	tokens := 0
	for rest := strings.ToValidUTF8(text, " "); ; {
		var c Clause
		var more bool
		if c, rest, more = next(rest); !more {
			break
		}
		if len(c.Tokens) == 0 || slices.ContainsFunc(q.Clauses, c.same) {
			continue
		}
		q.Clauses = append(q.Clauses, c)
		if tokens += len(c.Tokens); tokens > maxTokens || len(q.Clauses) > maxClauses {
			return Query{}, fmt.Errorf("the query has too many words; at most %d clauses and %d words can be searched for", maxClauses, maxTokens)
		}
	}
	switch {
	case len(q.Clauses) == 0:
		return q, ErrEmpty
	case !slices.ContainsFunc(q.Clauses, func(c Clause) bool { return !c.Not }):
		return q, ErrOnlyNot
	}
	return q, nil
}

// next reads one clause; more is false where there is none left.
func next(text string) (c Clause, rest string, more bool) {
	text = strings.TrimLeftFunc(text, unicode.IsSpace)
	if text == "" {
		return c, "", false
	}
	if after, ok := strings.CutPrefix(text, "-"); ok {
		c.Not, text = true, after
	}
	if after, ok := strings.CutPrefix(text, `"`); ok {
		c.Text, rest, _ = strings.Cut(after, `"`) // one that is still being typed has no end
	} else {
		end := strings.IndexFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == '"' })
		if end < 0 {
			end = len(text)
		}
		c.Text, rest = text[:end], text[end:]
	}
	begin, star := strings.CutSuffix(c.Text, "*")
	if star {
		c.Text = strings.TrimRight(begin, "*")
	}
	last := -1
	for t := range Tokens(c.Text) {
		if t.Pos > last { // the last character of a dense run is within the token before
			c.Tokens, last = append(c.Tokens, t), t.Pos
		}
	}
	if n := len(c.Tokens); n > 0 { // text without words is found within more of it anyway
		c.Prefix = star && !c.Tokens[n-1].Dense && c.Tokens[n-1].End == len(c.Text)
	}
	return c, rest, true
}

// same tells whether two clauses ask for the same.
func (c Clause) same(o Clause) bool {
	return c.Prefix == o.Prefix && c.Not == o.Not &&
		slices.EqualFunc(c.Tokens, o.Tokens, func(a, b Token) bool { return a.Text == b.Text && a.Single == b.Single })
}

// String is the clause as one would type it.
func (c Clause) String() string {
	s := c.Text
	if c.Prefix {
		s += "*"
	}
	if strings.ContainsFunc(s, unicode.IsSpace) || strings.HasPrefix(s, "-") {
		s = `"` + s + `"`
	}
	if c.Not {
		s = "-" + s
	}
	return s
}

// open tells whether the i-th token stands for words that begin with it.
func (c Clause) open(i int) bool {
	return c.Tokens[i].Single || c.Prefix && i == len(c.Tokens)-1
}

// Exact tells whether the clause's sets are right, so that no text has to be
// read to know in which chats it occurs. Those of a phrase aren't: its words
// may stand beside each other in different places, and pairs are hashed.
func (c Clause) Exact() bool { return len(c.Tokens) == 1 }

// Exact tells whether all clauses are.
func (q Query) Exact() bool {
	return !slices.ContainsFunc(q.Clauses, func(c Clause) bool { return !c.Exact() })
}

// matches tells whether the i-th token stands for a token of a text.
func (c Clause) matches(i int, t Token) bool {
	want := c.Tokens[i]
	if !c.open(i) {
		return t.Text == want.Text
	}
	if want.Single {
		return t.Dense && t.Stem == want.Text
	}
	return !t.Dense && len(t.Text) >= len(want.Text) && t.Text[:len(want.Text)] == want.Text
}

// Hit is a place in a text where a clause occurs, in bytes.
type Hit struct {
	Start, End int
	Clause     int // its index in Query.Clauses
}

// maxHits bounds the places of one clause that are looked for in a text: more
// fit no excerpt.
const maxHits = 100

// Find gives the places where clauses occur in a text, in their order, those
// that must not occur among them.
func (q Query) Find(text string) []Hit {
	var tokens []Token
	for t := range Tokens(text) {
		tokens = append(tokens, t)
	}
	var hits []Hit
	for n, c := range q.Clauses {
		found := 0
		for i := range tokens {
			end, ok := c.at(tokens, i)
			if !ok {
				continue
			}
			hits = append(hits, Hit{tokens[i].Start, end, n})
			if found++; found == maxHits {
				break
			}
		}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int { return a.Start - b.Start })
	return hits
}

// at tells whether the clause stands at the i-th token, and where it ends.
func (c Clause) at(tokens []Token, i int) (end int, ok bool) {
	if !c.matches(0, tokens[i]) {
		return 0, false
	}
	pos := tokens[i].Pos
	for k := range c.Tokens {
		found := false
		for ; i < len(tokens) && tokens[i].Pos <= pos+k; i++ {
			if tokens[i].Pos == pos+k && c.matches(k, tokens[i]) {
				found, end = true, c.endOf(k, tokens[i])
				break
			}
		}
		if !found {
			return 0, false
		}
	}
	return end, true
}

// endOf is where the i-th token ends in a text: for one character, that one.
func (c Clause) endOf(i int, t Token) int {
	if c.Tokens[i].Single {
		return t.Unit
	}
	return t.End
}

// String is the query as one would type it.
func (q Query) String() string {
	var parts []string
	for _, c := range q.Clauses {
		parts = append(parts, c.String())
	}
	return strings.Join(parts, " ")
}

// Count returns the number of words of a text, and whether the first word of a clause is
// among them. It is much cheaper than Find, which finds nothing where that is not so.
func (q Query) Count(text string) (words int, may bool) {
	for t := range Tokens(text) {
		words = t.Pos + 1
		for _, c := range q.Clauses {
			may = may || c.matches(0, t)
		}
	}
	return words, may
}
