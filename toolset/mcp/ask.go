//lint:file-ignore SA1019 the eras of MCP before 2026-07-28 have roots, sampling and logging, and fettle speaks both

package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fettle-cli/fettle/toolset"
)

// Question is what a server wants of a person.
type Question = toolset.Question

// Answer is what came of a [Question].
type Answer = toolset.Answer

// The actions of an [Answer].
const (
	Accept  = toolset.Accept
	Decline = toolset.Decline
	Cancel  = toolset.Cancel
)

const (
	// maxForm bounds the schema of a form.
	maxForm = 64 << 10
	// maxPrompt bounds one message that a model is to be asked, and maxStops the
	// texts at which it would end.
	maxPrompt = 256 << 10
	maxStops  = 8
)

// answering is one call that runs: its context, and whom it may ask.
type answering struct {
	ctx   context.Context
	asker toolset.Asker
}

// callKey is where the context of a request carries the call that it is part of: a
// modern server asks within its answer to the call. It never leaves this package.
type callKey struct{}

// asking is the call that a server's request belongs to. A server of the legacy era
// asks beside its calls, and says not for which: where calls of several turns run,
// nobody can tell whose person is meant, and ok is false.
func (c *conn) asking(ctx context.Context) (call *answering, ok bool) {
	if call, ok := ctx.Value(callKey{}).(*answering); ok {
		return call, true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.calls {
		if call != nil && turnOf(call) != turnOf(one) {
			c.m.log(c.server.ID, "it asks while calls of several turns run, so nobody is asked")
			return nil, false
		}
		call = one
	}
	return call, true
}

func turnOf(a *answering) string {
	if a.asker == nil {
		return ""
	}
	return a.asker.Turn()
}

// elicit asks a person on behalf of a server. The question ends with the call
// that it came up in.
func (c *conn) elicit(ctx context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	q := Question{Server: c.server.ID, Message: visible(r.Params.Message, maxMessageText)}
	if r.Params.URL != "" {
		u, err := url.Parse(r.Params.URL)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || len(r.Params.URL) > maxMessageText {
			return &sdk.ElicitResult{Action: Decline}, nil
		}
		q.URL = u.String()
	} else if q.Schema = marshal(r.Params.RequestedSchema); len(q.Schema) > maxForm {
		return &sdk.ElicitResult{Action: Decline}, nil
	}
	call, ok := c.asking(ctx)
	ctx, cancel := during(ctx, call)
	defer cancel()
	var a Answer
	var err error
	switch {
	case !ok:
		a.Action = Cancel
	case call != nil && call.asker != nil:
		a, err = call.asker.AskPerson(ctx, q)
	case c.m.o.Ask != nil:
		a, err = c.m.o.Ask(ctx, q)
	default:
		a.Action = Cancel
	}
	if err != nil {
		c.m.log(c.server.ID, "its question has no answer: "+err.Error())
	}
	switch {
	case ctx.Err() != nil || err != nil && a.Action != Decline:
		return &sdk.ElicitResult{Action: Cancel}, nil
	case a.Action != Accept:
		return &sdk.ElicitResult{Action: a.Action}, nil
	}
	out := &sdk.ElicitResult{Action: Accept}
	if q.URL == "" {
		out.Content = a.Values
		if out.Content == nil {
			out.Content = map[string]any{}
		}
	}
	return out, nil
}

// during ends a context with the call that runs, too: a server of the legacy era
// asks beside its call, so that the question's own context doesn't.
func during(ctx context.Context, call *answering) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	if call == nil {
		return ctx, cancel
	}
	stop := context.AfterFunc(call.ctx, cancel)
	return ctx, func() { stop(); cancel() }
}

// refused is the code for a model's answer that a person doesn't allow.
const refused = -1

// prompt has a model answer on behalf of a server, where its settings let it ask.
func (c *conn) prompt(ctx context.Context, r *sdk.CreateMessageRequest) (*sdk.CreateMessageResult, error) {
	p, err := c.prompting(r.Params)
	if err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
	}
	call, ok := c.asking(ctx)
	if !ok || call == nil || call.asker == nil {
		return nil, &jsonrpc.Error{Code: refused, Message: "a model is asked only within a call of a tool, where a person allows it"}
	}
	ctx, cancel := during(ctx, call)
	defer cancel()
	got, err := call.asker.AskModel(ctx, p)
	var no *toolset.NotAllowedError
	switch {
	case errors.As(err, &no):
		return nil, &jsonrpc.Error{Code: refused, Message: no.Why}
	case err != nil:
		c.m.log(c.server.ID, "its prompt has no answer: "+err.Error())
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the model gave no answer"}
	}
	return &sdk.CreateMessageResult{Role: "assistant", Model: got.Model, StopReason: stopReason(got.Stop), Content: &sdk.TextContent{Text: got.Text}}, nil
}

// stopReason is the protocol's word for why a model ended.
func stopReason(ours string) string {
	switch ours {
	case "length":
		return "maxTokens"
	case "stop", "":
		return "endTurn"
	}
	return ours
}

// prompting reads a server's prompt. It may hold texts alone.
func (c *conn) prompting(p *sdk.CreateMessageParams) (toolset.Prompting, error) {
	out := toolset.Prompting{Server: c.server.ID, System: visible(p.SystemPrompt, maxPrompt), MaxTokens: int(min(max(p.MaxTokens, 0), 1<<20))}
	if p.Temperature > 0 && p.Temperature <= 2 {
		out.Temperature = &p.Temperature
	}
	for _, stop := range p.StopSequences[:min(len(p.StopSequences), maxStops)] {
		if stop != "" && len(stop) <= maxTitle {
			out.Stop = append(out.Stop, stop)
		}
	}
	if len(p.Messages) > maxParts {
		return out, fmt.Errorf("the prompt has %d messages; %d are allowed", len(p.Messages), maxParts)
	}
	for _, m := range p.Messages {
		text, ok := m.Content.(*sdk.TextContent)
		switch {
		case !ok:
			return out, errors.New("the prompt holds more than text, which isn't passed on")
		case m.Role != "user" && m.Role != "assistant":
			return out, errors.New("the prompt has a message of neither user nor assistant")
		case len(text.Text) > maxPrompt:
			return out, fmt.Errorf("a message of the prompt has %d KB; %d KB are allowed", len(text.Text)>>10, maxPrompt>>10)
		}
		out.Messages = append(out.Messages, toolset.PromptMessage{Role: string(m.Role), Text: visible(text.Text, maxPrompt)})
	}
	return out, nil
}
