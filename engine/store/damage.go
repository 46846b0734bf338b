package store

import (
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

// errPieces means that a message lacks a piece of its parts.
var errPieces = errors.New("its parts are not whole")

// Damaged reports whether an error is about one record of the store, on which the
// records of other chats don't depend.
func Damaged(err error) bool {
	var c *kv.CorruptError
	return errors.As(err, &c) && c.OfRecord() || errors.Is(err, errPieces)
}

// Unreadable is damaged, also of a record that is missing where another names it.
func Unreadable(err error) bool { return Damaged(err) || errors.Is(err, kv.ErrNotFound) }

// mostDamage bounds how many damaged records an engine reports one by one.
const mostDamage = 50

// damageTold are the damaged records that were reported: a list is read often.
type damageTold struct {
	mu   sync.Mutex
	what map[string]bool
}

// first reports whether a text has not been reported yet, and may be.
func (d *damageTold) first(text string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.what[text] || len(d.what) >= mostDamage {
		return false
	}
	if d.what == nil {
		d.what = map[string]bool{}
	}
	d.what[text] = true
	return true
}

// tellDamage reports a damaged record by name, once.
func (s *Store) tellDamage(err error) {
	text := err.Error()
	if c := (*kv.CorruptError)(nil); errors.As(err, &c) {
		text = fmt.Sprintf("%s is damaged: %v", c.File, c.Err)
	}
	if s.damage.first(text) {
		s.Options.Notice(sanitize.Line(text) + "; it is left out, and all else works. A backup may have it whole")
	}
}

// LeavesOut reports whether an error is about a damaged record, and notifies the user
// that it is left out.
func (s *Store) LeavesOut(err error) bool {
	if !Damaged(err) {
		return false
	}
	s.tellDamage(err)
	return true
}

// Legible yields the records of a walk that can be read. A damaged one is reported
// by name and left out. Where a missing record would have others removed, as in the
// collector, use the walk itself.
func Legible[T any](s *Store, walk iter.Seq2[*T, error]) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		for rec, err := range walk {
			if err != nil && s.LeavesOut(err) {
				continue
			}
			if !yield(rec, err) {
				return
			}
		}
	}
}
