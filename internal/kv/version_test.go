package kv

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestStoreOfANewerProgram(t *testing.T) {
	t.Parallel()
	newer := newStore(t, Options{Schema: 3})
	put(t, newer, chatTable(), chat{ID: "a"})
	letGo(t, newer)
	older := openAt(t, newer.Dir(), Options{Schema: 2})
	for range 2 {
		err := older.View(t.Context(), func(*Tx) error { return nil })
		if got := mustBe[*VersionError](t, err); *got != (VersionError{Dir: older.Dir(), Have: 3, Want: 2}) {
			t.Errorf("got %+v", got)
		}
	}
	// The newer one isn't kept out by the older one's failure, and marks the
	// store only by writing.
	newest := openAt(t, newer.Dir(), Options{Schema: 4})
	view(t, newest, func(*Tx) error { return nil })
	letGo(t, newest)
	view(t, newer, func(*Tx) error { return nil })
	letGo(t, newer)
	put(t, newest, chatTable(), chat{ID: "b"})
	letGo(t, newest)
	mustBe[*VersionError](t, newer.View(t.Context(), func(*Tx) error { return nil }))
}

func TestStoreOfANewerLayout(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	update(t, s, func(tx *Tx) error {
		if err := tx.stamp(); err != nil {
			return err
		}
		return tx.set(metaKey(metaFormat), []byte(`{"layout":2,"schema":1,"more":true}`), 0)
	})
	letGo(t, s)
	err := s.View(t.Context(), func(*Tx) error { return nil })
	if got := mustBe[*VersionError](t, err); got.Have != 2 || got.Table != "" {
		t.Errorf("got %+v", got)
	}
}

// Two versions of a record: the second has renamed a field.
type note1 struct{ ID, Text string }
type note2 struct{ ID, Body string }

func TestTableVersions(t *testing.T) {
	t.Parallel()
	one := NewTable("notes", func(n *note1) Key { return Str(n.ID) },
		On("text", func(n *note1) Key { return Str(n.Text) }))
	two := NewTable("notes", func(n *note2) Key { return Str(n.ID) },
		On("text", func(n *note2) Key { return Str(n.Body) })).
		Versioned(2, func(from int, text []byte) ([]byte, error) {
			if from != 1 {
				return nil, errors.New("unknown version")
			}
			return bytes.Replace(text, []byte(`"Text"`), []byte(`"Body"`), 1), nil
		})
	s := newStore(t, Options{})
	update(t, s, func(tx *Tx) error {
		return errors.Join(one.Put(tx, &note1{"a", "first"}), one.Put(tx, &note1{"b", "second"}))
	})
	view(t, s, func(tx *Tx) error { // the newer program reads what the older wrote
		n, err := two.Find(tx, "text", Str("first"))
		if err != nil || n.Body != "first" {
			t.Errorf("got %+v, %v", n, err)
		}
		return nil
	})
	update(t, s, func(tx *Tx) error { return two.Put(tx, &note2{"a", "changed"}) })
	refused := func(tx *Tx) {
		t.Helper()
		_, err := one.Get(tx, Str("b"))
		_, scanned := one.ScanPage(tx, Range{})
		_, found := one.Find(tx, "text", Str("second"))
		for _, err := range []error{err, scanned, found} {
			if got := mustBe[*VersionError](t, err); *got != (VersionError{Dir: s.Dir(), Table: "notes", Have: 2, Want: 1}) {
				t.Errorf("got %+v", got)
			}
		}
	}
	for range 2 {
		view(t, s, func(tx *Tx) error {
			refused(tx)
			if n, err := two.Find(tx, "text", Str("second")); err != nil || n.Body != "second" {
				t.Errorf("got %+v, %v", n, err)
			}
			if _, err := two.Find(tx, "text", Str("first")); !errors.Is(err, ErrNotFound) {
				t.Errorf("the old entry of the upgraded record: %v", err)
			}
			return nil
		})
		err := s.Update(t.Context(), func(tx *Tx) error { return one.Put(tx, &note1{"c", ""}) })
		mustBe[*VersionError](t, err)
		letGo(t, s)
	}
}

