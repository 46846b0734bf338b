package dialect

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
)

// ollamaRequest is the body of POST /api/chat.
type ollamaRequest struct {
	Model    string          `json:"model"`
	Messages []ollamaMessage `json:"messages"`
	Tools    []openAITool    `json:"tools"`
	Format   json.RawMessage `json:"format"`
	Options  json.RawMessage `json:"options"`
	Think    json.RawMessage `json:"think"`
	Stream   *bool           `json:"stream"`
	Logprobs *bool           `json:"logprobs"`
	TopLogs  *int            `json:"top_logprobs"`
}

type ollamaOptions struct {
	Temperature *float64        `json:"temperature"`
	TopP        *float64        `json:"top_p"`
	TopK        *int            `json:"top_k"`
	MinP        *float64        `json:"min_p"`
	Frequency   *float64        `json:"frequency_penalty"`
	Presence    *float64        `json:"presence_penalty"`
	Repeat      *float64        `json:"repeat_penalty"`
	Seed        *int64          `json:"seed"`
	Predict     *int            `json:"num_predict"`
	Stop        json.RawMessage `json:"stop"`
}

// readOptions reads options, and reports those that change nothing here.
func (r *Request) readOptions(raw json.RawMessage) (o ollamaOptions, _ *FieldError) {
	if null(raw) {
		return o, nil
	}
	if err := read("options", raw, &o); err != nil {
		return o, err
	}
	r.unread("options.", raw, o)
	return o, nil
}

func (o *ollamaOptions) settings() Settings {
	return Settings{
		TopK: o.TopK, MinP: unless(o.MinP, 0), Frequency: unless(o.Frequency, 0), Presence: unless(o.Presence, 0), Repeat: o.Repeat,
	}
}

type ollamaMessage struct {
	Role      string     `json:"role"`
	Content   string     `json:"content"`
	Thinking  string     `json:"thinking"`
	Images    []string   `json:"images"`
	ToolName  string     `json:"tool_name"`
	Name      string     `json:"name"` // before tool_name
	CallID    string     `json:"tool_call_id"`
	ToolCalls []wireCall `json:"tool_calls"`
}

func decodeOllama(r *Request, body []byte) *FieldError {
	var in ollamaRequest
	if err := read("", body, &in); err != nil {
		return err
	}
	o, err := r.readOptions(in.Options)
	if err != nil {
		return err
	}
	r.unread("", body, in)
	r.ignore("logprobs", in.Logprobs != nil && *in.Logprobs)
	r.ignore("top_logprobs", in.TopLogs != nil && *in.TopLogs > 0)
	r.Settings = o.settings()
	r.Model, r.Temperature, r.TopP, r.Seed = in.Model, o.Temperature, o.TopP, o.Seed
	r.Stream = in.Stream == nil || *in.Stream // unlike elsewhere, it streams unless told not to
	if o.Predict != nil && *o.Predict > 0 {   // -1 and -2 mean without a bound
		r.MaxTokens = *o.Predict
	}
	if r.Stop, err = stringsOf("options.stop", o.Stop); err != nil {
		return err
	}
	if r.Think, r.Effort, err = thinkOf(in.Think); err != nil {
		return err
	}
	if r.Format, err = ollamaFormat(in.Format); err != nil {
		return err
	}
	openAITools(r, chatRequest{Tools: in.Tools})
	ids := &callIDs{}
	for i, m := range in.Messages {
		msg, err := m.message(item("messages", i), ids)
		if err != nil {
			return err
		}
		r.Messages = append(r.Messages, msg)
	}
	if len(r.Messages) == 0 && r.Model != "" {
		return nil // that is how clients have a model loaded
	}
	return nonEmpty(r)
}

// thinkOf reads think: true, false, or how much.
func thinkOf(raw json.RawMessage) (*bool, string, *FieldError) {
	if null(raw) {
		return nil, "", nil
	}
	on := true
	if begins(raw) == '"' {
		var effort string
		err := read("think", raw, &effort)
		if err == nil && effort != "" && !slices.Contains(Efforts(), effort) {
			err = wrong("think", `invalid think value: "`+clean(effort)+`" (must be "high", "medium", "low", true, or false)`)
		}
		return &on, effort, err
	}
	err := read("think", raw, &on)
	return &on, "", err
}

// ollamaFormat reads format: "json", or a schema.
func ollamaFormat(raw json.RawMessage) (*Format, *FieldError) {
	switch {
	case null(raw) || string(raw) == `""`:
		return nil, nil
	case string(raw) == `"json"`:
		return &Format{}, nil
	case isObject(raw):
		return &Format{Schema: raw}, nil
	}
	return nil, wrong("format", `is neither "json" nor a schema`)
}

// callIDs gives the calls ids, which this format doesn't ask for: results
// answer, by name and else in order, the calls that have none yet.
type callIDs struct {
	made int
	open []ToolCall
}

func (c *callIDs) of(id string) string {
	if id != "" {
		return id
	}
	c.made++
	return "call_" + strconv.Itoa(c.made)
}

// answered finds the call that a result is for. Clients cut old messages off,
// so there may be none any more.
func (c *callIDs) answered(id, name string) ToolCall {
	for i, call := range c.open {
		if (id == "" || id == call.ID) && (name == "" || name == call.Name) {
			c.open = append(c.open[:i:i], c.open[i+1:]...)
			return call
		}
	}
	return ToolCall{ID: c.of(id), Name: name}
}

// images returns the images of a message.
func (m ollamaMessage) images(field string) ([]Part, *FieldError) {
	var out []Part
	for i, s := range m.Images {
		data, err := unbase64(item(field+".images", i), s)
		if err != nil {
			return nil, err
		}
		out = append(out, Part{Kind: Image, MIME: mimeType(http.DetectContentType(data)), Data: data})
	}
	return out, nil
}

func (m ollamaMessage) message(field string, ids *callIDs) (Message, *FieldError) {
	role, err := roleOf(field, m.Role)
	if err != nil {
		return Message{}, err
	}
	out := Message{Role: role}
	if role == ToolRole {
		name := m.ToolName
		if name == "" {
			name = m.Name
		}
		call := ids.answered(m.CallID, name)
		images, err := m.images(field)
		out.Parts = []Part{{Kind: Result, Result: &ToolResult{ID: call.ID, Name: call.Name, Text: m.Content, Images: images}}}
		return out, err
	}
	if m.Thinking != "" {
		out.Parts = append(out.Parts, Part{Kind: Reasoning, Text: m.Thinking})
	}
	if m.Content != "" {
		out.Parts = append(out.Parts, textPart(m.Content))
	}
	images, err := m.images(field)
	if err != nil {
		return Message{}, err
	}
	out.Parts = append(out.Parts, images...)
	for i, c := range m.ToolCalls {
		at := item(field+".tool_calls", i)
		args, err := argsOf(at+".function.arguments", c.Function.Arguments)
		if err != nil {
			return Message{}, err
		}
		if c.Function.Name == "" {
			return Message{}, wrong(at, "has no name")
		}
		call := ToolCall{ID: ids.of(c.ID), Name: c.Function.Name, Args: args, Extra: c.extra}
		ids.open = append(ids.open, call)
		out.Parts = append(out.Parts, Part{Kind: Call, Call: &call})
	}
	return out, nil
}
