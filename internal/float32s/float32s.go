package float32s

import (
	"encoding/binary"
	"math"
)

// Append appends the bytes of a vector.
func Append(dst []byte, v []float32) []byte {
	for _, x := range v {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(x))
	}
	return dst
}

// Parse returns the vector of bytes; ok is false if there are none, or a part of a number is
// left over.
func Parse(raw []byte) (v []float32, ok bool) {
	if len(raw) == 0 || len(raw)%4 != 0 {
		return nil, false
	}
	v = make([]float32, len(raw)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return v, true
}
