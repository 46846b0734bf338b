package openai

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"

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
	Format        *responseFormat `json:"response_format,omitempty"`
	MaxTokens     int             `json:"max_tokens,omitempty"`
	MaxCompletion int             `json:"max_completion_tokens,omitempty"`
	Temperature   *float64        `json:"temperature,omitempty"`
	Effort        string          `json:"reasoning_effort,omitempty"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type message struct {
	Role string `json:"role"`
	// Content is a string, a list of parts, or null beside calls alone.
	Content          any               `json:"content"`
	ReasoningContent string            `json:"reasoning_content,omitempty"`
	Reasoning        string            `json:"reasoning,omitempty"`
	Details          []json.RawMessage `json:"reasoning_details,omitempty"`
	ToolCalls        []call            `json:"tool_calls,omitempty"`
	ToolCallID       string            `json:"tool_call_id,omitempty"`
}

type contentPart struct {
	Type  string    `json:"type"`
	Text  string    `json:"text,omitempty"`
	Image *imageURL `json:"image_url,omitempty"`
}

type imageURL struct {
	URL string `json:"url"`
}

type call struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function callFunction `json:"function"`
}

type callFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
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
	Strict bool            `json:"strict,omitempty"`
	Schema json.RawMessage `json:"schema"`
}

// encode makes the body of a request. notes say what had to be left out.
func encode(req *provider.Request, q quirks, names *provider.Names) (body []byte, notes []string, _ error) {
	out := chatRequest{Model: req.Model, Stream: true}
	if !q.noStreamOptions {
		out.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	if !q.noTemperature {
		out.Temperature = req.Temperature
	}
	if q.completionTokens {
		out.MaxCompletion = req.MaxTokens
	} else {
		out.MaxTokens = req.MaxTokens
	}
	if req.Think != nil {
		out.Effort = "none"
		if *req.Think {
			out.Effort = "medium"
		}
	}
	system := req.System
	switch {
	case req.Schema == nil:
	case q.schemaInWords:
		system = wire.WithSchema(system, req.Schema)
	default:
		out.Format = &responseFormat{Type: "json_schema", Schema: jsonSchema{
			Name: "answer", Strict: strictSchema(req.Schema), Schema: req.Schema,
		}}
	}
	if system != "" {
		out.Messages = append(out.Messages, message{Role: "system", Content: system})
	}
	for _, m := range req.Messages {
		out.Messages = appendMessage(out.Messages, m, q, names)
	}
	for _, t := range req.Tools {
		params, ok := parameters(t.InputSchema)
		if !ok {
			notes = append(notes, "tool "+t.Name+" was left out: its input schema is no JSON object")
			continue
		}
		out.Tools = append(out.Tools, tool{Type: "function", Function: toolFunction{
			Name: names.Wire(t.Name), Description: t.Description, Parameters: params,
		}})
	}
	body, err := wire.Marshal(out)
	return body, notes, err
}

// parameters gives a tool's schema; one without is an object without fields.
func parameters(schema json.RawMessage) (json.RawMessage, bool) {
	schema = bytes.TrimSpace(schema)
	if len(schema) == 0 || string(schema) == "null" || string(schema) == "{}" {
		return json.RawMessage(`{"type":"object","properties":{}}`), true
	}
	return schema, schema[0] == '{' && json.Valid(schema)
}

// appendMessage appends the messages that one message becomes: a tool message
// is one for each result.
func appendMessage(dst []message, m provider.Message, q quirks, names *provider.Names) []message {
	switch m.Role {
	case provider.Tool:
		for _, part := range m.Parts {
			if r := part.Result; r != nil {
				dst = append(dst, message{Role: "tool", ToolCallID: r.ID, Content: r.Text})
			}
		}
		return dst
	case provider.Assistant:
		return appendAnswer(dst, m, q, names)
	}
	if content := userContent(m.Parts); content != nil {
		dst = append(dst, message{Role: "user", Content: content})
	}
	return dst
}

// appendAnswer appends what the model said before. An empty answer, which a
// cancelled turn leaves, is left out: many servers refuse one.
func appendAnswer(dst []message, m provider.Message, q quirks, names *provider.Names) []message {
	out := message{Role: "assistant"}
	var text, reasoning strings.Builder
	for _, part := range m.Parts {
		switch part.Kind {
		case provider.TextPart:
			text.WriteString(part.Text)
		case provider.ReasoningPart:
			reasoning.WriteString(part.Text)
			var details []json.RawMessage
			if wire.Lenient(part.Details, &details) {
				out.Details = append(out.Details, details...)
			}
		case provider.ToolCallPart:
			out.ToolCalls = append(out.ToolCalls, call{
				ID: part.Call.ID, Type: "function",
				Function: callFunction{Name: names.Wire(part.Call.Name), Arguments: arguments(part.Call.Args)},
			})
		}
	}
	if text.Len() == 0 && len(out.ToolCalls) == 0 {
		return dst
	}
	if text.Len() > 0 {
		out.Content = text.String()
	}
	switch { // signed details say it all; else it goes back as it came
	case len(out.Details) > 0:
	case q.reasoning == fieldReasoningContent:
		out.ReasoningContent = reasoning.String()
	case q.reasoning == fieldReasoning:
		out.Reasoning = reasoning.String()
	}
	return append(dst, out)
}

// arguments gives a call's arguments as sent: an object, also where the model
// wrote something else, since servers refuse a history that isn't valid.
func arguments(args json.RawMessage) string {
	if args = bytes.TrimSpace(args); len(args) > 0 && args[0] == '{' && json.Valid(args) {
		return string(args)
	}
	return "{}"
}

// userContent gives a person's message: a string where it is text alone, which
// every server takes, else a list of parts.
func userContent(parts []provider.Part) any {
	var list []contentPart
	var texts []string
	images := false
	for _, part := range parts {
		switch {
		case part.Kind == provider.ImagePart:
			images = true
			list = append(list, contentPart{Type: "image_url", Image: &imageURL{dataURL(part)}})
		case part.Text != "":
			list = append(list, contentPart{Type: "text", Text: part.Text})
			texts = append(texts, part.Text)
		}
	}
	switch {
	case len(list) == 0:
		return nil
	case images:
		return list
	}
	return strings.Join(texts, "\n\n")
}

func dataURL(part provider.Part) string {
	mime := part.MIME
	if mime == "" {
		mime = "image/png"
	}
	return "data:" + mime + ";base64," + base64.StdEncoding.EncodeToString(part.Data)
}
