package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/journal"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

// OpenChat is the chat that a turn goes on with, and the way to the
// message it goes on from.
type OpenChat struct {
	Chat   chat.Chat
	Path   []chat.Message // from the root to parent, or from after summed
	Parent string
	State  string // the manifest of the workspace at parent
	IsNew  bool
	// Again is the question that is asked again, Instead is the one that a
	// branch is begun beside; nil without such.
	Again, Instead *chat.Message
	// Summed is the message whose summary stands for what is before path; nil
	// where path begins at the root.
	Summed *chat.Message
	Unlock func()
	// LetOrigin releases the lock of the chat that a fork begins from. It is held until
	// the fork's journal names that chat, so that its messages and states stay.
	LetOrigin func()
}

// Find gives the chat that a ChatRef names. Where its turn has to end first,
// because the chat is in no store before or because that turn decides which
// chat is the last, find waits for it and says so; with a nil onWait it
// doesn't wait.
func (s *Store) Find(ctx context.Context, ref ChatRef, onWait func(string)) (chat.Chat, error) {
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
				fault.Advise("try again when its first turn has ended"))
		}
		err = s.Journals.Wait(ctx, first.TurnID, func(owner string) {
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
	err := s.View(ctx, func(tx *kv.Tx) error {
		for c, err := range s.Tables.Chats.ByIndex(tx, "recent", nil, kv.Range{Reverse: true, Limit: 1}) {
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
		return chat.Chat{}, nil, fault.New(fault.NotFound, "there is no chat to continue", fault.Try(fault.Ask).That("begins one"))
	}
	return newest, first, nil
}

func (s *Store) lookUp(ctx context.Context, ref ChatRef) (chat.Chat, error) {
	var c *chat.Chat
	err := s.View(ctx, func(tx *kv.Tx) (err error) {
		if ref.ID != "" {
			c, err = s.Tables.Chats.Get(tx, kv.Str(ref.ID))
		} else {
			c, err = s.Tables.Chats.Find(tx, "number", kv.Int(ref.Number))
		}
		return err
	})
	if errors.Is(err, kv.ErrNotFound) {
		name := ref.ID
		if name == "" {
			name = fmt.Sprint(ref.Number)
		}
		return chat.Chat{}, fault.New(fault.NotFound, "no chat "+name, fault.Try(fault.ListChats))
	}
	if err != nil {
		return chat.Chat{}, err
	}
	return *c, c.Usable()
}

// load reads the chat anew, now that its lock is held, and the whole way to the
// message that the turn goes on from.
func (s *Store) load(ctx context.Context, chatID, parent string) (*OpenChat, error) {
	return s.LoadBy(ctx, chatID, parent, WholeWay())
}

// LoadBy is load with a part of the way.
func (s *Store) LoadBy(ctx context.Context, chatID, parent string, r Reach) (*OpenChat, error) {
	if _, err := s.Fold(ctx, FoldAll); err != nil {
		return nil, err
	}
	conv := &OpenChat{}
	err := s.View(ctx, func(tx *kv.Tx) error {
		chat, err := s.Tables.Chats.Get(tx, kv.Str(chatID))
		if err != nil {
			return err
		}
		conv.Chat, conv.Parent = *chat, parent
		if err := chat.Usable(); err != nil {
			return err
		}
		if parent == "" {
			conv.Parent = chat.ActiveLeaf
		}
		conv.Path, conv.Summed, err = s.wayTo(tx, chatID, conv.Parent, r)
		conv.State = conv.StateAt()
		return err
	})
	switch {
	case !errors.Is(err, kv.ErrNotFound):
		return conv, err
	case parent != "":
		return nil, fault.New(fault.NotFound, "no message "+parent+" in this chat", fault.Try(fault.ShowChat))
	case conv.Chat.ID != "":
		return nil, StoreFault(fmt.Sprintf("read chat %d", conv.Chat.Number), err)
	}
	return nil, fault.New(fault.NotFound, "no chat "+chatID, fault.Try(fault.ListChats))
}

// StateAt is the manifest at the message that the turn goes on from: the chat's
// active one at its leaf, since that may have been brought back since; else the
// one that a branch was left with which ends there, the message's own, or that
// of the last one before it which has any.
func (c *OpenChat) StateAt() string {
	if c.Parent == c.Chat.ActiveLeaf && c.Chat.ActiveManifest != "" {
		return c.Chat.ActiveManifest
	}
	if n := len(c.Path); n > 0 && c.Path[n-1].LeftManifestID != "" {
		return c.Path[n-1].LeftManifestID
	}
	for _, m := range slices.Backward(c.Path) {
		if m.ManifestID != "" {
			return m.ManifestID
		}
	}
	if c.Summed != nil { // each message has the state, once there is one
		return cmp.Or(c.leftAt(c.Summed), c.Summed.ManifestID)
	}
	return ""
}

// leftAt is the state that a message's branch was left with, if the turn goes
// on from that message.
func (c *OpenChat) leftAt(m *chat.Message) string {
	if c.Parent == m.ID {
		return m.LeftManifestID
	}
	return ""
}

// liveTurns gives the acceptances of the turns whose journal somebody holds (their owners,
// or at the worst somebody who folds), or that no fold of this process takes yet. A turn
// that is just ending releases its journal first, and is in neither the store nor the
// journals that are held for a moment.
func (s *Store) liveTurns(ctx context.Context) ([]*chat.Acceptance, error) {
	turns, err := s.Journals.Turns()
	if err != nil {
		return nil, StoreFault("list the journals", err)
	}
	var out []*chat.Acceptance
	for _, turn := range turns {
		_, held, err := s.Journals.Owner(ctx, turn)
		if err != nil {
			return nil, StoreFault("look at turn "+turn, err)
		}
		if !held && !s.Writes(TurnID(turn)) {
			continue
		}
		a, err := s.acceptanceIn(turn)
		if errors.Is(err, journal.ErrNoJournal) || errors.Is(err, journal.ErrDamaged) {
			continue // folded meanwhile, or for Fold to set aside
		}
		if err != nil {
			return nil, StoreFault("read a journal", err)
		}
		out = append(out, a)
	}
	return out, nil
}

func (s *Store) acceptanceIn(turn string) (*chat.Acceptance, error) {
	r, err := s.Journals.Read(turn)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	a := new(chat.Acceptance)
	return a, r.Accept(a)
}

// Suspect tells that the folder may hold what a call did after which no state is
// known: a crash cut it off, or the state couldn't be kept. It was the last of the
// chat's last answer, or a page's, and no state was taken since.
func (c *OpenChat) Suspect() bool {
	if c.Parent != c.Chat.ActiveLeaf {
		return false
	}
	if c.Chat.CutShort || len(c.Path) == 0 {
		return c.Chat.CutShort
	}
	leaf := &c.Path[len(c.Path)-1]
	return leaf.StateUnknown && leaf.ManifestID == c.Chat.ActiveManifest
}

// Origin is the message that a branch begins at, for its first state.
func (c *OpenChat) Origin() string {
	if c.Parent == "" && c.Instead != nil {
		return c.Instead.ID
	}
	return c.Parent
}

// Outside names what a conversation has from outside.
func (c *OpenChat) Outside() string {
	if c.Summed != nil && c.Summed.Summary != nil && c.Summed.Summary.Outside != "" {
		return c.Summed.Summary.Outside
	}
	for _, m := range c.Path {
		if from := OutsideIn(m.Parts); from != "" {
			return from
		}
	}
	return ""
}

// OutsideIn names the first of a message's parts that comes from outside.
func OutsideIn(parts []provider.Part) string {
	for _, p := range parts {
		switch {
		case p.Result != nil && p.Result.Outside != "":
			return p.Result.Outside
		case p.Kind == provider.FilePart || p.Kind == provider.ImagePart:
			return "the attachment " + cmp.Or(sanitize.Line(p.Name), p.Doc, "without a name")
		}
	}
	return ""
}
