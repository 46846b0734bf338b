package search

import "math/bits"

// A riceCode writes a number as its upper bits in unary, ones that a zero ends,
// and its lowest width bits as they are. Gaps between hashes take about two
// bits more than the least that can be had. The last byte is filled up with
// ones, which end no number.
const maxRiceWidth = 31

// riceWidth is the best width for numbers of a mean.
func riceWidth(mean int) int {
	return max(bits.Len(uint(mean))-1, 0)
}

type riceWriter struct {
	out   []byte
	width int
	free  int // bits in the last byte
}

func (w *riceWriter) put(n uint32) {
	for range n >> w.width {
		w.bit(1)
	}
	w.bit(0)
	for i := w.width - 1; i >= 0; i-- {
		w.bit(byte(n>>i) & 1)
	}
}

func (w *riceWriter) bit(b byte) {
	if w.free == 0 {
		w.out, w.free = append(w.out, 0), 8
	}
	w.free--
	w.out[len(w.out)-1] |= b << w.free
}

// end fills up the last byte and returns all.
func (w *riceWriter) end() []byte {
	for w.free > 0 {
		w.bit(1)
	}
	return w.out
}

type riceReader struct {
	data  []byte
	width int
	at    int // bits read
}

// next returns the next number. ok is false at the end.
func (r *riceReader) next() (n uint32, ok bool) {
	upper, end := uint32(0), 8*len(r.data)
	for ; ; r.at++ {
		if r.at == end {
			return 0, false
		}
		if r.bit() == 0 {
			break
		}
		upper++
	}
	if r.at++; r.at+r.width > end {
		return 0, false
	}
	for range r.width {
		n = n<<1 | r.bit()
		r.at++
	}
	return upper<<r.width | n, true
}

func (r *riceReader) bit() uint32 { return uint32(r.data[r.at/8]>>(7-r.at%8)) & 1 }
