package kv

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// fill writes chat-like records.
func fill(b *testing.B, s *Store, n int) *Table[chat] {
	b.Helper()
	table := chatTable()
	err := s.Batch(b.Context(), func(batch *Batch) error {
		for i := range n {
			c := chat{
				ID: fmt.Sprintf("01J%023d", i*7919%n), Number: int64(i + 1),
				Title: fmt.Sprintf("What is the answer to question %d?", i), Body: strings.Repeat("b", 200),
			}
			if err := table.Put(batch, &c); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return table
}

// BenchmarkOpen is a session of one operation, on an empty store and on one of
// ten thousand records.
func BenchmarkOpen(b *testing.B) {
	for _, n := range []int{0, 10_000} {
		dir := filepath.Join(b.TempDir(), "store")
		s := Open(dir, Options{})
		table := fill(b, s, n)
		if err := s.Update(b.Context(), func(tx *Tx) error { return table.Put(tx, &chat{ID: "x"}) }); err != nil {
			b.Fatal(err)
		}
		if err := s.Compact(b.Context()); err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		session := func(b *testing.B, operation func(*Store) error) {
			for b.Loop() {
				s := Open(dir, Options{})
				if err := operation(s); err != nil {
					b.Fatal(err)
				}
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
			}
		}
		get := func(tx *Tx) error { _, err := table.Get(tx, Str("x")); return err }
		b.Run(fmt.Sprintf("read/records=%d", n), func(b *testing.B) {
			session(b, func(s *Store) error { return s.View(b.Context(), get) })
		})
		b.Run(fmt.Sprintf("write-get/records=%d", n), func(b *testing.B) {
			session(b, func(s *Store) error { return s.Update(b.Context(), get) })
		})
		b.Run(fmt.Sprintf("write-put/records=%d", n), func(b *testing.B) {
			session(b, func(s *Store) error {
				return s.Update(b.Context(), func(tx *Tx) error { return table.Put(tx, &chat{ID: "x"}) })
			})
		})
	}
}

func BenchmarkOperations(b *testing.B) {
	s := openAt(b, filepath.Join(b.TempDir(), "store"), Options{Hold: true})
	table := fill(b, s, 10_000)
	b.Run("get", func(b *testing.B) {
		for b.Loop() {
			view(b, s, func(tx *Tx) error {
				_, err := table.Find(tx, "number", Int(77))
				return err
			})
		}
	})
	b.Run("scan-100", func(b *testing.B) {
		for b.Loop() {
			view(b, s, func(tx *Tx) error {
				for _, err := range table.Scan(tx, Range{Limit: 100, Reverse: true}) {
					if err != nil {
						return err
					}
				}
				return nil
			})
		}
	})
	b.Run("update", func(b *testing.B) {
		i := int64(0)
		for b.Loop() {
			i++
			put(b, s, table, chat{ID: "x", Number: 20_000 + i})
		}
	})
	b.Run("update-sync", func(b *testing.B) {
		i := int64(0)
		for b.Loop() {
			i++
			err := s.UpdateSync(b.Context(), func(tx *Tx) error { return table.Put(tx, &chat{ID: "x", Number: 1e9 + i}) })
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}
