package openai

import (
	"cmp"
	"encoding/json"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// chatRequest is the body of a request.
type chatRequest struct {
	Model         string          `json:"model"`
	Messages      []message       `json:"messages"`
	Stream        bool            `json:"stream"`
	StreamOptions *streamOptions  `json:"stream_options,omitempty"`
	Tools         []tool          `json:"tools,omitempty"`
	ToolChoice    any             `json:"tool_choice,omitempty"` // a word, or the tool
	Format        *responseFormat `json:"response_format,omitempty"`
	MaxTokens     int             `json:"max_tokens,omitempty"`
	MaxCompletion int             `json:"max_completion_tokens,omitempty"`
	Temperature   *float64        `json:"temperature,omitempty"`
	sampling
	Effort    string `json:"reasoning_effort,omitempty"`
	Parallel  *bool  `json:"parallel_tool_calls,omitempty"`
	Verbosity string `json:"verbosity,omitempty"`
	endUser
	// Final and Begin have the model continue the last message; see prefillFinal.
	Final *bool `json:"continue_final_message,omitempty"`
	Begin *bool `json:"add_generation_prompt,omitempty"`
	// Template are arguments of the model's template, as llama.cpp and vLLM have them.
	Template *templateArgs `json:"chat_template_kwargs,omitempty"`
}

// sampling are the members of [provider.Sampling], as chats and completions have them.
type sampling struct {
	TopP      *float64           `json:"top_p,omitempty"`
	TopK      *int               `json:"top_k,omitempty"`
	MinP      *float64           `json:"min_p,omitempty"`
	Seed      *int64             `json:"seed,omitempty"`
	Stop      []string           `json:"stop,omitempty"`
	Frequency *float64           `json:"frequency_penalty,omitempty"`
	Presence  *float64           `json:"presence_penalty,omitempty"`
	Bias      map[string]float64 `json:"logit_bias,omitempty"`
}

func samplingOf(req *provider.Request) sampling {
	return sampling{
		TopP: req.TopP, TopK: req.TopK, MinP: req.MinP, Seed: req.Seed, Stop: req.Stop,
		Frequency: req.FrequencyPenalty, Presence: req.PresencePenalty, Bias: req.LogitBias,
	}
}

// endUser are the members that both APIs have for service and end user.
type endUser struct {
	Tier     string `json:"service_tier,omitempty"`
	User     string `json:"user,omitempty"`
	SafetyID string `json:"safety_identifier,omitempty"`
	CacheKey string `json:"prompt_cache_key,omitempty"`
}

func endUserOf(req *provider.Request) endUser {
	return endUser{Tier: req.ServiceTier, User: req.User, SafetyID: req.SafetyID, CacheKey: req.CacheKey}
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
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
	Strict      bool            `json:"strict,omitempty"`
	Schema      json.RawMessage `json:"schema"`
}

// built is a request as it is sent, with what a refusal of it may be about.
type built struct {
	api    string
	body   []byte
	notes  []provider.Note // what had to be left out
	given  []string        // the parameters that are sent
	tools  []string        // the names of the tools, in their order on the wire
	names  *provider.Names
	effort provider.Effort
	format bool // response_format, or text.format
	forced bool // tool_choice
	sent   sent
}

// encode makes the body of a request to an API.
func encode(req *provider.Request, api string, q quirks, now adaption) (*built, error) {
	b := &built{api: api, names: wire.Names(req)}
	req, b.notes = wire.Keep(req, takes(api, q))
	b.given = req.Given()
	if api == APIResponses {
		return b, b.responses(req, q, now)
	}
	return b, b.chat(req, q, now)
}

// chat makes the body of a chat completion.
func (b *built) chat(req *provider.Request, q quirks, now adaption) error {
	out := chatRequest{Model: req.Model, Stream: !q.noStream, Temperature: b.temperature(req, q)}
	if out.Stream && !q.noStreamOptions {
		out.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	out.sampling, out.Verbosity, out.endUser = samplingOf(req), req.Verbosity, endUserOf(req)
	if q.completionTokens {
		out.MaxCompletion = req.MaxTokens
	} else {
		out.MaxTokens = req.MaxTokens
	}
	system := b.schema(req, q, now)
	if b.format {
		out.Format = &responseFormat{Type: "json_schema", Schema: answerSchema(req)}
	}
	c := conversation{q: q, now: now, names: b.names, ids: wire.NewIDs(fitID)}
	if q.nineID {
		c.ids = wire.NewIDs(wire.NineID)
	}
	for _, m := range req.Messages {
		c.add(m)
	}
	out.Messages = c.finish(system)
	b.sent = c.sent
	b.continueLast(&out, req, q.prefill)
	if now.unthinking {
		b.unthinking(&out, req)
	}
	for _, fn := range b.offer(req, now) {
		out.Tools = append(out.Tools, tool{Type: "function", Function: fn})
	}
	out.Parallel = b.parallel(req)
	if b.mustCall(req, q) {
		out.ToolChoice = wire.ToolChoice(req, b.tools, b.names, "required")
	}
	b.think(req, q)
	out.Effort = string(b.effort)
	var err error
	b.body, err = wire.Marshal(out)
	return err
}

// temperature returns the temperature that is sent.
func (b *built) temperature(req *provider.Request, q quirks) *float64 {
	if !q.noTemperature {
		return req.Temperature
	}
	if req.Temperature != nil {
		b.notes = append(b.notes, wire.Notef("the temperature was left out: "+req.Model+" takes none", provider.TemperatureParam))
	}
	return nil
}

// schema decides whether the API is asked for an answer by a schema, and returns the system
// prompt, which contains the schema if the API is not asked.
func (b *built) schema(req *provider.Request, q quirks, now adaption) (system string) {
	if req.Schema != nil && (q.schemaInWords || now.schemaInWords) {
		return wire.WithSchema(req.System, req.Schema)
	}
	b.format = req.Schema != nil
	return req.System
}

// answerSchema returns the schema of an answer as both APIs take it.
func answerSchema(req *provider.Request) jsonSchema {
	loose := req.FormatStrict != nil && !*req.FormatStrict
	return jsonSchema{
		Name: cmp.Or(req.FormatName, "answer"), Description: req.FormatDescription,
		Strict: !loose && strictSchema(req.Schema), Schema: req.Schema,
	}
}

// offer returns the tools that the API takes.
func (b *built) offer(req *provider.Request, now adaption) []toolFunction {
	var out []toolFunction
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
		out = append(out, toolFunction{
			Name: b.names.Wire(t.Name), Description: wire.JoinText(t.Description, added), Parameters: params,
			Strict: b.strict(t, params),
		})
	}
	return out
}

// strict reports whether the API is asked to hold the arguments of a tool to its schema. It
// refuses that for a schema that does not obey the rules of strict mode.
func (b *built) strict(t provider.ToolSpec, params json.RawMessage) bool {
	if !t.Strict || strictSchema(params) {
		return t.Strict
	}
	b.notes = append(b.notes, wire.Notef("strict was left out of the tool "+t.Name+": its schema does not obey the rules of strict mode", provider.StrictParam))
	return false
}

// parallel is parallel_tool_calls, which is refused without tools.
func (b *built) parallel(req *provider.Request) *bool {
	if len(b.tools) == 0 {
		return nil
	}
	return req.ParallelCalls
}

// mustCall reports whether the request makes the response call a tool. A footnote says so
// where the address refuses that.
func (b *built) mustCall(req *provider.Request, q quirks) bool {
	if _, must := wire.MustCall(req, b.tools); must && q.noForced {
		b.notes = append(b.notes, wire.LeftToModel(req.Model+" can't be made to call a tool at this address"))
	} else {
		b.forced = must
	}
	return b.forced
}

// think decides the effort that a model is asked for; "" leaves it to the model.
func (b *built) think(req *provider.Request, q quirks) {
	switch {
	case b.api == APIChat && len(b.tools) > 0 && q.beside != effortAsked:
		if q.beside == effortNone {
			b.effort = provider.EffortNone
		}
		if req.Think != nil && *req.Think {
			b.notes = append(b.notes, wire.Notef("reasoning was not asked for: "+req.Model+" takes no tools with it at this address", provider.EffortParam))
		}
	case req.Think == nil:
	case q.noEffort:
		b.notes = append(b.notes, wire.Notef("the effort was left out: "+req.Model+" takes none at this address", provider.EffortParam))
	default:
		asked := provider.EffortNone
		if *req.Think {
			asked = cmp.Or(req.Effort, provider.EffortMedium)
		}
		b.effort = asked.Within(q.levels)
		b.notes = wire.EffortNote(b.notes, req.Effort, b.effort, req.Model)
	}
}
