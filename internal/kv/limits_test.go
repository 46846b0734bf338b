package kv

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// A thousand records with three indexes each fit into one Update, and large
// values hardly count.
func TestUpdateHoldsAThousandRecords(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	table := chatTable()
	raw := NewRawTable("segments")
	update(t, s, func(tx *Tx) error {
		for i := range 1000 {
			c := chat{ID: fmt.Sprintf("%026d", i), Number: int64(i + 1), Title: strings.Repeat("t", 60), Tags: []string{"x"}}
			if err := table.Put(tx, &c); err != nil {
				return err
			}
		}
		for i := range 400 {
			if err := raw.Put(tx, Int(int64(i)), make([]byte, 64<<10)); err != nil {
				return err
			}
		}
		return nil
	})
}

func TestUpdateThatIsTooBig(t *testing.T) {
	t.Parallel()
	raw := NewRawTable("raw")
	cases := map[string]struct{ size, count int }{
		"too many keys":   {0, 20_000},
		"too many bytes":  {900, 2_000},
		"too much memory": {1 << 20, 65},
	}
	s := newStore(t, Options{})
	for name, c := range cases {
		err := s.Update(t.Context(), func(tx *Tx) error {
			for i := range c.count {
				if err := raw.Put(tx, Int(int64(i)), make([]byte, c.size)); err != nil {
					return err
				}
			}
			return nil
		})
		if big := mustBe[*TooBigError](t, err); big.What != "update" || !strings.HasPrefix(big.Record, "record (") {
			t.Errorf("%s: %+v", name, big)
		}
	}
	view(t, s, func(tx *Tx) error {
		for k, err := range raw.Keys(tx, Range{}) {
			t.Errorf("an Update that was refused has left %s, %v", k, err)
		}
		return nil
	})
}

func TestValuesAndKeysHaveLimits(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	raw := NewRawTable("raw")
	largest := bytes.Repeat([]byte{7}, MaxValue)
	update(t, s, func(tx *Tx) error { return raw.Put(tx, Str("largest"), largest) })
	letGo(t, s)
	view(t, s, func(tx *Tx) error {
		got, err := raw.Get(tx, Str("largest"))
		if !bytes.Equal(got, largest) {
			t.Error("the largest value came back changed")
		}
		return err
	})
	put := func(w Writer) error { return raw.Put(w, Str("x"), make([]byte, MaxValue+1)) }
	inUpdate := s.Update(t.Context(), func(tx *Tx) error { return put(tx) })
	inBatch := s.Batch(t.Context(), func(b *Batch) error { return put(b) })
	for _, err := range []error{inUpdate, inBatch} {
		if big := mustBe[*TooBigError](t, err); big.What != "value" || big.Limit != MaxValue || big.Record != `record ("x") of table "raw"` {
			t.Errorf("%+v", big)
		}
	}
	err := s.Update(t.Context(), func(tx *Tx) error { return raw.Put(tx, Str(strings.Repeat("k", maxKey)), nil) })
	if big := mustBe[*TooBigError](t, err); big.What != "key" || !strings.HasPrefix(big.Record, `record ("kkk`) || len(err.Error()) > 400 {
		t.Errorf("%+v", big)
	}
	if err := s.Update(t.Context(), func(tx *Tx) error { return raw.Put(tx, nil, nil) }); err == nil {
		t.Error("a record without a key was taken")
	}
}

// A Batch takes any number of writes of any size, keeps their order, and leaves
// what is passed to it to the caller.
func TestBatchOfManyWrites(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	table := chatTable()
	raw := NewRawTable("raw")
	const records, blobs = 2000, 18 // more than one Update holds, and than one flush
	value := make([]byte, 1<<20)
	err := s.BatchSync(t.Context(), func(b *Batch) error {
		for i := range records {
			c := chat{ID: fmt.Sprintf("%06d", i), Number: int64(i + 1), Title: fmt.Sprint(i % 7), Tags: []string{"x", "y"}}
			if err := table.Put(b, &c); err != nil {
				return err
			}
		}
		for i := range blobs {
			for j := range value {
				value[j] = byte(i)
			}
			if err := raw.Put(b, Int(int64(i)), value); err != nil {
				return err
			}
		}
		for i := 0; i < records; i += 2 {
			if err := table.Delete(b, Str(fmt.Sprintf("%06d", i))); err != nil {
				return err
			}
		}
		return s.View(t.Context(), func(tx *Tx) error { return nil }) // nothing is held
	})
	if err != nil {
		t.Fatal(err)
	}
	view(t, s, func(tx *Tx) error {
		if n, err := table.Count(tx, Range{}); n != records/2 || err != nil {
			t.Errorf("%d records, want %d (%v)", n, records/2, err)
		}
		checkIndexes(t, tx, table)
		n := 0
		for item, err := range raw.Scan(tx, Range{}) {
			if err != nil || !bytes.Equal(item.Value, bytes.Repeat([]byte{byte(n)}, len(value))) {
				t.Errorf("blob %d came back changed (%v)", n, err)
			}
			n++
		}
		if n != blobs {
			t.Errorf("%d blobs, want %d", n, blobs)
		}
		return nil
	})
}

