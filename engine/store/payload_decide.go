package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/kv"
)

// Payloads lists the payloads of a chat's active branch, the first shown first,
// as far as its turns have ended.
func (s *Store) Payloads(ctx context.Context, ref ChatRef) (chat.Chat, []chat.ShownPayload, error) {
	found, err := s.Find(ctx, ref, nil)
	if err != nil {
		return found, nil, err
	}
	conv, err := s.load(ctx, found.ID, "")
	if err != nil {
		return found, nil, err
	}
	decided, err := s.Decisions(ctx, found.ID)
	if err != nil {
		return found, nil, err
	}
	given, err := s.workspacePayloads(ctx, found.ID, conv.Path)
	if err != nil {
		return found, nil, err
	}
	return conv.Chat, shownIn(conv.Path, decided, given), nil
}

// GlancePayloads lists those of the chat that was used last, as far as the store
// has them. It folds nothing, as [Store.Glance] doesn't.
func (s *Store) GlancePayloads(ctx context.Context) (out []chat.ShownPayload, err error) {
	err = s.View(ctx, func(tx *kv.Tx) error {
		page, err := s.recentPage(tx, kv.Range{Reverse: true, Limit: 1})
		if err != nil || len(page.Records) == 0 {
			return err
		}
		chat := page.Records[0]
		path, err := s.PathTo(tx, chat.ID, chat.ActiveLeaf)
		if err == nil {
			out = shownIn(path, nil, nil)
		} else if Unreadable(err) {
			err = nil // it is for suggestions
		}
		return err
	})
	if errors.Is(err, kv.ErrNotFound) {
		return nil, nil
	}
	return out, err
}

// shownIn are the payloads of messages, in their order. given are those that calls
// gave for the workspace panel.
func shownIn(path []chat.Message, decided map[string]chat.PayloadDecision, given map[chat.Use]givenPayload) []chat.ShownPayload {
	var out []chat.ShownPayload
	for _, m := range path {
		for _, p := range m.Parts {
			payload, callID, ok := provider.Payload{}, "", false
			switch {
			case p.Kind == provider.PayloadPart && p.Payload != nil:
				payload, ok = *p.Payload, true
			case p.Kind == provider.ToolCallPart && p.Call != nil:
				var g givenPayload
				g, ok = given[chat.Use{MessageID: m.ID, ID: p.Call.ID}]
				payload, callID = g.Payload, g.callID
			}
			if !ok {
				continue
			}
			shown := chat.ShownPayload{Number: len(out) + 1, Payload: payload, CallID: callID, MessageID: m.ID, ShownAt: m.CreatedAt}
			if d, ok := decided[payload.ID]; ok {
				shown.Decision, shown.Edit = d.Verdict(), d.LastEdit()
			}
			out = append(out, shown)
		}
	}
	return out
}

// Decisions are those about a chat's payloads, by the payload's id.
func (s *Store) Decisions(ctx context.Context, chatID string) (map[string]chat.PayloadDecision, error) {
	out := map[string]chat.PayloadDecision{}
	err := s.View(ctx, func(tx *kv.Tx) error {
		clear(out)
		all, err := s.decisionsIn(tx, chatID)
		for _, d := range all {
			out[d.PayloadID] = d
		}
		return err
	})
	if errors.Is(err, kv.ErrNotFound) {
		return out, nil
	}
	return out, err
}

func (s *Store) decisionsIn(tx *kv.Tx, chatID string) ([]chat.PayloadDecision, error) {
	var out []chat.PayloadDecision
	for d, err := range Legible(s, s.Tables.Payloads.Scan(tx, kv.Range{Prefix: kv.Str(chatID)})) {
		if err != nil {
			return nil, err
		}
		out = append(out, *d)
	}
	return out, nil
}

// Deciding is a person's decision about a payload.
type Deciding struct {
	Chat ChatRef
	// Payload is its id; where that is empty, Number is its place in the chat
	// as [Store.Payloads] counts, 0 being the last.
	Payload string
	Number  int
	Accept  bool
	// Remark is told to the model with the decision; it may be empty.
	Remark string
	// Policy and CanConfirm are those of the turn in which a tool is told.
	Policy     permission.Policy
	CanConfirm bool
	OnWait     func(what string)
}

// PickPayload returns the payload of a chat that a decision is about.
func PickPayload(c chat.Chat, all []chat.ShownPayload, d Deciding) (chat.ShownPayload, error) {
	list := fault.Try(fault.ListPayloads, fmt.Sprint(c.Number))
	i := d.Number - 1
	switch {
	case len(all) == 0:
		return chat.ShownPayload{}, fault.New(fault.NotFound, fmt.Sprintf("chat %d has no payloads", c.Number), fault.Try(fault.ListChats))
	case d.Payload != "":
		if i = slices.IndexFunc(all, func(p chat.ShownPayload) bool { return p.ID == d.Payload }); i < 0 {
			return chat.ShownPayload{}, fault.New(fault.NotFound, fmt.Sprintf("chat %d has no payload %s", c.Number, chat.Short(d.Payload)), list)
		}
	case d.Number == 0:
		i = lastPayload(all)
	case d.Number < 0 || d.Number > len(all):
		return chat.ShownPayload{}, fault.New(fault.NotFound, fmt.Sprintf("chat %d has no payload %d: it has %s", c.Number, d.Number, fault.Plural(len(all), "payload")), list)
	}
	return all[i], nil
}

// lastPayload is the one that is meant where none is named: the last that stands for
// itself, since what a decision's own tool gave would else take its place.
func lastPayload(all []chat.ShownPayload) int {
	for i, p := range slices.Backward(all) {
		if !strings.Contains(p.ID, ".") {
			return i
		}
	}
	return len(all) - 1
}

// Payload gives the one payload that a Deciding names.
func (s *Store) Payload(ctx context.Context, d Deciding) (chat.Chat, chat.ShownPayload, error) {
	c, all, err := s.Payloads(ctx, d.Chat)
	if err != nil {
		return c, chat.ShownPayload{}, err
	}
	p, err := PickPayload(c, all, d)
	return c, p, err
}

// decisionsAt are the decisions about the payloads on the way to where a fork
// begins.
func (s *Store) decisionsAt(ctx context.Context, c *OpenChat) ([]chat.PayloadDecision, error) {
	all, err := s.Decisions(ctx, c.Chat.ID)
	if err != nil {
		return nil, err
	}
	var out []chat.PayloadDecision
	for _, m := range c.Path {
		out = append(out, m.DecidedIn(all)...)
	}
	return out, nil
}
