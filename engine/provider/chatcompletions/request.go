package chatcompletions

import (
	"cmp"
	"encoding/json"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// chatRequest is the body of a request.
type chatRequest struct {
	Model         string          `json:"model"`
	Messages      []Message       `json:"messages"`
	Stream        bool            `json:"stream"`
	StreamOptions *streamOptions  `json:"stream_options,omitempty"`
	Tools         []Tool          `json:"tools,omitempty"`
	ToolChoice    any             `json:"tool_choice,omitempty"` // a word, or the tool
	Format        *responseFormat `json:"response_format,omitempty"`
	MaxTokens     int             `json:"max_tokens,omitempty"`
	MaxCompletion int             `json:"max_completion_tokens,omitempty"`
	Temperature   *float64        `json:"temperature,omitempty"`
	Sampling
	Effort    string `json:"reasoning_effort,omitempty"`
	Parallel  *bool  `json:"parallel_tool_calls,omitempty"`
	Verbosity string `json:"verbosity,omitempty"`
	EndUser
	// Final and Begin have the model continue the last message; see PrefillFinal.
	Final *bool `json:"continue_final_message,omitempty"`
	Begin *bool `json:"add_generation_prompt,omitempty"`
	// Template are arguments of the model's template, as llama.cpp and vLLM have them.
	Template *templateArgs `json:"chat_template_kwargs,omitempty"`
}

// Sampling are the members of [provider.Sampling], as the APIs have them.
type Sampling struct {
	TopP       *float64           `json:"top_p,omitempty"`
	TopK       *int               `json:"top_k,omitempty"`
	MinP       *float64           `json:"min_p,omitempty"`
	Seed       *int64             `json:"seed,omitempty"`
	RandomSeed *int64             `json:"random_seed,omitempty"` // see Quirks.RandomSeed
	Stop       []string           `json:"stop,omitempty"`
	Frequency  *float64           `json:"frequency_penalty,omitempty"`
	Presence   *float64           `json:"presence_penalty,omitempty"`
	Bias       map[string]float64 `json:"logit_bias,omitempty"`
}

// SamplingOf returns those of a request.
func SamplingOf(req *provider.Request, q Quirks) Sampling {
	s := Sampling{
		TopP: req.TopP, TopK: req.TopK, MinP: req.MinP, Seed: req.Seed, Stop: req.Stop,
		Frequency: req.FrequencyPenalty, Presence: req.PresencePenalty, Bias: req.LogitBias,
	}
	if q.RandomSeed {
		s.Seed, s.RandomSeed = nil, req.Seed
	}
	return s
}

// EndUser are the members for service and end user.
type EndUser struct {
	Tier     string `json:"service_tier,omitempty"`
	User     string `json:"user,omitempty"`
	SafetyID string `json:"safety_identifier,omitempty"`
	CacheKey string `json:"prompt_cache_key,omitempty"`
}

// EndUserOf returns those of a request.
func EndUserOf(req *provider.Request) EndUser {
	return EndUser{Tier: req.ServiceTier, User: req.User, SafetyID: req.SafetyID, CacheKey: req.CacheKey}
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// Tool is a tool that is offered.
type Tool struct {
	Type     string       `json:"type"` // function
	Function ToolFunction `json:"function"`
}

// ToolFunction describes what a tool does and takes.
type ToolFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict,omitempty"`
}

type responseFormat struct {
	Type   string `json:"type"`
	Schema any    `json:"json_schema"`
}

// AnswerSchema is the schema of an answer.
type AnswerSchema struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Strict      bool            `json:"strict,omitempty"`
	Schema      json.RawMessage `json:"schema"`
}

// looseSchema is the same with a strict that is sent also if it is false.
type looseSchema struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema"`
	Strict      bool            `json:"strict"`
}

// Built is a request as it is sent, with what a refusal of it may be about.
type Built struct {
	Form   *Form // nil is a chat completion
	Body   []byte
	Notes  []provider.Note // what had to be left out
	Given  []string        // the parameters that are sent
	Tools  []string        // the names of the tools, in their order on the wire
	Names  *provider.Names
	Effort provider.Effort
	Schema SchemaForm
	Format bool // response_format, or text.format
	Forced bool // tool_choice
	Sent   Sent
}

// Encode makes the body of a request.
func (p *Provider) Encode(req *provider.Request, q Quirks, now Adaption) (*Built, error) {
	b := &Built{Form: p.form(req.Model, q), Names: wire.Names(req)}
	takes := p.d.Takes
	if b.Form != nil {
		takes = b.Form.Takes
	}
	req, b.Notes = wire.Keep(req, takes(q))
	b.Given = req.Given()
	if b.Form != nil {
		return b, b.Form.Encode(b, req, q, now)
	}
	return b, b.chat(req, q, now, p.d.Think)
}

