package kv

import "testing"

// What is put may be changed afterwards, also while a Batch still has it.
func TestABatchCopiesWhatIsPut(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{Hold: true})
	raw := NewRawTable("raw")
	put := []byte("put")
	if err := s.Batch(t.Context(), func(b *Batch) error {
		if err := raw.Put(b, Str("waits"), put); err != nil {
			return err
		}
		copy(put, "xxx")
		return raw.Delete(b, Str("nothing"))
	}); err != nil {
		t.Fatal(err)
	}
	copy(put, "put")
	if err := s.Update(t.Context(), func(tx *Tx) error {
		if err := raw.Put(tx, Str("at once"), put); err != nil {
			return err
		}
		copy(put, "xxx")
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.View(t.Context(), func(tx *Tx) error {
		for _, key := range []string{"waits", "at once"} {
			if got, err := raw.Get(tx, Str(key)); err != nil || string(got) != "put" {
				t.Errorf("%s is %q, %v", key, got, err)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
