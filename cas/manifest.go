package cas

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/fettle-cli/fettle/internal/kv"
)

// Source says what made a manifest. It is stored.
type Source string

// The sources of manifests.
const (
	UserUpload  Source = "user_upload" // files that a message brought
	ToolRun     Source = "tool_run"    // after a tool call
	Branch      Source = "branch"      // the beginning of another branch
	Edit        Source = "edit"        // a person edited a file through fettle
	External    Source = "external"    // someone else changed the folder
	Interrupted Source = "interrupted" // found after a crash
	Restored    Source = "restore"     // an earlier state was brought back
	// Imported is a folder as it was when states were brought in that it comes
	// after: SourceRef is the last of them. Without one it is a state that came in,
	// of a source that this program doesn't know or a call of which nothing was told.
	Imported Source = "import"
	// CallVersion is a workspace as a tool call left it where not all of that landed:
	// the user had changed the same, or chose some of the paths.
	CallVersion Source = "call_version"
)

// UndoneAlone begins the SourceRef of a Restored state in which one step was undone and
// those after it were not; the name of the step follows.
const UndoneAlone = "-"

// Manifest is the state of a workspace at one moment. Its root and the trees
// below it hold the files; Store.WriteFiles gives them as {path: sha256}.
type Manifest struct {
	ID       string `json:"id"`
	ChatID   string `json:"chat_id"`
	ParentID string `json:"parent_id,omitempty"`
	// GroundID is the first of the states that this one follows; empty for that
	// one itself, and where it wasn't known.
	GroundID  string    `json:"ground_id,omitempty"`
	Root      Digest    `json:"root"`
	CreatedAt time.Time `json:"created_at"`
	Source    Source    `json:"source"`
	SourceRef string    `json:"source_ref,omitempty"` // message or tool call
	// Steps is how many steps undo or redo went over to make this state: negative for undo,
	// 0 for every other state and for those of programs that did not record it.
	Steps int `json:"steps,omitempty"`
	// SinceID is, of a state that undo made, the one by which the first of these steps was
	// done last: that of the step itself, or one that redo made.
	SinceID string `json:"since_id,omitempty"`
	// Maker is, of an imported state after a tool call, what ran there: the record of
	// the call stayed where it was.
	Maker string `json:"maker,omitempty"`
	// Shared reports that the folder was read after a call: what differs from the parent may
	// have been changed by another program that wrote to it meanwhile.
	Shared bool `json:"shared,omitempty"`
	// Foreign reports that the state came with an import. A restore gives none of its
	// files setuid or setgid.
	Foreign bool `json:"foreign,omitempty"`
	// Complete is false where an entry's content isn't kept: Failed of them.
	Complete bool  `json:"complete"`
	Files    int   `json:"file_count"`
	Bytes    int64 `json:"bytes"`
	Failed   int   `json:"failed,omitempty"`
	Added    int64 `json:"added,omitempty"` // bytes that this snapshot brought into the store
}

// RecordedAt returns when the manifest was recorded in this store. CreatedAt of an
// imported state is the time that its file names.
func (m *Manifest) RecordedAt() time.Time {
	id, err := ulid.ParseStrict(m.ID)
	if err != nil {
		return m.CreatedAt
	}
	return ulid.Time(id.Time())
}

// About is what its maker says of a new manifest.
type About struct {
	ID        string // empty makes one
	ChatID    string
	ParentID  string // empty takes the parent that the operation knows
	Source    Source
	SourceRef string
	Shared    bool   // see [Manifest.Shared]
	Steps     int    // Manifest.Steps
	SinceID   string // Manifest.SinceID
}

// ground is the first of the states that one belongs to; "" if that isn't known.
func (m *Manifest) ground() string {
	if m.ParentID == "" {
		return m.ID
	}
	return m.GroundID
}

// allChats is the account of the store as a whole. No chat has that id.
const allChats = "*"

// usage counts a chat's states, and the bytes that they have brought into the
// store.
type usage struct {
	ChatID string `json:"chat_id"`
	Bytes  int64  `json:"bytes"`
	States int    `json:"states"`
	// Counted tells, in the account of all, that every account has the number of
	// its states: an earlier program kept accounts of bytes alone.
	Counted bool `json:"counted,omitempty"`
}

// records are the tables that the room owns.
type records struct {
	manifests *kv.Table[Manifest]
	usage     *kv.Table[usage]
	blobs     *kv.RawTable // digest → encoding byte and content
	trees     *kv.RawTable // digest → the tree's encoding
	cache     *kv.RawTable // workspace, folder, piece → what a stat said
	owners    *kv.RawTable // workspace → an entry of another user's
	restores  *kv.Table[unfinished]
}

func newRecords() records {
	return records{
		manifests: kv.NewTable("workspace_manifests", func(m *Manifest) kv.Key { return kv.Str(m.ID) },
			kv.On("chat", func(m *Manifest) kv.Key { return kv.Str(m.ChatID) })),
		usage:  kv.NewTable("workspace_usage", func(u *usage) kv.Key { return kv.Str(u.ChatID) }),
		blobs:  kv.NewRawTable("blobs"),
		trees:  kv.NewRawTable("trees"),
		cache:  kv.NewRawTable("stat_cache"),
		owners: kv.NewRawTable("workspace_owners"),

		restores: kv.NewTable("workspace_restores", func(j *unfinished) kv.Key { return kv.Str(j.Workspace) }),
	}
}