// Badger's own Sync leaves out the memtables that have filled up and are not
// yet tables.
func TestSyncCoversFullMemtables(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{Hold: true})
	raw := NewRawTable("raw")
	written := int64(0)
	for range several(3, 1) {
		err := s.BatchSync(t.Context(), func(b *Batch) error {
			for range memTableSize / 900 {
				written++
				if err := raw.Put(b, Int(written), make([]byte, 900)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		logs, err := s.logs(".mem")
		if err != nil || len(logs[0]) != 1 {
			t.Errorf("after Sync there are the logs %q, %v", logs, err)
		}
	}
}

// A chunk whose cost was estimated too low is split.
func TestBatchSplitsWhatIsTooBig(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	raw := NewRawTable("raw")
	b := &Batch{store: s, ctx: t.Context()}
	var ops []op
	for i := range 3000 {
		ops = append(ops, op{table: &raw.core, primary: Int(int64(i)), content: make([]byte, 900)})
	}
	if err := b.write(ops); err != nil {
		t.Fatal(err)
	}
	view(t, s, func(tx *Tx) error {
		n := 0
		for _, err := range raw.Keys(tx, Range{}) {
			if err != nil {
				return err
			}
			n++
		}
		if n != len(ops) {
			t.Errorf("%d entries, want %d", n, len(ops))
		}
		return nil
	})
}

func TestBatchThatFails(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	table := chatTable()
	refused := errors.New("refused")
	err := s.Batch(t.Context(), func(b *Batch) error {
		return errors.Join(table.Put(b, &chat{ID: "a"}), refused)
	})
	if !errors.Is(err, refused) {
		t.Errorf("got %v", err)
	}
	err = s.Batch(t.Context(), func(b *Batch) error {
		return errors.Join(table.Put(b, &chat{ID: "b", Number: 1}), table.Put(b, &chat{ID: "c", Number: 1}))
	})
	mustBe[*UniqueError](t, err)
	view(t, s, func(tx *Tx) error {
		if n, err := table.Count(tx, Range{}); n != 0 || err != nil {
			t.Errorf("%d records (%v)", n, err)
		}
		return nil
	})
}

func TestRecordsExpireWithTheirIndexEntries(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	table := chatTable()
	update(t, s, func(tx *Tx) error {
		return errors.Join(
			table.Put(tx, &chat{ID: "brief", Number: 1, Tags: []string{"x"}}, WithTTL(time.Millisecond)),
			table.Put(tx, &chat{ID: "kept", Number: 2, Tags: []string{"x"}}, WithTTL(time.Millisecond)),
			table.Put(tx, &chat{ID: "kept", Number: 2, Tags: []string{"x"}}),
			table.Put(tx, &chat{ID: "long", Number: 3, Tags: []string{"x"}}, WithTTL(30*24*time.Hour)))
	})
	eventually(t, "the record expired", func() (gone bool) {
		view(t, s, func(tx *Tx) error {
			has, err := table.Has(tx, Str("brief"))
			gone = !has
			return err
		})
		return gone
	})
	// The unique key is free again, and the others are found as ever.
	put(t, s, table, chat{ID: "new", Number: 1})
	view(t, s, func(tx *Tx) error {
		var ids []string
		for c, err := range table.ByIndex(tx, "tag", Str("x"), Range{}) {
			if err != nil {
				return err
			}
			ids = append(ids, c.ID)
		}
		if got := strings.Join(ids, " "); got != "kept long" {
			t.Errorf("under x: %s", got)
		}
		checkIndexes(t, tx, table)
		return nil
	})
}

func TestExpiryIsNeverEarly(t *testing.T) {
	t.Parallel()
	at := time.Unix(1000, 1)
	for d, want := range map[time.Duration]uint64{0: 0, -1: 0, 1: 1001, time.Second: 1002, time.Minute: 1061} {
		if got := expiry(at, d); got != want {
			t.Errorf("expiry in %v: %d, want %d", d, got, want)
		}
	}
}
