package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/engine/workspace"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/internal/sanitize"
	"github.com/fettle-cli/fettle/toolset"
)

// Decided is what came of a decision.
type Decided struct {
	Chat    chat.Chat
	Payload chat.ShownPayload
	// Again says that the same was decided before: nothing was done this time.
	Again bool
	// Turn is the turn in which a tool runs now, to be followed; empty where
	// none does.
	Turn store.TurnID
}

// Decide records what a person did with a payload, and lets the tool that its
// type names for that do its part, in a turn of the chat. The next question
// tells the model. A decision is made once: the same again changes nothing, and
// another one is refused. It is kept before the tool is started, so that the
// tool is never started twice.
func (e *Engine) Decide(ctx context.Context, d store.Deciding) (Decided, error) {
	c, all, err := e.Payloads(ctx, d.Chat)
	if err != nil {
		return Decided{}, err
	}
	shown, err := store.PickPayload(c, all, d)
	if err != nil {
		return Decided{}, err
	}
	box, err := e.Toolbox(ctx)
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
	wanted.Reaction = box.Payloads.Reaction(shown.Toolset, shown.Type, wanted.Decision)
	var change *store.ChangeOwn
	if d.Accept && catalog.ProposesAgent(shown.Payload) && (shown.Decision == nil || shown.Decision.Decision == "") {
		if change, err = e.AgentChange(ctx, shown.Payload); err != nil {
			return Decided{}, err
		}
		wanted.AgentID = change.ID
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

// keepDecision writes a decision, unless there is one, together with the change of an agent
// that it makes (nil for none): both are stored or neither is. It returns the decision that
// is stored afterwards.
func (e *Engine) keepDecision(ctx context.Context, wanted chat.PayloadDecision, change *store.ChangeOwn) (held *chat.PayloadDecision, again bool, err error) {
	release, err := e.ShareData(ctx, nil)
	if err != nil {
		return nil, false, err
	}
	defer release()
	key := kv.Str(wanted.ChatID).Str(wanted.PayloadID)
	err = e.KV.UpdateSync(ctx, func(tx *kv.Tx) error {
		held, again = nil, false
		got, err := e.Tables.Payloads.Get(tx, key)
		switch {
		case err == nil && got.Decision != "":
			held, again = got, true
			return nil
		case err == nil:
			wanted.Edits = got.Edits
		case !errors.Is(err, kv.ErrNotFound):
			return err
		}
		if there, err := e.Tables.Chats.Has(tx, kv.Str(wanted.ChatID)); err != nil || !there { // it was removed meanwhile
			return cmp.Or(err, kv.ErrNotFound)
		}
		if change != nil {
			if err := e.ApplyOwn(tx, change); err != nil {
				return err
			}
		}
		held = &wanted
		return store.PutBounded(e.In(tx), e.Tables.Payloads, held, "the decision about payload "+held.PayloadID)
	})
	var refused *fault.Fault
	switch {
	case errors.Is(err, catalog.ErrNotOwn):
		return nil, false, e.NotOwn(ctx, change.ID)
	case errors.As(err, &refused):
		return nil, false, err
	case errors.Is(err, kv.ErrNotFound):
		return nil, false, fault.New(fault.NotFound, "the chat was removed meanwhile", "fettle chats list")
	case err != nil && ctx.Err() == nil:
		return nil, false, e.StoreTrouble(err)
	}
	return held, again, err
}

// react starts the tool that is told of a decision. Where it can't be started,
// nothing was decided.
func (e *Engine) react(ctx context.Context, d store.Deciding, p chat.ShownPayload) (store.TurnID, error) {
	id := p.Toolset + ":" + p.Decision.Reaction.Tool
	turn, err := e.Start(ctx, TurnRequest{
		Chat: store.ChatRef{ID: p.Decision.ChatID}, Calls: []DirectCall{{Tool: id, Args: p.Data}},
		Policy: d.Policy, CanConfirm: d.CanConfirm, OnWait: d.OnWait,
	})
	alive, cancel := context.WithTimeout(context.WithoutCancel(ctx), workspace.StateTime)
	defer cancel()
	release, lerr := e.ShareData(alive, nil)
	if lerr != nil {
		return turn, errors.Join(err, lerr)
	}
	defer release()
	if err != nil {
		undo := e.KV.UpdateSync(alive, func(tx *kv.Tx) error { return e.Undecide(tx, *p.Decision) })
		return "", errors.Join(err, undo)
	}
	p.Decision.TurnID = string(turn)
	err = e.KV.UpdateSync(alive, func(tx *kv.Tx) error {
		return store.PutBounded(e.In(tx), e.Tables.Payloads, p.Decision, "the decision about payload "+p.ID)
	})
	if err != nil { // the tool runs; what isn't noted is where
		e.o.Notice("note the turn of a decision: " + sanitize.Line(err.Error()))
	}
	return turn, nil
}

// PayloadPlan returns how a payload of a chat is shown: as it was when it came, or, where
// its type had no renderer then, by the renderer that the type has now; nil for none.
func (e *Engine) PayloadPlan(ctx context.Context, c chat.Chat, p provider.Payload) json.RawMessage {
	if len(p.RenderPlan) > 0 {
		return p.RenderPlan
	}
	box, err := e.Toolbox(ctx)
	if err != nil {
		return nil
	}
	plan := box.Payloads.Plan(event.Payload{Kind: p.Type, Data: p.Data, Toolset: p.Toolset}, c.ID, &toolset.Workspace{Path: e.WorkspacePath(c)})
	if plan == nil {
		return nil
	}
	return chat.EncodePlan(*plan)
}
