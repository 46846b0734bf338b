package kv

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// Sessions that write a little, some of it in value logs, don't pile up files:
// Badger alone leaves a table and a value log for each.
func TestShortSessionsLeaveFewFiles(t *testing.T) {
	t.Parallel()
	sessions := several(120, mergeLogs+8)
	dir := filepath.Join(t.TempDir(), "store")
	table := chatTable()
	raw := NewRawTable("segments")
	mostTables, mostLogs := 0, 0
	for i := range sessions {
		s := Open(dir, Options{})
		update(t, s, func(tx *Tx) error {
			segment := bytes.Repeat([]byte{byte(i)}, 3<<10)
			return errors.Join(
				table.Put(tx, &chat{ID: fmt.Sprintf("%04d", i), Number: int64(i + 1), Title: "t"}),
				table.Put(tx, &chat{ID: "last", Title: fmt.Sprint(i)}),
				raw.Put(tx, Str(fmt.Sprintf("%04d", i)), segment),
				raw.Put(tx, Str("last"), segment),
				raw.Put(tx, Str(fmt.Sprintf("brief %04d", i)), segment, WithTTL(time.Millisecond)))
		})
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		mostTables = max(mostTables, len(files(t, dir, ".sst")))
		mostLogs = max(mostLogs, len(files(t, dir, ".vlog")))
	}
	t.Logf("%d sessions: at most %d tables and %d value logs, %d and %d at the end", sessions,
		mostTables, mostLogs, len(files(t, dir, ".sst")), len(files(t, dir, ".vlog")))
	if mostTables > mergeTables+4 || mostLogs > mergeLogs+2 {
		t.Errorf("at most %d tables and %d value logs", mostTables, mostLogs)
	}
	s := openAt(t, dir, Options{})
	if err := s.Verify(t.Context()); err != nil {
		t.Error(err)
	}
	view(t, s, func(tx *Tx) error {
		for i := range sessions {
			got, err := raw.Get(tx, Str(fmt.Sprintf("%04d", i)))
			if err != nil || !bytes.Equal(got, bytes.Repeat([]byte{byte(i)}, 3<<10)) {
				t.Errorf("segment %d: %d bytes, %v", i, len(got), err)
			}
		}
		got, err := raw.Get(tx, Str("last"))
		if err != nil || got[0] != byte(sessions-1) {
			t.Errorf("the last value is an old one: %v", err)
		}
		checkIndexes(t, tx, table)
		return nil
	})
}

