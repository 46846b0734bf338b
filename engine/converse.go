package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/journal"
	"github.com/fettle-cli/fettle/internal/kv"
)

// conversation is the chat that a turn goes on with, and the way to the
// message it goes on from.
type conversation struct {
	chat   chat.Chat
	path   []chat.Message // from the root to parent, or from after summed
	parent string
	state  string // the manifest of the workspace at parent
	isNew  bool
	// again is the question that is asked again, instead of is the one that a
	// branch is begun beside; nil without such.
	again, instead *chat.Message
	// summed is the message whose summary stands for what is before path; nil
	// where path begins at the root.
	summed *chat.Message
	unlock func()
	// letOrigin releases the lock of the chat that a fork begins from. It is held until
	// the fork's journal names that chat, so that its messages and states stay.
	letOrigin func()
}

// converse finds or begins the chat, waits for its live turn, and holds its
// lock. Only a chat that exists already needs the store.
func (w *Workspaces) converse(ctx context.Context, req TurnRequest) (*conversation, error) {
	onWait := req.OnWait
	if onWait == nil {
		onWait = func(string) {}
	}
	if req.Chat.isNew() {
		return w.begin(ctx, req)
	}
	chat, err := w.find(ctx, req.Chat, onWait)
	if err != nil {
		return nil, err
	}
	if req.Workspace != "" && filepath.Clean(req.Workspace) != chat.Workspace && !req.Chat.Fork {
		return nil, fault.New(fault.Usage, fmt.Sprintf("chat %d works in %s", chat.Number, workspaceName(chat)),
			"leave -w out, or begin a new chat with it")
	}
	// The lock is the old chat's for a fork too: it must not move meanwhile.
	unlock, err := w.lockChat(ctx, chat.ID, func(owner string) {
		onWait(fmt.Sprintf("chat %d is busy, %s", chat.Number, owner))
	})
	if err != nil {
		return nil, err
	}
	conv, err := w.loadFor(ctx, chat.ID, req)
	if err == nil && req.Chat.Fork {
		conv, err = w.forkOf(ctx, conv, req)
		if err == nil {
			conv.letOrigin = unlock
			return conv, nil
		}
	}
	if err != nil {
		unlock()
		return nil, err
	}
	conv.unlock, conv.letOrigin = unlock, func() {}
	return conv, nil
}

func workspaceName(c chat.Chat) string {
	if c.Workspace == "" {
		return "a folder of its own"
	}
	return c.Workspace
}

func (w *Workspaces) begin(ctx context.Context, req TurnRequest) (*conversation, error) {
	id, err := w.chatID(req.Chat)
	if err != nil {
		return nil, err
	}
	conv := &conversation{chat: chat.Chat{ID: id}, isNew: true, unlock: func() {}, letOrigin: func() {}}
	if req.Workspace != "" {
		conv.chat.Workspace = filepath.Clean(req.Workspace)
	}
	if req.Ephemeral {
		return conv, nil // nobody else can know the chat
	}
	conv.unlock, err = w.lockChat(ctx, conv.chat.ID, nil)
	return conv, err
}

// forkOf begins a chat that shares the way to a message with another, and the
// folder if that is the user's own.
func (w *Workspaces) forkOf(ctx context.Context, from *conversation, req TurnRequest) (*conversation, error) {
	conv, err := w.begin(ctx, req)
	if err != nil {
		return nil, err
	}
	conv.path, conv.parent, conv.state, conv.summed = from.path, from.parent, from.state, from.summed
	conv.chat.System, conv.chat.Model = from.chat.System, from.chat.Model
	conv.chat.Agent, conv.chat.AgentMode = from.chat.Agent, from.chat.AgentMode
	conv.chat.Approvals, conv.chat.Plan = from.chat.Approvals, from.chat.Plan
	if conv.chat.Workspace == "" {
		conv.chat.Workspace = from.chat.Workspace
	}
	conv.chat.ForkedFrom = &chat.Origin{ChatID: from.chat.ID, Number: from.chat.Number, MessageID: from.parent}
	return conv, nil
}

