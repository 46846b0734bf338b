package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/kv"
)

const (
	// DocumentFormat names the format of a [ChatDocument], so that a file of
	// another kind is told at once.
	DocumentFormat = "fettle-chat"
	// DocumentVersion rises when a field of a ChatDocument goes or changes its
	// meaning.
	DocumentVersion = 1
)

// ChatDocument is a whole chat outside of the store: its JSON is what `fettle
// chats export -o json` writes and `chats import` reads. It has all branches;
// images are base64. It has neither events nor approvals nor files of the
// workspace, and no key or header, which no record holds.
type ChatDocument struct {
	SchemaVersion int    `json:"schema_version"`
	Format        string `json:"format"`
	Chat          Chat   `json:"chat"`
	// Messages are all of the tree, in the order of their ids, which is that
	// of time.
	Messages []Message `json:"messages"`
	// ToolCalls are the records of the calls whose turns were the chat's own,
	// in the order in which they began.
	ToolCalls []ToolCall `json:"tool_calls"`
	// Payloads are what the person decided about payloads in the messages.
	Payloads []PayloadDecision `json:"payloads,omitempty"`
}

// Path gives the messages from the root to the active leaf.
func (d *ChatDocument) Path() []Message {
	byID := make(map[string]int, len(d.Messages))
	for i, m := range d.Messages {
		byID[m.ID] = i
	}
	var path []Message
	for id := d.Chat.ActiveLeaf; id != "" && len(path) < len(d.Messages); {
		i, ok := byID[id]
		if !ok {
			break
		}
		path = append(path, d.Messages[i])
		id = d.Messages[i].ParentID
	}
	slices.Reverse(path)
	return path
}

// exportGroup is how many messages are read while the store is held once.
const exportGroup = 100

// ExportChat gives all of a chat, as far as its turns have ended. live says
// that one has not.
func (e *Engine) ExportChat(ctx context.Context, ref ChatRef) (doc *ChatDocument, live bool, err error) {
	chat, err := e.find(ctx, ref, nil)
	if err != nil {
		return nil, false, err
	}
	if live, err = e.isLive(ctx, chat.ID); err != nil {
		return nil, false, err
	}
	doc = &ChatDocument{SchemaVersion: DocumentVersion, Format: DocumentFormat, Messages: []Message{}, ToolCalls: []ToolCall{}}
	var keys []kv.Key
	err = e.view(ctx, func(tx *kv.Tx) error { // one moment; messages never change after it
		found, err := e.tables.chats.Get(tx, kv.Str(chat.ID))
		if err != nil {
			return err
		}
		doc.Chat = *found
		for key, err := range e.tables.messages.Keys(tx, kv.Range{Prefix: kv.Str(chat.ID)}) {
			if err != nil {
				return err
			}
			keys = append(keys, key)
		}
		if doc.Payloads, err = e.decisionsIn(tx, chat.ID); err != nil {
			return err
		}
		return e.exportCalls(tx, doc)
	})
	if err == nil {
		err = e.exportMessages(ctx, doc, keys)
	}
	if errors.Is(err, kv.ErrNotFound) { // it was removed for good meanwhile
		return nil, false, fault.New(fault.NotFound, fmt.Sprintf("no chat %d", chat.Number), "fettle chats list")
	}
	return doc, live, err
}

func (e *Engine) exportCalls(tx *kv.Tx, doc *ChatDocument) error {
	for c, err := range legible(e, e.tables.calls.ByIndex(tx, "chat", kv.Str(doc.Chat.ID), kv.Range{})) {
		if err != nil {
			return err
		}
		doc.ToolCalls = append(doc.ToolCalls, *c)
	}
	slices.SortStableFunc(doc.ToolCalls, func(a, b ToolCall) int {
		return cmp.Or(a.StartedAt.Compare(b.StartedAt), cmp.Compare(a.MessageID, b.MessageID), cmp.Compare(a.Index, b.Index))
	})
	return nil
}

func (e *Engine) exportMessages(ctx context.Context, doc *ChatDocument, keys []kv.Key) error {
	for group := range slices.Chunk(keys, exportGroup) {
		err := e.view(ctx, func(tx *kv.Tx) error {
			for _, key := range group {
				m, err := e.messageAt(tx, key)
				if err != nil && e.leavesOut(err) {
					continue
				}
				if err != nil {
					return err
				}
				doc.Messages = append(doc.Messages, *m)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// isLive tells whether a turn of the chat has not ended.
func (e *Engine) isLive(ctx context.Context, chatID string) (bool, error) {
	live, err := e.liveTurns(ctx)
	return slices.ContainsFunc(live, func(a *acceptance) bool { return a.Chat.ID == chatID }), err
}
