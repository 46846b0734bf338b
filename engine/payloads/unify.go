package payloads

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/internal/record"
	"github.com/fettle-cli/fettle/internal/schema"
)

// Where an event.Payload is from.
const (
	FromTool  = "tool"
	FromModel = "model"
)

// ToolOutput is what a tool's result says of payloads.
type ToolOutput struct {
	// Tool is the tool's bare id, for notes; Set is its toolset.
	Tool, Set string
	// WorkspacePayload is document 000's, Payload document 001's {type, data};
	// null counts as none. Both may have suggested_values and
	// suggested_actions beside their type.
	WorkspacePayload json.RawMessage
	Payload          json.RawMessage
	// Data is the tool's structured result; suggestions may stand in it too.
	Data json.RawMessage
}

// Collector gathers the payloads of one turn, in the order in which they come,
// and decides what its answer has.
type Collector struct {
	reg       *Registry
	tool      *event.CustomPayload // the last of a tool
	toolSet   string
	model     *event.CustomPayload // the last that the model wrote
	modelSet  string
	workspace json.RawMessage
	hints     suggestions
}

// NewCollector begins a turn.
func NewCollector(reg *Registry) *Collector { return &Collector{reg: reg} }

// Taken is what the collector accepted of a tool's output.
type Taken struct {
	// Shown is the payload to show as an event; nil for none.
	Shown *event.Payload
	// Workspace is the workspace_payload with its title and its data filled in;
	// nil where the tool gave none that can be shown.
	Workspace json.RawMessage
	// Notes name what was wrong and is left out.
	Notes []string
}

// Tool takes the result of a call. A payload of suggestions is shown with the
// answer alone.
func (c *Collector) Tool(out ToolOutput) (t Taken) {
	note := func(what string, err error) {
		t.Notes = append(t.Notes, shown(fmt.Sprintf("the %s of %s was left out: %v", what, out.Tool, err)))
	}
	beside := func(obj map[string]json.RawMessage) {
		for _, kind := range []string{SuggestedValues, SuggestedActions} {
			if list := obj[kind]; !empty(list) {
				if err := c.suggest(kind, list); err != nil {
					note("list "+kind, err)
				}
			}
		}
	}
	if obj := besideData(out.Data); obj != nil {
		beside(obj)
	}
	if !empty(out.WorkspacePayload) {
		if ws, err := c.readWorkspace(out, beside); err != nil {
			note("workspace payload", err)
		} else {
			c.workspace, t.Workspace = ws, ws
		}
	}
	if empty(out.Payload) {
		return t
	}
	p, err := c.read(out, beside)
	if err != nil {
		note("payload", err)
		return t
	}
	if isSuggestion(p.Type) {
		c.hints.take(p.Type, p.Data)
		return t
	}
	c.tool, c.toolSet = p, out.Set
	t.Shown = &event.Payload{Kind: p.Type, Data: p.Data, Source: FromTool}
	return t
}

// Model takes a payload that a Parser found, and gives what is shown of it as
// an event, if anything is.
func (c *Collector) Model(f Found) *event.Payload {
	if isSuggestion(f.Type) {
		c.hints.take(f.Type, f.Data)
		return nil
	}
	c.model, c.modelSet = &event.CustomPayload{Type: f.Type, Data: f.Data}, f.From
	return &event.Payload{Kind: f.Type, Data: f.Data, Source: FromModel}
}

// Title is what stands above a payload: the headerTitle that holds for a set,
// else its label, else nothing.
func (r *Registry) Title(kind, set string) string { return r.title(kind, set) }

// Unified is what an answer has of all its payloads.
type Unified struct {
	// Custom is document 001's custom_payload: the last tool's, else the
	// model's last; nil where nobody gave one, and tool_history takes its place.
	Custom *event.CustomPayload
	// Workspace is what the workspace panel shows: the last workspace_payload
	// of a tool, else Custom in that form; nil for nothing.
	Workspace        json.RawMessage
	SuggestedValues  []json.RawMessage
	SuggestedActions []json.RawMessage
}

// Result is what holds by now.
func (c *Collector) Result() Unified {
	u := Unified{
		Custom: c.tool, Workspace: c.workspace,
		SuggestedValues: c.hints.values, SuggestedActions: c.hints.actions,
	}
	set := c.toolSet
	if u.Custom == nil {
		u.Custom, set = c.model, c.modelSet
	}
	if u.Workspace == nil && u.Custom != nil {
		u.Workspace = c.reg.WorkspaceForm(set, *u.Custom)
	}
	return u
}

