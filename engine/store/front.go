package store

import (
	"context"
	"errors"
	"sync"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/internal/sanitize"
	"github.com/fettle-cli/fettle/toolset"
)

// minted are the ids that NewChatID has given and no chat has yet.
type minted struct {
	mu  sync.Mutex
	ids map[string]bool
}

func (m *minted) add(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ids == nil {
		m.ids = map[string]bool{}
	}
	m.ids[id] = true
}

func (m *minted) has(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ids[id]
}

// Len returns how many ids no chat has yet.
func (m *minted) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.ids)
}

func (m *minted) Drop(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.ids, id)
}

// NewChatID gives the id of a chat that isn't there yet, for a client that has to
// name a conversation before anything is asked in it. [ChatRef.New] begins the
// chat; until then it is nowhere.
func (s *Store) NewChatID() string {
	id := s.NewID()
	s.Minted.add(id)
	return id
}

// DropChatID forgets an id of NewChatID that no chat is to have.
func (s *Store) DropChatID(id string) { s.Minted.Drop(id) }

// ChatID is the id that a new chat has.
func (s *Store) ChatID(r ChatRef) (string, error) {
	switch {
	case r.New == "":
		return s.NewID(), nil
	case !s.Minted.has(r.New):
		return "", fault.New(fault.Usage, "no new chat can have the id "+sanitize.Shorten(sanitize.Line(r.New), chat.MaxName))
	}
	return r.New, nil
}

// CheckWorkspace says why a folder can't be a chat's workspace, if that is so.
func (s *Store) CheckWorkspace(dir string) error {
	return toolset.CheckBound(dir, s.Places())
}

// Places are what a folder of the user's must keep away from.
func (s *Store) Places() toolset.Places {
	return toolset.Places{DataDir: s.Options.DataDir, Own: s.Options.Own}
}

// StateByID gives a state by its id, as events name it; nil where the store has
// it no longer.
func (s *Store) StateByID(ctx context.Context, id string) (*cas.Manifest, error) {
	return s.Manifest(ctx, id)
}

// ToolCalls gives the records of a chat's calls, of all branches and in no
// particular order, as far as turns have ended.
func (s *Store) ToolCalls(ctx context.Context, chatID string) ([]chat.ToolCall, error) {
	if _, err := s.Fold(ctx, FoldAll); err != nil {
		return nil, err
	}
	var out []chat.ToolCall
	err := s.View(ctx, func(tx *kv.Tx) error {
		out = nil
		for c, err := range Legible(s, s.Tables.Calls.ByIndex(tx, "chat", kv.Str(chatID), kv.Range{})) {
			if err != nil {
				return err
			}
			out = append(out, *c)
		}
		return nil
	})
	if errors.Is(err, kv.ErrNotFound) {
		return nil, nil
	}
	return out, err
}
