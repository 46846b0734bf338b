package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/internal/sanitize"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/manifest"
)

// Payloads lists the payloads of a chat's active branch, the first shown first,
// as far as its turns have ended.
func (s *Store) Payloads(ctx context.Context, ref ChatRef) (chat.Chat, []chat.ShownPayload, error) {
	found, err := s.find(ctx, ref, nil)
	if err != nil {
		return found, nil, err
	}
	conv, err := s.load(ctx, found.ID, "")
	if err != nil {
		return found, nil, err
	}
	decided, err := s.decisions(ctx, found.ID)
	if err != nil {
		return found, nil, err
	}
	given, err := s.workspacePayloads(ctx, found.ID, conv.path)
	if err != nil {
		return found, nil, err
	}
	return conv.chat, shownIn(conv.path, decided, given), nil
}

// GlancePayloads lists those of the chat that was used last, as far as the store
// has them. It folds nothing, as [Store.Glance] doesn't.
func (s *Store) GlancePayloads(ctx context.Context) (out []chat.ShownPayload, err error) {
	err = s.view(ctx, func(tx *kv.Tx) error {
		page, err := s.recentPage(tx, kv.Range{Reverse: true, Limit: 1})
		if err != nil || len(page.Records) == 0 {
			return err
		}
		chat := page.Records[0]
		path, err := s.pathTo(tx, chat.ID, chat.ActiveLeaf)
		if err == nil {
			out = shownIn(path, nil, nil)
		} else if unreadable(err) {
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

// decisions are those about a chat's payloads, by the payload's id.
func (s *Store) decisions(ctx context.Context, chatID string) (map[string]chat.PayloadDecision, error) {
	out := map[string]chat.PayloadDecision{}
	err := s.view(ctx, func(tx *kv.Tx) error {
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
	for d, err := range legible(s, s.tables.payloads.Scan(tx, kv.Range{Prefix: kv.Str(chatID)})) {
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

// Decided is what came of a decision.
type Decided struct {
	Chat    chat.Chat
	Payload chat.ShownPayload
	// Again says that the same was decided before: nothing was done this time.
	Again bool
	// Turn is the turn in which a tool runs now, to be followed; empty where
	// none does.
	Turn TurnID
}

// Decide records what a person did with a payload, and lets the tool that its
// type names for that do its part, in a turn of the chat. The next question
// tells the model. A decision is made once: the same again changes nothing, and
// another one is refused. It is kept before the tool is started, so that the
// tool is never started twice.
func (e *Engine) Decide(ctx context.Context, d Deciding) (Decided, error) {
	c, all, err := e.Payloads(ctx, d.Chat)
	if err != nil {
		return Decided{}, err
	}
	shown, err := pickPayload(c, all, d)
	if err != nil {
		return Decided{}, err
	}
	box, err := e.toolbox(ctx)
	if err != nil {
		return Decided{}, err
	}
	wanted := chat.PayloadDecision{
		ChatID: c.ID, PayloadID: shown.ID, MessageID: shown.MessageID, Type: shown.Type, Title: shown.Title, Toolset: shown.Toolset,
		Decision: chat.Rejected, Remark: sanitize.Shorten(sanitize.Line(strings.TrimSpace(d.Remark)), chat.MaxRemark), At: e.o.Now(),
	}
	if d.Accept {
		wanted.Decision = chat.Accepted
	}
	wanted.Reaction = box.shows.reaction(shown.Toolset, shown.Type, wanted.Decision)
	var change *changeOwn
	if d.Accept && proposes(shown.Payload) && (shown.Decision == nil || shown.Decision.Decision == "") {
		if change, err = e.agentChange(ctx, shown.Payload); err != nil {
			return Decided{}, err
		}
		wanted.AgentID = change.id
	}
	out := Decided{Chat: c, Payload: shown}
	out.Payload.Decision, out.Again, err = e.keepDecision(ctx, wanted, change)
	switch {
	case err != nil:
		return Decided{}, err
	case out.Payload.Decision.Decision != wanted.Decision:
		return Decided{}, fault.New(fault.Usage, fmt.Sprintf("payload %d of chat %d was %s already", shown.Number, c.Number,
			out.Payload.Decision.Decision), fmt.Sprintf("fettle payloads show %d --chat %d", shown.Number, c.Number))
	case out.Again || wanted.Reaction == nil || wanted.Reaction.Tool == "":
		return out, nil
	}
	out.Turn, err = e.react(ctx, d, out.Payload)
	return out, err
}

// reaction is who is told of a verdict on a payload.
func (s *showcase) reaction(set, kind string, v chat.Verdict) *manifest.Reaction {
	t := s.find(set, kind)
	switch {
	case t == nil:
		return nil
	case v == chat.Accepted:
		return t.payload.OnAccept
	}
	return t.payload.OnReject
}

func pickPayload(c chat.Chat, all []chat.ShownPayload, d Deciding) (chat.ShownPayload, error) {
	list := fmt.Sprintf("fettle payloads list --chat %d", c.Number)
	i := d.Number - 1
	switch {
	case len(all) == 0:
		return chat.ShownPayload{}, fault.New(fault.NotFound, fmt.Sprintf("chat %d has no payloads", c.Number), "fettle chats list")
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

// keepDecision writes a decision, unless there is one, together with the change of an agent
// that it makes (nil for none): both are stored or neither is. It returns the decision that
// is stored afterwards.
func (e *Engine) keepDecision(ctx context.Context, wanted chat.PayloadDecision, change *changeOwn) (held *chat.PayloadDecision, again bool, err error) {
	release, err := e.shareData(ctx, nil)
	if err != nil {
		return nil, false, err
	}
	defer release()
	key := kv.Str(wanted.ChatID).Str(wanted.PayloadID)
	err = e.store.UpdateSync(ctx, func(tx *kv.Tx) error {
		held, again = nil, false
		got, err := e.tables.payloads.Get(tx, key)
		switch {
		case err == nil && got.Decision != "":
			held, again = got, true
			return nil
		case err == nil:
			wanted.Edits = got.Edits
		case !errors.Is(err, kv.ErrNotFound):
			return err
		}
		if there, err := e.tables.chats.Has(tx, kv.Str(wanted.ChatID)); err != nil || !there { // it was removed meanwhile
			return cmp.Or(err, kv.ErrNotFound)
		}
		if change != nil {
			if err := e.applyOwn(tx, change); err != nil {
				return err
			}
		}
		held = &wanted
		return putBounded(e.Store, tx, e.tables.payloads, held, "the decision about payload "+held.PayloadID)
	})
	var refused *fault.Fault
	switch {
	case errors.Is(err, errNotOwn):
		return nil, false, e.notOwn(ctx, change.id)
	case errors.As(err, &refused):
		return nil, false, err
	case errors.Is(err, kv.ErrNotFound):
		return nil, false, fault.New(fault.NotFound, "the chat was removed meanwhile", "fettle chats list")
	case err != nil && ctx.Err() == nil:
		return nil, false, e.storeTrouble(err)
	}
	return held, again, err
}

// react starts the tool that is told of a decision. Where it can't be started,
// nothing was decided.
func (e *Engine) react(ctx context.Context, d Deciding, p chat.ShownPayload) (TurnID, error) {
	id := p.Toolset + ":" + p.Decision.Reaction.Tool
	turn, err := e.Start(ctx, TurnRequest{
		Chat: ChatRef{ID: p.Decision.ChatID}, Calls: []DirectCall{{Tool: id, Args: p.Data}},
		Policy: d.Policy, CanConfirm: d.CanConfirm, OnWait: d.OnWait,
	})
	alive, cancel := context.WithTimeout(context.WithoutCancel(ctx), stateTime)
	defer cancel()
	release, lerr := e.shareData(alive, nil)
	if lerr != nil {
		return turn, errors.Join(err, lerr)
	}
	defer release()
	if err != nil {
		undo := e.store.UpdateSync(alive, func(tx *kv.Tx) error { return e.undecide(tx, *p.Decision) })
		return "", errors.Join(err, undo)
	}
	p.Decision.TurnID = string(turn)
	err = e.store.UpdateSync(alive, func(tx *kv.Tx) error {
		return putBounded(e.Store, tx, e.tables.payloads, p.Decision, "the decision about payload "+p.ID)
	})
	if err != nil { // the tool runs; what isn't noted is where
		e.o.Notice("note the turn of a decision: " + sanitize.Line(err.Error()))
	}
	return turn, nil
}

// Payload gives the one payload that a Deciding names.
func (s *Store) Payload(ctx context.Context, d Deciding) (chat.Chat, chat.ShownPayload, error) {
	c, all, err := s.Payloads(ctx, d.Chat)
	if err != nil {
		return c, chat.ShownPayload{}, err
	}
	p, err := pickPayload(c, all, d)
	return c, p, err
}

// PayloadPlan returns how a payload of a chat is shown: as it was when it came, or, where
// its type had no renderer then, by the renderer that the type has now; nil for none.
func (e *Engine) PayloadPlan(ctx context.Context, c chat.Chat, p provider.Payload) json.RawMessage {
	if len(p.RenderPlan) > 0 {
		return p.RenderPlan
	}
	box, err := e.toolbox(ctx)
	if err != nil {
		return nil
	}
	plan := box.shows.plan(event.Payload{Kind: p.Type, Data: p.Data, Toolset: p.Toolset}, c.ID, &toolset.Workspace{Path: e.WorkspacePath(c)})
	if plan == nil {
		return nil
	}
	return chat.EncodePlan(*plan)
}

// decisionsAt are the decisions about the payloads on the way to where a fork
// begins.
func (s *Store) decisionsAt(ctx context.Context, c *conversation) ([]chat.PayloadDecision, error) {
	all, err := s.decisions(ctx, c.chat.ID)
	if err != nil {
		return nil, err
	}
	var out []chat.PayloadDecision
	for _, m := range c.path {
		out = append(out, m.DecidedIn(all)...)
	}
	return out, nil
}
