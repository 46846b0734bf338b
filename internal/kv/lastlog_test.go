package kv

import (
	"bytes"
	"os"
	"testing"
)

// The last value log of a store that was closed in order isn't read when it is
// opened for writing: what can't be read in it stays where it is, and with it all
// that lies behind.
func TestLastLogIsLeftAlone(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	raw := NewRawTable("blobs")
	const n = 40
	update(t, s, func(tx *Tx) error {
		for i := range n {
			if err := raw.Put(tx, Int(int64(i)), bytes.Repeat([]byte{byte(i)}, 16<<10)); err != nil {
				return err
			}
		}
		return nil
	})
	letGo(t, s)
	log := one(t, s.dir, ".vlog")
	size := fileSize(t, log)
	flip(t, log, size/2)
	put(t, s, chatTable(), chat{ID: "a"})
	letGo(t, s)
	if got := fileSize(t, log); got != size {
		t.Errorf("the log has %d bytes of %d", got, size)
	}
	read := 0
	view(t, s, func(tx *Tx) error {
		for i := range n {
			if _, err := raw.Get(tx, Int(int64(i))); err == nil {
				read++
			}
		}
		return nil
	})
	if read != n-1 {
		t.Errorf("%d of %d values can be read, all but one should be", read, n)
	}
	// Logs that hold nothing don't pile up.
	for range 5 {
		put(t, s, chatTable(), chat{ID: "b"})
		letGo(t, s)
	}
	if logs := files(t, s.dir, ".vlog"); len(logs) > 3 {
		t.Errorf("%d logs for the values of one session", len(logs))
	}
}

// After a crash it is read: what was half written is cut off.
func TestLastLogIsReadAfterACrash(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	raw := NewRawTable("blobs")
	update(t, s, func(tx *Tx) error { return raw.Put(tx, Int(1), bytes.Repeat([]byte{1}, 512<<10)) })
	letGo(t, s)
	log := one(t, s.dir, ".vlog")
	size := fileSize(t, log)
	if err := os.Remove(s.file(sealName)); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(log, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(bytes.Repeat([]byte{7}, 1000)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	put(t, s, chatTable(), chat{ID: "a"})
	letGo(t, s)
	if got := fileSize(t, log); got != size {
		t.Errorf("the log has %d bytes instead of %d", got, size)
	}
}
