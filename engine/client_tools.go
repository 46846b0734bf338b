package engine

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/record"
	"github.com/fettle-cli/fettle/internal/sanitize"
	"github.com/fettle-cli/fettle/toolset"
)

// ClientTool is a tool that the turn's client runs itself. A call of one ends the
// turn; what it gives comes with the next one.
type ClientTool struct {
	// Name is what the client and the model know it by. Its tool id is
	// [chat.ClientToolset], a colon and the name.
	Name        string
	Description string
	Schema      json.RawMessage // a JSON Schema of type object; nil takes nothing
	// Strict asks the provider to hold the arguments to the schema.
	Strict bool
	// Form is kept with the calls of the tool: how the client knows it, if not by Name. It is
	// a JSON object in the client's terms.
	Form json.RawMessage
}

const (
	// maxClientTools is twice what providers commonly take.
	maxClientTools = 256
	// maxClientTool bounds description and schema of one.
	maxClientTool = 256 << 10
)

// clientEntries are the request's own tools as entries of a set.
func clientEntries(tools []ClientTool) ([]toolset.Entry, error) {
	if len(tools) > maxClientTools {
		return nil, fault.New(fault.Usage, fmt.Sprintf("there are %d tools; %d are allowed", len(tools), maxClientTools))
	}
	out := make([]toolset.Entry, 0, len(tools))
	for _, c := range tools {
		if len(c.Description)+len(c.Schema)+len(c.Form) > maxClientTool {
			return nil, fault.New(fault.Usage, "the tool "+sanitize.Shorten(sanitize.Line(c.Name), chat.TitleLength)+" is described by more than 256 KB")
		}
		schema := c.Schema
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		out = append(out, toolset.Entry{
			Tool: toolset.Tool{
				ID: chat.ClientToolset + ":" + c.Name, ToolsetID: chat.ClientToolset, Name: c.Name, Description: clean(c.Description),
				InputSchema: schema, Enabled: true, Annotations: toolset.UnknownAnnotations(),
			},
			Runner: toolset.RunnerFunc(func(context.Context, toolset.Call) (toolset.Result, error) {
				return toolset.Result{}, toolset.Errorf("the client runs this tool")
			}),
		})
	}
	if _, err := toolset.NewSet(out...); err != nil {
		return nil, fault.Wrap(fault.Usage, "read the client's tools", err)
	}
	return out, nil
}

// strictTools returns the ids of the tools whose arguments the provider is to hold to their
// schemas; nil if there are none.
func strictTools(tools []ClientTool) map[string]bool {
	var out map[string]bool
	for _, c := range tools {
		if c.Strict {
			if out == nil {
				out = map[string]bool{}
			}
			out[chat.ClientToolset+":"+c.Name] = true
		}
	}
	return out
}

// clientForms returns the Form of each tool that has one, by the ids of the tools; nil if there
// are none.
func clientForms(tools []ClientTool) map[string]json.RawMessage {
	var out map[string]json.RawMessage
	for _, c := range tools {
		if len(c.Form) > 0 {
			if out == nil {
				out = map[string]json.RawMessage{}
			}
			out[chat.ClientToolset+":"+c.Name] = c.Form
		}
	}
	return out
}

// withClients adds the client's tools to those of a set.
func (t *turn) withClients(set *toolset.Set) *toolset.Set {
	if len(t.clients) == 0 {
		return set
	}
	all, err := set.With(t.clients...)
	if err != nil { // can't be: no toolset of ours has that id, and chooseTools has looked
		return set
	}
	return all
}

// splitClients takes the calls that the client runs out of those of a response.
// One whose arguments are no object stays: the model is told so. So do all in plan mode,
// which refuses them.
func (t *turn) splitClients(calls []provider.ToolCall) (ours, clients []provider.ToolCall) {
	if len(t.clients) == 0 || t.plan {
		return calls, nil
	}
	for _, c := range calls {
		if entry, known := t.names.Lookup(c.Name); known && chat.IsClientTool(entry.Tool.ID) && record.IsObject(c.Args) {
			clients = append(clients, c)
		} else {
			ours = append(ours, c)
		}
	}
	return ours, clients
}

// passOn shows the client the calls that it has to run. The turn ends with them.
func (t *turn) passOn(calls []provider.ToolCall, next *handover) error {
	var bodies []event.Body
	if next != nil {
		bodies = append(bodies, event.Footnote{Text: t.speaker() + " called a tool of the client's and handed over to " +
			next.to.BareID() + "; the results come first"})
	}
	for _, use := range calls {
		bodies = append(bodies, t.startOf(t.prepare(use)))
	}
	return t.emit(bodies...)
}

// checkResults holds the results that a request brings to the calls that the
// conversation's last answer left to the client, and names their tools.
func (t *turn) checkResults(path []chat.Message) error {
	var pending map[string]string
	if n := len(path); n > 0 {
		pending = pendingCalls(path[n-1])
	}
	for i := range t.req.Parts {
		r := t.req.Parts[i].Result
		if r == nil {
			continue
		}
		id, ok := pending[r.ID]
		if !ok {
			return fault.New(fault.Usage, "no call "+sanitize.Shorten(sanitize.Line(r.ID), chat.TitleLength)+" waits for a result")
		}
		delete(pending, r.ID)
		t.req.Parts[i].Result = &provider.ToolResult{ID: r.ID, Name: id, Text: clean(sanitize.Clip(r.Text, maxResult)), Error: r.Error, Outside: chat.BareID(id), Media: chat.OwnMedia(r.Media)}
	}
	return nil
}

