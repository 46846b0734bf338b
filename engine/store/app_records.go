package store

import (
	"context"
	"errors"
	"slices"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/internal/kv"
)

// viewedApps is how many calls of one page are shown, the last ones: a page may ask
// every second.
const viewedApps = 20

// viewedResult bounds the result of one of them in a list; its own address has it whole.
const viewedResult = 16 << 10

// AppLink leads from a call to one that its page has made.
type AppLink struct {
	ChatID string `json:"chat_id"`
	Of     string `json:"of"`
	CallID string `json:"call_id"`
}

// putCalls writes records of calls, and what leads to those of pages.
func (s *Store) putCalls(b *kv.Batch, calls []chat.ToolCall) error {
	for i := range calls {
		c := calls[i].Bounded()
		if err := PutBounded(s.In(b), s.Tables.Calls, c, "the call "+c.ToolID+" of chat "+c.ChatID); err != nil {
			return err
		}
		if c.AppOf == "" {
			continue
		}
		if err := PutBounded(s.In(b), s.Tables.Apps, &AppLink{c.ChatID, c.AppOf, c.ID}, "the call "+c.ToolID+" of chat "+c.ChatID); err != nil {
			return err
		}
	}
	return nil
}

// appsOf reads the last calls that the page of a call has made, the first of them
// first, and counts all.
func (s *Store) appsOf(tx *kv.Tx, chatID, callID string) (out []chat.ToolCall, n int, err error) {
	all := kv.Range{Prefix: kv.Str(chatID).Str(callID)}
	if n, err = s.Tables.Apps.Count(tx, all); n == 0 || err != nil {
		return nil, n, err
	}
	all.Reverse, all.Limit = true, viewedApps
	for l, err := range Legible(s, s.Tables.Apps.Scan(tx, all)) {
		if err != nil {
			return nil, n, err
		}
		c, err := s.Tables.Calls.Get(tx, kv.Str(l.CallID))
		if errors.Is(err, kv.ErrNotFound) || err != nil && s.LeavesOut(err) {
			continue
		}
		if err != nil {
			return nil, n, err
		}
		out = append(out, *c)
	}
	slices.Reverse(out)
	return out, n, nil
}

// WithApps puts behind each call those that its page has made, with their arguments,
// which no message has. made tells how many there are of each.
func (s *Store) WithApps(ctx context.Context, chatID string, calls []chat.ToolCall) (out []chat.ToolCall, made map[string]int, err error) {
	err = s.View(ctx, func(tx *kv.Tx) error {
		out, made = nil, map[string]int{}
		for _, c := range calls {
			apps, n, err := s.appsOf(tx, chatID, c.ID)
			if err != nil {
				return err
			}
			out = append(out, c)
			for _, a := range apps {
				if len(a.Result) > viewedResult {
					a.Result = nil
				}
				out = append(out, a)
			}
			if n > 0 {
				made[c.ID] = n
			}
		}
		return nil
	})
	if errors.Is(err, kv.ErrNotFound) {
		return calls, nil, nil
	}
	return out, made, err
}

// appCallsIn gives the last calls that pages have made of calls in a conversation's
// messages, in the order of their pages' calls.
func (s *Store) appCallsIn(ctx context.Context, conv *OpenChat) (out []chat.ToolCall, err error) {
	in := make(map[string]bool, len(conv.Path))
	for _, m := range conv.Path {
		in[m.ID] = true
	}
	err = s.View(ctx, func(tx *kv.Tx) error {
		out = nil
		last := ""
		for l, err := range Legible(s, s.Tables.Apps.Scan(tx, kv.Range{Prefix: kv.Str(conv.Chat.ID)})) {
			if err != nil {
				return err
			}
			if l.Of == last {
				continue
			}
			last = l.Of
			apps, _, err := s.appsOf(tx, conv.Chat.ID, l.Of)
			if err != nil {
				return err
			}
			out = append(out, slices.DeleteFunc(apps, func(c chat.ToolCall) bool { return !in[c.MessageID] })...)
		}
		return nil
	})
	if errors.Is(err, kv.ErrNotFound) {
		err = nil
	}
	return out, err
}

// clearTurns removes the events and the records of turns.
func (s *Store) clearTurns(ctx context.Context, turns []string) error {
	for _, turn := range turns {
		if err := s.ClearKeys(ctx, s.Tables.Events, kv.Range{Prefix: kv.Str(turn), Limit: purgeGroup}); err != nil {
			return err
		}
	}
	if len(turns) == 0 {
		return nil
	}
	return s.KV.Batch(ctx, func(b *kv.Batch) error {
		for _, turn := range turns {
			if err := s.Tables.Turns.Delete(b, kv.Str(turn)); err != nil {
				return err
			}
		}
		return nil
	})
}
