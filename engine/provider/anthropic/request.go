package anthropic

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// messagesRequest is the body of a request.
type messagesRequest struct {
	Model       string        `json:"model"`
	MaxTokens   int           `json:"max_tokens"`
	System      []block       `json:"system,omitempty"`
	Messages    []message     `json:"messages"`
	Tools       []tool        `json:"tools,omitempty"`
	ToolChoice  *toolChoice   `json:"tool_choice,omitempty"`
	Thinking    *thinkConfig  `json:"thinking,omitempty"`
	Output      *outputConfig `json:"output_config,omitempty"`
	Temperature *float64      `json:"temperature,omitempty"`
	TopP        *float64      `json:"top_p,omitempty"`
	TopK        *int          `json:"top_k,omitempty"`
	Stop        []string      `json:"stop_sequences,omitempty"`
	Metadata    *metadata     `json:"metadata,omitempty"`
	Tier        string        `json:"service_tier,omitempty"`
	Stream      bool          `json:"stream"`
}

// metadata identifies the end user.
type metadata struct {
	UserID string `json:"user_id"`
}

type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema"`
	Strict      bool            `json:"strict,omitempty"`
	Cache       *cacheMark      `json:"cache_control,omitempty"`
}

type toolChoice struct {
	Type string `json:"type"`
	Name string `json:"name,omitempty"`
	// OneCall forbids more than one call in a response.
	OneCall bool `json:"disable_parallel_tool_use,omitempty"`
}

type thinkConfig struct {
	Type    string `json:"type"`
	Budget  int    `json:"budget_tokens,omitempty"`
	Display string `json:"display,omitempty"`
}

type outputConfig struct {
	Effort string        `json:"effort,omitempty"`
	Format *outputFormat `json:"format,omitempty"`
}

type outputFormat struct {
	Type   string          `json:"type"`
	Schema json.RawMessage `json:"schema"`
}

type cacheMark struct {
	Type string `json:"type"`
}

// ephemeral is the only kind of mark: five minutes, and five more with each
// use.
func ephemeral() *cacheMark { return &cacheMark{Type: "ephemeral"} }

// built is a request as it is sent, with what a refusal of it may be about.
type built struct {
	body   []byte
	notes  []provider.Note // what had to be left out
	given  []string        // the parameters that are sent
	answer *answerTool     // set where the answer comes as a call
	tools  []string        // the names of the tools, in their order on the wire
	names  *provider.Names
	used   used
}

// used is what of a request an address may refuse.
type used struct {
	think       string // the type that thinking was asked for by
	mayThink    bool
	display     bool
	effort      bool
	level       provider.Effort // with effort
	thoughts    bool            // blocks of thinking in the history
	cache       bool
	temperature bool
	forced      bool     // a tool is named
	format      bool     // output_config.format
	undeclared  bool     // calls in the history, and no tools
	fields      []string // members of calls that only the server understands
	ownTokens   int      // max_tokens, where the request didn't say it
}

// encoder makes one request.
type encoder struct {
	req   *provider.Request
	names *provider.Names
	f     family
	q     quirks
	now   adaption
	out   messagesRequest
	built built
}

// encode makes the body of a request.
func encode(req *provider.Request, q quirks, now adaption) (*built, error) {
	e := &encoder{req: req, names: wire.Names(req), q: q, now: now}
	e.built.names = e.names
	e.f, _ = familyOf(req.Model)
	e.q.correct(&e.f)
	e.keep()
	e.out = messagesRequest{Model: req.Model, Stream: true, MaxTokens: req.MaxTokens, Tier: e.req.ServiceTier}
	if user := cmp.Or(e.req.User, e.req.SafetyID); user != "" {
		e.out.Metadata = &metadata{user}
	}
	if req.MaxTokens == 0 {
		e.out.MaxTokens = e.f.tokens
		if now.tokens > 0 {
			e.out.MaxTokens = now.tokens
		}
		e.built.used.ownTokens = e.out.MaxTokens
	}
	e.messages()
	e.tools()
	system := e.schema()
	e.mustCall()
	e.thinking()
	e.temperature()
	e.oneCall()
	e.built.given = e.req.Given()
	if system != "" {
		e.out.System = []block{{Type: "text", Text: system}}
	}
	if !e.q.noCache {
		e.mark()
	}
	body, err := wire.Marshal(e.out)
	e.built.body = body
	return &e.built, err
}

// note adds a footnote.
func (e *encoder) note(format string, args ...any) { e.noteParam("", format, args...) }

// noteParam adds a footnote about a parameter.
func (e *encoder) noteParam(param, format string, args ...any) {
	n := wire.Notef(fmt.Sprintf(format, args...))
	if param != "" {
		n.Params = []string{param}
	}
	e.built.notes = append(e.built.notes, n)
}

