package store

import (
	"context"
	"errors"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/kv"
)

// givenPayload is what a call gave for the workspace panel.
type givenPayload struct {
	provider.Payload
	callID string
}

// workspacePayloads reads what the calls of messages gave for the workspace panel.
func (s *Store) workspacePayloads(ctx context.Context, chatID string, path []chat.Message) (map[chat.Use]givenPayload, error) {
	of, from := map[chat.Use]bool{}, ""
	for _, m := range path {
		for _, p := range m.Parts {
			if p.Kind == provider.ToolCallPart && p.Call != nil && chat.ToolsetOf(p.Call.Name) != "" { // no builtin gives one
				of[chat.Use{MessageID: m.ID, ID: p.Call.ID}] = true
				if from == "" {
					from = chat.TimeOfID(m.ID)
				}
			}
		}
	}
	out := map[chat.Use]givenPayload{}
	if len(of) == 0 {
		return out, nil
	}
	err := s.View(ctx, func(tx *kv.Tx) error {
		clear(out)
		for c, err := range Legible(s, s.Tables.Calls.ByIndex(tx, "chat", kv.Str(chatID), kv.Range{From: kv.FromPrimary(kv.Str(from))})) {
			if err != nil {
				return err
			}
			if u := (chat.Use{MessageID: c.MessageID, ID: c.ToolUseID}); of[u] {
				if p, ok := c.WorkspacePayload(); ok {
					out[u] = givenPayload{p, c.ID}
				}
			}
		}
		return nil
	})
	if errors.Is(err, kv.ErrNotFound) {
		err = nil
	}
	return out, err
}
