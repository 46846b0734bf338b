package search

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Sets and their stored form do what sets of numbers do.
func TestSets(t *testing.T) {
	t.Parallel()
	numbers := rapid.SliceOfN(rapid.Int64Range(0, 1500), 0, 600)
	rapid.Check(t, func(t *rapid.T) {
		a, b := numbers.Draw(t, "a"), numbers.Draw(t, "b")
		inA, inB := map[int64]bool{}, map[int64]bool{}
		both, without, either := setOf(t, a, inA), setOf(t, a, inA), setOf(t, a, inA)
		other := setOf(t, b, inB)
		both.And(other)
		without.AndNot(other)
		for block, bits := range other {
			either.Or(block, bits)
		}
		for n := range int64(2 * BlockSize) {
			block, place := BlockOf(n)
			for what, c := range map[string]struct {
				set  Set
				want bool
			}{
				"and": {both, inA[n] && inB[n]}, "and not": {without, inA[n] && !inB[n]}, "or": {either, inA[n] || inB[n]},
			} {
				bits := c.set[block]
				if bits.Has(place) != c.want {
					t.Errorf("%s: %d is %v", what, n, !c.want)
				}
			}
		}
		for block, bits := range both {
			if bits.Len() == 0 {
				t.Errorf("block %d is empty", block)
			}
		}
	})
}

// setOf builds a set by its stored form.
func setOf(t *rapid.T, numbers []int64, in map[int64]bool) Set {
	blocks := map[int64]Bits{}
	for _, n := range numbers {
		block, place := BlockOf(n)
		bits := blocks[block]
		bits.Add(place)
		blocks[block], in[n] = bits, true
	}
	out := Set{}
	for block, bits := range blocks {
		data := bits.Encode()
		if len(data) > wholeSize {
			t.Errorf("a block of %d takes %d bytes", bits.Len(), len(data))
		}
		read, err := DecodeBits(data)
		if err != nil || read != bits {
			t.Errorf("%x reads as %v, %v", data, read, err)
		}
		out.Or(block, read)
	}
	return out
}

func TestValuesThatAreNoneAreRefused(t *testing.T) {
	t.Parallel()
	for _, bad := range [][]byte{make([]byte, wholeSize+2), {0x80}, {0xff, 0xff}, {0x80, 0x08}, {0x90, 0x07, 0x90, 0x07}} {
		if _, err := DecodeBits(bad); err == nil {
			t.Errorf("%x was read", bad)
		}
	}
	for _, bad := range [][]byte{{maxRiceWidth + 1, 0}, {20, 0xe0, 0, 0, 0}} {
		if got, err := DecodePairs(bad); err == nil {
			t.Errorf("%x was read as %v", bad, got)
		}
	}
}

// A pair of a chat takes about two bytes, however many share a value, and no
// list takes much more than the random one.
func TestPairsAreSmall(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 40, 1000} {
		var sorted, dense []PairAt
		for i := range n {
			sorted = append(sorted, PairAt(r.IntN(pairRange)))
			dense = append(dense, PairAt(i))
		}
		slices.Sort(sorted)
		sorted = slices.Compact(sorted)
		for what, list := range map[string][]PairAt{"random": sorted, "dense": dense} {
			data := EncodePairs(list)
			if back, err := DecodePairs(data); err != nil || !slices.Equal(back, list) {
				t.Errorf("%d %s pairs are read as %d, %v", n, what, len(back), err)
			}
			if most := 3*len(list) + 2; len(data) > most {
				t.Errorf("%d %s pairs take %d bytes, more than %d", n, what, len(data), most)
			}
		}
	}
}

func TestRemove(t *testing.T) {
	t.Parallel()
	var b Bits
	b.Add(0)
	b.Add(BlockSize - 1)
	b.Remove(0)
	if b.Has(0) || !b.Has(BlockSize-1) || b.Len() != 1 {
		t.Errorf("%v", b)
	}
}

// The pairs of chats come out as they were put in.
func TestPairs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pairs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Pair {
			return Pair(rapid.Uint32Range(0, 1<<pairBits-1).Draw(t, "pair"))
		}), 1, 4).Draw(t, "pairs")
		p := pairs[0]
		numbers := rapid.SliceOf(rapid.Int64Range(PairBlock, 2*PairBlock-1)).Draw(t, "numbers")
		var sorted []PairAt
		want := Set{}
		for i, n := range numbers {
			other := pairs[i%len(pairs)]
			if other.Group() != p.Group() && other != p {
				other = p&^(1<<subBits-1) | other&(1<<subBits-1)
			}
			block, at := other.At(n)
			if block != 1 {
				t.Errorf("chat %d is in block %d", n, block)
			}
			sorted = JoinPairs(sorted, []PairAt{at})
			if other == p {
				want.Add(n)
			}
		}
		data := EncodePairs(sorted)
		back, err := DecodePairs(data)
		if err != nil || !slices.Equal(back, sorted) {
			t.Errorf("%d pairs of %d, %v", len(back), len(sorted), err)
		}
		got := Set{}
		if err := got.AddPairs(p, 1, data); err != nil {
			t.Error(err)
		}
		if !slices.Equal(slices.Collect(got.Numbers()), slices.Collect(want.Numbers())) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}
