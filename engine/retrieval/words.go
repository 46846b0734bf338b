package retrieval

import (
	"math"

	"github.com/fettle-cli/fettle/engine/search"
)

// The parameters of BM25, with their usual values: how soon more occurrences of a word stop
// to count, and how much a long passage has to have more of them.
const (
	saturation = 1.2
	lengthBias = 0.75
)

// Words ranks passages by the words of a query with BM25: passages with more of the clauses,
// with rarer ones and with more occurrences come first. A passage needs one clause; one with
// an excluded clause is left out.
type Words struct {
	query    search.Query
	found    []occurrence
	excluded map[[2]int]bool
	passages int
	tokens   int
	with     []int // for each clause, how many passages have it
}

// occurrence is a passage that has something of the query.
type occurrence struct {
	doc    int32
	span   Span
	tokens int32
	counts []uint8 // of each clause; search.Query.Find returns no more than 100
}

// NewWords returns a ranking without passages.
func NewWords(q search.Query) *Words {
	return &Words{query: q, excluded: map[[2]int]bool{}, with: make([]int, len(q.Clauses))}
}

// Add adds the passages of a document.
func (w *Words) Add(doc int, text string, spans []Span) {
	for _, span := range spans {
		passage := text[span.Start:span.End]
		tokens, may := w.query.Count(passage)
		w.passages++
		w.tokens += tokens
		if may {
			w.look(occurrence{doc: int32(doc), span: span, tokens: int32(tokens)}, passage)
		}
	}
}

// look counts the clauses in a passage.
func (w *Words) look(o occurrence, passage string) {
	wanted := false
	o.counts = make([]uint8, len(w.query.Clauses))
	for _, hit := range w.query.Find(passage) {
		if w.query.Clauses[hit.Clause].Not {
			w.excluded[[2]int{int(o.doc), o.span.Start}] = true
			return
		}
		o.counts[hit.Clause]++
		wanted = true
	}
	if !wanted {
		return
	}
	for i, n := range o.counts {
		if n > 0 {
			w.with[i]++
		}
	}
	w.found = append(w.found, o)
}

// Excludes reports whether the query excludes a passage that was added.
func (w *Words) Excludes(h Hit) bool { return w.excluded[h.place()] }

// Best returns the best passages, at most so many.
func (w *Words) Best(most int) []Hit {
	top := Top{Most: most}
	average := float64(w.tokens) / float64(max(w.passages, 1))
	for _, o := range w.found {
		top.Add(Hit{Doc: int(o.doc), Span: o.span, Score: w.score(o, average)})
	}
	return top.Best()
}

func (w *Words) score(o occurrence, average float64) (sum float64) {
	length := 1 - lengthBias + lengthBias*float64(o.tokens)/average
	for i, n := range o.counts {
		if n == 0 {
			continue
		}
		rarity := math.Log(1 + (float64(w.passages-w.with[i])+0.5)/(float64(w.with[i])+0.5))
		sum += rarity * float64(n) * (saturation + 1) / (float64(n) + saturation*length)
	}
	return sum
}
