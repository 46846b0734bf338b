package store

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/internal/kv"
)

// UnknownGrace is how long the states of a chat are kept that no record names:
// its first turn may be folding just now.
const UnknownGrace = time.Hour

// CollectStates removes what no chat's state reaches, after the chats whose time
// is over. It folds first, and keeps the states of live turns.
func (s *Store) CollectStates(ctx context.Context, compact bool) (*cas.GCReport, error) {
	return s.collect(ctx, cas.GCOptions{Compact: compact}, always)
}

// ShrinkStates is CollectStates that gives the room back to the file system, and
// calls compacting before it does.
func (s *Store) ShrinkStates(ctx context.Context, compacting func()) (*cas.GCReport, error) {
	return s.collect(ctx, cas.GCOptions{Compact: true, Compacting: compacting}, always)
}

// errNotWanted ends a collection that is no longer needed.
var errNotWanted = errors.New("the collection is not wanted any more")

func always(Upkeep) bool { return true }

// collect removes what no chat's state reaches. It calls wanted when it is the only one
// that collects, since another process may have collected by then. It determines itself
// which states are needed, also only then.
func (s *Store) collect(ctx context.Context, o cas.GCOptions, wanted func(Upkeep) bool) (*cas.GCReport, error) {
	if !s.HasStore() {
		return new(cas.GCReport), nil
	}
	release, err := s.ShareData(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer release()
	if _, err := s.PurgeChats(ctx, Purge{OlderThan: DeletedKept}); err != nil {
		return nil, err
	}
	if err := s.purgeDocuments(ctx); err != nil {
		return nil, err
	}
	if err := s.purgeVectors(ctx); err != nil {
		return nil, err
	}
	if _, err := s.RemoveLeftovers(ctx); err != nil {
		s.Options.Notice("some files of killed commands could not be removed: " + err.Error())
	}
	var before Upkeep
	o.Live = func(ctx context.Context) (live func(*cas.Manifest) bool, err error) {
		if before, err = s.Upkeep(ctx); err != nil {
			return nil, err
		}
		if !wanted(before) {
			return nil, errNotWanted
		}
		return s.neededStates(ctx)
	}
	report, err := s.Snapshots.GC(ctx, o)
	if errors.Is(err, errNotWanted) {
		return new(cas.GCReport), nil
	}
	if err != nil && s.LeavesOut(err) { // the states that it names are unknown, so all are kept
		s.Options.Notice("no states were removed: a damaged record may need any of them")
		report, err = new(cas.GCReport), nil
	}
	if err != nil {
		return nil, StateFault("remove what nothing needs", err)
	}
	return report, s.NoteUpkeep(ctx, func(u *Upkeep) {
		u.CollectedAt, u.Bytes, u.TriedAt = s.Options.Now(), report.Bytes, time.Time{}
		if u.Dropped = max(u.Dropped-before.Dropped, 0); u.Dropped == 0 {
			u.DroppedAt = time.Time{}
		}
	})
}

// allStates among the borrowed states means that a damaged record may have named any
// other one, so that all are kept.
const allStates = "all"

// neededStates returns a function that reports whether a state is needed: by a chat
// that has a record or a journal, by a fork or document that has it from elsewhere,
// or because its chat may still appear. The caller keeps all others from recording
// states.
func (s *Store) neededStates(ctx context.Context) (func(*cas.Manifest) bool, error) {
	known, err := s.KnownChats(ctx)
	if err != nil {
		return nil, err
	}
	borrowed, err := s.borrowed(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.artifactStates(ctx, known, borrowed); err != nil {
		return nil, err
	}
	young := s.Options.Now().Add(-UnknownGrace)
	return func(m *cas.Manifest) bool {
		return known[m.ChatID] || borrowed[m.ID] || borrowed[allStates] || m.RecordedAt().After(young)
	}, nil
}

// borrowed are the states that forks have from the chats which they began from,
// for they need them for as long as they live themselves, and those of documents.
func (s *Store) borrowed(ctx context.Context) (map[string]bool, error) {
	out := map[string]bool{}
	var forks []string
	err := s.View(ctx, func(tx *kv.Tx) error {
		for c, err := range s.Tables.Chats.Scan(tx, kv.Range{}) {
			if err != nil && s.LeavesOut(err) {
				out[allStates] = true // it may be a fork of any chat
				continue
			}
			if err != nil {
				return err
			}
			if c.ForkedFrom != nil {
				forks = append(forks, c.ID)
				out[c.ActiveManifest] = true
			}
		}
		return nil
	})
	if err != nil && !errors.Is(err, kv.ErrNotFound) {
		return nil, err
	}
	for _, id := range forks {
		for after := kv.Key(nil); ; {
			messages, next, err := s.someMessages(ctx, kv.Range{Prefix: kv.Str(id), After: after}, func(err error) bool {
				left := s.LeavesOut(err)
				out[allStates] = out[allStates] || left
				return left
			})
			if err != nil {
				return nil, err
			}
			for _, m := range messages {
				out[m.ManifestID], out[m.LeftManifestID] = true, true
			}
			if after = next; next == nil {
				break
			}
		}
	}
	if err := s.documentStates(ctx, out); err != nil {
		return nil, err
	}
	delete(out, "")
	return out, nil
}

// dropStates removes the states of a chat that is removed for good. Where a fork
// has some of them, the collector sorts them out.
func (s *Store) dropStates(ctx context.Context, chatID string) error {
	list, err := s.Snapshots.Manifests(ctx, chatID)
	if err != nil || len(list) == 0 {
		return err
	}
	borrowed, err := s.borrowed(ctx)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(list, func(m *cas.Manifest) bool { return borrowed[m.ID] || borrowed[allStates] }) {
		return nil
	}
	return s.Snapshots.DropChat(ctx, chatID)
}

// HasStore tells whether anything was ever stored: to look makes no store.
func (s *Store) HasStore() bool {
	_, err := os.Stat(s.StoreDir())
	return err == nil
}

// KnownChats are the chats that have a record or a journal. The journals are
// looked at first, live or not: a turn that is folded meanwhile has a record
// then.
func (s *Store) KnownChats(ctx context.Context) (map[string]bool, error) {
	known, err := s.inJournals()
	if err != nil {
		return nil, err
	}
	s.Pause("collect:journals")
	err = s.View(ctx, func(tx *kv.Tx) error {
		for key, err := range s.Tables.Chats.Keys(tx, kv.Range{}) { // a damaged chat keeps its states
			if err != nil {
				return err
			}
			id, err := key.Parts()
			if err != nil || len(id) != 1 {
				continue
			}
			if id, ok := id[0].(string); ok {
				known[id] = true
			}
		}
		return nil
	})
	if err != nil && !errors.Is(err, kv.ErrNotFound) {
		return nil, err
	}
	return known, nil
}

// VerifyStates reads all that is kept of workspaces and compares it with its
// digests. read is told of the bytes of each piece; it may be nil.
func (s *Store) VerifyStates(ctx context.Context, read func(int64)) (*cas.VerifyReport, error) {
	if !s.HasStore() {
		return new(cas.VerifyReport), nil
	}
	report, err := s.Snapshots.Verify(ctx, read)
	if err != nil {
		return nil, StoreFault("verify the store", err)
	}
	return report, nil
}

// StateStats measures what uses the store's room, by reading the folders of all
// states.
func (s *Store) StateStats(ctx context.Context) (*cas.Stats, error) {
	if !s.HasStore() {
		return new(cas.Stats), nil
	}
	stats, err := s.Snapshots.Stats(ctx)
	if err != nil {
		return nil, StateFault("look what uses the store", err)
	}
	for _, err := range stats.Damaged {
		s.tellDamage(err)
	}
	return stats, nil
}

// StateSummary says what uses the store's room by what was counted as it was
// kept, which takes no longer the more states there are.
func (s *Store) StateSummary(ctx context.Context) (*cas.Summary, error) {
	if !s.HasStore() {
		return new(cas.Summary), nil
	}
	sum, err := s.Snapshots.Summary(ctx)
	if err != nil {
		return nil, StateFault("look what uses the store", err)
	}
	return sum, nil
}