// find gives the chat that a ChatRef names. Where its turn has to end first,
// because the chat is in no store before or because that turn decides which
// chat is the last, find waits for it and says so; with a nil onWait it
// doesn't wait.
func (s *Store) find(ctx context.Context, ref ChatRef, onWait func(string)) (chat.Chat, error) {
	for {
		c, first, err := s.pick(ctx, ref)
		if first == nil || err != nil {
			return c, err
		}
		if onWait == nil {
			if ref.Last && c.ID != "" {
				return c, nil
			}
			return chat.Chat{}, fault.New(fault.Busy, fmt.Sprintf("chat %d has no answer yet", first.Chat.Number),
				"try again when its first turn has ended")
		}
		err = s.journals.Wait(ctx, first.TurnID, func(owner string) {
			onWait(fmt.Sprintf("chat %d is busy, %s", first.Chat.Number, owner))
		})
		if err != nil {
			return chat.Chat{}, err
		}
		if _, err := s.Fold(ctx, FoldAll); err != nil {
			return chat.Chat{}, err
		}
		c, err = s.lookUp(ctx, ChatRef{ID: first.Chat.ID})
		if fault.CodeOf(err) != fault.NotFound {
			return c, err
		}
		// The turn left nothing behind: whatever is the answer without it.
	}
}

// pick gives the chat that a ChatRef names as far as the store knows, and the
// live turn that has to end first, if there is one.
//
// The live ones are looked at before the second fold: a turn that ends
// meanwhile is in the store then, and none falls between the two. The first
// fold is there so that few journals have to be looked at.
func (s *Store) pick(ctx context.Context, ref ChatRef) (chat.Chat, *chat.Acceptance, error) {
	if _, err := s.Fold(ctx, FoldAll); err != nil {
		return chat.Chat{}, nil, err
	}
	live, err := s.liveTurns(ctx)
	if err != nil {
		return chat.Chat{}, nil, err
	}
	if _, err := s.Fold(ctx, FoldAll); err != nil {
		return chat.Chat{}, nil, err
	}
	if ref.Last {
		return s.pickLast(ctx, live)
	}
	chat, err := s.lookUp(ctx, ref)
	if fault.CodeOf(err) != fault.NotFound {
		return chat, nil, err
	}
	for _, a := range live {
		if a.Chat.ID == ref.ID || ref.Number != 0 && a.Chat.Number == ref.Number {
			return chat, a, nil
		}
	}
	return chat, nil, err
}

// pickLast gives the chat of the turn that was accepted last of those in the
// store, and a live turn that was accepted after it. A chat that was brought in
// or forked counts as used then.
func (s *Store) pickLast(ctx context.Context, live []*chat.Acceptance) (chat.Chat, *chat.Acceptance, error) {
	var newest chat.Chat
	err := s.view(ctx, func(tx *kv.Tx) error {
		for c, err := range s.tables.chats.ByIndex(tx, "recent", nil, kv.Range{Reverse: true, Limit: 1}) {
			if err != nil {
				return err
			}
			newest = *c
		}
		return nil
	})
	if err != nil && !errors.Is(err, kv.ErrNotFound) {
		return chat.Chat{}, nil, err
	}
	var first *chat.Acceptance
	for _, a := range live {
		if a.App == "" && a.Order > newest.LastTurn && (first == nil || a.Order > first.Order) {
			first = a
		}
	}
	if newest.ID == "" && first == nil {
		return chat.Chat{}, nil, fault.New(fault.NotFound, "there is no chat to continue", `fettle ask "why is the sky blue?"   begins one`)
	}
	return newest, first, nil
}

func (s *Store) lookUp(ctx context.Context, ref ChatRef) (chat.Chat, error) {
	var c *chat.Chat
	err := s.view(ctx, func(tx *kv.Tx) (err error) {
		if ref.ID != "" {
			c, err = s.tables.chats.Get(tx, kv.Str(ref.ID))
		} else {
			c, err = s.tables.chats.Find(tx, "number", kv.Int(ref.Number))
		}
		return err
	})
	if errors.Is(err, kv.ErrNotFound) {
		name := ref.ID
		if name == "" {
			name = fmt.Sprint(ref.Number)
		}
		return chat.Chat{}, fault.New(fault.NotFound, "no chat "+name, "fettle chats list")
	}
	if err != nil {
		return chat.Chat{}, err
	}
	return *c, c.Usable()
}