// What stands between the newest tables and the last level is pushed down once
// it is large, or every merge would rewrite it.
func TestMiddleLevelsStaySmall(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	raw := NewRawTable("small")
	write := func(from, to int) {
		err := s.Batch(t.Context(), func(b *Batch) error {
			for i := from; i < to; i++ {
				// Keys that come all over the table, as ids of chats do.
				if err := raw.Put(b, Int(int64(i)*7919%50021), bytes.Repeat([]byte{byte(i)}, 900)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	const first, step, rounds = 13_000, 1_400, 12
	write(0, first)
	if err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	var most, last int64
	for i := range rounds {
		write(first+i*step, first+(i+1)*step)
		letGo(t, s)
		p, err := s.inspect(reading)
		if err != nil {
			t.Fatal(err)
		}
		if last > middleLimit && p.middle > last/2 {
			t.Errorf("%d bytes in the middle levels, and after the next session %d", last, p.middle)
		}
		most, last = max(most, p.middle), p.middle
	}
	// Where sessions take a second, Badger's own compactors may be faster.
	t.Logf("%d MB written in %d sessions: at most %d MB in the middle", rounds*step*900>>20, rounds, most>>20)
}

func TestCompactGivesRoomBack(t *testing.T) {
	t.Parallel()
	for _, hold := range []bool{false, true} {
		s := newStore(t, Options{Hold: hold})
		raw := NewRawTable("blobs")
		write := func(keep bool) {
			t.Helper()
			for round := range 3 {
				err := s.Batch(t.Context(), func(b *Batch) error {
					for i := range 20 {
						key := Int(int64(i))
						if keep {
							key = key.Str("kept")
						}
						if err := raw.Put(b, key, bytes.Repeat([]byte{byte(round)}, 100<<10)); err != nil {
							return err
						}
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				letGo(t, s)
			}
		}
		write(false)
		write(true)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		before := diskUse(t, s.dir)
		s = openAt(t, s.dir, Options{Hold: hold})
		update(t, s, func(tx *Tx) error {
			for i := range 20 {
				if err := raw.Delete(tx, Int(int64(i))); err != nil {
					return err
				}
			}
			return nil
		})
		for range 2 {
			if err := s.Compact(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Verify(t.Context()); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		after := diskUse(t, s.dir)
		if after > before/3 {
			t.Errorf("hold %v: %d KB before, %d KB after; a sixth is alive", hold, before>>10, after>>10)
		}
		again := openAt(t, s.dir, Options{})
		view(t, again, func(tx *Tx) error {
			n := 0
			for item, err := range raw.Scan(tx, Range{}) {
				if err != nil || item.Value[0] != 2 {
					t.Errorf("%s: %v", item.Key, err)
				}
				n++
			}
			if n != 20 {
				t.Errorf("%d blobs, want 20", n)
			}
			return nil
		})
	}
}

// diskUse sums the lengths of a closed store's files.
func diskUse(t *testing.T, dir string) (n int64) {
	t.Helper()
	for _, path := range files(t, dir, "") {
		if filepath.Base(path) != "DISCARD" { // sparse
			n += int64(fileSize(t, path))
		}
	}
	return n
}

// A value log that can't be read to its end is left alone.
func TestMergeSparesDamagedLogs(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	raw := NewRawTable("blobs")
	for i := range mergeLogs + 1 {
		update(t, s, func(tx *Tx) error { return raw.Put(tx, Int(int64(i)), bytes.Repeat([]byte{byte(i)}, 2<<10)) })
		letGo(t, s)
	}
	logs := files(t, s.dir, ".vlog")
	damaged := logs[len(logs)/2]
	flip(t, damaged, fileSize(t, damaged)/2)
	put(t, s, chatTable(), chat{ID: "a"})
	letGo(t, s)
	if _, err := os.Stat(damaged); err != nil {
		t.Errorf("the damaged log: %v", err)
	}
	if left := files(t, s.dir, ".vlog"); len(left) > 3 {
		t.Errorf("%d logs were not merged", len(left))
	}
	bad := 0
	view(t, s, func(tx *Tx) error {
		for i := range mergeLogs + 1 {
			_, err := raw.Get(tx, Int(int64(i)))
			var corrupt *CorruptError
			if errors.As(err, &corrupt) {
				bad++
			} else if err != nil {
				return err
			}
		}
		return nil
	})
	if bad != 1 {
		t.Errorf("%d values are damaged, want 1", bad)
	}
	mustBe[*CorruptError](t, s.Verify(t.Context()))
}

func TestWhichLogsAreMerged(t *testing.T) {
	t.Parallel()
	sizes := func(n int, size int64) (logs []valueLog) {
		for i := range n {
			logs = append(logs, valueLog{path: fmt.Sprint(i), size: size})
		}
		return logs
	}
	for name, c := range map[string]struct {
		logs []valueLog
		want int
	}{
		"few":                    {sizes(mergeLogs, 100), 0},
		"many small":             {sizes(mergeLogs+1, 100), mergeLogs + 1},
		"many that are not":      {sizes(mergeLogs+20, mergeBytes/4), 4},
		"many full":              {sizes(3*mergeLogs, fullLog), 0},
		"two at least":           {sizes(3*mergeLogs, fullLog/2), 2},
		"as many as bytes allow": {append(sizes(10, 1000), sizes(3*mergeLogs, 2*mergeBytes)...), 10},
	} {
		got := plan{logs: c.logs}.tooMany()
		if len(got) != c.want {
			t.Errorf("%s: %d of %d logs, want %d", name, len(got), len(c.logs), c.want)
		}
	}
}

func TestReadLog(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	raw := NewRawTable("blobs")
	update(t, s, func(tx *Tx) error {
		for i := range 5 {
			if err := raw.Put(tx, Int(int64(i)), make([]byte, 2000+i)); err != nil {
				return err
			}
		}
		return nil
	})
	letGo(t, s)
	path := one(t, s.dir, ".vlog")
	entries, err := readLog(path)
	if err != nil || len(entries) != 5 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	seen := map[string]bool{}
	for _, e := range entries {
		seen[describe(e.key)] = true
	}
	for i := range 5 {
		if want := fmt.Sprintf(`record (%d) of table "blobs"`, i); !seen[want] {
			t.Errorf("%s isn't among %v", want, seen)
		}
	}
	size := fileSize(t, path)
	for _, cut := range []int{size - 1, size - 5, size / 2, logHeader + 1} {
		truncate(t, path, cut)
		if _, err := readLog(path); !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, errLog) {
			t.Errorf("cut to %d: %v", cut, err)
		}
	}
	overwrite(t, path, []byte(strings.Repeat("x", 1000)))
	if _, err := readLog(path); !errors.Is(err, errLog) {
		t.Errorf("text: %v", err)
	}
}

func FuzzReadLog(f *testing.F) {
	f.Add([]byte{2, 0, 9, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 7, 0, 0, 0, 0})
	f.Add([]byte{2, 0, 0xff, 0xff, 0xff, 0xff, 0x0f, 1, 0})
	f.Fuzz(func(t *testing.T, in []byte) {
		path := filepath.Join(t.TempDir(), "000001.vlog")
		overwrite(t, path, append(make([]byte, logHeader), in...))
		entries, err := readLog(path)
		if err != nil {
			return
		}
		if len(entries) > len(in) {
			t.Errorf("%d entries in %d bytes", len(entries), len(in))
		}
	})
}

// A merge checks for room right before it makes a file, at a line that Badger logs
// then.
func TestMergeLooksForRoom(t *testing.T) {
	t.Parallel()
	table := chatTable()
	dir := unmerged(t, table)
	s := openAt(t, dir, Options{})
	var looks atomic.Int32
	s.merging = func() { looks.Add(1) }
	put(t, s, table, chat{ID: "x"})
	letGo(t, s)
	if left := len(files(t, dir, ".sst")); left > 2 || looks.Load() == 0 {
		t.Errorf("%d tables are left, the merge looked %d times", left, looks.Load())
	}
}

// A push rewrites the last level, so it waits for more in a larger store: what a byte
// costs on its way to the last level is bounded for every size.
func TestPushesAreRareInALargeStore(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	pushes := func(middle, last int64) bool {
		p := plan{tables: []tableSum{{id: 1, level: lastLevel - 1, size: middle}, {id: 2, level: lastLevel, size: last}}}
		err := s.planTables(&p, writing)
		if err != nil { // it reads the tables of a push, which are not there
			mustBe[*CorruptError](t, err)
		}
		return p.push
	}
	for last := int64(1 << 20); last <= 1<<40; last *= 2 {
		least := max(middleLimit, last/middleShare)
		if pushes(least, last) || !pushes(least+1, last) {
			t.Errorf("a store with %d MB in the last level is not pushed above %d MB", last>>20, least>>20)
		}
	}
	for middle := int64(0); middle <= 1<<40; middle += 1 + middle/2 {
		if n := mergeAfter(middle, 1<<40); n < mergeTables || n > level0Stall/2+mergeTables {
			t.Errorf("%d MB in the middle levels: %d tables until a merge, and writes stop at %d", middle>>20, n, level0Stall)
		}
	}
}
