package mistral

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/chatcompletions"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// talk reads one response of a conversation: events of its own, each with its
// type, whose content is as in a completion.
type talk struct {
	*chatcompletions.Decoder
	agents []provider.NativeAgent
	ids    map[string]string // Mistral's, by ours
	now    string            // the agent that speaks, by our id

	conversation string
	open         map[string]bool
	handed       bool
	moved        bool // the last events handed over
	handoffs     []provider.Delta
	done         bool
}

// talkEvent is one event of a conversation.
type talkEvent struct {
	Type           wire.String                       `json:"type"`
	ConversationID wire.String                       `json:"conversation_id"`
	Content        json.RawMessage                   `json:"content"`
	ID             wire.String                       `json:"id"`
	Name           wire.String                       `json:"name"`
	ToolCallID     wire.String                       `json:"tool_call_id"`
	Arguments      json.RawMessage                   `json:"arguments"`
	NextAgentID    wire.String                       `json:"next_agent_id"`
	Usage          wire.Maybe[chatcompletions.Usage] `json:"usage"`
}

// names are those of the tools of all agents.
func (t *talk) names() *provider.Names {
	var all []provider.ToolSpec
	for _, a := range t.agents {
		all = append(all, a.Tools...)
	}
	return wire.Names(&provider.Request{Tools: all})
}

// Read takes what one network read brought.
func (t *talk) Read(dst []provider.Delta) (wire.Read, error) {
	t.moved = false
	return t.ReadAs(dst, t)
}

// State reports what the last events brought; see wire.Format. The end of a
// conversation's response is an event of its own, which closes it.
func (t *talk) State() (progress, finished bool) {
	progress, _ = t.Decoder.State()
	return progress || t.moved, false
}

// Take takes one event; see wire.Format. Both spellings of a type are known,
// with and without the conversation in front.
func (t *talk) Take(dst []provider.Delta, e wire.Event) (_ []provider.Delta, done bool, err error) {
	data := bytes.TrimSpace(e.Data)
	switch {
	case e.Whole:
		return dst, false, t.InBody(data) // what isn't a stream is no answer
	case len(data) == 0 || data[0] == ':' || string(data) == "[DONE]" || e.Open && !json.Valid(data):
		return dst, false, nil
	}
	dst, err = t.take(dst, e.Name, data)
	return dst, t.done && err == nil, err
}

// take takes the data of an event.
func (t *talk) take(dst []provider.Delta, name string, data []byte) ([]provider.Delta, error) {
	var ev talkEvent
	if err := json.Unmarshal(data, &ev); err != nil {
		return dst, &wire.FormatError{Chunk: bytes.Clone(data), Err: err}
	}
	kind := string(ev.Type)
	if kind == "" {
		kind = name
	}
	switch strings.TrimPrefix(kind, "conversation.") {
	case "response.started":
		t.conversation = string(ev.ConversationID)
	case "message.output.delta":
		return t.Content(dst, ev.Content)
	case "function.call.delta":
		id := ev.ToolCallID
		if id == "" {
			id = ev.ID
		}
		return dst, t.AddCall(wire.CallPiece{ID: id, Function: wire.Maybe[wire.CallFunction]{V: wire.CallFunction{Name: ev.Name, Arguments: ev.Arguments}, Set: true}})
	case "agent.handoff.done":
		return dst, t.handOver(string(ev.NextAgentID))
	case "response.error", "error":
		return dst, t.InStream(data)
	case "response.done":
		t.Count(ev.Usage.Ref())
		return t.close(dst)
	}
	return dst, nil // started handoffs, and tools that run at Mistral
}

// handOver notes the handoff as the call of the tool that stands for it.
func (t *talk) handOver(next string) error {
	t.moved = true
	for _, a := range t.agents {
		if a.ID != t.now {
			continue
		}
		for tool, to := range a.Handoffs {
			if t.ids[to] == next {
				t.handed, t.now = true, to
				t.handoffs = append(t.handoffs, provider.Delta{Kind: provider.CallDelta, Call: &provider.ToolCall{
					ID: newID(), Name: tool, Args: json.RawMessage("{}"),
				}})
				return nil
			}
		}
	}
	return &wire.FormatError{Err: errors.New("it hands over to an agent that " + t.now + " doesn't hand over to")}
}

// close ends the response: calls, then handoffs, then meta.
func (t *talk) close(dst []provider.Delta) ([]provider.Delta, error) {
	begin := len(dst)
	dst, err := t.End(dst)
	if err != nil {
		return dst, err
	}
	t.open = map[string]bool{}
	for _, d := range dst[begin:] {
		if d.Kind == provider.CallDelta {
			t.open[d.Call.ID] = true
		}
	}
	t.done = true
	if len(t.handoffs) > 0 {
		last := dst[len(dst)-1] // meta
		last.Meta.StopReason = provider.StopToolUse
		dst = append(append(dst[:len(dst)-1], t.handoffs...), last)
	}
	return dst, nil
}
