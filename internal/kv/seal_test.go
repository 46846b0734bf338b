package kv

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"
)

// meter counts what openings read of tables.
type meter struct {
	mu           sync.Mutex
	opens, reads int
	bytes        int64
}

type metered struct {
	tableFile
	to *meter
}

func (m metered) ReadAt(p []byte, at int64) (int, error) {
	m.to.mu.Lock()
	m.to.reads++
	m.to.bytes += int64(len(p))
	m.to.mu.Unlock()
	return m.tableFile.ReadAt(p, at)
}

// metering has a Store's openings counted.
func metering(s *Store) *meter {
	m := new(meter)
	s.reads = func(f tableFile) tableFile {
		m.mu.Lock()
		m.opens++
		m.mu.Unlock()
		return metered{f, m}
	}
	return m
}

// sealedStore makes a store of several tables, each with an index of many blocks.
func sealedStore(t *testing.T, records int) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "store")
	s := Open(dir, Options{Hold: true})
	s.memtable = 1 << 20
	table := chatTable()
	for range 4 {
		err := s.Batch(t.Context(), func(b *Batch) error {
			for range records / 4 {
				c := chat{ID: fmt.Sprintf("%016x", rand.Uint64()), Title: "title", Body: strings.Repeat("b", 300)}
				if err := table.Put(b, &c); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// opened opens and closes a store for reading and returns what of its tables was read.
func opened(t *testing.T, dir string) *meter {
	t.Helper()
	s := openAt(t, dir, Options{})
	m := metering(s)
	view(t, s, func(*Tx) error { return nil })
	letGo(t, s)
	return m
}

// An opening reads a block and a footer of each table, and no index: what Badger reads
// anyway is not read twice. This holds for large tables as for small ones.
func TestOpeningReadsNoIndexOfASealedStore(t *testing.T) {
	t.Parallel()
	for _, records := range []int{400, several(12000, 6000)} {
		dir := sealedStore(t, records)
		tables := len(files(t, dir, ".sst"))
		m := opened(t, dir)
		const atMost = 8 << 10 // a block of 4 KB and what its last entry adds, and the footer
		if m.opens != tables || m.reads != 2*tables || m.bytes > int64(tables*atMost) {
			t.Errorf("%d records in %d tables: %d opens, %d reads, %d bytes", records, tables, m.opens, m.reads, m.bytes)
		}
		if err := os.Remove(filepath.Join(dir, sealName)); err != nil {
			t.Fatal(err)
		}
		if all := opened(t, dir); all.reads <= m.reads || records > 400 && all.bytes <= 2*m.bytes {
			t.Errorf("without a seal %d reads of %d bytes: the indexes are not checked", all.reads, all.bytes)
		}
	}
}

// A session that wrote checks the tables that it made, and no others.
func TestClosingChecksNewTablesAlone(t *testing.T) {
	t.Parallel()
	dir := sealedStore(t, 6000)
	tables := len(files(t, dir, ".sst"))
	s := openAt(t, dir, Options{})
	m := metering(s)
	put(t, s, chatTable(), chat{ID: "new"})
	letGo(t, s)
	if was := tables * 2; m.reads > was+8 {
		t.Errorf("%d reads of %d tables and a new one", m.reads, tables)
	}
	if again := opened(t, dir); again.reads != 2*again.opens {
		t.Errorf("the next opening reads %d times of %d tables", again.reads, again.opens)
	}
}

// A seal is trusted only as a whole, and only as long as it describes the files that
// exist.
func TestSealThatDoesNotFitIsNotBelieved(t *testing.T) {
	t.Parallel()
	source := wellKept(t)
	seal, err := os.ReadFile(filepath.Join(source, sealName))
	if err != nil {
		t.Fatal(err)
	}
	bad := map[string][]byte{
		"empty": nil, "text": []byte("12x"), "cut short": seal[:len(seal)-1], "longer": append(seal[:len(seal):len(seal)], 0),
		"magic alone": []byte(sealMagic),
	}
	for i := range 8 {
		flipped := append([]byte(nil), seal...)
		flipped[rand.IntN(len(flipped))] ^= 1 << rand.IntN(8)
		bad[fmt.Sprint("flipped ", i)] = flipped
	}
	for name, text := range bad {
		if c, ok := decodeSeal(text); ok {
			t.Errorf("%s: decoded as %+v", name, c)
		}
		dir := copyOf(t, source)
		overwrite(t, filepath.Join(dir, sealName), text)
		if n, err := readAll(t, dir); n != damagedRecords || err != nil {
			t.Errorf("%s: %d records, %v", name, n, err)
		}
	}
	// A power cut brings back the seal of an earlier close.
	dir := copyOf(t, source)
	s := Open(dir, Options{})
	put(t, s, chatTable(), chat{ID: "later"})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	overwrite(t, filepath.Join(dir, sealName), seal)
	if n, err := readAll(t, dir); n != damagedRecords || err != nil {
		t.Errorf("with an older seal: %d records, %v", n, err)
	}
	flip(t, files(t, dir, ".sst")[1], fileSize(t, files(t, dir, ".sst")[1])-20)
	if _, err := readAll(t, dir); mustBe[*CorruptError](t, err).File != files(t, dir, ".sst")[1] {
		t.Errorf("the damage of a table that the seal doesn't describe: %v", err)
	}
}

// Each bit of a table's index, last block and footer is found by an opening, which names
// the table, whether it was sealed or not, and leaves it and its seal as they are.
func TestFlippedBitsOfASealedTable(t *testing.T) {
	t.Parallel()
	source := sealedStore(t, 1200)
	seal, ok := decodeSeal([]byte(readFile(t, filepath.Join(source, sealName))))
	if !ok || len(seal.tables) == 0 {
		t.Fatalf("the seal says %+v", seal)
	}
	first := seal.tables[0]
	size := int(first.size)
	for i := range several(40, 10) {
		dir := copyOf(t, source)
		path := table.NewFilename(first.id, dir)
		at := int(first.block) + rand.IntN(size-int(first.block))
		if i < 8 {
			at = size - 1 - i // the last field is the length that leads to all others
		}
		flip(t, path, at)
		before := readFile(t, filepath.Join(dir, sealName))
		s := Open(dir, Options{})
		for range 3 {
			err := s.View(t.Context(), func(*Tx) error { return nil })
			if got := mustBe[*CorruptError](t, err); got.File != path {
				t.Errorf("bit of byte %d of %d: %v", at, size, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if _, err := Probe(t.Context(), dir); mustBe[*CorruptError](t, err).File != path {
			t.Errorf("a look at it: %v", err)
		}
		if readFile(t, filepath.Join(dir, sealName)) != before {
			t.Error("the seal has changed")
		}
	}
}

// The manifest of a store stays as long as its tables need it, however many sessions
// there were, and its content stays the same.
func TestManifestStaysShort(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "store")
	table := chatTable()
	longest := 0
	n := several(250, 220)
	for i := range n {
		s := Open(dir, Options{})
		put(t, s, table, chat{ID: fmt.Sprint(i)})
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		longest = max(longest, fileSize(t, filepath.Join(dir, badger.ManifestFilename)))
	}
	if longest > manifestWorth+(1<<10) || longest < manifestWorth/2 {
		t.Errorf("it was %d bytes long in %d sessions", longest, n)
	}
	s := openAt(t, dir, Options{})
	view(t, s, func(tx *Tx) error {
		if got, err := table.Count(tx, Range{}); got != n || err != nil {
			t.Errorf("%d records, want %d (%v)", got, n, err)
		}
		return nil
	})
	if err := s.Verify(t.Context()); err != nil {
		t.Error(err)
	}
}

// A manifest that can't be replaced stays, and the session has lost nothing by it.
func TestManifestThatCantBeShortenedStays(t *testing.T) {
	t.Parallel()
	dir := wellKept(t)
	path := filepath.Join(dir, badger.ManifestFilename)
	before := readFile(t, path)
	s := Open(dir, Options{})
	m, err := s.readManifest(true, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "MANIFEST-REWRITE"), 0o700); err != nil {
		t.Fatal(err)
	}
	long := before + strings.Repeat("x", manifestWorth)
	if got := s.shortened([]byte(long), m); string(got) != long || readFile(t, path) != before {
		t.Error("the manifest has changed")
	}
	if err := os.RemoveAll(filepath.Join(dir, "MANIFEST-REWRITE")); err != nil {
		t.Fatal(err)
	}
	if err := s.unseal(); err != nil { // as in every session that may shorten it
		t.Fatal(err)
	}
	if got := s.shortened([]byte(long), m); string(got) != readFile(t, path) || len(got) >= manifestWorth {
		t.Errorf("%d bytes", len(got))
	}
	if n, err := readAll(t, dir); n != damagedRecords || err != nil {
		t.Errorf("%d records, %v", n, err)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
