package store

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/kv"
)

// ListChats asks for chats, the last used first.
type ListChats struct {
	Limit int    // 0 is all
	After []byte // a page's Next
	// AfterChat is the number of the chat that the page before ended with;
	// it is for people, and After wins.
	AfterChat int64
	// Workspace is the folder of the user's that a chat is bound to; Bound asks for
	// those that are bound to any.
	Workspace string
	Bound     bool
	// Model is a part of the model's name; upper and lower case are the same.
	Model string
	// Since and Before bound when the chat was last used.
	Since, Before time.Time
}

func (q *ListChats) matches(c *chat.Chat) bool {
	return strings.Contains(strings.ToLower(c.Model), strings.ToLower(q.Model)) &&
		(q.Workspace == "" || q.Workspace == c.Workspace) && (!q.Bound || c.Workspace != "") &&
		!c.UpdatedAt.Before(q.Since) && (q.Before.IsZero() || c.UpdatedAt.Before(q.Before))
}

// ChatPage is one page of chats; Next is nil at the end.
type ChatPage struct {
	Chats []chat.Chat
	Next  []byte
}

// Chats lists the chats that have a finished turn.
func (s *Store) Chats(ctx context.Context, q ListChats) (ChatPage, error) {
	if _, err := s.Fold(ctx, FoldAll); err != nil {
		return ChatPage{}, err
	}
	var out ChatPage
	err := s.View(ctx, func(tx *kv.Tx) (err error) {
		out, err = s.chatPage(tx, q)
		return err
	})
	if errors.Is(err, kv.ErrNotFound) {
		return ChatPage{}, nil // no store yet
	}
	return out, err
}

// listGroup is how many chats are read at once while a filter looks for those
// that it lets through.
const listGroup = 200

func (s *Store) chatPage(tx *kv.Tx, q ListChats) (out ChatPage, err error) {
	r := kv.Range{Reverse: true, Limit: listGroup, After: kv.Key(q.After)}
	if r.After == nil && q.AfterChat > 0 {
		at, err := s.Tables.Chats.Find(tx, "number", kv.Int(q.AfterChat))
		if errors.Is(err, kv.ErrNotFound) {
			return out, fault.New(fault.NotFound, "no chat "+strconv.Itoa(int(q.AfterChat)), fault.Try(fault.ListChats))
		}
		if err != nil {
			return out, err
		}
		r.To = kv.Int(at.LastTurn)
	}
	for {
		if q.Limit > 0 { // no more than can be wanted, so that Next leads on behind the last
			r.Limit = min(listGroup, q.Limit-len(out.Chats))
		}
		page, err := s.recentPage(tx, r)
		if err != nil {
			return ChatPage{}, err
		}
		for _, c := range page.Records {
			if q.matches(c) {
				out.Chats = append(out.Chats, *c)
			}
		}
		if r.After = page.Next; page.Next == nil {
			return out, nil
		}
		if q.Limit > 0 && len(out.Chats) >= q.Limit {
			more, err := s.moreChats(tx, q, r)
			if more {
				out.Next = page.Next
			}
			return out, err
		}
	}
}

// recentPage returns a page of the chats, those that were used last first. Damaged
// records are reported and left out.
func (s *Store) recentPage(tx *kv.Tx, r kv.Range) (page kv.Page[chat.Chat], err error) {
	limit := r.Limit
	r.Limit = 0
	for c, err := range Legible(s, s.Tables.Chats.ByIndex(tx, "recent", nil, r)) {
		if err != nil {
			return kv.Page[chat.Chat]{}, err
		}
		if limit > 0 && len(page.Records) == limit {
			return page, nil
		}
		page.Records = append(page.Records, c)
		page.Next = recentPlace(c)
	}
	page.Next = nil
	return page, nil
}

// recentPlace is the place of a chat in the index "recent", for a Range's After.
func recentPlace(c *chat.Chat) kv.Key {
	return append(recentKey(c), kv.FromPrimary(kv.Str(c.ID))...)
}

// moreChats tells whether a filter lets through one more in the rest of a range.
func (s *Store) moreChats(tx *kv.Tx, q ListChats, rest kv.Range) (bool, error) {
	rest.Limit = 0
	for c, err := range Legible(s, s.Tables.Chats.ByIndex(tx, "recent", nil, rest)) {
		if err != nil || q.matches(c) {
			return err == nil, err
		}
	}
	return false, nil
}

// Conversation is a chat with the messages on the way to its leaf.
type Conversation struct {
	Chat     chat.Chat      `json:"chat"`
	Messages []chat.Message `json:"messages"`
	// Decisions are what the person decided about payloads in the messages.
	Decisions []chat.PayloadDecision `json:"payload_decisions,omitempty"`
	// AppCalls are the last calls that pages of calls in the messages have made.
	AppCalls []chat.ToolCall `json:"app_calls,omitempty"`
}

// Chat returns a chat and the messages from its root to its active leaf. It
// does not wait for a live turn: Busy is the error where the chat's first one
// has not ended yet.
func (s *Store) Chat(ctx context.Context, ref ChatRef) (Conversation, error) {
	return s.chatTo(ctx, ref, WholeWay())
}

// ChatEnd is [Store.Chat] with the last n messages, and reads no others.
func (s *Store) ChatEnd(ctx context.Context, ref ChatRef, n int) (Conversation, error) {
	return s.chatTo(ctx, ref, Reach{Least: n, Most: n})
}

func (s *Store) chatTo(ctx context.Context, ref ChatRef, r Reach) (Conversation, error) {
	chat, err := s.Find(ctx, ref, nil)
	if err != nil {
		return Conversation{}, err
	}
	conv, err := s.LoadBy(ctx, chat.ID, ref.Parent, r)
	if err != nil {
		return Conversation{}, err
	}
	out := Conversation{Chat: conv.Chat, Messages: conv.Path}
	decided, err := s.Decisions(ctx, chat.ID)
	if err != nil {
		return Conversation{}, err
	}
	for _, m := range conv.Path {
		out.Decisions = append(out.Decisions, m.DecidedIn(decided)...)
	}
	if out.AppCalls, err = s.appCallsIn(ctx, conv); err != nil || len(out.Messages) == 0 {
		return out, err
	}
	if err := s.markUndoneResults(ctx, chat.ID, out.Messages); err != nil {
		return Conversation{}, err
	}
	return out, s.MarkUndoneCalls(ctx, chat.ID, out.Messages[0].ID, out.AppCalls)
}
