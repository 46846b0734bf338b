package kv

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgraph-io/badger/v4"
)

const damagedRecords = 300

// wellKept makes a store of one table and one value log, closed in order.
func wellKept(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "store")
	s := Open(dir, Options{})
	var records []chat
	for i := range damagedRecords {
		c := chat{ID: fmt.Sprintf("%04d", i), Number: int64(i + 1), Title: "title"}
		if i%10 == 0 {
			c.Body = strings.Repeat(c.ID, valueThreshold)
		}
		records = append(records, c)
	}
	put(t, s, chatTable(), records...)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// readAll reads every record by its key. It fails the test if one comes back
// wrong, and tells how many are there.
func readAll(t *testing.T, dir string) (n int, err error) {
	t.Helper()
	s := Open(dir, Options{})
	defer func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}()
	table := chatTable()
	return n, s.View(t.Context(), func(tx *Tx) error {
		for i := range damagedRecords {
			c, err := table.Get(tx, Str(fmt.Sprintf("%04d", i)))
			if errors.Is(err, ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			if c.Number != int64(i+1) || strings.Trim(c.Body, c.ID) != "" {
				t.Fatalf("record %d came back as %+v", i, c)
			}
			n++
		}
		return nil
	})
}

func flip(t *testing.T, path string, at int) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	content[at] ^= 1 << rand.IntN(8)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func copyOf(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "store")
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

func one(t *testing.T, dir, ext string) string {
	t.Helper()
	found := files(t, dir, ext)
	if len(found) != 1 {
		t.Fatalf("%d files *%s, want one", len(found), ext)
	}
	return found[0]
}

// Damage of a table's index, which holds everything else together, is found by
// the open, and the error names the file. The file stays as it was.
func TestDamagedTableFailsTheOpen(t *testing.T) {
	t.Parallel()
	source := wellKept(t)
	size := fileSize(t, one(t, source, ".sst"))
	for name, damage := range map[string]func(t *testing.T, path string){
		"a bit of the last bytes": func(t *testing.T, path string) { flip(t, path, size-1-rand.IntN(200)) },
		"a bit of the index":      func(t *testing.T, path string) { flip(t, path, size-100-rand.IntN(1000)) },
		"cut short":               func(t *testing.T, path string) { truncate(t, path, size/2) },
		"cut to nothing":          func(t *testing.T, path string) { truncate(t, path, 0) },
		"zeros":                   func(t *testing.T, path string) { overwrite(t, path, make([]byte, size)) },
		"another file":            func(t *testing.T, path string) { overwrite(t, path, []byte(strings.Repeat("text ", 500))) },
		"gone": func(t *testing.T, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := copyOf(t, source)
			path := one(t, dir, ".sst")
			damage(t, path)
			before := files(t, dir, ".sst")
			for range 2 {
				_, err := readAll(t, dir)
				if got := mustBe[*CorruptError](t, err); got.File != path || got.Dir != dir {
					t.Errorf("got %v, the file is %s", err, path)
				}
				s := Open(dir, Options{})
				mustBe[*CorruptError](t, s.Update(t.Context(), func(*Tx) error { return nil }))
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
			if after := files(t, dir, ".sst"); len(after) != len(before) {
				t.Errorf("tables before %q, after %q", before, after)
			}
		})
	}
}

