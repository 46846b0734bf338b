package sandbox_test

import (
	"bytes"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/fettle-cli/fettle/toolset/sandbox"
)

// Whatever way a stream is cut into writes, its beginning and its end are kept
// whole, up to the limit, and nothing twice.
func TestCaptureKeepsBothEnds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.Int64Range(0, 40).Draw(t, "limit")
		writes := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 30), 0, 20).Draw(t, "writes")
		c := sandbox.NewCapture(limit)
		var all []byte
		for _, w := range writes {
			if n, err := c.Write(w); n != len(w) || err != nil {
				t.Fatal(n, err)
			}
			all = append(all, w...)
		}
		out := c.Output()
		if out.Total != int64(len(all)) {
			t.Fatalf("counted %d of %d", out.Total, len(all))
		}
		if out.Dropped() == 0 && string(out.Head)+string(out.Tail) != string(all) {
			t.Fatalf("%q and %q of %q", out.Head, out.Tail, all)
		}
		if out.Dropped() > 0 && int64(len(out.Head)+len(out.Tail)) != limit {
			t.Fatalf("kept %d and %d", len(out.Head), len(out.Tail))
		}
		if out.Dropped() < 0 || !bytes.HasPrefix(all, out.Head) || !bytes.HasSuffix(all, out.Tail) {
			t.Fatalf("%q and %q of %q", out.Head, out.Tail, all)
		}
	})
}

func TestCaptureWithoutLimit(t *testing.T) {
	t.Parallel()
	c := sandbox.NewCapture(-1)
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() { c.Write(bytes.Repeat([]byte("x"), 1000)) })
	}
	wg.Wait()
	if out := c.Output(); len(out.Head) != 10_000 || out.Dropped() != 0 {
		t.Errorf("%d, %d", len(out.Head), out.Dropped())
	}
}
