package cas

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fettle-cli/fettle/internal/kv"
)

// unfinished is the journal of a restore: a record of the store. It is on the disk
// before the first change in the folder and removed after the last.
type unfinished struct {
	Workspace string    `json:"workspace"` // its key
	Path      string    `json:"path"`
	Before    Digest    `json:"before"` // the tree that was found
	Target    Digest    `json:"target"`
	Stages    []string  `json:"stages"` // folders for what is moved: at the root, and at those of mounts below it
	ChatID    string    `json:"chat_id"`
	Doing     string    `json:"doing,omitempty"` // RestoreOptions.Doing
	Started   time.Time `json:"started"`
	// Record is the id of the manifest that the restore is recorded as, with the
	// journal or while names are moved. Until that is done nobody takes it for one,
	// and taking the restore back removes it.
	Record string `json:"record"`
	// Done tells that the restore is recorded; only the stages must go.
	Done bool `json:"done,omitempty"`
}

// stagePrefix begins the names of the folders that a restore works in. They are in the
// workspace, and in what is mounted below it, since a rename is one step only within a mount.
const stagePrefix = ".fettle-restore-"

// errUnderWay is a journal that is there when one is to be begun.
var errUnderWay = errors.New("another restore of the folder is under way")

// journal gives a workspace's journal, or nil.
func (s *Store) journal(ctx context.Context, ws string) (j *unfinished, err error) {
	err = s.kv.View(ctx, func(tx *kv.Tx) error {
		j, err = s.restores.Get(tx, kv.Str(ws))
		return err
	})
	if errors.Is(err, kv.ErrNotFound) {
		return nil, nil
	}
	if err == nil {
		err = j.check()
	}
	if err != nil {
		return nil, fmt.Errorf("read journal of a restore: %w", err)
	}
	return j, nil
}

// check refuses stages that aren't: they are removed with all that is in them.
func (j *unfinished) check() error {
	for _, stage := range j.Stages {
		if err := checkStage(stage); err != nil {
			return err
		}
	}
	return nil
}

// beginJournal writes a journal, and in the same step manifests: the one that the
// restore is recorded as, unless that isn't known yet, and those that it follows. All
// are on the disk when it returns.
func (s *Store) beginJournal(ctx context.Context, j *unfinished, ms ...*Manifest) error {
	begin := func(tx *kv.Tx) error {
		_, err := s.restores.Get(tx, kv.Str(j.Workspace))
		if err == nil {
			return errUnderWay
		}
		if !errors.Is(err, kv.ErrNotFound) {
			return err
		}
		return s.putJournal(tx, j)
	}
	err := s.check("journal", "")
	if err == nil {
		err = s.commitAll(ctx, ms, begin)
		s.pause("recorded")
	}
	if err == nil {
		err = s.check("journalsync", "")
	}
	if err != nil {
		return fmt.Errorf("write journal of a restore: %w", err)
	}
	return nil
}

// changeJournal replaces a workspace's journal, and returns when it is on the
// disk; that a restore is done need not be, since after a power cut the folder,
// which isn't synced, may be anything.
func (s *Store) changeJournal(ctx context.Context, j *unfinished) error {
	err := s.check("journal", "")
	if err == nil {
		put := s.kv.UpdateSync
		if j.Done {
			put = s.kv.Update
		}
		err = put(ctx, func(tx *kv.Tx) error { return s.putJournal(tx, j) })
	}
	if err != nil {
		return fmt.Errorf("write journal of a restore: %w", err)
	}
	return nil
}

// endJournal removes a journal, and what the restore was recorded as, unless it is
// done. It is not synced: a power cut may bring both back, and the restore is taken
// back once more, or once the folder, which isn't synced either, has lost it.
func (s *Store) endJournal(ctx context.Context, j *unfinished, done bool) error {
	err := s.check("journal", "")
	if err == nil {
		err = s.kv.Update(ctx, func(tx *kv.Tx) error { return s.forget(tx, j, done) })
	}
	if err != nil {
		return fmt.Errorf("remove journal of a restore: %w", err)
	}
	return nil
}

// forget is endJournal in a transaction. A journal that is another restore's stays.
func (s *Store) forget(tx *kv.Tx, j *unfinished, done bool) error {
	now, err := s.restores.Get(tx, kv.Str(j.Workspace))
	if errors.Is(err, kv.ErrNotFound) || err == nil && now.Record != j.Record {
		return nil
	}
	if err != nil {
		return err
	}
	if !done {
		if err := s.unrecord(tx, j.Record); err != nil {
			return err
		}
	}
	return s.restores.Delete(tx, kv.Str(j.Workspace))
}

// unrecord removes the manifest of a restore that was taken back, if it is there.
func (s *Store) unrecord(tx *kv.Tx, id string) error {
	m, err := s.manifests.Get(tx, kv.Str(id))
	if errors.Is(err, kv.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, chat := range accounts(m.ChatID) {
		if err := s.account(tx, chat, -m.Added, -1); err != nil {
			return err
		}
	}
	return s.manifests.Delete(tx, kv.Str(id))
}

// unrecorded are the ids of the manifests that restores under way, or cut short,
// may have recorded: what they say isn't so yet. A journal that can't be read is
// told of by the next operation on its folder.
func (s *Store) unrecorded(tx *kv.Tx) (map[string]bool, error) {
	ids := make(map[string]bool)
	for j, err := range s.restores.Scan(tx, kv.Range{}) {
		if isDamaged(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if !j.Done {
			ids[j.Record] = true
		}
	}
	return ids, nil
}

// journals lists all journals: what they name is needed.
func (s *Store) journals(ctx context.Context) (all []*unfinished, err error) {
	err = s.kv.View(ctx, func(tx *kv.Tx) error {
		all = nil
		for j, err := range s.restores.Scan(tx, kv.Range{}) {
			if err != nil {
				return err
			}
			all = append(all, j)
		}
		return nil
	})
	return all, err
}

// legibleJournals lists the journals that can be read. One that can't is reported by the
// next operation on its folder, which is the only one that it concerns.
func (s *Store) legibleJournals(ctx context.Context) (all []*unfinished, err error) {
	err = s.kv.View(ctx, func(tx *kv.Tx) error {
		all = nil
		for j, err := range s.restores.Scan(tx, kv.Range{}) {
			if isDamaged(err) {
				continue
			}
			if err != nil {
				return err
			}
			all = append(all, j)
		}
		return nil
	})
	return all, err
}

// ForgetRestores drops the journals of all restores that were under way, and what
// they were to be recorded as. It is for a store that was put back from a copy: the
// folders have moved on since, and taking a restore back would undo that.
func (s *Store) ForgetRestores(ctx context.Context) error {
	all, err := s.journals(ctx)
	if err != nil || len(all) == 0 {
		return err
	}
	return s.kv.UpdateSync(ctx, func(tx *kv.Tx) error {
		for _, j := range all {
			if err := s.forget(tx, j, j.Done); err != nil {
				return err
			}
		}
		return nil
	})
}
