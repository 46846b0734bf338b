package mistral

import (
	"cmp"
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
	Frequency   *float64        `json:"frequency_penalty,omitempty"`
	Presence    *float64        `json:"presence_penalty,omitempty"`
	Parallel    *bool           `json:"parallel_tool_calls,omitempty"`
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
	Strict      bool            `json:"strict,omitempty"`
}

type responseFormat struct {
	Type   string     `json:"type"`
	Schema jsonSchema `json:"json_schema"`
}

type jsonSchema struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema"`
	Strict      bool            `json:"strict"`
}

// built is a request as it is sent, with what a refusal of it may be about.
type built struct {
	body        []byte
	notes       []provider.Note // what had to be left out
	given       []string        // the parameters that are sent
	tools       []string        // the names of the tools, in their order on the wire
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
	req, b.notes = wire.Keep(req, takes(q))
	b.given = req.Given()
	out := chatRequest{
		Model: req.Model, Stream: true, MaxTokens: req.MaxTokens, TopP: req.TopP, Seed: req.Seed, Stop: req.Stop,
		Frequency: req.FrequencyPenalty, Presence: req.PresencePenalty,
	}
	switch {
	case !q.noTemperature:
		out.Temperature = req.Temperature
		b.temperature = req.Temperature != nil
	case req.Temperature != nil:
		b.notes = append(b.notes, wire.Notef("the temperature was left out: "+req.Model+" takes none", provider.TemperatureParam))
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
			Name: cmp.Or(req.FormatName, "answer"), Description: req.FormatDescription, Schema: req.Schema,
			Strict: b.form == schemaStrict && (req.FormatStrict == nil || *req.FormatStrict),
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
			b.notes = append(b.notes, wire.Notef("tool "+t.Name+" was left out: "+why))
			continue
		}
		params, added, err := wire.Parameters(t.InputSchema)
		if err != nil {
			b.notes = append(b.notes, wire.Notef("tool "+t.Name+" was left out: its input schema can't be offered: "+err.Error()))
			continue
		}
		b.tools = append(b.tools, t.Name)
		out.Tools = append(out.Tools, tool{Type: "function", Function: toolFunction{
			Name: b.names.Wire(t.Name), Description: wire.JoinText(t.Description, added), Parameters: params, Strict: t.Strict,
		}})
	}
	if len(out.Tools) > 0 {
		out.Parallel = req.ParallelCalls
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
			b.notes = append(b.notes, wire.Notef("reasoning can't be switched off: "+req.Model+" always thinks", provider.EffortParam))
		} else if req.Effort != "" {
			b.notes = append(b.notes, wire.LeftOut(req.Model, provider.EffortParam))
		}
		return ""
	case q.noEffort:
		if *req.Think {
			b.notes = append(b.notes, wire.Notef("reasoning was left out: "+req.Model+" can't be asked for it", provider.EffortParam))
		}
		return ""
	}
	b.effort = true
	if *req.Think {
		b.notes = wire.EffortNote(b.notes, req.Effort, provider.EffortHigh, req.Model)
		return string(provider.EffortHigh)
	}
	return "none"
}

// alwaysThinks tells the models that can't be told to think or not to.
func alwaysThinks(model string) bool { return strings.HasPrefix(strings.ToLower(model), "magistral") }
