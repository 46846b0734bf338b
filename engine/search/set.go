package search

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/bits"
	"slices"
)

// BlockSize is how many chats share one value of the index: enough that a word
// of many chats has few values, and few enough that one is short.
const BlockSize = 1024

// Bits are the chats of a block.
type Bits [BlockSize / 64]uint64

// BlockOf gives the block of a chat's number, and its place within it.
func BlockOf(number int64) (block int64, place int) {
	return number / BlockSize, int(number % BlockSize)
}

// Add puts a place in.
func (b *Bits) Add(place int) { b[place/64] |= 1 << (place % 64) }

// Remove takes a place out.
func (b *Bits) Remove(place int) { b[place/64] &^= 1 << (place % 64) }

// Has tells whether a place is in.
func (b *Bits) Has(place int) bool { return b[place/64]&(1<<(place%64)) != 0 }

// Len is how many places are in.
func (b *Bits) Len() int {
	n := 0
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// wholeSize is the length of a value that has a bit for each place. A shorter
// one is the list of the gaps between the places, ascending, as varints.
const wholeSize = BlockSize / 8

// Encode returns the stored form: at most wholeSize bytes, none for no places.
func (b *Bits) Encode() []byte {
	out := make([]byte, 0, wholeSize+binary.MaxVarintLen16)
	next := 0
	for place := range b.places() {
		out = binary.AppendUvarint(out, uint64(place-next))
		if next = place + 1; len(out) >= wholeSize {
			break
		}
	}
	if len(out) < wholeSize {
		return out
	}
	out = out[:0]
	for _, w := range b {
		out = binary.LittleEndian.AppendUint64(out, w)
	}
	return out
}

// places yields the places that are in.
func (b *Bits) places() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, w := range b {
			for ; w != 0; w &= w - 1 {
				if !yield(i*64 + bits.TrailingZeros64(w)) {
					return
				}
			}
		}
	}
}

// ErrValue means that a value is not one that this package has encoded.
var ErrValue = errors.New("the search index is damaged")

var errBits = fmt.Errorf("%w: not a block of a set", ErrValue)

// DecodeBits reads what Encode gave.
func DecodeBits(data []byte) (b Bits, err error) {
	if len(data) == wholeSize {
		for i := range b {
			b[i] = binary.LittleEndian.Uint64(data[8*i:])
		}
		return b, nil
	}
	if len(data) > wholeSize {
		return b, errBits
	}
	for next := uint64(0); len(data) > 0; {
		gap, n := binary.Uvarint(data)
		if n <= 0 || gap >= BlockSize || next+gap >= BlockSize {
			return b, errBits
		}
		b.Add(int(next + gap))
		next, data = next+gap+1, data[n:]
	}
	return b, nil
}

// Set is a set of chats by block.
type Set map[int64]Bits

// Add puts one chat in.
func (s Set) Add(number int64) {
	block, place := BlockOf(number)
	b := s[block]
	b.Add(place)
	s[block] = b
}

// Numbers yields the chats in the order of their numbers.
func (s Set) Numbers() iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for _, block := range slices.Sorted(maps.Keys(s)) {
			b := s[block]
			for place := range b.places() {
				if !yield(block*BlockSize + int64(place)) {
					return
				}
			}
		}
	}
}

// Or adds the chats of a block.
func (s Set) Or(block int64, b Bits) {
	have := s[block]
	for i := range have {
		have[i] |= b[i]
	}
	s[block] = have
}

// And leaves the chats that are in o too.
func (s Set) And(o Set) {
	for block, have := range s {
		other := o[block]
		for i := range have {
			have[i] &= other[i]
		}
		s.put(block, have)
	}
}

// AndNot takes the chats of o out.
func (s Set) AndNot(o Set) {
	for block, have := range s {
		other := o[block]
		for i := range have {
			have[i] &^= other[i]
		}
		s.put(block, have)
	}
}

func (s Set) put(block int64, b Bits) {
	if b == (Bits{}) {
		delete(s, block)
		return
	}
	s[block] = b
}
