package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/kv"
)

// conversation is the chat that a turn goes on with, and the way to the
// message it goes on from.
type conversation struct {
	chat   Chat
	path   []Message // from the root to parent
	parent string
	isNew  bool
	unlock func()
}

// converse finds or begins the chat, waits for its live turn, and holds its
// lock. Only a chat that exists already needs the store.
func (e *Engine) converse(ctx context.Context, req TurnRequest) (*conversation, error) {
	onWait := req.OnWait
	if onWait == nil {
		onWait = func(string) {}
	}
	if req.Chat.isNew() {
		return e.begin(ctx, req)
	}
	chat, err := e.find(ctx, req.Chat, onWait)
	if err != nil {
		return nil, err
	}
	if req.Workspace != "" && req.Workspace != chat.Workspace && !req.Chat.Fork {
		return nil, fault.New(fault.Usage, fmt.Sprintf("chat %d works in %s", chat.Number, workspaceName(chat)),
			"leave -w out, or begin a new chat with it")
	}
	// The lock is the old chat's for a fork too: it must not move meanwhile.
	unlock, err := e.lockChat(ctx, chat.ID, func(owner string) {
		onWait(fmt.Sprintf("chat %d is busy, %s", chat.Number, owner))
	})
	if err != nil {
		return nil, err
	}
	conv, err := e.load(ctx, chat.ID, req.Chat.Parent)
	if err == nil && req.Chat.Fork {
		defer unlock()
		return e.forkOf(ctx, conv, req)
	}
	if err != nil {
		unlock()
		return nil, err
	}
	conv.unlock = unlock
	return conv, nil
}

func workspaceName(c Chat) string {
	if c.Workspace == "" {
		return "a folder of its own"
	}
	return c.Workspace
}

func (e *Engine) begin(ctx context.Context, req TurnRequest) (*conversation, error) {
	conv := &conversation{chat: Chat{ID: e.newID()}, isNew: true, unlock: func() {}}
	if req.Ephemeral {
		return conv, nil // nobody else can know the chat
	}
	var err error
	conv.unlock, err = e.lockChat(ctx, conv.chat.ID, nil)
	return conv, err
}

// forkOf begins a chat that shares the way to a message with another.
func (e *Engine) forkOf(ctx context.Context, from *conversation, req TurnRequest) (*conversation, error) {
	conv, err := e.begin(ctx, req)
	if err != nil {
		return nil, err
	}
	conv.path, conv.parent = from.path, from.parent
	conv.chat.System, conv.chat.Model = from.chat.System, from.chat.Model
	conv.chat.ForkedFrom = &Origin{ChatID: from.chat.ID, Number: from.chat.Number, MessageID: from.parent}
	return conv, nil
}

// find gives the chat that a ChatRef names.
func (e *Engine) find(ctx context.Context, ref ChatRef, onWait func(string)) (Chat, error) {
	if ref.Last {
		return e.last(ctx, onWait)
	}
	if _, err := e.Fold(ctx, FoldAll); err != nil {
		return Chat{}, err
	}
	chat, err := e.lookUp(ctx, ref)
	if fault.CodeOf(err) != fault.NotFound {
		return chat, err
	}
	// A chat whose first turn is still live is in no store yet.
	live, liveErr := e.liveTurns()
	if liveErr != nil {
		return chat, errors.Join(err, liveErr)
	}
	for _, a := range live {
		if a.Chat.ID == ref.ID || ref.Number != 0 && a.Chat.Number == ref.Number {
			return e.afterTurn(ctx, a, onWait)
		}
	}
	return chat, err
}