// tools adds the tools that the API takes.
func (e *encoder) tools() {
	for _, t := range e.req.Tools {
		if why := e.now.refused[t.Name]; why != "" {
			e.note("tool %s was left out: %s", t.Name, why)
			continue
		}
		schema, added, err := inputSchema(t.InputSchema)
		if err != nil {
			e.note("tool %s was left out: its input schema can't be offered: %v", t.Name, err)
			continue
		}
		offered := tool{Name: e.names.Wire(t.Name), Description: wire.JoinText(t.Description, added), InputSchema: schema}
		if t.Strict {
			e.strict(&offered, t)
		}
		e.out.Tools = append(e.out.Tools, offered)
		e.built.tools = append(e.built.tools, t.Name)
	}
	if len(e.out.Tools) == 0 && e.hasCalls() {
		e.built.used.undeclared = !e.q.declare
		if e.q.declare {
			e.declare()
		}
	}
}

func (e *encoder) hasCalls() bool {
	return slices.ContainsFunc(e.out.Messages, func(m message) bool {
		return slices.ContainsFunc(m.Content, func(b block) bool { return b.Type == typeToolUse })
	})
}

// declare declares the tools that the history calls, without offering them.
func (e *encoder) declare() {
	for _, m := range e.out.Messages {
		for _, b := range m.Content {
			if b.Type != typeToolUse || slices.ContainsFunc(e.out.Tools, func(t tool) bool { return t.Name == b.Name }) {
				continue
			}
			e.out.Tools = append(e.out.Tools, tool{Name: b.Name, InputSchema: json.RawMessage(`{"type":"object"}`)})
		}
	}
	e.out.ToolChoice = &toolChoice{Type: "none"}
}

// schema asks for an answer that matches the request's schema, by the best way
// that there is, and gives the system prompt.
func (e *encoder) schema() string {
	if e.req.Schema == nil {
		return e.req.System
	}
	if e.f.takes&native != 0 && !e.now.schemaRefused {
		if fitted, err := outputSchema(e.req.Schema); err == nil {
			e.out.Output = &outputConfig{Format: &outputFormat{Type: "json_schema", Schema: fitted}}
			e.built.used.format = true
			return e.req.System
		}
	}
	// A model that thinks by budget refuses to be forced.
	thinks := e.f.think == thinkBudget && e.req.Think != nil && *e.req.Think
	if e.f.takes&forced != 0 && !thinks {
		if a, err := newAnswerTool(e.req.Schema, e.out.Tools); err == nil {
			e.force(a)
			return e.req.System
		}
	}
	return wire.WithSchema(e.req.System, e.req.Schema)
}

// force has the model call the answer tool, or one of the others first.
func (e *encoder) force(a *answerTool) {
	e.out.ToolChoice = &toolChoice{Type: "tool", Name: a.name}
	if len(e.built.tools) > 0 {
		e.out.ToolChoice = &toolChoice{Type: "any"}
	}
	e.out.Tools = append(e.out.Tools, a.tool())
	e.built.answer = a
	e.built.used.forced = true
}

// mustCall has the response call a tool, where the model can be made to. One that
// thinks can't.
func (e *encoder) mustCall() {
	name, ok := wire.MustCall(e.req, e.built.tools)
	thinks := e.req.Think != nil && *e.req.Think && e.f.think != thinkNever
	switch {
	case !ok || e.out.ToolChoice != nil:
		return
	case e.f.takes&forced == 0 || thinks:
		e.built.notes = append(e.built.notes, wire.LeftToModel(e.req.Model+" can't be made to call a tool"))
		return
	case name == provider.AnyTool:
		e.out.ToolChoice = &toolChoice{Type: "any"}
	default:
		e.out.ToolChoice = &toolChoice{Type: "tool", Name: e.names.Wire(name)}
	}
	e.built.used.forced = true
}

// temperature adds the temperature, top_p and top_k where the model takes them. While it
// thinks, it takes no temperature other than 1, and neither of the others. Of temperature and
// top_p it takes one.
func (e *encoder) temperature() {
	t := e.req.Temperature
	e.out.Stop = e.req.Stop
	thinks := e.out.Thinking != nil && (e.out.Thinking.Type == "enabled" || e.out.Thinking.Type == "adaptive")
	var refused []string
	if thinks {
		refused = []string{provider.TopPParam, provider.TopKParam}
	} else if t != nil {
		refused = []string{provider.TopPParam}
	}
	var notes []provider.Note
	e.req, notes = wire.Keep(e.req, wire.Except(e.req.Given(), refused))
	e.built.notes = append(e.built.notes, notes...)
	e.out.TopP, e.out.TopK = e.req.TopP, e.req.TopK
	if t == nil {
		return
	}
	switch {
	case e.f.takes&warm == 0:
		e.noteParam(provider.TemperatureParam, "the temperature was left out: %s takes none", e.req.Model)
	case !thinks && *t > 1:
		one := 1.0
		e.noteParam(provider.TemperatureParam, "the temperature became 1, the highest that %s takes", e.req.Model)
		e.out.Temperature = &one
		e.built.used.temperature = true
	case thinks && *t != 1:
		e.noteParam(provider.TemperatureParam, "the temperature was left out: %s takes none while it thinks", e.req.Model)
	default:
		e.out.Temperature = t
		e.built.used.temperature = true
	}
}
