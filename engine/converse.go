package engine

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
)

// converse finds or begins the chat, waits for its live turn, and holds its
// lock. Only a chat that exists already needs the store.
func (w *Workspaces) converse(ctx context.Context, req TurnRequest) (*store.OpenChat, error) {
	onWait := req.OnWait
	if onWait == nil {
		onWait = func(string) {}
	}
	if req.Chat.IsNew() {
		return w.begin(ctx, req)
	}
	chat, err := w.Find(ctx, req.Chat, onWait)
	if err != nil {
		return nil, err
	}
	if req.Workspace != "" && filepath.Clean(req.Workspace) != chat.Workspace && !req.Chat.Fork {
		return nil, fault.New(fault.Usage, fmt.Sprintf("chat %d works in %s", chat.Number, workspaceName(chat)),
			"leave -w out, or begin a new chat with it")
	}
	// The lock is the old chat's for a fork too: it must not move meanwhile.
	unlock, err := w.LockChat(ctx, chat.ID, func(owner string) {
		onWait(fmt.Sprintf("chat %d is busy, %s", chat.Number, owner))
	})
	if err != nil {
		return nil, err
	}
	conv, err := w.loadFor(ctx, chat.ID, req)
	if err == nil && req.Chat.Fork {
		conv, err = w.forkOf(ctx, conv, req)
		if err == nil {
			conv.LetOrigin = unlock
			return conv, nil
		}
	}
	if err != nil {
		unlock()
		return nil, err
	}
	conv.Unlock, conv.LetOrigin = unlock, func() {}
	return conv, nil
}

func workspaceName(c chat.Chat) string {
	if c.Workspace == "" {
		return "a folder of its own"
	}
	return c.Workspace
}

func (w *Workspaces) begin(ctx context.Context, req TurnRequest) (*store.OpenChat, error) {
	id, err := w.ChatID(req.Chat)
	if err != nil {
		return nil, err
	}
	conv := &store.OpenChat{Chat: chat.Chat{ID: id}, IsNew: true, Unlock: func() {}, LetOrigin: func() {}}
	if req.Workspace != "" {
		conv.Chat.Workspace = filepath.Clean(req.Workspace)
	}
	if req.Ephemeral {
		return conv, nil // nobody else can know the chat
	}
	conv.Unlock, err = w.LockChat(ctx, conv.Chat.ID, nil)
	return conv, err
}

// forkOf begins a chat that shares the way to a message with another, and the
// folder if that is the user's own.
func (w *Workspaces) forkOf(ctx context.Context, from *store.OpenChat, req TurnRequest) (*store.OpenChat, error) {
	conv, err := w.begin(ctx, req)
	if err != nil {
		return nil, err
	}
	conv.Path, conv.Parent, conv.State, conv.Summed = from.Path, from.Parent, from.State, from.Summed
	conv.Chat.System, conv.Chat.Model = from.Chat.System, from.Chat.Model
	conv.Chat.Agent, conv.Chat.AgentMode = from.Chat.Agent, from.Chat.AgentMode
	conv.Chat.Approvals, conv.Chat.Plan = from.Chat.Approvals, from.Chat.Plan
	if conv.Chat.Workspace == "" {
		conv.Chat.Workspace = from.Chat.Workspace
	}
	conv.Chat.ForkedFrom = &chat.Origin{ChatID: from.Chat.ID, Number: from.Chat.Number, MessageID: from.Parent}
	return conv, nil
}
