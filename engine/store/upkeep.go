package store

import (
	"context"
	"errors"
	"time"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/internal/kv"
)

// collectApart is the least time between two collections that the engine
// begins by itself after chats were removed.
const collectApart = time.Hour

// CollectAlways is after what time a collection is due though nothing was
// dropped: failed and killed snapshots leave contents that no state has.
const CollectAlways = 7 * 24 * time.Hour

// CollectAgain is when a command tries again after a collection took longer
// than it had.
const CollectAgain = 24 * time.Hour

// collectTidy bounds a collection after a command's answer: a person's next
// prompt waits for it.
const collectTidy = 1500 * time.Millisecond

// Upkeep is what is known of the collections of a store. It is a record.
type Upkeep struct {
	ID string `json:"id"` // there is one record
	// Since is when the engine began to keep account.
	Since time.Time `json:"since"`
	// CollectedAt is when the last collection ended, Bytes what it gave back.
	CollectedAt time.Time `json:"collected_at,omitzero"`
	Bytes       int64     `json:"bytes,omitempty"`
	// Dropped counts the chats that were removed for good since, DroppedAt is
	// when the first of them was.
	Dropped   int       `json:"dropped,omitempty"`
	DroppedAt time.Time `json:"dropped_at,omitzero"`
	// TriedAt is when one was last begun that didn't come to its end.
	TriedAt time.Time `json:"tried_at,omitzero"`
}

const upkeepID = "states"

// Due is when the next collection is due.
func (u Upkeep) Due() time.Time {
	last := u.CollectedAt
	if last.IsZero() {
		last = u.Since
	}
	always := last.Add(CollectAlways)
	if u.Dropped == 0 {
		return always
	}
	soon := u.DroppedAt
	if after := u.CollectedAt.Add(collectApart); !u.CollectedAt.IsZero() && after.After(soon) {
		soon = after
	}
	if soon.After(always) {
		return always
	}
	return soon
}

// DueInTidy is when a command that has answered tries.
func (u Upkeep) DueInTidy() time.Time {
	due := u.Due()
	if again := u.TriedAt.Add(CollectAgain); !u.TriedAt.IsZero() && again.After(due) {
		return again
	}
	return due
}

// Upkeep tells of the collections; it is zero where nothing was stored yet.
func (s *Store) Upkeep(ctx context.Context) (u Upkeep, err error) {
	err = s.View(ctx, func(tx *kv.Tx) error {
		u, err = s.upkeepIn(tx)
		return err
	})
	if errors.Is(err, kv.ErrNotFound) {
		return Upkeep{}, nil
	}
	return u, err
}

func (s *Store) upkeepIn(tx *kv.Tx) (Upkeep, error) {
	u, err := s.Tables.upkeep.Get(tx, kv.Str(upkeepID))
	if err != nil && Unreadable(err) { // a damaged account begins again
		return Upkeep{ID: upkeepID}, nil
	}
	if err != nil {
		return Upkeep{}, err
	}
	return *u, nil
}

// NoteUpkeep changes the record, and tells the catalogue when the next
// collection is due.
func (s *Store) NoteUpkeep(ctx context.Context, change func(*Upkeep)) error {
	release, err := s.ShareData(ctx, nil)
	if err != nil {
		return err
	}
	defer release()
	err = s.KV.Update(ctx, func(tx *kv.Tx) error { return s.changeUpkeep(tx, change) })
	if err != nil {
		return s.StoreTrouble(err)
	}
	return s.Mirror(ctx)
}

func (s *Store) changeUpkeep(tx *kv.Tx, change func(*Upkeep)) error {
	u, err := s.upkeepIn(tx)
	if err != nil {
		return err
	}
	if u.Since.IsZero() {
		u.Since = s.Options.Now()
	}
	change(&u)
	return s.Tables.upkeep.Put(tx, &u)
}

// noteDropped counts a chat whose states have lost their last need.
func (s *Store) noteDropped(tx *kv.Tx) error {
	return s.changeUpkeep(tx, func(u *Upkeep) {
		if u.Dropped++; u.Dropped == 1 {
			u.DroppedAt = s.Options.Now()
		}
	})
}

// CollectDue is the part of a collection for which a command has time after it
// has answered. It opens the store only where one is due, and once to begin the
// account.
func (s *Store) CollectDue(ctx context.Context) error {
	c, err := s.ReadCatalog()
	if err != nil || !s.HasStore() {
		return err
	}
	if c.CollectDue == nil {
		return s.NoteUpkeep(ctx, func(*Upkeep) {})
	}
	if s.Options.Now().Before(*c.CollectDue) {
		return nil
	}
	return s.CollectWithin(ctx, collectTidy)
}

// CollectWithin collects, and notes where the time was too short.
func (s *Store) CollectWithin(ctx context.Context, limit time.Duration) error {
	if busy, err := s.AnyLive(ctx); busy || err != nil {
		return err // its snapshots would have to wait
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	_, err := s.collect(limited, cas.GCOptions{}, func(u Upkeep) bool { return !s.Options.Now().Before(u.Due()) })
	if err == nil && s.Options.Collect != nil {
		if err = s.Options.Collect(limited); limited.Err() != nil {
			return nil
		}
	}
	if err == nil || limited.Err() == nil || ctx.Err() != nil {
		return err
	}
	return s.NoteUpkeep(ctx, func(u *Upkeep) { u.TriedAt = s.Options.Now() })
}

// AnyLive tells whether a turn runs, in this process or another one.
func (s *Store) AnyLive(ctx context.Context) (bool, error) {
	live, err := s.liveTurns(ctx)
	return len(live) > 0, err
}
