package journal

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// Writers make and finish journals, three folders fold and sweep at once, and
// everybody pauses at every step that another could come between. No event is
// lost, none is folded twice, and nothing is left behind.
func TestFoldersAndWritersAtOnce(t *testing.T) {
	t.Parallel()
	const writers, perWriter, events, folders = 4, 25, 5, 3
	d := Open(filepath.Join(t.TempDir(), "journal"))
	d.pause = func(string) {
		if n := rand.IntN(4); n > 0 {
			time.Sleep(time.Duration(n) * 200 * time.Microsecond)
		}
	}
	var mu sync.Mutex
	folded := map[string]int{}
	fold := func() {
		turns, err := d.Turns()
		if err != nil {
			t.Error(err)
		}
		for _, turn := range turns {
			foldOne(t, d, turn, events, func() {
				mu.Lock()
				defer mu.Unlock()
				folded[turn]++
			})
		}
		if err := d.Sweep(t.Context()); err != nil {
			t.Error(err)
		}
	}
	var writing, folding sync.WaitGroup
	stop := make(chan struct{})
	for range folders {
		folding.Go(func() {
			for {
				fold()
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	for i := range writers {
		writing.Go(func() {
			for k := range perWriter {
				w := create(t, d, fmt.Sprintf("T%d-%d", i, k), events)
				if err := w.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writing.Wait()
	close(stop)
	folding.Wait()
	fold()
	if len(folded) != writers*perWriter {
		t.Errorf("%d of %d journals were folded", len(folded), writers*perWriter)
	}
	for turn, n := range folded {
		if n != 1 {
			t.Errorf("%s was folded %d times", turn, n)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(d.path, "*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func foldOne(t *testing.T, d *Dir, turn string, events int, count func()) {
	c, ok, err := d.Claim(t.Context(), turn)
	if err != nil {
		t.Error(err)
	}
	if !ok {
		return
	}
	r, err := c.Read()
	if err != nil {
		t.Error(err)
		c.Release()
		return
	}
	defer r.Close()
	if n, err := seqs(r); n != events || err != nil {
		t.Errorf("%s has %d events, %v", turn, n, err)
	}
	count()
	if err := c.Remove(); err != nil {
		t.Error(err)
	}
}
