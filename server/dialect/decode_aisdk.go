package dialect

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// aisdkRequest is what the AI SDK's DefaultChatTransport posts, with what its
// `body` option commonly adds.
type aisdkRequest struct {
	ID        string          `json:"id"`
	Messages  []uiMessage     `json:"messages"`
	Trigger   string          `json:"trigger"`
	MessageID string          `json:"messageId"`
	Model     string          `json:"model"`
	Tools     json.RawMessage `json:"tools"`
	Confirm   *bool           `json:"confirm"`
	callSettings
}

// callSettings are the SDK's names of the parameters, for programs that send them in the body
// or in AG-UI's forwardedProps.
type callSettings struct {
	MaxTokens   *int     `json:"maxOutputTokens"`
	Temperature *float64 `json:"temperature"`
	TopP        *float64 `json:"topP"`
	TopK        *int     `json:"topK"`
	Presence    *float64 `json:"presencePenalty"`
	Frequency   *float64 `json:"frequencyPenalty"`
	Stop        []string `json:"stopSequences"`
	Seed        *int64   `json:"seed"`
}

func (in *callSettings) into(r *Request) {
	r.Temperature, r.TopP, r.Seed, r.Stop = in.Temperature, in.TopP, in.Seed, in.Stop
	r.TopK, r.Presence, r.Frequency = in.TopK, unless(in.Presence, 0), unless(in.Frequency, 0)
	if in.MaxTokens != nil {
		r.MaxTokens = *in.MaxTokens
	}
}

type uiMessage struct {
	ID      string   `json:"id"`
	Role    string   `json:"role"`
	Content string   `json:"content"` // before there were parts
	Parts   []uiPart `json:"parts"`
}

// uiPart is a part of a UI message.
type uiPart struct {
	Type             string          `json:"type"`
	Text             string          `json:"text"`
	URL              string          `json:"url"`
	MediaType        string          `json:"mediaType"`
	Filename         string          `json:"filename"`
	ToolName         string          `json:"toolName"`
	ToolCallID       string          `json:"toolCallId"`
	State            string          `json:"state"`
	Input            json.RawMessage `json:"input"`
	Output           json.RawMessage `json:"output"`
	ErrorText        string          `json:"errorText"`
	ProviderExecuted *bool           `json:"providerExecuted"`
	Preliminary      *bool           `json:"preliminary"`
	Approval         *struct {
		ID       string `json:"id"`
		Approved *bool  `json:"approved"`
		Reason   string `json:"reason"`
	} `json:"approval"`
}

func decodeAISDK(r *Request, body []byte) *FieldError {
	var in aisdkRequest
	if err := read("", body, &in); err != nil {
		return err
	}
	r.ThreadID, r.Trigger, r.MessageID, r.Model, r.Stream = in.ID, in.Trigger, in.MessageID, in.Model, true
	r.Confirm = in.Confirm != nil && *in.Confirm
	in.into(r)
	r.unread("", body, in)
	switch in.Trigger {
	case "", "submit-message", "regenerate-message":
	default:
		return wrong("trigger", "there is no trigger "+in.Trigger)
	}
	if err := aisdkTools(r, in.Tools); err != nil {
		return err
	}
	for i, m := range in.Messages {
		if err := m.add(r, item("messages", i), i == len(in.Messages)-1); err != nil {
			return err
		}
	}
	return nonEmpty(r)
}

// aisdkTool is a tool in any of the forms that programs send: the SDK itself
// sends none.
type aisdkTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
	Parameters  json.RawMessage `json:"parameters"`
}

func (t aisdkTool) tool() Tool {
	schema := t.InputSchema
	if null(schema) {
		schema = t.Parameters
	}
	var wrapped struct { // jsonSchema() of the SDK
		JSONSchema json.RawMessage `json:"jsonSchema"`
	}
	if isObject(schema) && json.Unmarshal(schema, &wrapped) == nil && isObject(wrapped.JSONSchema) {
		schema = wrapped.JSONSchema
	}
	return Tool{Name: t.Name, Description: t.Description, Schema: schema}
}

