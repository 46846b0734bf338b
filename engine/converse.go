package engine

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/engine/workspace"
)

// converse finds or begins the chat, waits for its live turn, and holds its
// lock. Only a chat that exists already needs the store.
func (e *Engine) converse(ctx context.Context, req TurnRequest) (*store.OpenChat, error) {
	onWait := req.OnWait
	if onWait == nil {
		onWait = func(string) {}
	}
	if req.Chat.IsNew() {
		return e.begin(ctx, req)
	}
	chat, err := e.Find(ctx, req.Chat, onWait)
	if err != nil {
		return nil, err
	}
	if req.Workspace != "" && filepath.Clean(req.Workspace) != chat.Workspace && !req.Chat.Fork {
		return nil, fault.New(fault.Usage, fmt.Sprintf("chat %d works in %s", chat.Number, workspaceName(chat)),
			fault.Try(fault.LeaveFolder))
	}
	// The lock is the old chat's for a fork too: it must not move meanwhile.
	unlock, err := e.LockChat(ctx, chat.ID, func(owner string) {
		onWait(fmt.Sprintf("chat %d is busy, %s", chat.Number, owner))
	})
	if err != nil {
		return nil, err
	}
	conv, err := e.loadFor(ctx, chat.ID, req)
	if err == nil && req.Chat.Fork {
		conv, err = e.forkOf(ctx, conv, req)
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

func (e *Engine) begin(ctx context.Context, req TurnRequest) (*store.OpenChat, error) {
	id, err := e.ChatID(req.Chat)
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
	conv.Unlock, err = e.LockChat(ctx, conv.Chat.ID, nil)
	return conv, err
}

// forkOf begins a chat that shares the way to a message with another, and the
// folder if that is the user's own.
func (e *Engine) forkOf(ctx context.Context, from *store.OpenChat, req TurnRequest) (*store.OpenChat, error) {
	conv, err := e.begin(ctx, req)
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

// loadFor reads the chat and the way to where the request's turn begins.
func (e *Engine) loadFor(ctx context.Context, chatID string, req TurnRequest) (*store.OpenChat, error) {
	if req.app != nil {
		return e.LoadBy(ctx, chatID, "", workspace.LeafOnly()) // a page's call sends nothing of the chat to a model
	}
	if !req.Chat.Beside() {
		return e.LoadBy(ctx, chatID, req.Chat.Parent, store.Reach{})
	}
	needed := store.Reach{Least: 2} // the question and its answer
	if req.Chat.At > 0 {
		needed = store.WholeWay() // places count from the root
	}
	conv, err := e.LoadBy(ctx, chatID, req.Chat.Instead, needed)
	if err != nil {
		return nil, err
	}
	switch n := len(conv.Path); {
	case req.Chat.At > n || n == 0:
		return nil, fault.New(fault.Usage, fmt.Sprintf("chat %d has no message %d: it has %s", conv.Chat.Number, max(req.Chat.At, 1), fault.Plural(n, "message")),
			fault.Try(fault.ShowChat, fmt.Sprint(conv.Chat.Number)))
	case req.Chat.At > 0:
		conv.Path = conv.Path[:req.Chat.At]
	}
	if conv.Path[len(conv.Path)-1].Role == provider.Assistant {
		conv.Path = conv.Path[:len(conv.Path)-1]
	}
	if len(conv.Path) == 0 || conv.Path[len(conv.Path)-1].Role != provider.User {
		return nil, fault.New(fault.NotFound, fmt.Sprintf("that message of chat %d answers no question", conv.Chat.Number),
			fault.Try(fault.ShowChat, fmt.Sprint(conv.Chat.Number)))
	}
	question := conv.Path[len(conv.Path)-1]
	conv.Path = slices.Clip(conv.Path[:len(conv.Path)-1])
	conv.Parent, conv.Instead = question.ParentID, &question
	if len(req.Parts) == 0 {
		conv.Again = &question
	}
	conv.State, err = e.StateOfQuestion(ctx, conv)
	conv.CutSummed()
	return conv, err
}
