package float32s

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestParseReadsWhatAppendWrites(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		v := rapid.SliceOfN(rapid.Float32(), 1, 50).Draw(rt, "v")
		raw := Append(nil, v)
		if got, ok := Parse(raw); !ok || !slices.Equal(got, v) {
			rt.Fatalf("%v was read as %v", v, got)
		}
		if _, ok := Parse(raw[:len(raw)-1]); ok {
			rt.Fatal("a part of a number was taken")
		}
	})
	if got := Append(nil, []float32{1}); string(got) != "\x00\x00\x80\x3f" {
		t.Errorf("1 is %x", got)
	}
	if _, ok := Parse(nil); ok {
		t.Error("nothing is a vector")
	}
}