func aisdkTools(r *Request, raw json.RawMessage) *FieldError {
	if null(raw) {
		return nil
	}
	if begins(raw) == '[' {
		var list []aisdkTool
		if err := read("tools", raw, &list); err != nil {
			return err
		}
		for _, t := range list {
			r.Tools = append(r.Tools, t.tool())
		}
		return nil
	}
	byName := map[string]aisdkTool{}
	if err := read("tools", raw, &byName); err != nil {
		return err
	}
	for name, t := range byName {
		t.Name = name
		r.Tools = append(r.Tools, t.tool())
	}
	slices.SortFunc(r.Tools, func(a, b Tool) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

// add turns a UI message into one of ours and, where it has results, the
// results after it.
func (m uiMessage) add(r *Request, field string, last bool) *FieldError {
	role, err := roleOf(field, m.Role)
	if err != nil {
		return err
	}
	msg := Message{ID: m.ID, Role: role}
	var results []Part
	if len(m.Parts) == 0 && m.Content != "" {
		msg.Parts = append(msg.Parts, textPart(m.Content))
	}
	for i, p := range m.Parts {
		at := item(field+".parts", i)
		name, isTool := strings.CutPrefix(p.Type, "tool-")
		switch {
		case p.Type == "dynamic-tool":
			name, isTool = p.ToolName, true
			fallthrough
		case isTool:
			call, result, err := p.call(at, name)
			if err != nil {
				return err
			}
			msg.Parts = append(msg.Parts, call)
			if result != nil {
				results = append(results, *result)
			}
			if a, ok := p.answer(); ok && last {
				r.Answers = append(r.Answers, a)
			}
		default:
			part, err := p.part(at)
			if err != nil {
				return err
			}
			if part.Kind != "" {
				msg.Parts = append(msg.Parts, part)
			}
		}
	}
	r.Messages = append(r.Messages, msg)
	if len(results) > 0 {
		r.Messages = append(r.Messages, Message{Role: ToolRole, Parts: results})
	}
	return nil
}

// part reads what says something; steps, sources and data parts are for the
// page alone.
func (p uiPart) part(field string) (Part, *FieldError) {
	switch p.Type {
	case "text":
		if p.Text == "" {
			return Part{}, nil
		}
		return textPart(p.Text), nil
	case "reasoning":
		return Part{Kind: Reasoning, Text: p.Text}, nil
	case "file":
		kind := File
		if strings.HasPrefix(p.MediaType, "image/") {
			kind = Image
		}
		out, err := media(field+".url", kind, p.URL)
		if out.MIME == "" {
			out.MIME = mimeType(p.MediaType)
		}
		out.Name = p.Filename
		return out, err
	}
	return Part{}, nil
}

func (p uiPart) call(field, name string) (call Part, result *Part, err *FieldError) {
	if p.ToolCallID == "" || name == "" {
		return Part{}, nil, wrong(field, "has no toolCallId or no name")
	}
	args, err := argsOf(field+".input", p.Input)
	if err != nil {
		return Part{}, nil, err
	}
	ours := p.ProviderExecuted != nil && *p.ProviderExecuted
	call = Part{Kind: Call, Call: &ToolCall{ID: p.ToolCallID, Name: name, Args: args, Ours: ours}}
	res := &ToolResult{ID: p.ToolCallID, Name: name}
	switch p.State {
	case "output-available":
		if p.Preliminary != nil && *p.Preliminary {
			return call, nil, nil
		}
		res.Text = jsonText(p.Output)
	case "output-error":
		res.Text, res.Error = p.ErrorText, true
	case "output-denied":
		res.Text, res.Error = "denied by the user", true
	default:
		return call, nil, nil
	}
	return call, &Part{Kind: Result, Result: res}, nil
}

// answer is the approval that a person has given or refused.
func (p uiPart) answer() (Answer, bool) {
	a := p.Approval
	if p.State != "approval-responded" || a == nil || a.Approved == nil {
		return Answer{}, false
	}
	return Answer{ID: a.ID, Approved: *a.Approved, Reason: words(a.Reason)}, true
}

// jsonText is a JSON string's text, and any other JSON as it is.
func jsonText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(bytes.TrimSpace(appendRaw(nil, raw)))
}
