package cas

import "crypto/rand"

// randomReader is crypto/rand's reader as a value.
type randomReader struct{}

func (randomReader) Read(p []byte) (int, error) { return rand.Read(p) }
