package kv

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/dgraph-io/badger/v4"
)

// mendUpdates is how many Updates the store of these tests has.
const mendUpdates = 5

// cutStore makes the files of a store as they are in the middle of a session: nothing of
// it was synced, and the system was started anew since. Update i has put a large value
// under i and a small one under -i.
func cutStore(t *testing.T) (dir string) {
	t.Helper()
	s := newStore(t, Options{Hold: true})
	s.small, s.memtable = 1<<20, 64<<10
	s.boot = func() string { return "the run before" }
	for i := range int64(mendUpdates) {
		mendPut(t, s, i+1)
	}
	return runningCopy(t, s.dir)
}

func mendPut(t *testing.T, s *Store, i int64) {
	t.Helper()
	raw := NewRawTable("raw")
	update(t, s, func(tx *Tx) error {
		return errors.Join(
			raw.Put(tx, Int(-i), []byte("small")),
			raw.Put(tx, Int(i), mendValue(i)),
		)
	})
}

func mendValue(i int64) []byte { return bytes.Repeat([]byte{byte(i)}, 3000) }

// runningCopy copies the folder of a store that is open, without Badger's lock.
func runningCopy(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "store")
	if err := os.Mkdir(to, 0o700); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() == "LOCK" {
			continue
		}
		raw, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		overwrite(t, filepath.Join(to, e.Name()), raw)
	}
	return to
}

// mendHas tells how many Updates a store has, and fails where that is no prefix, where
// something isn't whole, or where nothing can be written.
func mendHas(t *testing.T, dir string) (n int64) {
	t.Helper()
	s := Open(dir, Options{})
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	raw := NewRawTable("raw")
	view(t, s, func(tx *Tx) error {
		for i := int64(1); i <= mendUpdates; i++ {
			val, err := raw.Get(tx, Int(i))
			has := err == nil && bytes.Equal(val, mendValue(i))
			small, serr := raw.Has(tx, Int(-i))
			switch {
			case has && small && serr == nil && i == n+1:
				n = i
			case has || small || !errors.Is(err, ErrNotFound):
				t.Errorf("of Update %d, with %d before it: large %v, %v, small %v, %v", i, n, has, err, small, serr)
			}
		}
		return nil
	})
	if err := s.Verify(t.Context()); err != nil {
		t.Error(err)
	}
	mendPut(t, s, 99)
	view(t, s, func(tx *Tx) error {
		if val, err := raw.Get(tx, Int(99)); err != nil || !bytes.Equal(val, mendValue(99)) {
			t.Errorf("what was written then: %v", err)
		}
		return nil
	})
	return n
}

// mendPointers lists what the log of a memtable points to.
func mendPointers(t *testing.T, path string) (list []pointer) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for p, err := range pointers(f) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, *p)
	}
	return list
}

