package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/fettle-cli/fettle/engine/budget"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/models"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/kv"
)

// CompactRequest says which chat is to be summed up.
type CompactRequest struct {
	Chat ChatRef
	// Keep is how many of the last questions stay as they are, with their answers.
	Keep int
	// Model is the Ref of who sums up; empty is the configured one, else the
	// chat's.
	Model string
	// OnWait is told whom it waits for, Status what it does. Both may be nil.
	OnWait, Status func(string)
}

// Compacted is what came of it.
type Compacted struct {
	Chat chat.Chat `json:"-"`
	// MessageID is the last message that the summary stands for.
	MessageID string        `json:"message_id"`
	Summary   *chat.Summary `json:"summary"`
	// Added is how many messages it stands for that none did before.
	Added int          `json:"added"`
	Usage *event.Usage `json:"usage,omitempty"`
}

// compactDefault is what a summary may take, in tokens, for a model whose
// context nobody knows.
const compactDefault = 800

// CompactChat has a chat summed up as a turn would that doesn't fit: from the
// next turn on the model is told the summary in place of the messages, which
// stay. It waits for a live turn of the chat.
func (e *Engine) CompactChat(ctx context.Context, req CompactRequest) (*Compacted, error) {
	chat, unlock, err := e.lockedChat(ctx, req.Chat, req.OnWait)
	if err != nil {
		return nil, err
	}
	defer unlock()
	conv, err := e.loadBy(ctx, chat.ID, "", reach{})
	if err != nil {
		return nil, err
	}
	n := beforeLast(conv.path, req.Keep)
	if n == 0 {
		return nil, fault.New(fault.Usage, fmt.Sprintf("chat %d has nothing more to sum up", chat.Number),
			fmt.Sprintf("fettle chats compact %d --keep 0   sums up the last answer too", chat.Number))
	}
	ref := cmp.Or(req.Model, e.o.Compact.Model)
	if ref == "" {
		ref = conv.chat.Model
		e.useStored(ref, false)
	}
	if ref == "" {
		if ref, err = e.o.Models.Default(ctx); err != nil {
			return nil, err
		}
	}
	c, err := e.choose(ctx, ref, nil)
	if err != nil {
		return nil, models.Explain(ref, err)
	}
	out := &Compacted{Chat: conv.chat, MessageID: conv.path[n-1].ID, Added: n}
	out.Summary, out.Usage, err = e.sumUpPath(ctx, c, conv, n, req.Status)
	return out, errors.Join(err, e.keepSummary(ctx, out, c.ref))
}

// lockedChat finds a chat and takes its lock.
func (s *Store) lockedChat(ctx context.Context, ref ChatRef, onWait func(string)) (chat.Chat, func(), error) {
	if onWait == nil {
		onWait = func(string) {}
	}
	chat, err := s.find(ctx, ref, onWait)
	if err != nil {
		return chat, nil, err
	}
	unlock, err := s.lockChat(ctx, chat.ID, func(owner string) {
		onWait(fmt.Sprintf("chat %d is busy, %s", chat.Number, owner))
	})
	return chat, unlock, err
}

// beforeLast is how many messages are before the last so many questions.
func beforeLast(path []chat.Message, keep int) int {
	n := len(path)
	for ; keep > 0 && n > 0; keep-- {
		for n--; n > 0 && (path[n].Role != provider.User || path[n].AnswersCalls()); n-- {
		}
	}
	return n
}

// useStored reports that a chat's own model is going to be asked.
func (e *Engine) useStored(ref string, own bool) {
	if ref != "" && e.o.StoredModel != nil {
		e.o.StoredModel(ref, own)
	}
}

