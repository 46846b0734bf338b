package search

import (
	"errors"
	"slices"
)

// Pair names two tokens that follow each other, by a hash. There are far more
// pairs than words, and most occur once, so a key for each would be many times
// the text. Instead the pairs of a group, which is the hash's begin, and of a
// block of chats share one value, in which a pair of a chat takes three bytes.
type Pair uint32

const (
	pairBits  = 30
	groupBits = 12
	subBits   = pairBits - groupBits
	// PairBlock is how many chats share a value of pairs. It is so small, and
	// the groups so many, that a value has about a hundred bytes; it is written
	// again for each new pair.
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

// pairSize is what one takes: 18 bits of the pair and 6 of the chat.
const pairSize = 3

// EncodePairs returns the stored form of sorted pairs.
func EncodePairs(sorted []PairAt) []byte {
	out := make([]byte, 0, len(sorted)*pairSize)
	for _, at := range sorted {
		out = append(out, byte(at>>16), byte(at>>8), byte(at))
	}
	return out
}

var errPairs = errors.New("not a value of pairs")

// DecodePairs reads what EncodePairs returned.
func DecodePairs(data []byte) ([]PairAt, error) {
	if len(data)%pairSize != 0 {
		return nil, errPairs
	}
	out := make([]PairAt, 0, len(data)/pairSize)
	for i := 0; i < len(data); i += pairSize {
		out = append(out, pairAt(data[i:]))
	}
	return out, nil
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

func pairAt(b []byte) PairAt { return PairAt(b[0])<<16 | PairAt(b[1])<<8 | PairAt(b[2]) }

// AddPairs adds to a set the chats that have a pair by a stored value.
func (s Set) AddPairs(p Pair, block int64, data []byte) error {
	if len(data)%pairSize != 0 {
		return errPairs
	}
	_, want := p.At(0)
	for i := 0; i < len(data); i += pairSize {
		if at := pairAt(data[i:]); at/PairBlock == want/PairBlock {
			s.Add(block*PairBlock + int64(at%PairBlock))
		}
	}
	return nil
}
