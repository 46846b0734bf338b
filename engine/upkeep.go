package engine

import (
	"context"
	"errors"
	"time"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

// The store is collected by the engine itself, without being asked: after chats
// were removed for good, and now and then for what crashes have left behind. A
// command does it after it has answered, within a bound; an engine that lives
// longer does it while no turn runs.
const (
	// collectApart is the least time between two collections that the engine
	// begins by itself after chats were removed.
	collectApart = time.Hour
	// collectAlways is after what time a collection is due though nothing was
	// dropped: failed and killed snapshots leave contents that no state has.
	collectAlways = 7 * 24 * time.Hour
	// collectAgain is when a command tries again after a collection took longer
	// than it had.
	collectAgain = 24 * time.Hour
	// collectTidy bounds a collection after a command's answer: a person's next
	// prompt waits for it.
	collectTidy = 1500 * time.Millisecond
	// collectIdle bounds one of an engine that lives on. Turns of other
	// processes would have to wait for it.
	collectIdle = 30 * time.Second
	// upkeepEvery is how often an engine that lives on looks whether one is
	// due; a command is over before the first look.
	upkeepEvery = 10 * time.Minute
)

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
	always := last.Add(collectAlways)
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

// dueInTidy is when a command that has answered tries.
func (u Upkeep) dueInTidy() time.Time {
	due := u.Due()
	if again := u.TriedAt.Add(collectAgain); !u.TriedAt.IsZero() && again.After(due) {
		return again
	}
	return due
}

// Upkeep tells of the collections; it is zero where nothing was stored yet.
func (s *Store) Upkeep(ctx context.Context) (u Upkeep, err error) {
	err = s.view(ctx, func(tx *kv.Tx) error {
		u, err = s.upkeepIn(tx)
		return err
	})
	if errors.Is(err, kv.ErrNotFound) {
		return Upkeep{}, nil
	}
	return u, err
}

func (s *Store) upkeepIn(tx *kv.Tx) (Upkeep, error) {
	u, err := s.tables.upkeep.Get(tx, kv.Str(upkeepID))
	if err != nil && unreadable(err) { // a damaged account begins again
		return Upkeep{ID: upkeepID}, nil
	}
	if err != nil {
		return Upkeep{}, err
	}
	return *u, nil
}

// noteUpkeep changes the record, and tells the catalogue when the next
// collection is due.
func (s *Store) noteUpkeep(ctx context.Context, change func(*Upkeep)) error {
	release, err := s.shareData(ctx, nil)
	if err != nil {
		return err
	}
	defer release()
	err = s.store.Update(ctx, func(tx *kv.Tx) error { return s.changeUpkeep(tx, change) })
	if err != nil {
		return s.storeTrouble(err)
	}
	return s.mirror(ctx)
}

func (s *Store) changeUpkeep(tx *kv.Tx, change func(*Upkeep)) error {
	u, err := s.upkeepIn(tx)
	if err != nil {
		return err
	}
	if u.Since.IsZero() {
		u.Since = s.o.Now()
	}
	change(&u)
	return s.tables.upkeep.Put(tx, &u)
}

// noteDropped counts a chat whose states have lost their last need.
func (s *Store) noteDropped(tx *kv.Tx) error {
	return s.changeUpkeep(tx, func(u *Upkeep) {
		if u.Dropped++; u.Dropped == 1 {
			u.DroppedAt = s.o.Now()
		}
	})
}

// collectDue is the part of a collection for which a command has time after it
// has answered. It opens the store only where one is due, and once to begin the
// account.
func (s *Store) collectDue(ctx context.Context) error {
	c, err := s.readCatalog()
	if err != nil || !s.hasStore() {
		return err
	}
	if c.CollectDue == nil {
		return s.noteUpkeep(ctx, func(*Upkeep) {})
	}
	if s.o.Now().Before(*c.CollectDue) {
		return nil
	}
	return s.collectWithin(ctx, collectTidy)
}

// collectWithin collects, and notes where the time was too short.
func (s *Store) collectWithin(ctx context.Context, limit time.Duration) error {
	if busy, err := s.anyLive(ctx); busy || err != nil {
		return err // its snapshots would have to wait
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	_, err := s.collect(limited, cas.GCOptions{}, func(u Upkeep) bool { return !s.o.Now().Before(u.Due()) })
	if err == nil && s.o.Collect != nil {
		if err = s.o.Collect(limited); limited.Err() != nil {
			return nil
		}
	}
	if err == nil || limited.Err() == nil || ctx.Err() != nil {
		return err
	}
	return s.noteUpkeep(ctx, func(u *Upkeep) { u.TriedAt = s.o.Now() })
}

// anyLive tells whether a turn runs, in this process or another one.
func (s *Store) anyLive(ctx context.Context) (bool, error) {
	live, err := s.liveTurns(ctx)
	return len(live) > 0, err
}

// beginUpkeep starts the goroutine that looks after the store, once; Close ends
// and awaits it. A collection that it is at is stopped: a turn begins. The
// caller has e.mu.
func (e *Engine) beginUpkeep() {
	if e.collecting != nil {
		e.collecting()
	}
	if e.keeping {
		return
	}
	e.keeping = true
	e.wg.Go(func() {
		tick := time.NewTicker(e.upkeepEvery)
		defer tick.Stop()
		for {
			select {
			case <-e.base.Done():
				return
			case <-tick.C:
				e.keepUp()
			}
		}
	})
}

// keepUp removes deleted chats whose time is over, and collects if that is due
// and nobody would have to wait.
func (e *Engine) keepUp() {
	ctx, cancel := context.WithCancel(e.base)
	defer cancel()
	e.mu.Lock()
	e.collecting = cancel
	e.mu.Unlock()
	err := e.keepUpWith(ctx)
	e.mu.Lock()
	e.collecting = nil
	e.mu.Unlock()
	if err != nil && ctx.Err() == nil {
		e.o.Notice("look after the store: " + sanitize.Line(err.Error()))
	}
}

func (e *Engine) keepUpWith(ctx context.Context) error {
	c, err := e.readCatalog()
	if err != nil || !e.hasStore() {
		return err
	}
	if c.PurgeDue != nil && !e.o.Now().Before(*c.PurgeDue) {
		if _, err := e.PurgeChats(ctx, Purge{OlderThan: DeletedKept}); err != nil {
			return err
		}
	}
	u, err := e.Upkeep(ctx)
	switch {
	case err != nil:
		return err
	case u.Since.IsZero():
		return e.noteUpkeep(ctx, func(*Upkeep) {})
	case e.o.Now().Before(u.Due()):
		return nil
	}
	return e.collectWithin(ctx, collectIdle)
}
