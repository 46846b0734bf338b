package engine

import (
	"context"
	"errors"
	"strings"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/kv"
)

// Siblings gives, by the id of a message, the ids of all messages that follow what it
// follows: the ways that a chat goes on from there, the oldest first. Messages that
// are alone are left out.
func (e *Engine) Siblings(ctx context.Context, chat Chat) (map[string][]string, error) {
	t, err := e.messageTree(ctx, chat)
	if err != nil {
		return nil, err
	}
	out := map[string][]string{}
	for _, list := range t.children {
		if len(list) < 2 {
			continue
		}
		ids := make([]string, len(list))
		for i, m := range list {
			ids[i] = m.ID
		}
		for _, id := range ids {
			out[id] = ids
		}
	}
	return out, nil
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
func (e *Engine) Previews(ctx context.Context, chats []Chat) (map[string]string, error) {
	out := make(map[string]string, len(chats))
	err := e.view(ctx, func(tx *kv.Tx) error {
		for _, c := range chats {
			if c.Messages == 0 {
				continue
			}
			for m, err := range e.tables.messages.Scan(tx, kv.Range{Prefix: kv.Str(c.ID), Limit: firstFew}) {
				if err != nil {
					return err
				}
				if m.ParentID != "" {
					continue
				}
				if err := e.loadParts(tx, m); err != nil {
					return err
				}
				if p := previewOf(m); p != "" {
					out[c.ID] = p
				}
				break
			}
		}
		return nil
	})
	if errors.Is(err, kv.ErrNotFound) {
		return out, nil // no store yet
	}
	return out, err
}

// previewOf is the beginning of a message, on one line.
func previewOf(m *Message) string {
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