func TestRawTableVersions(t *testing.T) {
	t.Parallel()
	one, two := NewRawTable("segments"), NewRawTable("segments").Versioned(2)
	s := newStore(t, Options{})
	update(t, s, func(tx *Tx) error { return two.Put(tx, Str("a"), []byte("x")) })
	view(t, s, func(tx *Tx) error {
		_, err := one.Get(tx, Str("a"))
		mustBe[*VersionError](t, err)
		_, err = two.Get(tx, Str("a"))
		return err
	})
}

// A failed Update takes the mark of a version with it.
func TestMarksAreTransactional(t *testing.T) {
	t.Parallel()
	one, two := NewRawTable("segments"), NewRawTable("segments").Versioned(2)
	s := newStore(t, Options{})
	update(t, s, func(tx *Tx) error { return one.Put(tx, Str("a"), nil) })
	refused := errors.New("refused")
	err := s.Update(t.Context(), func(tx *Tx) error {
		return errors.Join(two.Put(tx, Str("b"), nil), refused)
	})
	if !errors.Is(err, refused) {
		t.Fatal(err)
	}
	view(t, s, func(tx *Tx) error {
		_, err := one.Get(tx, Str("a"))
		return err
	})
}

// A program that adds an index is told so until it has built it; one that does
// not know the index makes that necessary again by writing.
func TestAddedIndex(t *testing.T) {
	t.Parallel()
	key := func(c *chat) Key { return Str(c.ID) }
	plain := NewTable("chats", key)
	indexed := NewTable("chats", key, On("title", func(c *chat) Key { return Str(c.Title) }))
	s := newStore(t, Options{})
	ids := func(tx *Tx) (ids []string, err error) {
		for c, err := range indexed.ByIndex(tx, "title", Str("t"), Range{}) {
			if err != nil {
				return nil, err
			}
			ids = append(ids, c.ID)
		}
		return ids, nil
	}
	view(t, s, func(tx *Tx) error { // an empty table is covered by any index
		got, err := ids(tx)
		if len(got) > 0 {
			t.Errorf("got %q", got)
		}
		return err
	})
	var want []string
	for round := range 2 {
		err := s.Batch(t.Context(), func(b *Batch) error {
			for i := range reindexBatch + 1 {
				c := chat{ID: string(rune('a'+round)) + Int(int64(i)).String(), Title: "t"}
				want = append(want, c.ID)
				if err := plain.Put(b, &c); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		put(t, s, indexed, chat{ID: "z", Title: "u"}) // doesn't make it whole
		view(t, s, func(tx *Tx) error {
			_, err := ids(tx)
			if got := mustBe[*IndexError](t, err); *got != (IndexError{Table: "chats", Index: "title"}) {
				t.Errorf("got %+v", got)
			}
			return nil
		})
		for range 2 {
			if err := indexed.Reindex(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			view(t, s, func(tx *Tx) error {
				got, err := ids(tx)
				if slices.Sort(want); !slices.Equal(got, want) {
					t.Errorf("%d by index, want %d", len(got), len(want))
				}
				checkIndexes(t, tx, indexed)
				return err
			})
			letGo(t, s)
		}
	}
}

func TestReindexRemovesWhatIsNoLongerDeclared(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	put(t, s, chatTable(), chat{ID: "a", Number: 1, Title: "t", Tags: []string{"x", "y"}})
	plain := NewTable("chats", func(c *chat) Key { return Str(c.ID) })
	if err := plain.Reindex(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	view(t, s, func(tx *Tx) error { checkIndexes(t, tx, plain); return nil })
	never := NewTable("never", func(c *chat) Key { return Str(c.ID) }, On("title", func(c *chat) Key { return Str(c.Title) }))
	if err := never.Reindex(t.Context(), s); err != nil {
		t.Errorf("a table that was never written: %v", err)
	}
}

// An Update may go on after a UniqueError, which has changed nothing; what
// failed half-way is never kept, even if the function takes no notice.
func TestErrorsThatAreIgnored(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	table := chatTable()
	put(t, s, table, chat{ID: "a", Number: 1, Title: "old", Tags: []string{"x"}}, chat{ID: "b", Number: 2})
	update(t, s, func(tx *Tx) error {
		mustBe[*UniqueError](t, table.Put(tx, &chat{ID: "a", Number: 2, Title: "new", Tags: []string{"y"}}))
		return table.Put(tx, &chat{ID: "c", Number: 3})
	})
	err := s.Update(t.Context(), func(tx *Tx) error {
		_ = table.Put(tx, &chat{ID: "d"})
		_ = table.Put(tx, &chat{ID: "a", Title: "new", Tags: []string{strings.Repeat("y", maxKey)}})
		return nil
	})
	if big := mustBe[*TooBigError](t, err); big.What != "key" {
		t.Errorf("got %+v", big)
	}
	view(t, s, func(tx *Tx) error {
		checkIndexes(t, tx, table)
		c, err := table.Find(tx, "tag", Str("x"))
		if err != nil || c.Title != "old" {
			t.Errorf("got %+v, %v", c, err)
		}
		if n, err := table.Count(tx, Range{}); n != 3 || err != nil {
			t.Errorf("%d records, want 3 (%v)", n, err)
		}
		return nil
	})
}

func TestUnknownIndex(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	view(t, s, func(tx *Tx) error {
		_, err := chatTable().Find(tx, "colour", Str("red"))
		if err == nil || !strings.Contains(err.Error(), `"colour"`) {
			t.Errorf("got %v", err)
		}
		return nil
	})
}

// A record that can't be decoded is an error that names it, and can be
// replaced and removed.
func TestUndecodableRecord(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	table := chatTable()
	put(t, s, table, chat{ID: "a", Number: 1}, chat{ID: "b"})
	for _, content := range []string{"", "\x00{}", "\x01[1]", "\x01{\"id\":", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"} {
		update(t, s, func(tx *Tx) error { return tx.set(table.table.recordKey(Str("a")), []byte(content), 0) })
		view(t, s, func(tx *Tx) error {
			_, err := table.Get(tx, Str("a"))
			if got := mustBe[*CorruptError](t, err); got.File != `record ("a") of table "chats"` {
				t.Errorf("%q: %v", content, err)
			}
			seen := 0
			for c, err := range table.Scan(tx, Range{}) { // the others are read
				if (err == nil) != (c != nil && c.ID == "b") {
					t.Errorf("%q: scanned %+v, %v", content, c, err)
				}
				seen++
			}
			if seen != 2 {
				t.Errorf("%q: %d scanned", content, seen)
			}
			return nil
		})
		put(t, s, table, chat{ID: "a", Number: 2})
	}
	view(t, s, func(tx *Tx) error {
		_, err := table.Find(tx, "number", Int(1))
		if !errors.Is(err, ErrNotFound) {
			t.Errorf("a stale entry was believed: %v", err)
		}
		return nil
	})
}

func TestNamesAreChecked(t *testing.T) {
	t.Parallel()
	key := func(c *chat) Key { return Str(c.ID) }
	index := func(name string) Index[chat] { return On(name, key) }
	for name, declare := range map[string]func(){
		"empty":         func() { NewRawTable("") },
		"separator":     func() { NewRawTable("a\x00b") },
		"capital":       func() { NewTable("Chats", key) },
		"long":          func() { NewRawTable(strings.Repeat("a", 65)) },
		"index":         func() { NewTable("chats", key, index("a b")) },
		"index twice":   func() { NewTable("chats", key, index("a"), index("a")) },
		"without a key": func() { NewTable[chat]("chats", nil) },
		"no index keys": func() { NewTable("chats", key, Index[chat]{Name: "a"}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: accepted", name)
				}
			}()
			declare()
		}()
	}
}

func TestRecordsThatDoNotEncode(t *testing.T) {
	t.Parallel()
	type odd struct {
		ID string
		C  chan int
	}
	s := newStore(t, Options{})
	table := NewTable("odd", func(o *odd) Key { return Str(o.ID) })
	err := s.Update(t.Context(), func(tx *Tx) error { return table.Put(tx, &odd{ID: "a", C: make(chan int)}) })
	var unsupported *json.UnsupportedTypeError
	if !errors.As(err, &unsupported) {
		t.Errorf("got %v", err)
	}
}
