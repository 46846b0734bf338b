package search

import (
	"errors"
	"math/bits"
)

// BlockSize is how many chats share one value of the index.
const BlockSize = 256

// Bits are the chats of a block.
type Bits [BlockSize / 64]uint64

// BlockOf gives the block of a chat's number, and its place within it.
func BlockOf(number int64) (block int64, place int) {
	return number >> 8, int(number & (BlockSize - 1))
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
// one is the list of places, a byte each and ascending.
const wholeSize = BlockSize / 8

// Encode gives the stored form: 1 to 32 bytes, or none for no places.
func (b *Bits) Encode() []byte {
	out := make([]byte, 0, wholeSize)
	if b.Len() < wholeSize {
		for place := range BlockSize {
			if b.Has(place) {
				out = append(out, byte(place))
			}
		}
		return out
	}
	for _, w := range b {
		for range 8 {
			out = append(out, byte(w))
			w >>= 8
		}
	}
	return out
}

var errBits = errors.New("not a block of a set")

// DecodeBits reads what Encode gave.
func DecodeBits(data []byte) (b Bits, err error) {
	switch {
	case len(data) > wholeSize:
		return b, errBits
	case len(data) == wholeSize:
		for i, c := range data {
			b[i/8] |= uint64(c) << (8 * (i % 8))
		}
		return b, nil
	}
	for _, place := range data {
		b.Add(int(place))
	}
	return b, nil
}

// Set is a set of chats by block.
type Set map[int64]Bits

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
