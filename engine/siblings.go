package engine

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/kv"
)

// messageLink is a message without what makes its record large: its place in
// the chat, and what a list of branches shows. It reads the records of
// messages; none is written by it.
type messageLink struct {
	ChatID         string        `json:"chat_id"`
	ID             string        `json:"id"`
	ParentID       string        `json:"parent_id"`
	TurnID         string        `json:"turn_id"`
	Role           provider.Role `json:"role"`
	Model          string        `json:"model"`
	CreatedAt      time.Time     `json:"created_at"`
	ManifestID     string        `json:"manifest_id"`
	LeftManifestID string        `json:"left_manifest_id"`
}

// linksOf returns messages without their content.
func linksOf(messages []Message) []messageLink {
	out := make([]messageLink, len(messages))
	for i, m := range messages {
		out[i] = messageLink{
			ChatID: m.ChatID, ID: m.ID, ParentID: m.ParentID, TurnID: m.TurnID, Role: m.Role, Model: m.Model,
			CreatedAt: m.CreatedAt, ManifestID: m.ManifestID, LeftManifestID: m.LeftManifestID,
		}
	}
	return out
}

const (
	// previewLength is document 003's.
	previewLength = 40
	// firstFew is among how many of a chat's first messages its root is: those of a
	// turn are made within a moment, in which their ids have any order.
	firstFew = 8
)

// Previews gives the beginning of the first question of each chat that has one, by
// the chat's id.
func (s *Store) Previews(ctx context.Context, chats []Chat) (map[string]string, error) {
	out := make(map[string]string, len(chats))
	err := s.view(ctx, func(tx *kv.Tx) error {
		for _, c := range chats {
			if c.Messages == 0 {
				continue
			}
			m, err := s.rootOf(tx, c)
			if err != nil && !unreadable(err) {
				return err
			}
			if m == nil {
				continue
			}
			if p := PreviewOf(m); p != "" {
				out[c.ID] = p
			}
		}
		return nil
	})
	if errors.Is(err, kv.ErrNotFound) {
		return out, nil // no store yet
	}
	return out, err
}

// rootOf is the first of a chat's questions; nil where none is found.
func (s *Store) rootOf(tx *kv.Tx, c Chat) (*Message, error) {
	for l, err := range legible(s, s.tables.links.Scan(tx, kv.Range{Prefix: kv.Str(c.ID), Limit: firstFew})) {
		if err != nil {
			return nil, err
		}
		if l.ParentID == "" {
			return s.message(tx, c.ID, l.ID)
		}
	}
	return nil, nil
}

// PreviewOf is the beginning of a message, on one line.
func PreviewOf(m *Message) string {
	for _, p := range m.Parts {
		if p.Kind != provider.TextPart {
			continue
		}
		// A character has at most four bytes; twice that leaves room for spaces.
		text := strings.TrimSpace(p.Text)
		text = cleanLine(strings.ToValidUTF8(text[:min(len(text), 8*previewLength)], ""))
		if text != "" {
			return cutRunes(text, previewLength)
		}
	}
	for _, p := range m.Parts {
		if p.Name != "" {
			return cutRunes(cleanLine(p.Name), previewLength)
		}
	}
	return ""
}