// load reads the chat anew, now that its lock is held, and the whole way to the
// message that the turn goes on from.
func (s *Store) load(ctx context.Context, chatID, parent string) (*conversation, error) {
	return s.loadBy(ctx, chatID, parent, wholeWay)
}

// loadBy is load with a part of the way.
func (s *Store) loadBy(ctx context.Context, chatID, parent string, r reach) (*conversation, error) {
	if _, err := s.Fold(ctx, FoldAll); err != nil {
		return nil, err
	}
	conv := &conversation{}
	err := s.view(ctx, func(tx *kv.Tx) error {
		chat, err := s.tables.chats.Get(tx, kv.Str(chatID))
		if err != nil {
			return err
		}
		conv.chat, conv.parent = *chat, parent
		if err := chat.Usable(); err != nil {
			return err
		}
		if parent == "" {
			conv.parent = chat.ActiveLeaf
		}
		conv.path, conv.summed, err = s.wayTo(tx, chatID, conv.parent, r)
		conv.state = conv.stateAt()
		return err
	})
	switch {
	case !errors.Is(err, kv.ErrNotFound):
		return conv, err
	case parent != "":
		return nil, fault.New(fault.NotFound, "no message "+parent+" in this chat", "fettle chats show")
	case conv.chat.ID != "":
		return nil, storeFault(fmt.Sprintf("read chat %d", conv.chat.Number), err)
	}
	return nil, fault.New(fault.NotFound, "no chat "+chatID, "fettle chats list")
}

// stateAt is the manifest at the message that the turn goes on from: the chat's
// active one at its leaf, since that may have been brought back since; else the
// one that a branch was left with which ends there, the message's own, or that
// of the last one before it which has any.
func (c *conversation) stateAt() string {
	if c.parent == c.chat.ActiveLeaf && c.chat.ActiveManifest != "" {
		return c.chat.ActiveManifest
	}
	if n := len(c.path); n > 0 && c.path[n-1].LeftManifestID != "" {
		return c.path[n-1].LeftManifestID
	}
	for _, m := range slices.Backward(c.path) {
		if m.ManifestID != "" {
			return m.ManifestID
		}
	}
	if c.summed != nil { // each message has the state, once there is one
		return cmp.Or(c.leftAt(c.summed), c.summed.ManifestID)
	}
	return ""
}

// leftAt is the state that a message's branch was left with, if the turn goes
// on from that message.
func (c *conversation) leftAt(m *chat.Message) string {
	if c.parent == m.ID {
		return m.LeftManifestID
	}
	return ""
}

// liveTurns gives the acceptances of the turns whose journal somebody holds:
// their owners, or at the worst somebody who folds.
func (s *Store) liveTurns(ctx context.Context) ([]*chat.Acceptance, error) {
	turns, err := s.journals.Turns()
	if err != nil {
		return nil, storeFault("list the journals", err)
	}
	var out []*chat.Acceptance
	for _, turn := range turns {
		_, held, err := s.journals.Owner(ctx, turn)
		if err != nil {
			return nil, storeFault("look at turn "+turn, err)
		}
		if !held {
			continue
		}
		a, err := s.acceptanceIn(turn)
		if errors.Is(err, journal.ErrNoJournal) || errors.Is(err, journal.ErrDamaged) {
			continue // folded meanwhile, or for Fold to set aside
		}
		if err != nil {
			return nil, storeFault("read a journal", err)
		}
		out = append(out, a)
	}
	return out, nil
}

func (s *Store) acceptanceIn(turn string) (*chat.Acceptance, error) {
	r, err := s.journals.Read(turn)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	a := new(chat.Acceptance)
	return a, r.Accept(a)
}
