package store

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/kv"
)

// ExportChat returns all of a chat, as far as its turns have ended. live
// reports that one has not.
func (s *Store) ExportChat(ctx context.Context, ref ChatRef) (doc *chat.Document, live bool, err error) {
	chat, err := s.Find(ctx, ref, nil)
	if err != nil {
		return nil, false, err
	}
	if live, err = s.isLive(ctx, chat.ID); err != nil {
		return nil, false, err
	}
	doc, err = s.exportDocument(ctx, chat.ID)
	if errors.Is(err, kv.ErrNotFound) { // it was removed for good meanwhile
		return nil, false, fault.New(fault.NotFound, fmt.Sprintf("no chat %d", chat.Number), fault.Try(fault.ListChats))
	}
	return doc, live, err
}

// exportDocument reads a chat as it is at one moment. The messages of a long
// chat are read in several views; those that a turn adds in between are left
// out, since they are not among the keys of that moment.
func (s *Store) exportDocument(ctx context.Context, chatID string) (*chat.Document, error) {
	doc := &chat.Document{SchemaVersion: chat.DocumentVersion, Format: chat.DocumentFormat, Messages: []chat.Message{}, ToolCalls: []chat.ToolCall{}}
	all := kv.Range{Prefix: kv.Str(chatID)}
	var rest []kv.Key
	err := s.View(ctx, func(tx *kv.Tx) error {
		found, err := s.Tables.Chats.Get(tx, kv.Str(chatID))
		if err != nil {
			return err
		}
		doc.Chat = *found
		if doc.Payloads, err = s.decisionsIn(tx, chatID); err != nil {
			return err
		}
		if err := s.exportCalls(tx, doc); err != nil {
			return err
		}
		messages, next, err := s.messagesIn(tx, all, s.LeavesOut)
		if err != nil {
			return err
		}
		doc.Add(messages)
		if all.After = next; next == nil {
			return nil
		}
		for key, err := range s.Tables.Messages.Keys(tx, all) {
			if err != nil {
				return err
			}
			rest = append(rest, key)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if doc.Artifacts, err = s.exportArtifacts(ctx, chatID); err != nil {
		return nil, err
	}
	if err := s.exportRest(ctx, doc, all, rest); err != nil || len(doc.Messages) == 0 {
		return doc, err
	}
	if err := s.markUndoneResults(ctx, chatID, doc.Messages); err != nil {
		return nil, err
	}
	return doc, s.MarkUndoneCalls(ctx, chatID, doc.Messages[0].ID, doc.ToolCalls)
}

// exportRest reads the messages with the given keys, which are in their order
// within r. A damaged one is left out.
func (s *Store) exportRest(ctx context.Context, doc *chat.Document, r kv.Range, keys []kv.Key) error {
	left := false
	for len(keys) > 0 {
		messages, next, err := s.someMessages(ctx, r, func(err error) bool {
			left = left || Damaged(err)
			return s.LeavesOut(err)
		})
		if err != nil {
			return err
		}
		for _, m := range messages {
			key := s.Tables.Messages.KeyOf(m)
			for left && len(keys) > 0 && bytes.Compare(keys[0], key) < 0 {
				keys = keys[1:]
			}
			if len(keys) > 0 && bytes.Equal(keys[0], key) {
				doc.Messages, keys = append(doc.Messages, *m), keys[1:]
			}
		}
		if next == nil && len(keys) > 0 && !left {
			return kv.ErrNotFound // a purge has removed one
		}
		if next == nil {
			break
		}
		r.After = next
	}
	return nil
}

func (s *Store) exportCalls(tx *kv.Tx, doc *chat.Document) error {
	for c, err := range Legible(s, s.Tables.Calls.ByIndex(tx, "chat", kv.Str(doc.Chat.ID), kv.Range{})) {
		if err != nil {
			return err
		}
		doc.ToolCalls = append(doc.ToolCalls, *c)
	}
	slices.SortStableFunc(doc.ToolCalls, func(a, b chat.ToolCall) int {
		return cmp.Or(a.StartedAt.Compare(b.StartedAt), cmp.Compare(a.MessageID, b.MessageID), cmp.Compare(a.Index, b.Index))
	})
	return nil
}

// isLive tells whether a turn of the chat has not ended.
func (s *Store) isLive(ctx context.Context, chatID string) (bool, error) {
	live, err := s.liveTurns(ctx)
	return slices.ContainsFunc(live, func(a *chat.Acceptance) bool { return a.Chat.ID == chatID }), err
}