// Manifest gives a manifest by its id, or ErrNotFound.
func (s *Store) Manifest(ctx context.Context, id string) (*Manifest, error) {
	var m *Manifest
	hidden := false
	err := s.kv.View(ctx, func(tx *kv.Tx) (err error) {
		if m, err = s.manifests.Get(tx, kv.Str(id)); err != nil {
			return err
		}
		not, err := s.unrecorded(tx)
		hidden = not[id]
		return err
	})
	if hidden || errors.Is(err, kv.ErrNotFound) {
		return nil, fmt.Errorf("manifest %s: %w", id, ErrNotFound)
	}
	return m, err
}

// Manifests gives a chat's manifests, the oldest first.
func (s *Store) Manifests(ctx context.Context, chatID string) ([]*Manifest, error) {
	var list []*Manifest
	err := s.kv.View(ctx, func(tx *kv.Tx) (err error) {
		if list, err = s.manifestsOf(tx, chatID); err != nil {
			return err
		}
		not, err := s.unrecorded(tx)
		list = slices.DeleteFunc(list, func(m *Manifest) bool { return not[m.ID] })
		return err
	})
	return list, err
}

// manifestsOf is Manifests with what a restore under way has recorded.
func (s *Store) manifestsOf(tx *kv.Tx, chatID string) (list []*Manifest, err error) {
	for m, err := range s.manifests.ByIndex(tx, "chat", kv.Str(chatID), kv.Range{}) {
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, nil
}

// DropChat removes a chat's manifests and its account. What only they reached
// goes with the next [Store.GC].
func (s *Store) DropChat(ctx context.Context, chatID string) error {
	var list []*Manifest
	err := s.kv.View(ctx, func(tx *kv.Tx) (err error) {
		list, err = s.manifestsOf(tx, chatID)
		return err
	})
	if err != nil {
		return err
	}
	if err := s.dropManifests(ctx, list); err != nil {
		return err
	}
	return s.kv.UpdateSync(ctx, func(tx *kv.Tx) error {
		u, err := s.used(tx, chatID)
		if err != nil {
			return err
		}
		return errors.Join(s.account(tx, allChats, 0, -u.States), s.usage.Delete(tx, kv.Str(chatID)))
	})
}

// dropManifests removes manifests. It syncs nothing.
func (s *Store) dropManifests(ctx context.Context, list []*Manifest) error {
	return s.kv.Batch(ctx, func(b *kv.Batch) error {
		for _, m := range list {
			if err := s.manifests.Delete(b, kv.Str(m.ID)); err != nil {
				return err
			}
		}
		return nil
	})
}

// commit records a manifest, and with it the accounts and what also writes.
func (s *Store) commit(ctx context.Context, m *Manifest, also func(*kv.Tx) error) error {
	return s.commitAll(ctx, []*Manifest{m}, also)
}

// commitAll records manifests in one step, each after the one that it follows. It skips
// those that are nil.
func (s *Store) commitAll(ctx context.Context, ms []*Manifest, also func(*kv.Tx) error) error {
	return s.kv.UpdateSync(ctx, func(tx *kv.Tx) error {
		for _, m := range ms {
			if m == nil {
				continue
			}
			if err := s.commitOne(tx, m); err != nil {
				return err
			}
		}
		if also == nil {
			return nil
		}
		return also(tx)
	})
}

func (s *Store) commitOne(tx *kv.Tx, m *Manifest) error {
	if m.ParentID != "" {
		parent, err := s.manifests.Get(tx, kv.Str(m.ParentID))
		var corrupt *kv.CorruptError
		switch {
		case err == nil:
			m.GroundID = parent.ground()
		case !errors.Is(err, kv.ErrNotFound) && !errors.As(err, &corrupt):
			return err
		}
	}
	if err := s.putManifest(tx, m); err != nil {
		return err
	}
	for _, chat := range accounts(m.ChatID) {
		if err := s.account(tx, chat, m.Added, 1); err != nil {
			return err
		}
	}
	return nil
}

// accounts are the usage records that a chat's bytes count in.
func accounts(chatID string) []string {
	if chatID == "" {
		return []string{allChats}
	}
	return []string{chatID, allChats}
}

func (s *Store) account(tx *kv.Tx, chatID string, bytes int64, states int) error {
	u, err := s.used(tx, chatID)
	if err != nil {
		return err
	}
	if u == (usage{ChatID: allChats}) {
		u.Counted = s.atMostOne(tx)
	}
	u.Bytes, u.States = u.Bytes+bytes, u.States+states
	return s.usage.Put(tx, &u)
}

// atMostOne tells that the first state of the store has just been recorded.
func (s *Store) atMostOne(tx *kv.Tx) bool {
	n := 0
	for _, err := range s.manifests.Keys(tx, kv.Range{Limit: 2}) {
		if n++; err != nil {
			return false
		}
	}
	return n <= 1
}

func (s *Store) used(tx *kv.Tx, chatID string) (usage, error) {
	u, err := s.usage.Get(tx, kv.Str(chatID))
	if errors.Is(err, kv.ErrNotFound) {
		return usage{ChatID: chatID}, nil
	}
	if err != nil {
		return usage{}, err
	}
	return *u, nil
}
