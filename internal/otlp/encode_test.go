package otlp

import (
	"testing"
)

// An answer comes from whoever listens there.
func FuzzAnswers(f *testing.F) {
	f.Add([]byte{0x0a, 0x02, 0x08, 0x01})
	f.Add([]byte{0x0a, 0xff})
	f.Add([]byte("<html>"))
	f.Fuzz(func(t *testing.T, answer []byte) {
		if n := rejected(answer); n < 0 {
			t.Errorf("%d were rejected", n)
		}
	})
}
