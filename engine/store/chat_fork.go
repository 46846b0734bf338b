package store

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"slices"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/kv"
)

// ForkChat makes a chat that begins with the messages of another up to
// ref.Parent, or its leaf, and asks nothing. place, where it is not 0, names
// the message by its place among those, from 1. The new chat works in the same
// folder if that is the user's own; else it gets one with the files as they were
// then, once something is done with them.
func (s *Store) ForkChat(ctx context.Context, ref ChatRef, place int) (chat.Chat, error) {
	found, err := s.Find(ctx, ref, nil)
	if err != nil {
		return chat.Chat{}, err
	}
	from, err := s.load(ctx, found.ID, ref.Parent)
	if err != nil {
		return chat.Chat{}, err
	}
	if err := from.cut(place); err != nil {
		return chat.Chat{}, err
	}
	decided, err := s.decisionsAt(ctx, from)
	if err != nil {
		return chat.Chat{}, err
	}
	now := s.Options.Now()
	c := &Incoming{origin: from.Chat.ID, messages: from.Path, decided: decided, Chat: chat.Chat{
		ID: s.NewID(), Title: from.Chat.Title, Model: from.Chat.Model, System: from.Chat.System, Agent: from.Chat.Agent, AgentMode: from.Chat.AgentMode,
		Approvals: from.Chat.Approvals, Plan: from.Chat.Plan,
		Workspace: from.Chat.Workspace, ActiveLeaf: from.Parent, CreatedAt: now, UpdatedAt: now,
		Messages: len(from.Path), ActiveManifest: from.State,
		ForkedFrom: &chat.Origin{ChatID: from.Chat.ID, Number: from.Chat.Number, MessageID: from.Parent},
	}}
	if c.calls, c.artifacts, err = s.copiedCalls(ctx, from, c.Chat.ID); err != nil {
		return chat.Chat{}, err
	}
	if err := s.Insert(ctx, c); err != nil {
		return chat.Chat{}, err
	}
	return c.Chat, nil
}

// copiedCalls are the calls of a conversation's messages for another chat that has
// these messages, too. They get ids of their own, which are keys. artifacts are the
// records that keep the calls' pages.
func (s *Store) copiedCalls(ctx context.Context, from *OpenChat, chatID string) (calls []chat.ToolCall, artifacts []keptArtifact, err error) {
	err = s.View(ctx, func(tx *kv.Tx) (err error) {
		if calls, err = s.callsFor(tx, from.Chat.ID, from.Path, chatID); err != nil {
			return err
		}
		artifacts, err = s.artifactsIn(tx, from.Chat.ID)
		return err
	})
	return calls, artifacts, err
}

// callsFor reads the calls of messages of a chat for another one. The same call gets
// the same id there each time: a fold may be done twice.
func (s *Store) callsFor(tx *kv.Tx, fromID string, path []chat.Message, chatID string) (calls []chat.ToolCall, err error) {
	of := make(map[string]bool, len(path))
	for _, m := range path {
		of[m.ID] = true
	}
	for c, err := range Legible(s, s.Tables.Calls.ByIndex(tx, "chat", kv.Str(fromID), kv.Range{})) {
		if err != nil {
			return nil, err
		}
		if of[c.MessageID] {
			c.ChatID = chatID
			calls = append(calls, *c)
		}
	}
	renamed(calls, func(was string) string { return copyOfID(chatID, was) })
	return calls, nil
}

// copyOfID is an id for a chat's copy of something, of the same time.
func copyOfID(chatID, id string) string {
	sum := sha256.Sum256([]byte(chatID + " " + id))
	const letters = 16 // of a ULID's 26, behind its time
	return chat.TimeOfID(id) + base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").EncodeToString(sum[:])[:letters]
}

// renamed gives calls ids of their own, and the calls of pages with them.
func renamed(calls []chat.ToolCall, name func(was string) string) {
	ids := make(map[string]string, len(calls))
	for i := range calls {
		was := calls[i].ID
		calls[i].ID = name(was)
		ids[was] = calls[i].ID
	}
	for i := range calls {
		if c := &calls[i]; c.AppOf != "" {
			c.AppOf = ids[c.AppOf]
		}
	}
}

// cut ends the way at a place. What is gone on from is an answer: after a
// question a model would be asked two in a row.
func (c *OpenChat) cut(place int) error {
	if place < 0 || place > len(c.Path) {
		return fault.New(fault.Usage, fmt.Sprintf("chat %d has no message %d: it has %s", c.Chat.Number, place, fault.Plural(len(c.Path), "message")),
			fault.Try(fault.ShowChat, fmt.Sprint(c.Chat.Number)))
	}
	if place == 0 {
		place = len(c.Path)
	}
	if place == 0 || c.Path[place-1].Role != provider.Assistant {
		fork := fault.Try(fault.ForkChat, fmt.Sprint(c.Chat.Number))
		if place > 1 {
			fork = fault.Try(fault.ForkChat, fmt.Sprint(c.Chat.Number), fmt.Sprint(place-1))
		}
		return fault.New(fault.Usage, fmt.Sprintf("message %d of chat %d is a question: a fork begins after an answer", place, c.Chat.Number), fork)
	}
	c.Path = slices.Clip(c.Path[:place])
	c.Parent = c.Path[place-1].ID
	c.State = c.StateAt()
	return nil
}
