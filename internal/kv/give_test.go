package kv

import "testing"

// What is put may be changed afterwards, also while a Batch still has it; what is
// given is written as it is.
func TestABatchCopiesWhatIsPut(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{Hold: true})
	raw := NewRawTable("raw")
	put, given := []byte("put"), []byte("given")
	if err := s.Batch(t.Context(), func(b *Batch) error {
		if err := raw.Put(b, Str("put"), put); err != nil {
			return err
		}
		if err := raw.Give(b, Str("given"), given); err != nil {
			return err
		}
		copy(put, "xxx")
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.Update(t.Context(), func(tx *Tx) error { return raw.Give(tx, Str("at once"), given) }); err != nil {
		t.Fatal(err)
	}
	if err := s.View(t.Context(), func(tx *Tx) error {
		for key, want := range map[string]string{"put": "put", "given": "given", "at once": "given"} {
			if got, err := raw.Get(tx, Str(key)); err != nil || string(got) != want {
				t.Errorf("%s is %q, %v", key, got, err)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