// sumUpPath gives a summary of the first n messages of a conversation, and of
// what a summary stands for before them.
func (e *Engine) sumUpPath(ctx context.Context, c *choice, conv *conversation, n int, status func(string)) (*chat.Summary, *event.Usage, error) {
	cards, err := e.cardsOf(ctx, conv, n)
	if err != nil {
		return nil, nil, err
	}
	a := assembly{model: c.model.Name, ref: c.ref, name: chat.BareID, fit: &fitting{}, cards: cards}
	a.join(conv.path[:n], "")
	stands := n
	if conv.summed != nil {
		a.fit.summary = conv.summed.Summary
		stands += a.fit.summary.Messages
	}
	var messages []provider.Message
	for _, m := range a.place() {
		messages = append(messages, m.Message)
	}
	tokens := compactDefault
	if limit := c.contextLimit(); limit > 0 {
		tokens = budget.PolicyFor(limit, 0).Summary
	}
	s := newSummariser(c, 0)
	s.retry = e.o.Retry
	s.status = func(text string) error {
		if status != nil {
			status(text)
		}
		return nil
	}
	text, err := s.sum(ctx, messages, tokens)
	if err != nil {
		return nil, s.usage, models.Explain(c.ref, err)
	}
	e.keepLearnt([]*choice{c})
	return &chat.Summary{Text: text, Messages: stands, Model: c.ref, CreatedAt: e.o.Now(), Outside: conv.outside()}, s.usage, nil
}

// cardsOf tells of the payloads in the first n messages of a conversation, and of
// what became of them before a question among these.
func (e *Engine) cardsOf(ctx context.Context, conv *conversation, n int) (cardsTold, error) {
	box, err := e.toolbox(ctx)
	if err != nil {
		return cardsTold{}, err
	}
	cards := cardsTold{reg: box.shows.reg}
	decided, err := e.decisions(ctx, conv.chat.ID)
	if err != nil {
		return cards, err
	}
	untold, err := e.untold(ctx, conv.older(), decided, conv.path)
	if err != nil {
		return cards, err
	}
	// behind the last question comes one that is told the rest
	cards.place(decided, untold, append(conv.path[:n:n], chat.Message{Role: provider.User}))
	return cards, nil
}

// keepSummary stores a summary and counts what it took, also where there is
// none.
func (s *Store) keepSummary(ctx context.Context, done *Compacted, model string) error {
	if done.Summary == nil && done.Usage == nil {
		return nil
	}
	ctx = context.WithoutCancel(ctx) // it was paid for
	err := s.store.UpdateSync(ctx, func(tx *kv.Tx) error {
		if done.Usage != nil {
			rows := []Spent{{Day: s.o.Now().Local().Format(spentDay), ChatID: done.Chat.ID, Model: model, Tokens: *done.Usage}}
			if err := s.tables.usage.count(tx, rows, done.Chat.Number); err != nil {
				return err
			}
		}
		if done.Summary == nil {
			return nil
		}
		return s.putSummary(tx, done.Chat.ID, done.MessageID, done.Summary)
	})
	if err != nil {
		return s.storeTrouble(err)
	}
	return nil
}

// ForgetSummaries takes away the summaries on the way to a chat's last message,
// so that the next turn tells the model all of it again, as far as that fits. It
// gives how many there were.
func (s *Store) ForgetSummaries(ctx context.Context, ref ChatRef, onWait func(string)) (chat.Chat, int, error) {
	chat, unlock, err := s.lockedChat(ctx, ref, onWait)
	if err != nil {
		return chat, 0, err
	}
	defer unlock()
	conv, err := s.load(ctx, chat.ID, "")
	if err != nil {
		return chat, 0, err
	}
	n := 0
	err = s.store.UpdateSync(ctx, func(tx *kv.Tx) error {
		n = 0
		for _, m := range conv.path {
			if m.Summary == nil {
				continue
			}
			if err := s.putSummary(tx, chat.ID, m.ID, nil); err != nil {
				return err
			}
			n++
		}
		return nil
	})
	if err != nil {
		return chat, 0, s.storeTrouble(err)
	}
	return chat, n, nil
}