// chat makes the body of a chat completion. think is the dialect's.
func (b *Built) chat(req *provider.Request, q Quirks, now Adaption, think func(*Built, *provider.Request, Quirks)) error {
	out := chatRequest{Model: req.Model, Stream: !q.NoStream, Temperature: b.Temperature(req, q)}
	if out.Stream && !q.NoStreamOptions {
		out.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	out.Sampling, out.Verbosity, out.EndUser = SamplingOf(req, q), req.Verbosity, EndUserOf(req)
	if q.CompletionTokens {
		out.MaxCompletion = req.MaxTokens
	} else {
		out.MaxTokens = req.MaxTokens
	}
	if think != nil {
		think(b, req, q)
	}
	system := b.System(req, q, now)
	if b.Format {
		out.Format = b.format(req, q)
	}
	c := newConversation(q, now, b.Names)
	for _, m := range req.Messages {
		c.add(m)
	}
	out.Messages = c.finish(system)
	b.Sent = c.sent
	b.continueLast(&out, req, q.Prefill)
	if now.Unthinking {
		b.unthinking(&out, req)
	}
	for _, fn := range b.Offer(req, q, now) {
		out.Tools = append(out.Tools, Tool{Type: "function", Function: fn})
	}
	out.Parallel = b.Parallel(req)
	if b.MustCall(req, q) {
		out.ToolChoice = wire.ToolChoice(req, b.Tools, b.Names, cmp.Or(q.AnyTool, "required"))
	}
	if think == nil {
		b.Think(req, q)
	}
	out.Effort = string(b.Effort)
	var err error
	b.Body, err = wire.Marshal(out)
	return err
}

// Temperature returns the temperature that is sent.
func (b *Built) Temperature(req *provider.Request, q Quirks) *float64 {
	if !q.NoTemperature {
		return req.Temperature
	}
	if req.Temperature != nil {
		b.Notes = append(b.Notes, wire.Notef("the temperature was left out: "+req.Model+" takes none", provider.TemperatureParam))
	}
	return nil
}

// System decides whether the API is asked for an answer by a schema, and returns the system
// prompt, which contains the schema if the API is not asked.
func (b *Built) System(req *provider.Request, q Quirks, now Adaption) string {
	b.Schema = max(q.Schema, now.Schema)
	if req.Schema != nil && b.Schema == SchemaWords {
		return wire.WithSchema(req.System, req.Schema)
	}
	b.Format = req.Schema != nil
	return req.System
}

// Answer returns the schema of the answer.
func (b *Built) Answer(req *provider.Request, q Quirks) AnswerSchema {
	loose := b.Schema != SchemaStrict || req.FormatStrict != nil && !*req.FormatStrict
	return AnswerSchema{
		Name: cmp.Or(req.FormatName, "answer"), Description: req.FormatDescription,
		Strict: !loose && (q.AnyStrict || strictSchema(req.Schema)), Schema: req.Schema,
	}
}

func (b *Built) format(req *provider.Request, q Quirks) *responseFormat {
	s := b.Answer(req, q)
	if q.AnyStrict {
		return &responseFormat{"json_schema", looseSchema{s.Name, s.Description, s.Schema, s.Strict}}
	}
	return &responseFormat{"json_schema", s}
}

// Offer returns the tools that the API takes.
func (b *Built) Offer(req *provider.Request, q Quirks, now Adaption) []ToolFunction {
	var out []ToolFunction
	for _, t := range req.Tools {
		if why := now.Refused[t.Name]; why != "" {
			b.Notes = append(b.Notes, wire.Notef("tool "+t.Name+" was left out: "+why))
			continue
		}
		fn, err := Function(t, b.Names)
		if err != nil {
			b.Notes = append(b.Notes, wire.Notef("tool "+t.Name+" was left out: its input schema can't be offered: "+err.Error()))
			continue
		}
		b.Tools = append(b.Tools, t.Name)
		fn.Strict = t.Strict && (q.AnyStrict || b.strict(t, fn.Parameters))
		out = append(out, fn)
	}
	return out
}

// Function describes a tool. The error is that of a schema that can't be offered.
func Function(t provider.ToolSpec, names *provider.Names) (ToolFunction, error) {
	params, added, err := wire.Parameters(t.InputSchema)
	return ToolFunction{Name: names.Wire(t.Name), Description: wire.JoinText(t.Description, added), Parameters: params}, err
}

// strict reports whether the arguments of a tool may be held to its schema: OpenAI refuses that
// for a schema that does not obey the rules of strict mode.
func (b *Built) strict(t provider.ToolSpec, params json.RawMessage) bool {
	if strictSchema(params) {
		return true
	}
	b.Notes = append(b.Notes, wire.Notef("strict was left out of the tool "+t.Name+": its schema does not obey the rules of strict mode", provider.StrictParam))
	return false
}

// Parallel is parallel_tool_calls, which is refused without tools.
func (b *Built) Parallel(req *provider.Request) *bool {
	if len(b.Tools) == 0 {
		return nil
	}
	return req.ParallelCalls
}

// MustCall reports whether the request makes the response call a tool. A footnote says so
// where the address refuses that.
func (b *Built) MustCall(req *provider.Request, q Quirks) bool {
	if _, must := wire.MustCall(req, b.Tools); must && q.NoForced {
		b.Notes = append(b.Notes, wire.LeftToModel(req.Model+" can't be made to call a tool at this address"))
	} else {
		b.Forced = must
	}
	return b.Forced
}

// Think decides the effort that a model is asked for; "" leaves it to the model.
func (b *Built) Think(req *provider.Request, q Quirks) {
	switch {
	case b.Form == nil && len(b.Tools) > 0 && q.Beside != EffortAsked:
		if q.Beside == EffortNone {
			b.Effort = provider.EffortNone
		}
		if req.Think != nil && *req.Think {
			b.Notes = append(b.Notes, wire.Notef("reasoning was not asked for: "+req.Model+" takes no tools with it at this address", provider.EffortParam))
		}
	case req.Think == nil:
	case q.NoEffort:
		b.Notes = append(b.Notes, wire.Notef("the effort was left out: "+req.Model+" takes none at this address", provider.EffortParam))
	default:
		asked := provider.EffortNone
		if *req.Think {
			asked = cmp.Or(req.Effort, provider.EffortMedium)
		}
		b.Effort = asked.Within(q.Levels)
		b.Notes = wire.EffortNote(b.Notes, req.Effort, b.Effort, req.Model)
	}
}
