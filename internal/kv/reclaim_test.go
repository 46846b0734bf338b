package kv

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// fileSizes maps the names of a closed store's tables and value logs to their sizes.
func fileSizes(t *testing.T, dir string) map[string]int {
	t.Helper()
	out := map[string]int{}
	for _, ext := range []string{".sst", ".vlog"} {
		for _, path := range files(t, dir, ext) {
			out[filepath.Base(path)] = fileSize(t, path)
		}
	}
	return out
}

// fillBoth writes n small records, which tables hold, and n/20 large ones, which
// value logs hold, and then merges everything.
func fillBoth(t *testing.T, s *Store, n int) *RawTable {
	t.Helper()
	raw := NewRawTable("blobs")
	err := s.Batch(t.Context(), func(b *Batch) error {
		for i := range n {
			size := 300
			if i%20 == 0 {
				size = 4 << 10
			}
			if err := raw.Put(b, Int(int64(i)), bytes.Repeat([]byte{byte(i)}, size)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	return raw
}

func removeRange(t *testing.T, s *Store, raw *RawTable, from, to int) {
	t.Helper()
	err := s.Batch(t.Context(), func(b *Batch) error {
		for i := from; i < to; i++ {
			if err := raw.Delete(b, Int(int64(i))); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// reclaim closes the store before and after, and reports whether anything was
// rewritten.
func reclaim(t *testing.T, s *Store) (rewritten bool) {
	t.Helper()
	letGo(t, s)
	before := fileSizes(t, s.dir)
	if err := s.Reclaim(t.Context(), func() { rewritten = true }); err != nil {
		t.Fatal(err)
	}
	letGo(t, s)
	after := fileSizes(t, s.dir)
	if !rewritten && !s.opts.Hold && !maps.Equal(before, after) { // a held store is open and has logs
		t.Errorf("nothing was to be rewritten, but the files are %v and were %v", after, before)
	}
	return rewritten
}

// A store of any size with nothing to free keeps its files, however often it is
// reclaimed.
func TestReclaimRewritesNothingWhereNothingIsDead(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 2_000, 20_000} {
		s := newStore(t, Options{})
		raw := fillBoth(t, s, n)
		for range 2 {
			if reclaim(t, s) {
				t.Errorf("%d records: the store was rewritten", n)
			}
		}
		removeRange(t, s, raw, 0, n/50)
		if reclaim(t, s) {
			t.Errorf("%d records: the store was rewritten for a fiftieth of it", n)
		}
	}
}

func TestReclaimReturnsWhatIsDead(t *testing.T) {
	t.Parallel()
	for name, hold := range map[string]bool{"short sessions": false, "a held store": true} {
		s := newStore(t, Options{Hold: hold})
		const n = 20_000
		raw := fillBoth(t, s, n)
		before := diskUse(t, s.dir)
		removeRange(t, s, raw, 0, n*3/4)
		if !reclaim(t, s) {
			t.Errorf("%s: nothing was rewritten, with three quarters dead", name)
		}
		if after := diskUse(t, s.dir); after > before/2 {
			t.Errorf("%s: %d KB of %d are left, with a quarter alive", name, after>>10, before>>10)
		}
		if reclaim(t, s) {
			t.Errorf("%s: the second time it was rewritten again", name)
		}
		if err := s.Verify(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		view(t, s, func(tx *Tx) error {
			left := 0
			for item, err := range raw.Scan(tx, Range{}) {
				if err != nil {
					return err
				}
				if i := n*3/4 + left; !bytes.Equal(item.Key, Int(int64(i))) || item.Value[0] != byte(i) {
					return fmt.Errorf("record %d is another", i)
				}
				left++
			}
			if left != n/4 {
				t.Errorf("%s: %d records are left, not %d", name, left, n/4)
			}
			return nil
		})
	}
}

// Large values alone are worth a rewriting of their log, and of no table.
func TestReclaimOfDeadValuesKeepsTables(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	const n = 20_000
	raw := fillBoth(t, s, n)
	err := s.Batch(t.Context(), func(b *Batch) error {
		for i := 0; i < n*3/4; i += 20 {
			if err := raw.Delete(b, Int(int64(i))); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	letGo(t, s)
	tables, before := files(t, s.dir, ".sst"), diskUse(t, s.dir)
	if !reclaim(t, s) {
		t.Fatal("nothing was rewritten, with three quarters of a log dead")
	}
	after := files(t, s.dir, ".sst")
	for _, path := range tables {
		if !slices.Contains(after, path) {
			t.Errorf("%s was rewritten", filepath.Base(path))
		}
	}
	if use := diskUse(t, s.dir); use > before-2<<20 {
		t.Errorf("%d KB of %d are left", use>>10, before>>10)
	}
	if reclaim(t, s) {
		t.Error("the second time it was rewritten again")
	}
}

// The sample of a log counts bytes: one large dead value outweighs many small ones.
func TestDeadShareOfALogIsOfItsBytes(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	raw := NewRawTable("blobs")
	update(t, s, func(tx *Tx) error {
		for i := range 100 {
			if err := raw.Put(tx, Int(int64(i)), make([]byte, 2<<10)); err != nil {
				return err
			}
		}
		return raw.Put(tx, Int(1000), make([]byte, 1<<20))
	})
	letGo(t, s)
	path := one(t, s.dir, ".vlog")
	removeRange(t, s, raw, 0, 90)
	reclaim(t, s)
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the log was rewritten for 180 of 1224 KB: %v", err)
	}
	removeRange(t, s, raw, 1000, 1001)
	reclaim(t, s)
	if _, err := os.Stat(path); err == nil {
		t.Error("the log was not rewritten for 1204 of 1224 KB")
	}
}

// The heads that the sample reads are those of the whole reading.
func TestHeadsOfALog(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	raw := NewRawTable("blobs")
	update(t, s, func(tx *Tx) error {
		for i, key := range []Key{Int(1), Str("a").Int(2), Str(string(bytes.Repeat([]byte("k"), 400)))} {
			if err := raw.Put(tx, key, make([]byte, 1500<<i)); err != nil {
				return err
			}
		}
		return nil
	})
	letGo(t, s)
	path := one(t, s.dir, ".vlog")
	want, err := readLog(path)
	if err != nil || len(want) != 3 {
		t.Fatalf("%d entries, %v", len(want), err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := int64(logHeader)
	for i, w := range want {
		got, err := readHead(bytes.NewReader(content), at)
		if err != nil || !bytes.Equal(got.key, w.key) || got.version != w.version || got.length != w.length || got.size != w.size {
			t.Errorf("entry %d: %+v, %v; want %+v", i, got, err, w)
		}
		at += got.length
	}
	if at != int64(len(content)) {
		t.Errorf("the heads end at %d of %d", at, len(content))
	}
}

func FuzzReadHead(f *testing.F) {
	f.Add([]byte{2, 0, 9, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 7, 0, 0, 0, 0})
	f.Add([]byte{2, 0, 0xff, 0xff, 0xff, 0xff, 0x0f, 1, 0})
	f.Fuzz(func(t *testing.T, in []byte) {
		e, err := readHead(bytes.NewReader(in), 0)
		if err == nil && (e.length < 8 || len(e.key) > len(in)) {
			t.Errorf("%d bytes gave an entry of %d bytes with a key of %d", len(in), e.length, len(e.key))
		}
	})
}
