package mistral

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/chatcompletions"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// goOn is what an agent is told that was handed the conversation: an append
// wants an entry.
const goOn = "(The conversation was handed over to you. Go on from here.)"

// entry is what a conversation is made of.
type entry struct {
	Object     string `json:"object"`
	Type       string `json:"type"`
	Role       string `json:"role,omitempty"`
	Content    any    `json:"content,omitempty"`
	ToolCallID string `json:"tool_call_id,omitempty"`
	Name       string `json:"name,omitempty"`
	Arguments  string `json:"arguments,omitempty"`
	Result     string `json:"result,omitempty"`
}

// talkRequest begins a conversation with an agent, or appends to one.
type talkRequest struct {
	AgentID  string          `json:"agent_id,omitempty"`
	Inputs   []entry         `json:"inputs"`
	Stream   bool            `json:"stream"`
	Store    bool            `json:"store"`
	Handoff  string          `json:"handoff_execution"`
	Settings *completionArgs `json:"completion_args,omitempty"`
}

type completionArgs struct {
	Temperature *float64 `json:"temperature,omitempty"`
	MaxTokens   int      `json:"max_tokens,omitempty"`
	chatcompletions.Sampling
}

// settings are the parameters of a request; nil if it has none.
func settings(req *provider.Request) *completionArgs {
	if req.Temperature == nil && req.MaxTokens == 0 && len(req.Given()) == 0 {
		return nil
	}
	return &completionArgs{req.Temperature, req.MaxTokens, chatcompletions.SamplingOf(req, quirksOf(nil, ""))}
}

// session is the conversation of one turn.
type session struct {
	id     string          // "" where the next request begins one
	agent  string          // whose turn it is there, by our id
	open   map[string]bool // calls of the last response that want results
	handed bool            // the last response handed over
}

// converse streams one response of the agents' conversation. A request that
// can't go on with the conversation as it stands there, after a failure or
// another agent than the one it was handed to, begins one: it says all that is
// known.
func (p *Provider) converse(ctx context.Context, req *provider.Request) iter.Seq2[[]provider.Delta, error] {
	return func(yield func([]provider.Delta, error) bool) {
		ids, err := p.enlist(ctx, req)
		if err != nil {
			yield(nil, err)
			return
		}
		s, ok := req.Native.Session.(*session)
		if !ok {
			s = &session{}
			req.Native.Session = s
		}
		before := *s
		*s = session{} // as long as it isn't known how this one ends
		t := &talk{agents: req.Native.Agents, ids: ids, now: req.Native.Agent}
		stopped := false
		err = p.exchange(ctx, req, before, t, func(batch []provider.Delta) bool {
			stopped = !yield(batch, nil)
			return !stopped
		})
		switch {
		case err != nil:
			yield(nil, err)
		case !stopped && t.done:
			*s = session{id: t.conversation, agent: t.now, open: t.open, handed: t.handed}
			if s.id == "" {
				s.id = before.id // an append doesn't have to tell it again
			}
		}
	}
}

// exchange makes one request of the conversation.
func (p *Provider) exchange(ctx context.Context, req *provider.Request, s session, t *talk, pass func([]provider.Delta) bool) error {
	path, body := "conversations", talkRequest{Stream: true, Store: true, Handoff: "client"}
	if inputs, ok := s.next(req.Native); ok {
		path, body.Inputs = path+"/"+url.PathEscape(s.id), inputs
	} else {
		body.AgentID, body.Inputs = t.ids[req.Native.Agent], entries(req)
	}
	kept, notes := wire.Keep(req, talkTakes())
	_, pass = wire.Announce(notes, pass)
	body.Settings = settings(kept)
	data, err := wire.Marshal(body)
	if err != nil {
		return p.Source(req.Model, wire.Asked(req)...).Error(provider.Rejected, err.Error(), err)
	}
	x, err := p.Exchange(ctx, http.MethodPost, path, data, p.Source(req.Model, wire.Asked(req)...))
	if err != nil {
		return err
	}
	x.Decode = func(resp *http.Response) (wire.Decoder, error) {
		t.Decoder = p.Decoder(resp.Body, x.Source, chatcompletions.DecoderOptions{Names: t.names()})
		return t, nil
	}
	return x.Run(ctx, pass)
}

// next is what goes on with the conversation: the results of the calls that it
// waits for, and a word to the agent that it was handed to. ok is false where it
// can't go on.
func (s session) next(n *provider.Native) (inputs []entry, ok bool) {
	if s.id == "" || s.agent != n.Agent {
		return nil, false
	}
	for _, r := range n.Results {
		id := r.ID
		for open := range s.open {
			if strings.HasPrefix(id, open+"-") { // told apart from a call of an earlier turn
				id = open
			}
		}
		if s.open[id] {
			inputs = append(inputs, entry{Object: "entry", Type: "function.result", ToolCallID: id, Result: r.Text})
		}
	}
	if len(inputs) != len(s.open) {
		return nil, false
	}
	if s.handed {
		inputs = append(inputs, entry{Object: "entry", Type: "message.input", Role: "user", Content: goOn})
	}
	return inputs, len(inputs) > 0
}

// entries are the messages of a request as a conversation begins with them.
func entries(req *provider.Request) []entry {
	history := req.Messages
	if system := req.Native.System; system != "" {
		first := provider.Message{Role: provider.User, Parts: []provider.Part{{Kind: provider.TextPart, Text: system}}}
		history = slices.Insert(slices.Clone(history), 0, first)
	}
	var out []entry
	for _, m := range chatcompletions.Messages(history, wire.Names(req), quirksOf(nil, ""), chatcompletions.Adaption{NoItems: true}) {
		e := entry{Object: "entry", Type: "message.input", Role: m.Role, Content: m.Content}
		switch {
		case m.Role == "tool":
			text, _ := m.Content.(string)
			e = entry{Object: "entry", Type: "function.result", ToolCallID: m.ToolCallID, Result: text}
		case m.Content == "":
			e.Type = "" // calls alone
		}
		if e.Type != "" {
			out = append(out, e)
		}
		for _, call := range m.ToolCalls {
			out = append(out, entry{
				Object: "entry", Type: "function.call", ToolCallID: call.ID, Name: call.Function.Name, Arguments: call.Function.Arguments,
			})
		}
	}
	return out
}