// fields reads a JSON object strictly, its values unread.
func fields(raw json.RawMessage) (map[string]json.RawMessage, error) {
	if len(raw) > defaultMaxBytes {
		return nil, fmt.Errorf("it is longer than %s", kilobytes(defaultMaxBytes))
	}
	if _, err := schema.Decode(raw); err != nil {
		return nil, err
	}
	var obj map[string]json.RawMessage
	if err := json.Unmarshal(raw, &obj); err != nil || obj == nil {
		return nil, errors.New("it is no JSON object")
	}
	return obj, nil
}

// kindOf gives the type that an object names.
func kindOf(obj map[string]json.RawMessage) (string, error) {
	var kind string
	if json.Unmarshal(obj["type"], &kind) != nil || kind == "" {
		return "", errors.New("it has no type")
	}
	return kind, checkType(kind)
}

// read takes document 001's {type, data}. Where that is right, beside gets the
// object for the suggestions in it.
func (c *Collector) read(out ToolOutput, beside func(map[string]json.RawMessage)) (*event.CustomPayload, error) {
	obj, err := fields(out.Payload)
	if err != nil {
		return nil, err
	}
	kind, err := kindOf(obj)
	if err != nil {
		return nil, err
	}
	data := obj["data"]
	if len(data) == 0 {
		data = json.RawMessage("null")
	}
	if err := c.reg.Check(kind, out.Set, data); err != nil {
		return nil, fmt.Errorf("%s: %w", kind, err)
	}
	beside(obj)
	return &event.CustomPayload{Type: kind, Data: data}, nil
}

// readWorkspace takes document 000's {type, title, content, data}. What it
// holds stays; data is added where a field of the type's own has it.
func (c *Collector) readWorkspace(out ToolOutput, beside func(map[string]json.RawMessage)) (json.RawMessage, error) {
	obj, err := fields(out.WorkspacePayload)
	if err != nil {
		return nil, err
	}
	kind, err := kindOf(obj)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"title", "content"} {
		var s string
		switch v, ok := obj[name]; {
		case !ok || empty(v):
			obj[name] = json.RawMessage(`""`)
		case json.Unmarshal(v, &s) != nil:
			return nil, fmt.Errorf("its %s is no text", name)
		}
	}
	if empty(obj["title"]) || string(obj["title"]) == `""` {
		obj["title"] = quoted(c.reg.title(kind, out.Set))
	}
	if data := dataOf(obj); data != nil {
		if err := c.reg.Check(kind, out.Set, data); err != nil {
			return nil, fmt.Errorf("%s: %w", kind, err)
		}
		obj["data"] = data
	}
	beside(obj)
	return record.Marshal(obj)
}

// dataOf is a workspace payload's data, by whichever name it goes.
func dataOf(obj map[string]json.RawMessage) json.RawMessage {
	for _, name := range []string{"data", "agent_data", "table_data", "research_data"} {
		if !empty(obj[name]) {
			return obj[name]
		}
	}
	return nil
}

// besideData gives the fields of a tool's data; nil where it is no object, or
// too large to hold a choice for a person.
func besideData(data json.RawMessage) map[string]json.RawMessage {
	if len(data) == 0 || len(data) > defaultMaxBytes || data[0] != '{' {
		return nil
	}
	var obj map[string]json.RawMessage
	if json.Unmarshal(data, &obj) != nil {
		return nil
	}
	return obj
}

// suggest takes suggestions that stand beside a payload's type.
func (c *Collector) suggest(kind string, list json.RawMessage) error {
	if err := c.reg.Check(kind, "", list); err != nil {
		return err
	}
	c.hints.take(kind, list)
	return nil
}

// WorkspaceForm gives document 001's payload as document 000's panel shows it;
// set is whose definition of the type holds.
func (r *Registry) WorkspaceForm(set string, p event.CustomPayload) json.RawMessage {
	raw, err := record.Marshal(struct {
		Type    string          `json:"type"`
		Title   string          `json:"title"`
		Content string          `json:"content"`
		Data    json.RawMessage `json:"data"`
	}{p.Type, r.title(p.Type, set), "", p.Data})
	if err != nil {
		return nil // data that is no JSON shows nothing
	}
	return raw
}

// title is what stands above a payload: its headerTitle, else its label.
func (r *Registry) title(kind, set string) string {
	c, _ := r.Lookup(kind, set)
	switch {
	case c.RenderOptions != nil && c.RenderOptions.HeaderTitle != "":
		return c.RenderOptions.HeaderTitle
	case c.Style != nil:
		return c.Style.Label
	}
	return ""
}

func isSuggestion(kind string) bool { return kind == SuggestedValues || kind == SuggestedActions }

func empty(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

func quoted(s string) json.RawMessage {
	raw, err := record.Marshal(s)
	if err != nil {
		return json.RawMessage(`""`)
	}
	return raw
}
