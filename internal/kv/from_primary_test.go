package kv

import (
	"fmt"
	"testing"
)

// A range of an index may begin at a primary key under one value.
func TestByIndexFromAPrimaryKey(t *testing.T) {
	t.Parallel()
	type rec struct{ ID, Group string }
	table := NewTable("recs", func(r *rec) Key { return Str(r.ID) }, On("group", func(r *rec) Key { return Str(r.Group) }))
	s := Open(t.TempDir(), Options{})
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	err := s.Update(t.Context(), func(tx *Tx) error {
		for _, id := range []string{"a1", "a2", "b1", "b10", "b2", "c1"} {
			for _, group := range []string{"x", "y"} {
				if err := table.Put(tx, &rec{id + group, group}); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for from, want := range map[string]string{"": "[a1x a2x b10x b1x b2x c1x]", "b": "[b10x b1x b2x c1x]", "b2x": "[b2x c1x]", "d": "[]"} {
		var got []string
		err := s.View(t.Context(), func(tx *Tx) error {
			got = nil
			for r, err := range table.ByIndex(tx, "group", Str("x"), Range{From: FromPrimary(Str(from))}) {
				if err != nil {
					return err
				}
				got = append(got, r.ID)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(got) != want {
			t.Errorf("from %q: %v, want %s", from, got, want)
		}
	}
}
