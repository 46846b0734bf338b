package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

// MessagePage is a part of the way to a message of a chat.
type MessagePage struct {
	Conversation
	// Total is how many messages the way has.
	Total int
}

// Cut keeps at most n messages: the last ones, or those before the message with the id
// before if that is not empty.
func (p *MessagePage) Cut(before string, n int) error {
	list := p.Messages
	p.Total = len(list)
	if before != "" {
		at := slices.IndexFunc(list, func(m chat.Message) bool { return m.ID == before })
		if at < 0 {
			return noSuchPlace(before)
		}
		list = list[:at]
	}
	p.Messages = list[max(0, len(list)-n):]
	return nil
}

func noSuchPlace(message string) error {
	return fault.New(fault.NotFound, "no message "+sanitize.Line(message)+" in this branch of the chat")
}

// ChatMessages is [Store.Chat] with at most n messages, see [MessagePage.Cut]. Of a long
// chat it reads no others.
func (s *Store) ChatMessages(ctx context.Context, ref ChatRef, before string, n int) (out MessagePage, err error) {
	chat, err := s.Find(ctx, ref, nil)
	if err != nil {
		return out, err
	}
	if chat.Messages <= TrackedMessages {
		if out.Conversation, err = s.chatTo(ctx, ref, WholeWay()); err != nil {
			return out, err
		}
		return out, out.Cut(before, n)
	}
	ref.Parent = cmp.Or(ref.Parent, chat.ActiveLeaf) // also if another turn has ended since
	total, end, err := s.placesOnWay(ctx, chat, ref.Parent, before)
	if err != nil {
		return out, err
	}
	if ref.Parent = end; end == "" {
		return MessagePage{Conversation{Chat: chat}, total}, nil
	}
	out.Total = total
	out.Conversation, err = s.chatTo(ctx, ref, Reach{Least: n, Most: n})
	return out, err
}

// placesOnWay returns how many messages the way to a message has, and the one that ends
// the part in front of another: the message itself if before is empty, and none if before
// is the first.
func (s *Store) placesOnWay(ctx context.Context, chat chat.Chat, to, before string) (total int, end string, err error) {
	set, err := s.BranchSet(ctx, chat)
	if err != nil {
		return 0, "", err
	}
	missing := ""
	err = s.View(ctx, func(tx *kv.Tx) error {
		w, err := s.wayIn(tx, set, to)
		if err != nil || w.leaf == nil {
			return err // the message is reported as missing when it is read
		}
		total, end = w.length, to
		if before == "" {
			return nil
		}
		b, at, err := s.locate(tx, set, before)
		if b == nil || err != nil || !w.has(b.Number, at) {
			missing = before
			return err
		}
		l, err := s.Tables.links.Get(tx, MessageKey(chat.ID, before))
		if err != nil {
			return fmt.Errorf("read message %s: %w", before, err)
		}
		end = l.ParentID
		return nil
	})
	if err == nil && missing != "" {
		err = noSuchPlace(missing)
	}
	if err == nil && total == 0 {
		end = to
	}
	return total, end, err
}