// A bit flipped anywhere never gives a wrong record, a panic or an endless
// wait. In a table's blocks it can hide a record from a read, which Verify and
// every merge find; in a value log it is always found.
func TestNoFlippedBitIsBelieved(t *testing.T) {
	t.Parallel()
	source := wellKept(t)
	for _, name := range []string{".sst", ".vlog", "MANIFEST", "KEYREGISTRY"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			size := fileSize(t, one(t, source, name))
			for range 15 {
				dir := copyOf(t, source)
				at := rand.IntN(size)
				flip(t, one(t, dir, name), at)
				n, err := readAll(t, dir)
				if err != nil {
					mustBe[*CorruptError](t, err)
				}
				found := Open(dir, Options{})
				verified := found.Verify(t.Context())
				if n < damagedRecords && err == nil && verified == nil {
					t.Errorf("bit of byte %d: %d of %d records, and nobody says so", at, n, damagedRecords)
				}
				if err := found.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// unmerged is a store that the next session merges. Where a session takes a second
// Badger merges by itself: then another one is made.
func unmerged(t *testing.T, table *Table[chat]) string {
	t.Helper()
	for range 20 {
		dir := filepath.Join(t.TempDir(), "store")
		for i := range mergeTables {
			s := Open(dir, Options{})
			var records []chat
			for j := range 100 {
				records = append(records, chat{ID: fmt.Sprintf("%d-%03d", i, j)})
			}
			put(t, s, table, records...)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if len(files(t, dir, ".sst")) == mergeTables {
			return dir
		}
	}
	t.Fatal("Badger merged each time")
	return ""
}

// A merge would carry damage on, or drop what it can't read, so it looks at
// everything first.
func TestMergeRefusesDamagedBlocks(t *testing.T) {
	t.Parallel()
	table := chatTable()
	dir := unmerged(t, table)
	path := files(t, dir, ".sst")[3]
	flip(t, path, 200) // in the first block
	s := openAt(t, dir, Options{})
	err := s.Update(t.Context(), func(tx *Tx) error { return table.Put(tx, &chat{ID: "x"}) })
	if got := mustBe[*CorruptError](t, err); got.File != path {
		t.Errorf("got %v, the file is %s", err, path)
	}
}

func TestMissingFiles(t *testing.T) {
	t.Parallel()
	source := wellKept(t)
	t.Run("manifest", func(t *testing.T) {
		t.Parallel()
		dir := copyOf(t, source)
		path := filepath.Join(dir, badger.ManifestFilename)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		_, err := readAll(t, dir)
		if got := mustBe[*CorruptError](t, err); got.File != path {
			t.Errorf("got %v", err)
		}
	})
	t.Run("value log", func(t *testing.T) {
		t.Parallel()
		dir := copyOf(t, source)
		if err := os.Remove(one(t, dir, ".vlog")); err != nil {
			t.Fatal(err)
		}
		_, err := readAll(t, dir)
		if got := mustBe[*CorruptError](t, err); !strings.Contains(got.File, `record ("0000") of table "chats"`) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("what can be made again", func(t *testing.T) {
		t.Parallel()
		dir := copyOf(t, source)
		for _, name := range []string{badger.KeyRegistryFileName, "DISCARD", sealName} {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		if n, err := readAll(t, dir); n != damagedRecords || err != nil {
			t.Errorf("%d records, %v", n, err)
		}
	})
}

// A killed process leaves empty logs where it was about to fill or to remove
// them. Badger can't open such a store.
func TestEmptyLogsOfACrash(t *testing.T) {
	t.Parallel()
	dir := copyOf(t, wellKept(t))
	for _, name := range []string{"00007.mem", "000009.vlog"} {
		overwrite(t, filepath.Join(dir, name), nil)
	}
	if err := os.Remove(filepath.Join(dir, sealName)); err != nil {
		t.Fatal(err)
	}
	if n, err := readAll(t, dir); n != damagedRecords || err != nil {
		t.Errorf("%d records, %v", n, err)
	}
}

// A manifest whose last entry is torn is the work of a crash where the store
// wasn't closed in order, and damage where it was.
func TestTornManifest(t *testing.T) {
	t.Parallel()
	source := wellKept(t)
	for name, sealed := range map[string]bool{"after a crash": false, "after a close": true} {
		dir := copyOf(t, source)
		path := filepath.Join(dir, badger.ManifestFilename)
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		overwrite(t, path, append(content, 0, 0, 0, 9, 1, 2, 3, 4, 5)) // a length, a sum, too few bytes
		if !sealed {
			if err := os.Remove(filepath.Join(dir, sealName)); err != nil {
				t.Fatal(err)
			}
		}
		n, err := readAll(t, dir)
		if sealed {
			if got := mustBe[*CorruptError](t, err); got.File != path {
				t.Errorf("%s: %v", name, err)
			}
		} else if n != damagedRecords || err != nil {
			t.Errorf("%s: %d records, %v", name, n, err)
		}
	}
}

// Badger's own reports of data that it leaves out fail the open.
func TestReportsOfDamage(t *testing.T) {
	t.Parallel()
	for line, is := range map[string]bool{
		"Ignoring table /x/000003.sst":                  true,
		"CHECKSUM_MISMATCH: Table checksum: 1":          true,
		"error flushing memtable to disk: no, retrying": false,
	} {
		j := &dbLog{}
		j.Infof("%s", line)
		j.Debugf("%s", line)
		j.Errorf("%s", line)
		if got := j.damaged() != ""; got != is || j.last() != line {
			t.Errorf("%q: damage %v, last %q", line, got, j.last())
		}
		j = &dbLog{}
		j.Warningf("%s", line)
		if got := j.damaged() != ""; got != is {
			t.Errorf("warning %q: damage %v", line, got)
		}
		sess := &session{store: Open("/x", Options{}), log: j}
		err := sess.whole()
		if (err != nil) != is {
			t.Errorf("%q: %v", line, err)
		}
		var corrupt *CorruptError
		if errors.As(err, &corrupt) && strings.HasSuffix(line, ".sst") && corrupt.File != "/x/000003.sst" {
			t.Errorf("%q names %q", line, corrupt.File)
		}
	}
}

func FuzzReadTable(f *testing.F) {
	f.Add([]byte{0, 0, 0, 1, 2, 0, 0, 0, 1})
	f.Fuzz(func(t *testing.T, in []byte) {
		path := filepath.Join(t.TempDir(), "000001.sst")
		overwrite(t, path, in)
		if _, err := checkTable(bytes.NewReader(in), int64(len(in)), true); err == nil {
			t.Error("random bytes are a table")
		}
		if _, err := readLog(path); err == nil && len(in) > logHeader {
			t.Log("random bytes are a value log") // unlikely, not wrong
		}
	})
}

func truncate(t *testing.T, path string, size int) {
	t.Helper()
	if err := os.Truncate(path, int64(size)); err != nil {
		t.Fatal(err)
	}
}

func overwrite(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func fileSize(t *testing.T, path string) int {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return int(info.Size())
}
