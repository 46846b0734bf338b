package mcp

import (
	"context"
	"encoding/json"
	"net/url"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Question is what a server wants of a person.
type Question struct {
	Server  string
	Message string
	// Schema describes the form; nil where a page is to be visited instead.
	Schema json.RawMessage
	// URL is that page; empty for a form. It is http or https, and is never
	// opened without the person's word.
	URL string
}

// Answer is what came of a question.
type Answer struct {
	// Action is accept, decline or cancel.
	Action string
	// Values are what was filled in; where a field is left out its default
	// stands.
	Values map[string]any
}

// The actions of an [Answer].
const (
	Accept  = "accept"
	Decline = "decline"
	Cancel  = "cancel"
)

// maxForm bounds the schema of a form.
const maxForm = 64 << 10

// elicit asks a person on behalf of a server. The question ends with the call
// that it came up in.
func (c *conn) elicit(ctx context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	q := Question{Server: c.server.ID, Message: harmless(r.Params.Message, maxMessageText)}
	if r.Params.URL != "" {
		u, err := url.Parse(r.Params.URL)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
			return &sdk.ElicitResult{Action: Decline}, nil
		}
		q.URL = u.String()
	} else if q.Schema = marshal(r.Params.RequestedSchema); len(q.Schema) > maxForm {
		return &sdk.ElicitResult{Action: Decline}, nil
	}
	ctx, cancel := c.duringCall(ctx)
	defer cancel()
	a, err := c.m.o.Ask(ctx, q)
	switch {
	case ctx.Err() != nil || err != nil:
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

// duringCall ends a context with the call that runs, too: a server of the legacy
// era asks beside its call, so that the question's own context doesn't.
func (c *conn) duringCall(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.calls) == 0 {
		return ctx, cancel
	}
	stop := context.AfterFunc(c.calls[len(c.calls)-1], cancel)
	return ctx, func() { stop(); cancel() }
}
