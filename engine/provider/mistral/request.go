package mistral

import (
	"encoding/json"
	"strings"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// chatRequest is the body of a request.
type chatRequest struct {
	Model       string          `json:"model"`
	Messages    []message       `json:"messages"`
	Stream      bool            `json:"stream"`
	Tools       []tool          `json:"tools,omitempty"`
	ToolChoice  any             `json:"tool_choice,omitempty"` // a word, or the tool
	Format      *responseFormat `json:"response_format,omitempty"`
	MaxTokens   int             `json:"max_tokens,omitempty"`
	Temperature *float64        `json:"temperature,omitempty"`
	TopP        *float64        `json:"top_p,omitempty"`
	Seed        *int64          `json:"random_seed,omitempty"`
	Stop        []string        `json:"stop,omitempty"`
	Effort      string          `json:"reasoning_effort,omitempty"`
}

type tool struct {
	Type     string       `json:"type"`
	Function toolFunction `json:"function"`
}

type toolFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

type responseFormat struct {
	Type   string     `json:"type"`
	Schema jsonSchema `json:"json_schema"`
}

type jsonSchema struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
	Strict bool            `json:"strict"`
}

// built is a request as it is sent, with what a refusal of it may be about.
type built struct {
	body        []byte
	notes       []string // what had to be left out
	tools       []string // the names of the tools, in their order on the wire
	names       *provider.Names
	schema      bool // response_format
	form        schemaForm
	effort      bool // reasoning_effort
	thoughts    bool // thinking in the history
	temperature bool
	forced      bool     // tool_choice
	fields      []string // members of calls that only the server understands
}

// encode makes the body of a request.
func encode(req *provider.Request, q quirks, now adaption) (*built, error) {
	names := wire.Names(req)
	b := &built{}
	out := chatRequest{Model: req.Model, Stream: true, MaxTokens: req.MaxTokens, TopP: req.TopP, Seed: req.Seed, Stop: req.Stop}
	switch {
	case !q.noTemperature:
		out.Temperature = req.Temperature
		b.temperature = req.Temperature != nil
	case req.Temperature != nil:
		b.notes = append(b.notes, "the temperature was left out: "+req.Model+" takes none")
	}
	out.Effort = b.think(req, q)
	system := req.System
	b.form = max(q.schema, now.schema)
	switch {
	case req.Schema == nil:
	case b.form == schemaWords:
		system = wire.WithSchema(system, req.Schema)
	default:
		b.schema = true
		out.Format = &responseFormat{Type: "json_schema", Schema: jsonSchema{
			Name: "answer", Schema: req.Schema, Strict: b.form == schemaStrict,
		}}
	}
	c := conversation{names: names, ids: wire.NewIDs(wire.NineID), now: now, without: q.without}
	if system != "" {
		c.list = append(c.list, message{Role: roleSystem, Content: system})
	}
	for _, m := range req.Messages {
		c.add(m)
	}
	out.Messages, b.thoughts, b.fields = c.end(), c.thoughts, c.fields
	b.names = names
	b.addTools(&out, req, now)
	b.mustCall(&out, req, q)
	var err error
	b.body, err = wire.Marshal(out)
	return b, err
}

// addTools adds the tools that the API takes.
func (b *built) addTools(out *chatRequest, req *provider.Request, now adaption) {
	for _, t := range req.Tools {
		if why := now.refused[t.Name]; why != "" {
			b.notes = append(b.notes, "tool "+t.Name+" was left out: "+why)
			continue
		}
		params, added, err := wire.Parameters(t.InputSchema)
		if err != nil {
			b.notes = append(b.notes, "tool "+t.Name+" was left out: its input schema can't be offered: "+err.Error())
			continue
		}
		b.tools = append(b.tools, t.Name)
		out.Tools = append(out.Tools, tool{Type: "function", Function: toolFunction{
			Name: b.names.Wire(t.Name), Description: wire.JoinText(t.Description, added), Parameters: params,
		}})
	}
}

// mustCall has the response call a tool, where the model takes that.
func (b *built) mustCall(out *chatRequest, req *provider.Request, q quirks) {
	choice := wire.ToolChoice(req, b.tools, b.names, "any")
	switch {
	case choice == nil:
	case q.noForced:
		b.notes = append(b.notes, wire.LeftToModel(req.Model+" can't be made to call a tool"))
	default:
		out.ToolChoice, b.forced = choice, true
	}
}

// think gives the effort that a model is asked for; "" leaves it to the model.
func (b *built) think(req *provider.Request, q quirks) string {
	switch {
	case req.Think == nil:
		return ""
	case alwaysThinks(req.Model):
		if !*req.Think {
			b.notes = append(b.notes, "reasoning can't be switched off: "+req.Model+" always thinks")
		}
		return ""
	case q.noEffort:
		if *req.Think {
			b.notes = append(b.notes, "reasoning was left out: "+req.Model+" can't be asked for it")
		}
		return ""
	}
	b.effort = true
	if *req.Think {
		if note := provider.EffortNote(req.Effort, provider.EffortHigh, req.Model); note != "" {
			b.notes = append(b.notes, note)
		}
		return string(provider.EffortHigh)
	}
	return "none"
}

// alwaysThinks tells the models that can't be told to think or not to.
func alwaysThinks(model string) bool { return strings.HasPrefix(strings.ToLower(model), "magistral") }