// pendingCalls are the calls of an answer that have no result, with their tools.
func pendingCalls(m chat.Message) map[string]string {
	out := map[string]string{}
	if m.Role != provider.Assistant {
		return out
	}
	done := answeredCalls(m.Parts)
	for _, p := range m.Parts {
		if p.Kind == provider.ToolCallPart && !done[p.Call.ID] {
			out[p.Call.ID] = p.Call.Name
		}
	}
	return out
}

// dialogue is a conversation in which each question has one answer, whatever the
// client ran in between.
type dialogue struct {
	history []chat.Message
	// from are the places that the messages of history have in the conversation.
	from []int
	// before is what was answered already to the last question, which is the last
	// message of history then.
	before []provider.Part
}

// joinAnswers puts results that the client brought behind their calls, and
// answers that were made in several turns together.
func joinAnswers(conversation []chat.Message) dialogue {
	var out dialogue
	open := false // the last message is an answer that the next one goes on with
	add := func(i int, m chat.Message) {
		out.history, out.from = append(out.history, m), append(out.from, i)
	}
	for i, m := range conversation {
		last := len(out.history) - 1
		switch {
		case m.Role == provider.Assistant && open:
			out.history[last].Parts = append(out.history[last].Parts, shifted(m.Parts, nextStep(out.history[last].Parts))...)
			open = false
			continue
		case m.Role != provider.User || !answeredCallsIn(m.Parts):
			add(i, m)
			open = false
			continue
		}
		results, rest := splitResults(m.Parts)
		if last >= 0 && out.history[last].Role == provider.Assistant {
			out.history[last].Parts, results = withResults(out.history[last], results)
			open = true
		}
		if len(results) > 0 { // what called for them is gone
			rest = append(gaveWords(results), rest...)
		}
		if len(rest) > 0 {
			m.Parts, open = rest, false
			add(i, m)
		}
	}
	if last := len(out.history) - 1; open && last >= 0 {
		out.before = out.history[last].Parts
		out.history, out.from = out.history[:last], out.from[:last]
	}
	return out
}

func answeredCallsIn(parts []provider.Part) bool {
	for _, p := range parts {
		if p.Kind == provider.ToolResultPart {
			return true
		}
	}
	return false
}

func splitResults(parts []provider.Part) (results, rest []provider.Part) {
	for _, p := range parts {
		if p.Kind == provider.ToolResultPart {
			results = append(results, p)
		} else {
			rest = append(rest, p)
		}
	}
	return results, rest
}

// withResults puts results behind an answer, in the step of its last calls, and
// gives those that answer none of them.
func withResults(m chat.Message, results []provider.Part) (parts, orphans []provider.Part) {
	pending := pendingCalls(m)
	parts = append(make([]provider.Part, 0, len(m.Parts)+len(results)), m.Parts...)
	for _, r := range results {
		if _, ok := pending[r.Result.ID]; !ok {
			orphans = append(orphans, r)
			continue
		}
		delete(pending, r.Result.ID)
		r.Step = max(0, nextStep(m.Parts)-1)
		parts = append(parts, r)
	}
	return parts, orphans
}

// gaveWords are results as a model is told of them that knows of no calls.
func gaveWords(results []provider.Part) []provider.Part {
	var out []provider.Part
	for _, r := range results {
		out = append(out, provider.Part{Kind: provider.TextPart, Text: "[" + chat.BareID(r.Result.Name) + " gave]\n" + r.Result.Text + "\n"})
	}
	return out
}

func nextStep(parts []provider.Part) int {
	if len(parts) == 0 {
		return 0
	}
	return parts[len(parts)-1].Step + 1
}

func shifted(parts []provider.Part, by int) []provider.Part {
	out := make([]provider.Part, len(parts))
	for i, p := range parts {
		p.Step += by
		out[i] = p
	}
	return out
}

// join makes an assembly of a conversation in which the client ran tools, and of
// what the turn has answered so far.
func (a *assembly) join(conversation []chat.Message, speaker string) {
	j := joinAnswers(conversation)
	a.history, a.from = j.history, j.from
	if len(j.before) == 0 {
		return
	}
	m := chat.Message{Role: provider.Assistant}
	if a.answer != nil {
		m = *a.answer
	}
	by := nextStep(j.before)
	now := shifted(m.Parts, by)
	m.Parts = append([]provider.Part{}, j.before...)
	for i := range m.Parts { // a client that tells of it doesn't know who spoke
		if m.Parts[i].Agent == "" {
			m.Parts[i].Agent = speaker
		}
	}
	if len(now) > 0 && now[0].Kind == provider.AgentStartPart && sameSpeaker(j.before, now[0].Agent) {
		now = now[1:]
	}
	m.Parts = append(m.Parts, now...)
	a.answer = &m
	if a.since > 0 {
		a.since += by
	}
}

// sameSpeaker tells whether an agent is the one that spoke last, as far as is known.
func sameSpeaker(before []provider.Part, agent string) bool {
	for i := len(before) - 1; i >= 0; i-- {
		if before[i].Kind == provider.AgentStartPart {
			return before[i].Agent == agent
		}
	}
	return true
}

// at is the place in the conversation of a message of the history.
func (a assembly) at(i int) int {
	if i < len(a.from) {
		return a.from[i]
	}
	return i
}
