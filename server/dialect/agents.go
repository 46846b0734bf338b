package dialect

import (
	"bytes"
	"encoding/json"

	"github.com/fettle-cli/fettle/engine/event"
)

// nobody is who works where a chat has no agents: document 003's page shows
// every step under an agent's name.
const nobody = "assistant"

// agentsEncoder writes document 003's frames.
type agentsEncoder struct {
	stage stage
	agent string            // who is at it
	open  map[string]string // the agents of running calls, by tool_use_id
	text  paragraphs
}

func (a *agentsEncoder) Append(dst []byte, e event.Event) ([]byte, error) {
	if a.stage == ended {
		return dst, nil
	}
	if e.Ends() {
		a.stage = ended
	}
	switch b := e.Body.(type) {
	case event.AgentStart:
		a.agent = b.Agent
		a.text.breaks()
		dst = named(dst, "agent_start").str("agent", b.Agent).frame()
	case event.Handoff:
		dst = named(dst, "handoff").str("from", b.From).str("to", b.To).frame()
	case event.ToolStart:
		a.open[b.ToolUseID] = a.who(b.Agent)
		a.text.breaks()
		dst = named(dst, "tool_call").str("agent", a.who(b.Agent)).str("tool", b.Tool).
			str("query", query(b.Input)).str("tool_id", b.ToolID).frame()
	case event.ToolComplete:
		dst = named(dst, "tool_result").str("agent", a.who(a.open[b.ToolUseID])).str("tool", b.Tool).
			str("result", b.Result).str("tool_id", b.ToolID).frame()
		delete(a.open, b.ToolUseID)
	case event.TextDelta:
		if b.Text != "" {
			dst = named(dst, "token").str("text", a.text.join(b.Text)).frame()
		}
	case event.Error:
		dst = named(dst, "error").str("message", b.Message).frame()
	case event.Complete, event.Cancelled:
		dst = named(dst, "done").frame()
	}
	return dst, nil
}

func (a *agentsEncoder) End(dst []byte) []byte {
	if a.stage == ended {
		return dst
	}
	a.stage = ended
	return named(dst, "error").str("message", wasCut().Msg).frame()
}

func (a *agentsEncoder) KeepAlive(dst []byte) []byte { return append(dst, ping...) }

func (a *agentsEncoder) Paused() bool { return false }

func (a *agentsEncoder) who(agent string) string {
	switch {
	case agent != "":
		return agent
	case a.agent != "":
		return a.agent
	}
	return nobody
}

// query is document 003's field: the argument of that name, else all of them.
func query(input json.RawMessage) string {
	var args struct {
		Query json.RawMessage `json:"query"`
	}
	var text string
	if json.Unmarshal(input, &args) == nil && bytes.HasPrefix(args.Query, []byte(`"`)) &&
		json.Unmarshal(args.Query, &text) == nil {
		return text
	}
	return compact(input)
}

// AgentsFailure returns the stream of a request that failed before there was a turn:
// document 003 has the event error for any failure, and its page reads nothing else.
func AgentsFailure(message string) (body []byte, contentType string) {
	return named(nil, "error").str("message", message).frame(), Agents.Form().ContentType
}
