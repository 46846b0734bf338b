package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/server/asking"
)

// modernEra is the first revision without sessions.
const modernEra = "2026-07-28"

// maxMessage bounds what an agent is asked.
const maxMessage = 1 << 20

// call is one call of a client, as long as its request lasts.
type call struct {
	h    *Host
	sv   *served
	of   offered
	req  *sdk.CallToolRequest
	s    *session
	id   store.TurnID
	asks *asking.Questions
	at   event.Seq // what of the turn was looked at
	tell *progress
	// doing is what an agent's model does: it writes or thinks; empty before it has begun.
	doing string

	done    event.ToolComplete // of the last call
	changed []event.Change     // of the workspace
	end     event.Body
}

// call carries out tools/call.
func (sv *served) call(ctx context.Context, req *sdk.CallToolRequest, of offered) (*sdk.CallToolResult, error) {
	h := sv.h
	done, ok := h.begin()
	if !ok {
		return nil, internal(errEnding)
	}
	defer done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(h.base, func() { cancel(errEnding) })()
	defer h.untilGone(req.Extra, cancel)()
	c := &call{
		h: h, sv: sv, of: of, req: req, s: sv.session(req.ClientInfo(), req.Extra),
		tell: &progress{session: req.Session, token: req.Params.GetProgressToken(), now: h.o.Now},
	}
	defer c.tell.beat(ctx)()
	if state := req.Params.RequestState; state != "" {
		if err := c.resume(state); err != nil {
			return nil, err
		}
	} else if res, err := c.start(ctx); res != nil || err != nil {
		return res, err
	}
	return c.follow(ctx)
}

// start begins the turn of a call. A result says why it can't be, so that a model
// can do better.
func (c *call) start(ctx context.Context) (*sdk.CallToolResult, error) {
	turn := engine.TurnRequest{
		Title: titleOf(c.req.ClientInfo()), Workspace: c.h.o.Workspace, Policy: c.h.o.Policy,
		CanConfirm: c.canAsk(), CanAnswer: c.canAsk(), CanReview: c.canAsk(), TextAlone: true,
		OnWait: func(what string) { c.tell.say(ctx, "waiting: "+what) },
	}
	if c.of.agent == "" {
		turn.Calls = []engine.DirectCall{{Tool: c.of.id, Args: argumentsOf(c.req.Params.Arguments)}}
	} else {
		message, why := messageOf(c.req.Params.Arguments)
		if why != "" {
			return failed(why), nil
		}
		turn.Agent, turn.Parts = c.of.agent, []provider.Part{{Kind: provider.TextPart, Text: message}}
	}
	if err := c.s.take(ctx); err != nil {
		return nil, internal(err)
	}
	if err := c.begin(ctx, &turn); err != nil {
		c.s.release()
		switch {
		case ctx.Err() != nil:
			return nil, internal(context.Cause(ctx))
		case fault.CodeOf(err) == fault.NotFound && turn.Calls != nil: // it was taken away meanwhile
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: explain(err)}
		}
		return failed(explain(err)), nil
	}
	return nil, nil
}

// begin begins the turn, in the session's chat. One that the user has deleted is
// followed by another.
func (c *call) begin(ctx context.Context, turn *engine.TurnRequest) error {
	if c.s.hasChat() {
		if _, err := c.h.eng.FindChat(ctx, c.s.chat()); fault.CodeOf(err) == fault.NotFound {
			c.s.renew()
		}
	}
	turn.Chat = c.s.chat()
	if c.of.agent != "" {
		c.h.o.Prepare(turn)
	}
	if turn.Chat.New == "" {
		turn.Workspace = "" // the chat has it
	}
	id, err := c.h.o.Start(ctx, *turn)
	if err != nil {
		return err
	}
	c.s.began()
	c.follows(id)
	return nil
}

// follows notes the turn of the call.
func (c *call) follows(id store.TurnID) {
	c.id = id
	c.asks = asking.New(asking.Options{Turns: c.h.eng, Turn: id, Limit: approvalTime, Now: c.h.o.Now, Log: c.h.log})
}

// argumentsOf is what was sent, or an empty object where nothing was.
func argumentsOf(raw json.RawMessage) json.RawMessage {
	if len(bytes.TrimSpace(raw)) == 0 || string(bytes.TrimSpace(raw)) == "null" {
		return json.RawMessage("{}")
	}
	return raw
}

// messageOf is what an agent is asked, or why that is nothing.
func messageOf(raw json.RawMessage) (message, why string) {
	var args struct {
		Message *string `json:"message"`
	}
	d := json.NewDecoder(bytes.NewReader(argumentsOf(raw)))
	d.DisallowUnknownFields()
	switch err := d.Decode(&args); {
	case err != nil:
		return "", "the arguments don't fit: the agent takes an object with message, a text"
	case args.Message == nil || strings.TrimSpace(*args.Message) == "":
		return "", "the arguments don't fit: message is missing or empty"
	case len(*args.Message) > maxMessage:
		return "", "the arguments don't fit: message has more than 1 MiB"
	}
	return *args.Message, ""
}

