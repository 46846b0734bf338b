package kv

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/fettle-cli/fettle/internal/needtest"
)

// holeOf is where a file's first hole begins.
func holeOf(t *testing.T, path string) int64 {
	f, err := os.Open(path)
	if err != nil {
		t.Error(err)
		return 0
	}
	defer f.Close()
	at, err := f.Seek(0, unix.SEEK_HOLE)
	if err != nil {
		t.Error(err)
	}
	return at
}

// A log has blocks in front of its end, so that most syncs find none that are new: a
// few where a session may end soon, more as it goes on.
func TestALogHasBlocksBeforeItNeedsThem(t *testing.T) {
	t.Parallel()
	for name, hold := range map[string]bool{"a short session": false, "one that stays": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStore(t, Options{Hold: hold})
			var mu sync.Mutex
			holes := map[string]int64{} // by kind, as of the last sync
			s.synced = func(path string) {
				mu.Lock()
				defer mu.Unlock()
				holes[filepath.Ext(path)] = holeOf(t, path)
			}
			raw := NewRawTable("raw")
			const size = 5000
			put := func(i int64) {
				if err := s.UpdateSync(t.Context(), func(tx *Tx) error {
					return raw.Put(tx, Int(i), bytes.Repeat([]byte("v"), size))
				}); err != nil {
					t.Fatal(err)
				}
			}
			put(0)
			least, most, n := int64(firstAhead), int64(2*firstAhead), int64(1)
			if hold {
				least, most, n = holdAhead, holdAhead+2*firstAhead, 1000
			}
			for kind, hole := range holes {
				if hole < least || hole > most {
					t.Errorf("a %s has blocks up to %d", kind, hole)
				}
			}
			if len(holes) != 2 {
				t.Errorf("synced were %v", holes)
			}
			for i := int64(1); i < n; i++ {
				put(i)
				s.sess.preparing.Wait() // what is made beside
				logs, err := s.logs(".vlog")
				if err != nil || len(logs[0]) != 1 {
					t.Fatal(logs, err)
				}
				hole := holeOf(t, logs[0][0])
				if hole < size*(i+1)+holdAhead/2-2*firstAhead || hole > size*(i+1)+2*holdAhead {
					t.Fatalf("the log of %d values has blocks up to %d", i+1, hole)
				}
			}
			if err := s.View(t.Context(), func(tx *Tx) error {
				for i := range n {
					if v, err := raw.Get(tx, Int(i)); err != nil || len(v) != size || len(bytes.Trim(v, "v")) > 0 {
						t.Errorf("value %d: %d bytes, %v", i, len(v), err)
					}
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// Whoever writes where blocks are made loses nothing, and a file that is cut off at
// this moment is an error, not the end of the program.
func TestMakingBlocksHarmsNobody(t *testing.T) {
	t.Parallel()
	const size = 1 << 20
	f, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	fd := int(f.Fd())
	if err := populate(fd, 0, size); err != nil {
		needtest.Lacking(t, "a kernel that makes a file's blocks ahead: "+err.Error())
	}
	m, err := unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	want := make([]byte, size)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for round := range 20 {
			for i := range want {
				want[i] = byte(i*7 + round)
			}
			copy(m, want)
		}
	}()
	for range 50 {
		if err := populate(fd, 0, size); err != nil {
			t.Error(err)
		}
	}
	<-done
	if !bytes.Equal(m, want) {
		t.Error("bytes were lost")
	}
	if err := unix.Munmap(m); err != nil {
		t.Fatal(err)
	}
	if err := populate(fd, size-4096, 8192); err == nil {
		t.Error("there are no blocks behind the end")
	}
	cut := make(chan struct{})
	go func() {
		defer close(cut)
		for i := range 200 {
			if err := f.Truncate(int64(i%2) * size); err != nil {
				t.Error(err)
			}
		}
	}()
	for range 256 {
		_ = populate(fd, 0, size) // a failure is what it may do
	}
	<-cut
}
