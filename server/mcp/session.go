package mcp

import (
	"context"
	"sync"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

// session is what one client works in: a chat, and with it a workspace.
type session struct {
	eng *engine.Engine
	// turn is held while one runs.
	turn chan struct{}

	mu sync.Mutex
	id string // the chat's
	// begun tells that there is a chat; the first turn makes it.
	begun bool
	used  int64 // when it was used last, in the order of uses
}

func newSession(eng *engine.Engine) *session {
	return &session{eng: eng, id: eng.NewChatID(), turn: make(chan struct{}, 1)}
}

// take waits for the session's turn to end, or says why not.
func (s *session) take(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *session) release() { <-s.turn }

// chat says which chat a turn of the session belongs to.
func (s *session) chat() store.ChatRef {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.begun {
		return store.ChatRef{ID: s.id}
	}
	return store.ChatRef{New: s.id}
}

func (s *session) began() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begun = true
}

// renew has the next turn begin a chat, where the user has deleted the one there
// was.
func (s *session) renew() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.id, s.begun = s.eng.NewChatID(), false
}

func (s *session) hasChat() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begun
}

// end forgets the session. Its chat stays, where there is one.
func (s *session) end() {
	if ref := s.chat(); ref.New != "" {
		s.eng.DropChatID(ref.New)
	}
}

// maxSessions bounds the sessions of clients over HTTP, of each era. A client that
// comes back after so many others works in a new chat.
const maxSessions = 256

// sessionOf is the session of a modern client over HTTP: that of its name, and of
// what its address says.
func (h *Host) sessionOf(client, named string) *session {
	key := sanitize.Cut(client, maxShownName) + "\x00" + sanitize.Cut(named, maxShownName)
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.sessions[key]
	if s == nil {
		h.makeRoom()
		s = newSession(h.eng)
		h.sessions[key] = s
	}
	h.uses++
	s.used = h.uses
	return s
}

// makeRoom forgets the session that was used longest ago, where there are too many.
func (h *Host) makeRoom() {
	if len(h.sessions) < maxSessions {
		return
	}
	oldest := ""
	for key, s := range h.sessions {
		if oldest == "" || s.used < h.sessions[oldest].used {
			oldest = key
		}
	}
	h.sessions[oldest].end()
	delete(h.sessions, oldest)
}
