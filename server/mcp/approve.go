package mcp

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/consent"
	"github.com/fettle-cli/fettle/internal/sanitize"
	"github.com/fettle-cli/fettle/server/asking"
)

// approvalKey names the question among those of a result.
const approvalKey = "approval"

// canAsk tells whether the client can ask its user something by a form.
func (c *call) canAsk() bool {
	caps := c.req.ClientCapabilities()
	if caps == nil || caps.Elicitation == nil {
		return false
	}
	return caps.Elicitation.Form != nil || caps.Elicitation.URL == nil // neither is a form, as it was before there were two
}

// maxAsked bounds what a client is sent of the arguments in a question, in bytes. A
// call that is larger can be allowed once, but not always.
const maxAsked = 64 << 10

// question is the form that asks the user about a call, with all of its arguments.
func question(ask event.ConfirmRequest) *sdk.ElicitParams {
	text, missing := consent.Head(consent.Read(ask.Input).Details(), maxAsked)
	if missing > 0 {
		text += fmt.Sprintf("\n… %d bytes more are not shown: the call is too large", missing)
	}
	names := []string{"Allow once"}
	values := []string{string(event.Allow)}
	if rule := asking.Rule(ask.Rule, missing == 0); rule != "" {
		names = append(names, "Allow in this session: "+rule, "Always allow: "+rule)
		values = append(values, string(event.AllowChat), string(event.AllowAlways))
	}
	names, values = append(names, "Deny"), append(values, string(event.Deny))
	message := "Allow " + consent.Line(ask.ToolID) + " to run? " + consent.Line(ask.Reason) + ".\n" + text
	return &sdk.ElicitParams{
		Mode: "form", Message: message,
		RequestedSchema: map[string]any{
			"type": "object", "required": []string{"decision"},
			"properties": map[string]any{
				"decision": map[string]any{"type": "string", "title": "Decision", "enum": values, "enumNames": names},
			},
		},
	}
}

// decisionOf reads the user's answer. What is no clear yes is a no.
func decisionOf(answer *sdk.ElicitResult) event.Decision {
	if answer == nil || answer.Action != "accept" {
		return event.Deny
	}
	said, _ := answer.Content["decision"].(string) // another type is no yes
	if d := event.Decision(said); d.Allows() {
		return d
	}
	return event.Deny
}

// ask asks the user of a legacy client about a call, beside the turn: somebody else
// may answer first.
func (c *call) ask(ctx context.Context, ask event.ConfirmRequest) {
	params := c.questionOf(ask)
	if c.isModern() || params == nil { // its request is over, too many wait, or it can't show this
		c.asks.Deliver(ctx, asking.Deny(ask.ToolUseID, "nobody can be asked now"))
		return
	}
	c.asks.Show(ctx, ask.ToolUseID, func(ctx context.Context) engine.Confirmation {
		answer, err := c.req.Session.Elicit(ctx, params)
		if err != nil {
			return asking.Deny(ask.ToolUseID, "the user could not be asked")
		}
		return answerOf(&ask, answer)
	})
}

// howToAllow says what would let a call run that nobody could be asked about.
func (c *call) howToAllow() string {
	rule := c.of.id
	return "next: the user can allow it by fettle mcp --allow '" + sanitize.Line(rule) + "', or by a rule in the setting allow"
}

// parked is a turn that waits for a modern client to come back with an answer.
type parked struct {
	state   string
	s       *session
	tool    string
	sum     [sha256.Size]byte // of the arguments
	ask     event.ConfirmRequest
	id      store.TurnID
	at      event.Seq
	changed []event.Change
	timer   *time.Timer
}

// park leaves the turn to itself until the client comes back. The state that names
// it can't be guessed, and means nothing elsewhere. nil says that too many wait, or
// that the client can't show what is asked.
func (c *call) park(ask event.ConfirmRequest) *sdk.CallToolResult {
	params := c.questionOf(ask)
	if params == nil {
		return nil
	}
	p := &parked{
		state: rand.Text(), s: c.s, tool: c.req.Params.Name, sum: sumOf(c.req.Params.Arguments),
		ask: ask, id: c.id, at: c.at, changed: c.changed,
	}
	h := c.h
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.parked) >= maxParked || h.closed {
		return nil
	}
	h.parked[p.state] = p
	p.timer = time.AfterFunc(approvalTime, func() { h.expire(p) })
	return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{approvalKey: params}, RequestState: p.state}
}

func sumOf(args json.RawMessage) [sha256.Size]byte { return sha256.Sum256(argumentsOf(args)) }

// expire ends a turn whose client didn't come back.
func (h *Host) expire(p *parked) {
	done, ok := h.begin()
	if !ok { // Close does it
		return
	}
	defer done()
	h.drop(p)
}

// drop ends a turn that is still parked, and waits for its end.
func (h *Host) drop(p *parked) {
	h.mu.Lock()
	still := h.parked[p.state] == p
	delete(h.parked, p.state)
	h.mu.Unlock()
	if !still {
		return
	}
	p.timer.Stop()
	ctx := context.WithoutCancel(h.base)
	_ = h.eng.Cancel(ctx, p.id) // one that has ended needs none
	for range h.eng.Follow(ctx, p.id, p.at) {
	}
	p.s.release()
}

// resume goes on with a parked turn, by the answer that the client brings. Another
// session, tool or arguments than those that were asked about are refused.
func (c *call) resume(state string) error {
	h := c.h
	h.mu.Lock()
	p := h.parked[state]
	fits := p != nil && p.s == c.s && p.tool == c.req.Params.Name && p.sum == sumOf(c.req.Params.Arguments)
	if fits {
		delete(h.parked, state)
	}
	h.mu.Unlock()
	if !fits {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "nothing waits for this requestState; call the tool anew"}
	}
	p.timer.Stop()
	c.follows(p.id)
	c.at, c.changed = p.at, p.changed
	answer, _ := c.req.Params.InputResponses[approvalKey].(*sdk.ElicitResult) // another answer is no yes
	c.asks.Deliver(h.base, answerOf(&p.ask, answer))
	return nil
}
