package mistral

import (
	"bytes"
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
	Format      *responseFormat `json:"response_format,omitempty"`
	MaxTokens   int             `json:"max_tokens,omitempty"`
	Temperature *float64        `json:"temperature,omitempty"`
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
	schema      bool     // response_format
	form        schemaForm
	effort      bool // reasoning_effort
	thoughts    bool // thinking in the history
	temperature bool
}

// encode makes the body of a request.
func encode(req *provider.Request, q quirks, now adaption) (*built, error) {
	names := wire.Names(req)
	b := &built{}
	out := chatRequest{Model: req.Model, Stream: true, MaxTokens: req.MaxTokens}
	if !q.noTemperature {
		out.Temperature = req.Temperature
		b.temperature = req.Temperature != nil
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
	c := conversation{names: names, ids: wire.NewIDs(fitID), now: now}
	if system != "" {
		c.list = append(c.list, message{Role: roleSystem, Content: system})
	}
	for _, m := range req.Messages {
		c.add(m)
	}
	out.Messages, b.thoughts = c.end(), c.thoughts
	for _, t := range req.Tools {
		params, ok := parameters(t.InputSchema)
		if !ok {
			b.notes = append(b.notes, "tool "+t.Name+" was left out: its input schema is no JSON object")
			continue
		}
		out.Tools = append(out.Tools, tool{Type: "function", Function: toolFunction{
			Name: names.Wire(t.Name), Description: t.Description, Parameters: params,
		}})
	}
	var err error
	b.body, err = wire.Marshal(out)
	return b, err
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
		return "high"
	}
	return "none"
}

// alwaysThinks tells the models that can't be told to think or not to.
func alwaysThinks(model string) bool { return strings.HasPrefix(strings.ToLower(model), "magistral") }

// parameters gives a tool's schema; one without is an object without fields.
func parameters(schema json.RawMessage) (json.RawMessage, bool) {
	schema = bytes.TrimSpace(schema)
	if len(schema) == 0 || string(schema) == "null" || string(schema) == "{}" {
		return json.RawMessage(`{"type":"object","properties":{}}`), true
	}
	return schema, schema[0] == '{' && json.Valid(schema)
}
