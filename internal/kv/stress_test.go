package kv

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
	"fmt"
)

func TestStressKillAnywhere(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("KILLS"))
	if n == 0 { t.Skip() }
	for _, fresh := range []bool{true, false} {
		dir := filepath.Join(t.TempDir(), "store")
		for i := range n {
			if fresh { dir = filepath.Join(t.TempDir(), fmt.Sprint(i), "store"); os.MkdirAll(filepath.Dir(dir), 0o700) }
			p := start(t, "updates", dir, fmt.Sprint("k", i), "1000")
			time.Sleep(8*time.Millisecond + rand.N(35*time.Millisecond))
			p.kill(t)
			s := Open(dir, Options{})
			table := chatTable()
			if err := s.View(t.Context(), func(tx *Tx) error { checkIndexes(t, tx, table); return nil }); err != nil {
				t.Fatalf("kill %d fresh %v: %v", i, fresh, err)
			}
			if i % 3 == 0 {
				if err := s.Update(t.Context(), func(tx *Tx) error { return table.Put(tx, &chat{ID: "x"}) }); err != nil { t.Fatal(i, err) }
			}
			if err := s.Close(); err != nil { t.Fatal(err) }
		}
		e, _ := os.ReadDir(dir)
		t.Log(len(e), "files")
	}
}
