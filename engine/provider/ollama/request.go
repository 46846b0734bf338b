package ollama

import (
	"encoding/json"
	"strings"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// chatRequest is the body of a request. Ollama's own type is not used, since
// it decodes schemas and arguments only to encode them again, and drops what
// it doesn't know.
type chatRequest struct {
	Model    string          `json:"model"`
	Messages []chatMessage   `json:"messages"`
	Stream   bool            `json:"stream"`
	Truncate bool            `json:"truncate"` // never: a cut conversation is a wrong one
	Shift    bool            `json:"shift"`    // never: nor is its beginning forgotten on the way
	Tools    []chatTool      `json:"tools,omitempty"`
	Format   json.RawMessage `json:"format,omitempty"`
	Think    any             `json:"think,omitempty"` // a bool or a level
	Options  chatOptions     `json:"options"`
}

type chatOptions struct {
	NumCtx      int      `json:"num_ctx,omitempty"`
	NumPredict  int      `json:"num_predict,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"top_p,omitempty"`
	Seed        *int64   `json:"seed,omitempty"`
	TopK        *int     `json:"top_k,omitempty"`
	MinP        *float64 `json:"min_p,omitempty"`
	Frequency   *float64 `json:"frequency_penalty,omitempty"`
	Presence    *float64 `json:"presence_penalty,omitempty"`
	Repeat      *float64 `json:"repeat_penalty,omitempty"`
	Stop        []string `json:"stop,omitempty"`
}

// takes returns the names of the parameters that Ollama takes.
func takes() []string {
	return []string{
		provider.TopPParam, provider.TopKParam, provider.MinPParam, provider.SeedParam, provider.StopParam,
		provider.FrequencyPenaltyParam, provider.PresencePenaltyParam, provider.RepeatPenaltyParam,
	}
}

var (
	_ provider.Announcer = (*Provider)(nil)
	_ provider.Continuer = (*Provider)(nil)
)

// Prefills returns that models continue an answer: Ollama leaves the last message of a prompt
// open if it is the assistant's.
func (p *Provider) Prefills(string) provider.Prefill { return provider.PrefillContinued }

// Notes returns the footnotes about the parameters of a request; see [provider.Announcer].
func (p *Provider) Notes(req *provider.Request) []provider.Note {
	if req.Completion != nil {
		_, notes := wire.Keep(req, takes())
		return notes
	}
	_, notes, err := encode(wire.Bare(req), 0, wire.Names(req))
	if err != nil {
		return nil
	}
	return wire.AboutParams(notes)
}

// optionsOf are the options of a request with a context length; 0 leaves it to the server.
func optionsOf(req *provider.Request, numCtx int) chatOptions {
	return chatOptions{
		NumCtx: numCtx, NumPredict: req.MaxTokens, Temperature: req.Temperature, TopP: req.TopP, Seed: req.Seed, Stop: req.Stop,
		TopK: req.TopK, MinP: req.MinP, Frequency: req.FrequencyPenalty, Presence: req.PresencePenalty, Repeat: req.RepeatPenalty,
	}
}

type chatMessage struct {
	Role       string     `json:"role"`
	Content    string     `json:"content"`
	Thinking   string     `json:"thinking,omitempty"`
	Images     [][]byte   `json:"images,omitempty"` // base64 by encoding/json
	ToolCalls  []chatCall `json:"tool_calls,omitempty"`
	ToolName   string     `json:"tool_name,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type chatCall struct {
	ID       string       `json:"id,omitempty"`
	Function chatFunction `json:"function"`

	extra json.RawMessage // see provider.ToolCall.Extra
}

// MarshalJSON encodes the call with its further members.
func (c chatCall) MarshalJSON() ([]byte, error) {
	type plain chatCall
	return wire.WithExtra(plain(c), c.extra)
}

type chatFunction struct {
	Index     int             `json:"index"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

type chatTool struct {
	Type     string       `json:"type"`
	Function toolFunction `json:"function"`
}

type toolFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

// encode makes the body of a request. notes say what had to be left out.
func encode(req *provider.Request, numCtx int, names *provider.Names) (body []byte, notes []provider.Note, _ error) {
	req, notes = wire.Keep(req, takes())
	out := chatRequest{
		Model: req.Model, Stream: true,
		Options: optionsOf(req, numCtx),
	}
	out.Think, notes = thinkOf(req, notes)
	for _, t := range req.Tools {
		params, err := parameters(t.InputSchema)
		if err != nil {
			notes = append(notes, wire.Notef("tool "+t.Name+" was left out: its input schema can't be sent ("+err.Error()+")"))
			continue
		}
		out.Tools = append(out.Tools, chatTool{Type: "function", Function: toolFunction{
			Name: names.Wire(t.Name), Description: t.Description, Parameters: params,
		}})
	}
	if req.MustCall != "" && len(out.Tools) > 0 {
		notes = append(notes, wire.LeftToModel("Ollama can't make a model call a tool"))
	}
	system := req.System
	switch {
	case req.Schema == nil:
	case len(out.Tools) > 0: // a grammar for the answer would forbid calls
		system = wire.WithSchema(system, req.Schema)
	default:
		out.Format = req.Schema
	}
	if system != "" {
		out.Messages = append(out.Messages, chatMessage{Role: "system", Content: system})
	}
	ids := wire.NewIDs(func(id string) string { return id })
	for _, m := range req.Messages {
		out.Messages = appendMessage(out.Messages, m, names, ids)
	}
	body, err := wire.Marshal(out)
	return body, notes, err
}

// thinkOf returns what think is set to: true or false, or one of the levels that Ollama
// has. A footnote is added about another level than the one that was asked for.
func thinkOf(req *provider.Request, notes []provider.Note) (think any, _ []provider.Note) {
	switch {
	case req.Think == nil:
		return nil, notes
	case !*req.Think || req.Effort == "":
		return *req.Think, notes
	}
	got := req.Effort.Within(provider.LevelsOf(provider.EffortLow, provider.EffortMedium, provider.EffortHigh))
	return got, wire.EffortNote(notes, req.Effort, got, req.Model)
}

// appendMessage appends the messages that one message becomes: a tool message
// is one for each result.
func appendMessage(dst []chatMessage, m provider.Message, names *provider.Names, ids *wire.IDs) []chatMessage {
	if m.Role == provider.Tool {
		for _, part := range m.Parts {
			if r := part.Result; r != nil {
				result := chatMessage{Role: "tool", Content: r.Text, ToolName: names.Wire(r.Name), ToolCallID: ids.Result(r.ID)}
				for _, m := range r.Media {
					if m.Kind == provider.ImagePart {
						result.Images = append(result.Images, m.Data)
					}
				}
				dst = append(dst, result)
			}
		}
		return dst
	}
	out := chatMessage{Role: string(m.Role)}
	var texts, thoughts []string
	for _, part := range m.Parts {
		switch part.Kind {
		case provider.ImagePart:
			out.Images = append(out.Images, part.Data)
		case provider.ReasoningPart:
			thoughts = append(thoughts, part.Text)
		case provider.ToolCallPart:
			out.ToolCalls = append(out.ToolCalls, chatCall{ID: ids.Call(part.Call.ID), extra: part.Call.Extra, Function: chatFunction{
				Index: len(out.ToolCalls), Name: names.Wire(part.Call.Name), Arguments: wire.ObjectArgs(part.Call.Args),
			}})
		default:
			if part.Text != "" {
				texts = append(texts, part.Text)
			}
		}
	}
	between := "\n\n"
	if m.Role == provider.Assistant {
		between = "" // pieces of one answer
	}
	out.Content, out.Thinking = strings.Join(texts, between), strings.Join(thoughts, "")
	if out.Content == "" && len(out.Images) == 0 && len(out.ToolCalls) == 0 {
		return dst
	}
	return append(dst, out)
}
