package search

import (
	"testing"

	"pgregory.net/rapid"
)

// Sets and their stored form do what sets of numbers do.
func TestSets(t *testing.T) {
	t.Parallel()
	numbers := rapid.SliceOfN(rapid.Int64Range(0, 700), 0, 600)
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
		for n := range int64(768) {
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

func TestABlockThatIsTooLongIsRefused(t *testing.T) {
	t.Parallel()
	if _, err := DecodeBits(make([]byte, wholeSize+1)); err == nil {
		t.Error("it was read")
	}
}

func TestRemove(t *testing.T) {
	t.Parallel()
	var b Bits
	b.Add(0)
	b.Add(255)
	b.Remove(0)
	if b.Has(0) || !b.Has(255) || b.Len() != 1 {
		t.Errorf("%v", b)
	}
}
