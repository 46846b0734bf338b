package retrieval

import (
	"cmp"
	"slices"
)

// Hit is a passage of a ranking.
type Hit struct {
	Doc int // the caller's number of the document
	Span
	Score float64
}

// place identifies the passage.
func (h Hit) place() [2]int { return [2]int{h.Doc, h.Start} }

// better orders hits: by score, then by document and place, so that the order of equal ones
// is the same in each search.
func better(a, b Hit) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Doc, b.Doc), cmp.Compare(a.Start, b.Start))
}

// Top keeps the best hits of those that are added.
type Top struct {
	Most int // how many are kept
	hits []Hit
	// worst is the score below which a hit cannot be among the best any more.
	worst float64
	full  bool
}

// Add adds a hit.
func (t *Top) Add(h Hit) {
	if t.full && h.Score < t.worst {
		return
	}
	t.hits = append(t.hits, h)
	if len(t.hits) >= 2*t.Most { // sorted seldom, so that an addition costs a constant time
		t.cut()
	}
}

func (t *Top) cut() {
	slices.SortFunc(t.hits, better)
	if len(t.hits) >= t.Most {
		t.hits = t.hits[:t.Most]
		t.full, t.worst = t.Most > 0, 0
		if t.full {
			t.worst = t.hits[t.Most-1].Score
		}
	}
}

// Best returns the best hits, the best one first.
func (t *Top) Best() []Hit {
	t.cut()
	return t.hits
}

// fusion dampens the first ranks; 60 is the value of the paper that introduced the method
// (Cormack, Clarke and Büttcher, 2009).
const fusion = 60

// Fuse joins rankings by reciprocal rank fusion: the score of a passage is the sum of
// 1/(60+rank) over the rankings that have it, with ranks from 1. So the scores of the
// rankings, which cannot be compared, do not matter, and what is high in both comes first.
func Fuse(rankings ...[]Hit) []Hit {
	at := map[[2]int]int{}
	var out []Hit
	for _, ranking := range rankings {
		for i, h := range ranking {
			n, known := at[h.place()]
			if !known {
				n = len(out)
				at[h.place()] = n
				h.Score = 0
				out = append(out, h)
			}
			out[n].Score += 1 / float64(fusion+i+1)
		}
	}
	slices.SortFunc(out, better)
	return out
}
