package store

import (
	"fmt"
	"strings"

	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/internal/record"
)

// largestRecord bounds a record as it is encoded. A plan of 4 MB and the other
// fields of a call fit, and kv takes twice as much.
const largestRecord = 8 << 20

// Writing is a write of a Store that is under way.
type Writing struct {
	s *Store
	w kv.Writer
}

// In returns w as a write of s.
func (s *Store) In(w kv.Writer) Writing { return Writing{s, w} }

// PutBounded stores a record. One that is too long is cut, with a mark, and a notice
// reports what was cut; what is the record's name in it. A record whose key would
// change is refused.
func PutBounded[T any](w Writing, table *kv.Table[T], rec *T, what string) error {
	kept := *rec
	cut, err := record.Bound(&kept, w.s.RecordLimit)
	if err != nil {
		return fmt.Errorf("keep %s: %w", what, err)
	}
	if len(cut) > 0 {
		if string(table.KeyOf(&kept)) != string(table.KeyOf(rec)) {
			return fmt.Errorf("keep %s: %w", what, &kv.TooBigError{What: "key", Limit: int64(w.s.RecordLimit)})
		}
		w.s.Options.Notice(cutNotice(what, cut))
	}
	return table.Put(w.w, &kept)
}

// cutNotice returns the notice of which fields of a record were too long to be kept.
func cutNotice(what string, cut []string) string {
	return what + " is too long to be kept whole; what was cut: " + strings.Join(cut, ", ")
}
