package manifest

import (
	"encoding/json"
	"slices"
)

func (j *judge) payload(p *Payload, at string) {
	j.compile(p.Schema, at+"/schema")
	j.entry(p.Parser, at+"/parser")
	if p.Renderer != nil {
		j.renderer(p.Renderer, at+"/renderer", &scope{payload: true, returns: p.Schema})
	}
	j.reaction(p, p.OnAccept, at+"/on_accept")
	j.reaction(p, p.OnReject, at+"/on_reject")
}

// reaction wants what is done with a payload to be there, on every page that
// offers the payload.
func (j *judge) reaction(p *Payload, r *Reaction, at string) {
	if r == nil {
		return
	}
	own := ids(j.m.Tools, func(t Tool) string { return t.ID })
	if r.Tool != "" && !slices.Contains(own, r.Tool) {
		j.missing(at+"/tool", "tool", r.Tool, own)
	}
	if r.Action == "" {
		return
	}
	offered := false
	for _, page := range j.m.Pages {
		if !slices.Contains(page.Payloads, p.Type) {
			continue
		}
		offered = true
		actions := ids(page.ClientActions, func(a ClientAction) string { return a.Action })
		if !slices.Contains(actions, r.Action) {
			j.missing(at+"/action", "client action of the page "+show(page.ID)+" called", r.Action, actions)
		}
	}
	if !offered {
		j.fail(at+"/action", CodeUnknownName, "a client action is a page's, and no page offers the payload "+show(p.Type))
	}
}

func (j *judge) page(p *Page, at string) {
	types := ids(j.m.Payloads, func(p Payload) string { return p.Type })
	for i, name := range p.Payloads {
		if name != "" && !slices.Contains(types, name) && !slices.Contains(KnownPayloads(), name) {
			j.missing(item(at+"/payloads", i), "payload", name, types)
		}
	}
	j.references(p.Context, at+"/context", &scope{names: []string{"context"}})
	for i, a := range p.ClientActions {
		j.compile(a.InputSchema, item(at+"/client_actions", i)+"/input_schema")
	}
}

func (j *judge) workflow(w *Workflow, at string) {
	agents := ids(j.m.Agents, func(a Agent) string { return a.ID })
	j.compile(w.InputSchema, at+"/input_schema")
	sc := &scope{
		args: w.InputSchema, names: []string{"args", "steps", "chat_id", "workspace", "toolset"},
		steps: make(map[string]json.RawMessage, len(w.Steps)),
	}
	for i, s := range w.Steps {
		pointer := item(at+"/steps", i)
		j.toolName(s.Tool, pointer+"/tool")
		if s.Agent != "" && !slices.Contains(agents, s.Agent) {
			j.missing(pointer+"/agent", "agent", s.Agent, agents)
		}
		var args any
		if json.Unmarshal(s.Args, &args) == nil {
			j.dataReferences(args, pointer+"/args", sc)
		}
		j.references(s.Prompt, pointer+"/prompt", sc)
		if s.ID != "" {
			sc.steps[s.ID] = j.returns(s)
		}
	}
}

// returns is the schema of what a step returns, as far as that is known.
func (j *judge) returns(s Step) json.RawMessage {
	if s.Agent != "" {
		return json.RawMessage(`{"type": "object", "properties": {"text": {"type": "string"}}}`)
	}
	for _, t := range j.m.Tools {
		if t.ID == s.Tool || j.m.ToolID(t.ID) == s.Tool {
			return t.OutputSchema
		}
	}
	return nil
}
