package kv

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A model of a table: its records, and what each index would list.
type model map[string]chat

func (m model) sorted() []chat {
	out := slices.Collect(maps.Values(m))
	slices.SortFunc(out, func(a, b chat) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// under lists the ids that an index has under keys beginning with val, in the
// order of the index.
func (m model) under(table *Table[chat], index string, val Key) []string {
	type entry struct {
		key Key
		id  string
	}
	var entries []entry
	for i, keys := range table.table.keyers {
		if table.table.indexes[i].name != index {
			continue
		}
		for _, c := range m {
			var seen []Key
			for _, k := range keys(&c) {
				if bytes.HasPrefix(k, val) && !contains(seen, k) {
					seen = append(seen, k)
					entries = append(entries, entry{k, c.ID})
				}
			}
		}
	}
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(bytes.Compare(a.key, b.key), cmp.Compare(a.id, b.id))
	})
	ids := make([]string, 0, len(entries))
	for _, e := range entries {
		ids = append(ids, e.id)
	}
	return ids
}

func drawChat(t *rapid.T) chat {
	return chat{
		ID:     rapid.StringMatching("[a-c]{1,2}").Draw(t, "id"),
		Number: rapid.Int64Range(-1, 6).Draw(t, "number"),
		Title:  rapid.SampledFrom([]string{"", "a", "ab", "b", "a\x00b"}).Draw(t, "title"),
		Tags:   rapid.SliceOfN(rapid.SampledFrom([]string{"x", "y", "xy"}), 0, 3).Draw(t, "tags"),
	}
}

// The table and its indexes do what a map does, through writes in Updates and
// Batches, failed Updates, reopenings, and reads by every way there is.
func TestTableAgainstModel(t *testing.T) {
	t.Parallel()
	table := chatTable()
	s := newStore(t, Options{})
	rapid.Check(t, func(rt *rapid.T) {
		clearTable(rt, s, table)
		want := model{}
		rt.Repeat(map[string]func(*rapid.T){
			"update": func(rt *rapid.T) { want = drawUpdate(rt, s, table, want) },
			"batch":  func(rt *rapid.T) { want = drawBatch(rt, s, table, want) },
			"reopen": func(rt *rapid.T) {
				if rapid.IntRange(0, 9).Draw(rt, "rarely") > 0 {
					return
				}
				if err := s.LetGo(); err != nil {
					rt.Fatal(err)
				}
			},
			"": func(rt *rapid.T) { compare(rt, s, table, want) },
		})
	})
}