// mendLoses overwrites a part of the value of Update i.
func mendLoses(t *testing.T, dir string, i int, from, n int64) {
	t.Helper()
	p := mendPointers(t, one(t, dir, ".mem"))[i-1]
	f, err := os.OpenFile(one(t, dir, ".vlog"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt(make([]byte, n), p.at+from)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// split divides the log of the one memtable behind each of its Updates but the last.
func split(t *testing.T, dir string) {
	t.Helper()
	path := one(t, dir, ".mem")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	list := mendPointers(t, path)
	for i, p := range list {
		from, to := p.begin, int64(len(raw))
		if i == 0 {
			from = logHeader
		}
		if i+1 < len(list) {
			to = list[i+1].begin
		}
		name := "0000" + strconv.Itoa(i+1) + ".mem"
		overwrite(t, filepath.Join(dir, name), slices.Concat(raw[:logHeader], raw[from:to]))
	}
}

// Whatever a power cut takes of the values, what is left is the store as it was before
// the first Update that isn't whole.
func TestAPowerCutLeavesAPrefix(t *testing.T) {
	t.Parallel()
	const entry = 3000
	for name, test := range map[string]struct {
		lose func(t *testing.T, dir string)
		want int64
	}{
		"nothing":                {func(*testing.T, string) {}, 5},
		"a value":                {func(t *testing.T, dir string) { mendLoses(t, dir, 5, 0, entry) }, 4},
		"a value's end":          {func(t *testing.T, dir string) { mendLoses(t, dir, 5, 2000, 500) }, 4},
		"one with two behind it": {func(t *testing.T, dir string) { mendLoses(t, dir, 3, 0, entry) }, 2},
		"the first value":        {func(t *testing.T, dir string) { mendLoses(t, dir, 1, 0, entry) }, 0},
		"all from the second on": {func(t *testing.T, dir string) {
			truncate(t, one(t, dir, ".vlog"), int(mendPointers(t, one(t, dir, ".mem"))[1].at)+10)
		}, 1},
		"the value log": {func(t *testing.T, dir string) {
			if err := os.Remove(one(t, dir, ".vlog")); err != nil {
				t.Fatal(err)
			}
		}, 0},
		"what was in the value log": {func(t *testing.T, dir string) { overwrite(t, one(t, dir, ".vlog"), make([]byte, 2<<20)) }, 0},
		"the value log's size":      {func(t *testing.T, dir string) { overwrite(t, one(t, dir, ".vlog"), nil) }, 0},
		"another value's place": {func(t *testing.T, dir string) {
			path := one(t, dir, ".vlog")
			list := mendPointers(t, one(t, dir, ".mem"))
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			copy(raw[list[3].at:], raw[list[0].at:list[0].at+list[0].size])
			overwrite(t, path, raw)
		}, 3},
		"what a failed Update has written": {func(t *testing.T, dir string) {
			// Its value is the end of the value log for Badger, whatever is behind it.
			mendLoses(t, dir, 2, 0, entry)
			path := one(t, dir, ".mem")
			list := mendPointers(t, path)
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			overwrite(t, path, slices.Concat(raw[:list[1].begin], raw[list[2].begin:]))
		}, 1},
		"the end of the memtable's log": {func(t *testing.T, dir string) {
			truncate(t, one(t, dir, ".mem"), int(mendPointers(t, one(t, dir, ".mem"))[4].begin)+70)
		}, 4},
		"nothing of several memtables": {split, 5},
		"a value, with memtables behind": {func(t *testing.T, dir string) {
			mendLoses(t, dir, 3, 0, entry)
			split(t, dir)
		}, 2},
		"the first value, with memtables behind": {func(t *testing.T, dir string) {
			mendLoses(t, dir, 1, 0, entry)
			split(t, dir)
		}, 0},
		"the note of a removed seal": {func(t *testing.T, dir string) {
			mendLoses(t, dir, 4, 0, entry)
			size := fileSize(t, filepath.Join(dir, badger.ManifestFilename))
			overwrite(t, filepath.Join(dir, sealName), strconv.AppendInt(nil, int64(size), 10))
		}, 3},
		"the note of the run": {func(t *testing.T, dir string) {
			mendLoses(t, dir, 4, 0, entry)
			_ = os.Remove(filepath.Join(dir, bootName)) // not every system has one
		}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := cutStore(t)
			test.lose(t, dir)
			if got := mendHas(t, dir); got != test.want {
				t.Errorf("%d Updates are left, want %d", got, test.want)
			}
			if got := mendHas(t, dir); got != test.want {
				t.Errorf("the next time there are %d", got)
			}
		})
	}
}

// What cuts the logs may be killed at any of its steps: the next opening does the rest.
func TestMendingIsDoneAgainAfterACrash(t *testing.T) {
	t.Parallel()
	dir := cutStore(t)
	mendLoses(t, dir, 2, 0, 3000)
	split(t, dir)
	s := Open(dir, Options{})
	var left []string
	s.mended = func(string) { left = append(left, runningCopy(t, dir)) }
	update(t, s, func(*Tx) error { return nil })
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if len(left) != 4 { // three logs behind the one that is cut
		t.Fatalf("%d steps", len(left))
	}
	for i, dir := range left {
		if got := mendHas(t, dir); got != 1 {
			t.Errorf("killed at step %d: %d Updates", i+1, got)
		}
	}
}

// A kill -9 loses no page: then nothing is looked at, and what can't be read is damage.
func TestLogsAreLookedAtAfterAPowerCutAlone(t *testing.T) {
	t.Parallel()
	dir := cutStore(t)
	mendLoses(t, dir, 2, 0, 3000)
	s := openAt(t, dir, Options{})
	s.boot = func() string { return "the run before" }
	s.mended = func(path string) { t.Errorf("%s was cut", path) }
	raw := NewRawTable("raw")
	view(t, s, func(tx *Tx) error {
		if ok, err := raw.Has(tx, Int(-mendUpdates)); !ok || err != nil {
			t.Errorf("the last Update: %v, %v", ok, err)
		}
		_, err := raw.Get(tx, Int(2))
		mustBe[*CorruptError](t, err)
		return nil
	})
}

// What a killed process has left isn't on the disk yet. It is, before more is written.
func TestWhatAKilledProcessHasLeftIsSynced(t *testing.T) {
	t.Parallel()
	dir := cutStore(t)
	want := []string{one(t, dir, ".mem"), one(t, dir, ".vlog")}
	s := openAt(t, dir, Options{})
	s.boot = func() string { return "the run before" }
	var synced []string
	s.synced = func(path string) { synced = append(synced, path) }
	view(t, s, func(*Tx) error { return nil })
	if !slices.Equal(synced, want) {
		t.Errorf("synced were %q, want %q", synced, want)
	}
	letGo(t, s)
	synced = nil
	update(t, s, func(*Tx) error { return nil })
	if len(synced) > 0 {
		t.Errorf("synced were %q of a store that was closed in order", synced)
	}
}

// The run of the system is noted by whoever writes, also to a store that was closed in
// order, and where it isn't known there is no note.
func TestTheRunIsNoted(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	note := func() string {
		text, err := os.ReadFile(s.file(bootName))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
		return string(text)
	}
	id := "first"
	s.boot = func() string { return id }
	for _, next := range []string{"first", "second", "", "second"} {
		id = next
		want := next
		if next == "" {
			want = "second" // an old one is not taken for this one
		}
		mendPut(t, s, 1)
		if got := note(); got != want {
			t.Errorf("in %q the note is %q", next, got)
		}
		if next == "" && s.sameBoot() {
			t.Error("it is taken for this run")
		}
		letGo(t, s)
	}
}

// What the log of a memtable is taken for never hangs, panics, or needs more memory than
// the file has.
func FuzzPointers(f *testing.F) {
	entry := func(meta byte, key, value string) []byte { return logEntryBytes(meta, []byte(key), []byte(value)) }
	at := make([]byte, pointerSize)
	f.Add(slices.Concat(entry(bitTxn|bitValuePointer, "key\x00\x00\x00\x00\x00\x00\x00\x01", string(at)), entry(bitTxnEnd, "end\x00\x00\x00\x00\x00\x00\x00\x01", "1")))
	f.Add(entry(bitValuePointer, "key-without-a-txn", string(at)))
	f.Add(entry(bitTxn|bitValuePointer, "another key", "too short"))
	f.Add([]byte{2, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, in []byte) {
		last := int64(0)
		for p, err := range pointers(bytes.NewReader(slices.Concat(make([]byte, logHeader), in))) {
			if err != nil {
				t.Fatal(err)
			}
			if p.begin < last || p.begin < logHeader || p.begin >= int64(logHeader+len(in)) || len(p.key) > len(in) {
				t.Fatalf("an Update at %d behind one at %d of %d bytes", p.begin, last, len(in))
			}
			last = p.begin
		}
		path := filepath.Join(t.TempDir(), "000001.vlog")
		overwrite(t, path, slices.Concat(make([]byte, logHeader), in))
		if end, err := wholeUpTo(path); err != nil || end > int64(logHeader+len(in)) {
			t.Fatalf("whole up to %d: %v", end, err)
		}
	})
}

// logEntryBytes makes an entry of a log.
func logEntryBytes(meta byte, key, value []byte) []byte {
	out := binary.AppendUvarint([]byte{meta, 0}, uint64(len(key)))
	out = binary.AppendUvarint(out, uint64(len(value)))
	out = slices.Concat(append(out, 0), key, value)
	return binary.BigEndian.AppendUint32(out, crc32.Checksum(out, crc32.MakeTable(crc32.Castagnoli)))
}
