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
	"github.com/fettle-cli/fettle/engine/store"
)

// CompactRequest says which chat is to be summed up.
type CompactRequest struct {
	Chat store.ChatRef
	// Keep is how many of the last questions stay as they are, with their answers.
	Keep int
	// Model is the Ref of who sums up; empty is the configured one, else the
	// chat's.
	Model string
	// OnWait is told whom it waits for, Status what it does. Both may be nil.
	OnWait, Status func(string)
}

// compactDefault is what a summary may take, in tokens, for a model whose
// context nobody knows.
const compactDefault = 800

// CompactChat has a chat summed up as a turn would that doesn't fit: from the
// next turn on the model is told the summary in place of the messages, which
// stay. It waits for a live turn of the chat.
func (e *Engine) CompactChat(ctx context.Context, req CompactRequest) (*store.Compacted, error) {
	chat, unlock, err := e.LockedChat(ctx, req.Chat, req.OnWait)
	if err != nil {
		return nil, err
	}
	defer unlock()
	conv, err := e.LoadBy(ctx, chat.ID, "", store.Reach{})
	if err != nil {
		return nil, err
	}
	n := beforeLast(conv.Path, req.Keep)
	if n == 0 {
		return nil, fault.New(fault.Usage, fmt.Sprintf("chat %d has nothing more to sum up", chat.Number),
			fmt.Sprintf("fettle chats compact %d --keep 0   sums up the last answer too", chat.Number))
	}
	ref := cmp.Or(req.Model, e.o.Compact.Model)
	if ref == "" {
		ref = conv.Chat.Model
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
	out := &store.Compacted{Chat: conv.Chat, MessageID: conv.Path[n-1].ID, Added: n}
	out.Summary, out.Usage, err = e.sumUpPath(ctx, c, conv, n, req.Status)
	return out, errors.Join(err, e.KeepSummary(ctx, out, c.ref))
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
func (e *Engine) sumUpPath(ctx context.Context, c *choice, conv *store.OpenChat, n int, status func(string)) (*chat.Summary, *event.Usage, error) {
	cards, err := e.cardsOf(ctx, conv, n)
	if err != nil {
		return nil, nil, err
	}
	a := assembly{model: c.model.Name, ref: c.ref, name: chat.BareID, fit: &fitting{}, cards: cards}
	a.join(conv.Path[:n], "")
	stands := n
	if conv.Summed != nil {
		a.fit.summary = conv.Summed.Summary
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
	return &chat.Summary{Text: text, Messages: stands, Model: c.ref, CreatedAt: e.o.Now(), Outside: conv.Outside()}, s.usage, nil
}

// cardsOf tells of the payloads in the first n messages of a conversation, and of
// what became of them before a question among these.
func (e *Engine) cardsOf(ctx context.Context, conv *store.OpenChat, n int) (cardsTold, error) {
	box, err := e.Toolbox(ctx)
	if err != nil {
		return cardsTold{}, err
	}
	cards := cardsTold{reg: box.Payloads.Registry}
	decided, err := e.Decisions(ctx, conv.Chat.ID)
	if err != nil {
		return cards, err
	}
	untold, err := e.Untold(ctx, conv.Older(), decided, conv.Path)
	if err != nil {
		return cards, err
	}
	// behind the last question comes one that is told the rest
	cards.place(decided, untold, append(conv.Path[:n:n], chat.Message{Role: provider.User}))
	return cards, nil
}