// last is the chat of the turn that was accepted last; if that turn is live,
// it waits for it.
func (e *Engine) last(ctx context.Context, onWait func(string)) (Chat, error) {
	live, err := e.liveTurns()
	if err != nil {
		return Chat{}, err
	}
	if _, err := e.Fold(ctx, FoldAll); err != nil {
		return Chat{}, err
	}
	var newest *Turn
	err = e.view(ctx, func(tx *kv.Tx) error {
		for t, err := range e.tables.turns.ByIndex(tx, "order", nil, kv.Range{Reverse: true, Limit: 1}) {
			if err != nil {
				return err
			}
			newest = t
		}
		return nil
	})
	if err != nil && !errors.Is(err, kv.ErrNotFound) {
		return Chat{}, err
	}
	var waitFor *acceptance
	for _, a := range live {
		if waitFor == nil || a.Order > waitFor.Order {
			waitFor = a
		}
	}
	switch {
	case waitFor != nil && (newest == nil || waitFor.Order > newest.Order):
		return e.afterTurn(ctx, waitFor, onWait)
	case newest == nil:
		return Chat{}, fault.New(fault.NotFound, "there is no chat to continue", `fettle ask "…" begins one`)
	}
	return e.lookUp(ctx, ChatRef{ID: newest.ChatID})
}

// afterTurn waits for a live turn and gives its chat.
func (e *Engine) afterTurn(ctx context.Context, a *acceptance, onWait func(string)) (Chat, error) {
	err := e.journals.Wait(ctx, a.TurnID, func(owner string) {
		onWait(fmt.Sprintf("chat %d is busy, %s", a.Chat.Number, owner))
	})
	if err != nil {
		return Chat{}, err
	}
	if _, err := e.Fold(ctx, FoldAll); err != nil {
		return Chat{}, err
	}
	return e.lookUp(ctx, ChatRef{ID: a.Chat.ID})
}

func (e *Engine) lookUp(ctx context.Context, ref ChatRef) (Chat, error) {
	var chat *Chat
	err := e.view(ctx, func(tx *kv.Tx) (err error) {
		if ref.ID != "" {
			chat, err = e.tables.chats.Get(tx, kv.Str(ref.ID))
		} else {
			chat, err = e.tables.chats.Find(tx, "number", kv.Int(ref.Number))
		}
		return err
	})
	if errors.Is(err, kv.ErrNotFound) {
		name := ref.ID
		if name == "" {
			name = fmt.Sprint(ref.Number)
		}
		return Chat{}, fault.New(fault.NotFound, "no chat "+name, "fettle chats list")
	}
	if err != nil {
		return Chat{}, err
	}
	return *chat, nil
}

// load reads the chat anew, now that its lock is held, and the way to the
// message that the turn goes on from.
func (e *Engine) load(ctx context.Context, chatID, parent string) (*conversation, error) {
	if _, err := e.Fold(ctx, FoldAll); err != nil {
		return nil, err
	}
	conv := &conversation{}
	err := e.view(ctx, func(tx *kv.Tx) error {
		chat, err := e.tables.chats.Get(tx, kv.Str(chatID))
		if err != nil {
			return err
		}
		conv.chat, conv.parent = *chat, parent
		if parent == "" {
			conv.parent = chat.ActiveLeaf
		}
		conv.path, err = e.pathTo(tx, chatID, conv.parent)
		return err
	})
	if errors.Is(err, kv.ErrNotFound) {
		return nil, fault.New(fault.NotFound, "no message "+parent+" in this chat", "fettle chats show")
	}
	return conv, err
}

// pathTo gives the messages from the root to one, following parents.
func (e *Engine) pathTo(tx *kv.Tx, chatID, id string) ([]Message, error) {
	var path []Message
	seen := map[string]bool{}
	for id != "" && !seen[id] {
		seen[id] = true // a loop of parents would be damage; don't follow it for ever
		m, err := e.tables.messages.Get(tx, kv.Str(chatID).Str(id))
		if err != nil {
			return nil, fmt.Errorf("read message %s: %w", id, err)
		}
		path = append(path, *m)
		id = m.ParentID
	}
	slices.Reverse(path)
	return path, nil
}
