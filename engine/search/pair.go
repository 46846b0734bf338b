package search

import (
	"fmt"
	"slices"
)

// Pair names two tokens that follow each other, by a hash. There are far more
// pairs than words, and most occur once, so a key for each would be many times
// the text. Instead the pairs of a group, which is the hash's begin, and of a
// block of chats share one value, in which a pair of a chat takes about two
// bytes. Pairs with one hash are taken for each other in one of some thousand
// chats; a phrase is confirmed in the text in any case.
type Pair uint32

const (
	pairBits  = 24
	groupBits = 10
	subBits   = pairBits - groupBits
	// PairBlock is how many chats share a value of pairs. It is so small, and
	// the groups so many, that a value has about a hundred bytes: enough that
	// its key is the smaller part, and few enough to be written again for each
	// new pair.
	PairBlock = 64
)

// Group is the group of a pair.
func (p Pair) Group() int64 { return int64(p >> subBits) }

// PairAt is a pair of a group in a chat of a block.
type PairAt uint32

// At gives a pair at a chat's number, and the block of that.
func (p Pair) At(number int64) (block int64, at PairAt) {
	sub := p & (1<<subBits - 1)
	return number / PairBlock, PairAt(sub)*PairBlock + PairAt(number%PairBlock)
}

// pairRange is one more than the largest PairAt.
const pairRange = PairBlock << subBits

// EncodePairs returns the stored form of sorted pairs: the gaps between them in
// a [riceCode], whose width is the first byte.
func EncodePairs(sorted []PairAt) []byte {
	if len(sorted) == 0 {
		return nil
	}
	w := riceWriter{width: riceWidth(pairRange / len(sorted))}
	w.out = append(w.out, byte(w.width))
	next := PairAt(0)
	for _, at := range sorted {
		w.put(uint32(at - next))
		next = at + 1
	}
	return w.end()
}

var errPairs = fmt.Errorf("%w: not pairs", ErrValue)

// DecodePairs reads what EncodePairs returned.
func DecodePairs(data []byte) ([]PairAt, error) {
	if len(data) == 0 {
		return nil, nil
	}
	if data[0] > maxRiceWidth {
		return nil, errPairs
	}
	r := riceReader{data: data[1:], width: int(data[0])}
	out := make([]PairAt, 0, len(data)/2)
	for next := uint64(0); ; {
		gap, ok := r.next()
		if !ok {
			return out, nil
		}
		at := next + uint64(gap)
		if at >= pairRange {
			return nil, errPairs
		}
		out, next = append(out, PairAt(at)), at+1
	}
}

// JoinPairs merges two sorted lists.
func JoinPairs(a, b []PairAt) []PairAt {
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}

// WithoutPairs returns the pairs of a sorted list that another does not have.
func WithoutPairs(a, b []PairAt) []PairAt {
	return slices.DeleteFunc(slices.Clone(a), func(at PairAt) bool {
		_, found := slices.BinarySearch(b, at)
		return found
	})
}

// AddPairs adds to a set the chats that have a pair by a stored value.
func (s Set) AddPairs(p Pair, block int64, data []byte) error {
	pairs, err := DecodePairs(data)
	if err != nil {
		return err
	}
	_, first := p.At(0)
	from, _ := slices.BinarySearch(pairs, first)
	for _, at := range pairs[from:] {
		if at/PairBlock != first/PairBlock {
			break
		}
		s.Add(block*PairBlock + int64(at%PairBlock))
	}
	return nil
}
