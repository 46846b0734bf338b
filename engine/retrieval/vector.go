package retrieval

import (
	"encoding/binary"
	"math"
)

// Unit scales a vector to the length 1, so that the product of two of them is their cosine.
// It reports whether that is possible: a vector of zeros has no direction.
func Unit(v []float32) bool {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 || math.IsInf(sum, 0) || math.IsNaN(sum) {
		return false
	}
	scale := 1 / math.Sqrt(sum)
	for i, x := range v {
		v[i] = float32(float64(x) * scale)
	}
	return true
}

// Cosine returns the product of a vector of length 1 with another one that is stored as
// 32-bit numbers, little-endian. raw must have 4 bytes for each number of v.
func Cosine(v []float32, raw []byte) float32 {
	var a, b, c, d float32 // four sums, which a processor adds up side by side
	n := len(v) &^ 3
	for i := 0; i < n; i += 4 {
		x, y := v[i:i+4:i+4], raw[4*i:4*i+16:4*i+16]
		a += x[0] * number(y[0:])
		b += x[1] * number(y[4:])
		c += x[2] * number(y[8:])
		d += x[3] * number(y[12:])
	}
	for i := n; i < len(v); i++ {
		a += v[i] * number(raw[4*i:])
	}
	return a + b + c + d
}

func number(raw []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(raw)) }