// follow shows the turn as progress and gives its result, or what has to be asked
// first. The request's end is the turn's, unless it is parked.
func (c *call) follow(ctx context.Context) (*sdk.CallToolResult, error) {
	alive := context.WithoutCancel(ctx)
	cancel := func() { _ = c.h.eng.Cancel(alive, c.id) } // one that has ended needs none
	stop := context.AfterFunc(ctx, cancel)
	defer func() { stop() }()
	defer c.asks.End()
	for e, err := range c.h.eng.Follow(alive, c.id, c.at) {
		if err != nil {
			cancel() // nobody would hear of its end
			c.s.release()
			return nil, internal(err)
		}
		c.at = e.Seq
		if ask, ok := e.Body.(event.ConfirmRequest); ok {
			if c.isModern() && stop() { // a request that is cancelled has no need of an answer
				if res := c.park(ask); res != nil {
					return res, nil
				}
				stop = context.AfterFunc(ctx, cancel)
			}
			c.ask(ctx, ask)
			continue
		}
		c.see(ctx, e.Body)
	}
	c.s.release()
	c.notify(alive)
	if ctx.Err() != nil {
		return nil, internal(context.Cause(ctx))
	}
	return c.result(), nil
}

func (c *call) isModern() bool { return c.req.ProtocolVersion() >= modernEra }

// see takes in an event.
func (c *call) see(ctx context.Context, body event.Body) {
	switch b := body.(type) {
	case event.Status:
		c.tell.say(ctx, b.Message)
	case event.ToolProgress:
		msg := b.Message
		if msg == "" {
			msg = b.Stage
		}
		c.tell.rises(ctx, b.Progress, msg)
	case event.Reasoning:
		c.does(ctx, "thinking")
	case event.TextDelta:
		c.does(ctx, "writing")
	case event.AgentStart:
		c.tell.say(ctx, "the agent "+b.Agent+" begins")
	case event.Handoff:
		c.tell.say(ctx, b.From+" hands over to "+b.To)
	case event.ToolStart:
		c.doing = ""
		if c.of.agent != "" {
			c.tell.say(ctx, b.Tool)
		}
	case event.ConfirmResult:
		c.asks.Settled(b)
	case event.ToolComplete:
		c.done = b
		c.changed = append(c.changed, b.Changes...)
		if c.of.agent != "" {
			c.tell.say(ctx, b.Tool+": "+string(b.Status))
		}
	case event.Complete, event.Error, event.Cancelled:
		c.end = b
	}
}

// does reports what an agent's model begins to do. A call of a tool has no model.
func (c *call) does(ctx context.Context, what string) {
	if c.of.agent != "" && c.doing != what {
		c.doing = what
		c.tell.say(ctx, what)
	}
}

// result is the answer of a turn that has ended.
func (c *call) result() *sdk.CallToolResult {
	switch b := c.end.(type) {
	case event.Complete:
		meta := sdk.Meta{"fettle/chat": b.Payload.ConversationID}
		if c.of.agent != "" {
			return c.answer(&b.Payload, meta)
		}
		return c.toolResult(&b.Payload, meta)
	case event.Error:
		return failed(explain(b.Fault()))
	case event.Cancelled:
		return failed("the call was cancelled")
	}
	return failed("the call was interrupted")
}

// answer is what an agent answered.
func (c *call) answer(p *event.ResponsePayload, meta sdk.Meta) *sdk.CallToolResult {
	if p.Usage != nil {
		meta["fettle/usage"] = p.Usage
	}
	meta["fettle/model"] = p.Model
	res := &sdk.CallToolResult{Meta: meta, Content: []sdk.Content{&sdk.TextContent{Text: p.Message}}}
	res.Content = append(res.Content, c.links()...)
	return res
}

// toolResult is what a tool gave.
func (c *call) toolResult(p *event.ResponsePayload, meta sdk.Meta) *sdk.CallToolResult {
	if c.done.Status != event.CallSuccess {
		text := c.done.Result
		if p.Denied > 0 {
			text += "\n" + c.howToAllow()
		}
		res := failed(text)
		res.Meta = meta
		return res
	}
	text, data := c.done.Result, bytes.TrimSpace(c.done.Data)
	object := len(data) > 0 && data[0] == '{'
	if c.of.data && !object {
		return failed("the tool gave no data, which its output_schema promises. It says:\n" + text)
	}
	if text == "" && len(data) > 0 {
		text = string(data)
	}
	res := &sdk.CallToolResult{Meta: meta, Content: []sdk.Content{&sdk.TextContent{Text: text}}}
	for _, m := range c.done.Media {
		if strings.HasPrefix(m.MIME, "audio/") {
			res.Content = append(res.Content, &sdk.AudioContent{MIMEType: m.MIME, Data: m.Data})
		} else {
			res.Content = append(res.Content, &sdk.ImageContent{MIMEType: m.MIME, Data: m.Data})
		}
	}
	if object {
		res.StructuredContent = json.RawMessage(data)
	}
	if given := pageData(c.done.RenderPlan); c.of.page != "" && given != nil {
		meta[pageDataKey] = given
	}
	res.Content = append(res.Content, c.links()...)
	return res
}

// failed is the result of a call that failed, which a model reads.
func failed(text string) *sdk.CallToolResult {
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}

// internal is an error of ours.
func internal(err error) error {
	var own *jsonrpc.Error
	if errors.As(err, &own) {
		return err
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: explain(err)}
}