func clearTable(t *rapid.T, s *Store, table *Table[chat]) {
	err := s.Update(t.Context(), func(tx *Tx) error {
		for k, err := range table.Keys(tx, Range{}) {
			if err != nil {
				return err
			}
			if err := table.Delete(tx, k); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// apply does one drawn write to the table and to the model.
func drawWrite(t *rapid.T, w Writer, table *Table[chat], m model) error {
	c := drawChat(t)
	if rapid.IntRange(0, 3).Draw(t, "kind") == 0 {
		delete(m, c.ID)
		return table.Delete(w, Str(c.ID))
	}
	for _, other := range m {
		if c.Number != 0 && other.Number == c.Number && other.ID != c.ID {
			if _, batch := w.(*Batch); batch {
				return nil // a Batch finds that out later
			}
			err := table.Put(w, &c)
			var unique *UniqueError
			if !errors.As(err, &unique) || unique.Index != "number" || unique.Holder.String() != Str(other.ID).String() {
				return fmt.Errorf("%+v beside %+v: %w", c, other, errors.Join(errors.New("no UniqueError"), err))
			}
			// What the failed Put had begun goes with the transaction.
			return err
		}
	}
	m[c.ID] = c
	return table.Put(w, &c)
}

func drawUpdate(t *rapid.T, s *Store, table *Table[chat], before model) model {
	now := maps.Clone(before)
	fails := rapid.IntRange(0, 4).Draw(t, "fails") == 0
	refused := errors.New("refused")
	err := s.Update(t.Context(), func(tx *Tx) error {
		for range rapid.IntRange(1, 5).Draw(t, "writes") {
			if err := drawWrite(t, tx, table, now); err != nil {
				return err
			}
		}
		compareIn(t, tx, table, now)
		if fails {
			return refused
		}
		return nil
	})
	var unique *UniqueError
	switch {
	case err == nil && !fails:
		return now
	case fails && errors.Is(err, refused), errors.As(err, &unique):
		return before
	}
	t.Fatalf("update: %v", err)
	return nil
}

func drawBatch(t *rapid.T, s *Store, table *Table[chat], m model) model {
	m = maps.Clone(m)
	err := s.Batch(t.Context(), func(b *Batch) error {
		for range rapid.IntRange(0, 6).Draw(t, "writes") {
			if err := drawWrite(t, b, table, m); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatalf("batch: %v", err)
	}
	return m
}

func compare(t *rapid.T, s *Store, table *Table[chat], want model) {
	err := s.View(t.Context(), func(tx *Tx) error {
		compareIn(t, tx, table, want)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// compareIn checks that a transaction sees the model, in all ways.
func compareIn(t *rapid.T, tx *Tx, table *Table[chat], want model) {
	all := want.sorted()
	var ids []string
	for _, c := range all {
		ids = append(ids, c.ID)
		got, err := table.Get(tx, Str(c.ID))
		if err != nil || !reflect.DeepEqual(*got, normal(c)) {
			t.Fatalf("Get(%q) = %+v, %v; want %+v", c.ID, got, err, c)
		}
	}
	probe := rapid.StringMatching("[a-c]{1,2}").Draw(t, "probe")
	_, in := want[probe]
	if has, err := table.Has(tx, Str(probe)); has != in || err != nil {
		t.Fatalf("Has(%q) = %v, %v", probe, has, err)
	}
	if n, err := table.Count(tx, Range{}); n != len(all) || err != nil {
		t.Fatalf("Count = %d, %v; want %d", n, err, len(all))
	}
	// One way of listing at a time: what is wrong stays so until its turn.
	switch x := rapid.SampledFrom([]string{"", "number", "title", "tag"}).Draw(t, "list"); x {
	case "":
		checkRange(t, tx, table, ids)
	default:
		val := rapid.SampledFrom([]Key{nil, Int(1), Str("a"), StrPrefix("a"), Str("x"), Str("a").Int(1)}).Draw(t, "value")
		expect := want.under(table, x, val)
		reverse := rapid.Bool().Draw(t, "reverse")
		if reverse {
			slices.Reverse(expect)
		}
		limit := rapid.IntRange(0, 3).Draw(t, "limit")
		got := paged(t, limit, func(after Key) (Page[chat], error) {
			return table.IndexPage(tx, x, val, Range{Reverse: reverse, Limit: limit, After: after})
		})
		if !slices.Equal(got, expect) {
			t.Fatalf("index %s under %s, reverse %v, limit %d: %q, want %q", x, val, reverse, limit, got, expect)
		}
	}
}

// checkRange compares a drawn range of the table with the sorted ids.
func checkRange(t *rapid.T, tx *Tx, table *Table[chat], ids []string) {
	draw := func(name string) string { return rapid.StringMatching("[a-c]{0,2}").Draw(t, name) }
	from, to, prefix := draw("from"), draw("to"), draw("prefix")
	r := Range{Reverse: rapid.Bool().Draw(t, "reverse"), Limit: rapid.IntRange(0, 3).Draw(t, "limit")}
	var expect []string
	for _, id := range ids {
		if (from == "" || id >= from) && (to == "" || id < to) && len(id) >= len(prefix) && id[:len(prefix)] == prefix {
			expect = append(expect, id)
		}
	}
	if from != "" {
		r.From = Str(from)
	}
	if to != "" {
		r.To = Str(to)
	}
	if prefix != "" {
		r.Prefix = StrPrefix(prefix)
	}
	if r.Reverse {
		slices.Reverse(expect)
	}
	got := paged(t, r.Limit, func(after Key) (Page[chat], error) {
		r.After = after
		return table.ScanPage(tx, r)
	})
	if !slices.Equal(got, expect) {
		t.Fatalf("range %+v of %q: %q, want %q", r, ids, got, expect)
	}
}

// paged collects the ids of all pages.
func paged(t *rapid.T, limit int, next func(after Key) (Page[chat], error)) []string {
	ids := []string{}
	for after := Key(nil); ; {
		p, err := next(after)
		if err != nil {
			t.Fatal(err)
		}
		if limit > 0 && len(p.Records) > limit {
			t.Fatalf("a page of %d, the limit is %d", len(p.Records), limit)
		}
		for _, c := range p.Records {
			ids = append(ids, c.ID)
		}
		if p.Next == nil {
			return ids
		}
		after = p.Next
	}
}

// normal is a record as JSON gives it back.
func normal(c chat) chat {
	if len(c.Tags) == 0 {
		c.Tags = nil
	}
	return c
}

// Records are stored as they are, without the escaping that is meant for HTML;
// those that were stored with it read the same.
func TestRecordsAreNotEscapedForHTML(t *testing.T) {
	t.Parallel()
	s, table := newStore(t, Options{}), chatTable()
	body := "<a>&\u2028\x01\xff" + strings.Repeat("<", MaxValue/2) // six bytes each, when escaped
	is := chat{ID: "a", Number: 1, Body: body}
	old, err := json.Marshal(chat{ID: "b", Number: 2, Body: "<a>&"})
	if err != nil {
		t.Fatal(err)
	}
	raw := NewRawTable("chats") // the same table, for the bytes
	err = s.Update(t.Context(), func(tx *Tx) error {
		return errors.Join(table.Put(tx, &is), raw.Put(tx, Str("b"), append([]byte{1}, old...)))
	})
	if err != nil {
		t.Fatal(err)
	}
	err = s.View(t.Context(), func(tx *Tx) error {
		for id, want := range map[string]string{"a": strings.ToValidUTF8(body, "\uFFFD"), "b": "<a>&"} {
			if got, err := table.Get(tx, Str(id)); err != nil || got.Body != want {
				t.Errorf("record %s: %v", id, err)
			}
		}
		return raw.Read(tx, Str("a"), func(text []byte) error {
			if len(text) > MaxValue/2+200 || !strings.Contains(string(text), "<a>&") {
				t.Errorf("%d bytes: %.100s", len(text), text)
			}
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}
