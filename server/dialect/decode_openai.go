package dialect

import (
	"encoding/json"
	"slices"
)

// chatRequest is CreateChatCompletionRequest, as far as it means something here.
type chatRequest struct {
	Model          string          `json:"model"`
	Messages       []openAIMessage `json:"messages"`
	Tools          []openAITool    `json:"tools"`
	Functions      []openAIFunc    `json:"functions"`     // the form that preceded tools
	FunctionCall   json.RawMessage `json:"function_call"` // and tool_choice
	ToolChoice     json.RawMessage `json:"tool_choice"`
	Parallel       *bool           `json:"parallel_tool_calls"`
	MaxTokens      *int            `json:"max_tokens"`
	MaxCompletion  *int            `json:"max_completion_tokens"`
	ResponseFormat *openAIFormat   `json:"response_format"`
	Effort         string          `json:"reasoning_effort"`
	Stream         *bool           `json:"stream"`
	StreamOptions  *streamOptions  `json:"stream_options"`
	settingsBody

	// These have the last message continued; see [Request.Prefix].
	Final *bool `json:"continue_final_message"`
	Begin *bool `json:"add_generation_prompt"`

	// These change nothing in some values, and are reported in others.
	N           *int     `json:"n"`
	Logprobs    *bool    `json:"logprobs"`
	TopLogprobs *int     `json:"top_logprobs"`
	Store       *bool    `json:"store"`
	Modalities  []string `json:"modalities"`
}

// streamOptions are the options of a stream. Obfuscation is padding, which fettle never adds.
type streamOptions struct {
	IncludeUsage *bool `json:"include_usage"`
	Obfuscation  *bool `json:"include_obfuscation"`
}

type openAIMessage struct {
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Reasoning string          `json:"reasoning_content"`
	Refusal   string          `json:"refusal"`
	Name      string          `json:"name"`
	CallID    string          `json:"tool_call_id"`
	ToolCalls []wireCall      `json:"tool_calls"`
	// Function is the call of a function, in the form that preceded tool_calls.
	Function *legacyCall `json:"function_call"`

	// Prefix (Mistral, DeepSeek) and Partial (Moonshot, Qwen) have the last message continued.
	Prefix  bool `json:"prefix"`
	Partial bool `json:"partial"`

	unread []string // members that change nothing here
}

// UnmarshalJSON reads it, and keeps the names of the members that are not read.
func (m *openAIMessage) UnmarshalJSON(b []byte) error {
	type plain openAIMessage
	if err := json.Unmarshal(b, (*plain)(m)); err != nil {
		return err
	}
	m.unread = unknownMembers(b, *m)
	return nil
}

type openAITool struct {
	Type     string        `json:"type"`
	Function openAIFunc    `json:"function"`
	Custom   responsesTool `json:"custom"`
}

type openAIFunc struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      *bool           `json:"strict"`
}

func (f openAIFunc) tool() Tool {
	return Tool{Name: f.Name, Description: f.Description, Schema: f.Parameters, Strict: f.Strict != nil && *f.Strict}
}

// openAIFormat is response_format; in responses its fields stand in text.format.
type openAIFormat struct {
	Type string `json:"type"`
	openAISchema
	JSONSchema *openAISchema `json:"json_schema"`
}

// openAISchema is the schema of an answer with what describes it.
type openAISchema struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
	Strict      *bool           `json:"strict"`
}

func (f *openAIFormat) format(field string) (*Format, *FieldError) {
	if f == nil {
		return nil, nil
	}
	switch f.Type {
	case "", "text":
		return nil, nil
	case "json_object":
		return &Format{}, nil
	case "json_schema":
		if f.JSONSchema != nil {
			f.openAISchema = *f.JSONSchema
		}
		if null(f.Schema) {
			return nil, wrong(field, "json_schema has no schema")
		}
		return &Format{Name: f.Name, Description: f.Description, Schema: f.Schema, Strict: f.Strict}, nil
	}
	return nil, wrong(field, "there is no format "+f.Type)
}

func decodeOpenAI(r *Request, body []byte) *FieldError {
	var in chatRequest
	if err := read("", body, &in); err != nil {
		return err
	}
	r.Model, r.Temperature, r.TopP, r.Seed = in.Model, in.Temperature, in.TopP, in.Seed
	r.Parallel, r.Effort, r.Settings = in.Parallel, in.Effort, in.settings()
	r.Stream = in.Stream != nil && *in.Stream
	r.IncludeUsage = in.StreamOptions != nil && in.StreamOptions.IncludeUsage != nil && *in.StreamOptions.IncludeUsage
	for _, n := range []*int{in.MaxTokens, in.MaxCompletion} {
		if n != nil {
			r.MaxTokens = *n
		}
	}
	if in.N != nil && *in.N > 1 {
		return wrong("n", "only one answer at a time is given")
	}
	var err *FieldError
	if r.Stop, err = stringsOf("stop", in.Stop); err != nil {
		return err
	}
	if r.Format, err = in.ResponseFormat.format("response_format"); err != nil {
		return err
	}
	if r.Choice, err = choiceOf(in.ToolChoice); err != nil {
		return err
	}
	in.ignore(r, body)
	openAITools(r, in)
	if err := in.legacy(r); err != nil {
		return err
	}
	for i, m := range in.Messages {
		msg, err := m.message(item("messages", i))
		if err != nil {
			return err
		}
		r.Messages = append(r.Messages, msg)
		for _, name := range m.unread {
			r.ignoreOnce("messages[]." + clean(name))
		}
		if m.Name != "" && (msg.Role == System || msg.Role == Assistant) {
			r.ignoreOnce("messages[].name")
		}
	}
	in.prefix(r)
	return nonEmpty(r)
}

// prefix reads the members that have the last message continued. They are reported where they
// do not do that.
func (in *chatRequest) prefix(r *Request) {
	last := len(in.Messages) - 1
	begun := last >= 0 && r.Messages[last].Role == Assistant
	for i, m := range in.Messages {
		marked := m.Prefix || m.Partial
		r.Prefix = r.Prefix || marked && begun && i == last
		if marked && !(begun && i == last) {
			r.ignoreOnce("messages[]." + markOf(m))
		}
	}
	final := in.Final != nil && *in.Final
	r.Prefix = r.Prefix || final && begun
	r.ignore("continue_final_message", in.Final != nil && *in.Final != begun)
	r.ignore("add_generation_prompt", in.Begin != nil && *in.Begin != !(final && begun))
}

// markOf returns the member by which a message is marked as the beginning of an answer.
func markOf(m openAIMessage) string {
	if m.Partial {
		return "partial"
	}
	return "prefix"
}

// ignore reports what of a chat completion changes nothing here.
func (in *chatRequest) ignore(r *Request, body []byte) {
	r.unread("", body, in)
	r.ignore("logprobs", in.Logprobs != nil && *in.Logprobs)
	r.ignore("top_logprobs", in.TopLogprobs != nil && *in.TopLogprobs > 0)
	r.ignore("store", in.Store != nil && *in.Store)
	r.ignore("modalities", slices.ContainsFunc(in.Modalities, func(m string) bool { return m != "text" }))
}

func (r *Request) ignore(field string, given bool) {
	if given {
		r.Ignored = append(r.Ignored, field)
	}
}

func (r *Request) ignoreOnce(field string) {
	r.ignore(field, len(r.Ignored) < maxUnread && !slices.Contains(r.Ignored, field))
}

func nonEmpty(r *Request) *FieldError {
	if len(r.Messages) == 0 {
		return wrong("messages", "there are none")
	}
	return nil
}

func openAITools(r *Request, in chatRequest) {
	for i, t := range in.Tools {
		if t.Type == custom && t.Custom.Name != "" {
			r.customTool(t.Custom, "")
			continue
		}
		if t.Type != "function" && t.Type != "" {
			r.ignore(item("tools", i)+" of type "+clean(t.Type), true)
			continue
		}
		r.Tools = append(r.Tools, t.Function.tool())
	}
}

// choiceOf reads tool_choice: a word, or the tool in chat's or responses' form.
func choiceOf(raw json.RawMessage) (Choice, *FieldError) {
	if null(raw) {
		return Choice{}, nil
	}
	if begins(raw) == '"' {
		var word string
		if err := read("tool_choice", raw, &word); err != nil {
			return Choice{}, err
		}
		switch word {
		case "auto", "none", "required":
			return Choice{Mode: word}, nil
		case "any": // Mistral's word
			return Choice{Mode: "required"}, nil
		}
		return Choice{}, wrong("tool_choice", "there is no choice "+word)
	}
	var c struct {
		Type string `json:"type"`
		Name string `json:"name"`
		Mode string `json:"mode"`

		Namespace string `json:"namespace"`
		Custom    struct {
			Name string `json:"name"`
		} `json:"custom"`
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	}
	if err := read("tool_choice", raw, &c); err != nil {
		return Choice{}, err
	}
	switch {
	case c.Type == custom && c.Custom.Name != "":
		return Choice{Mode: "tool", Name: c.Custom.Name}, nil
	case c.Type == "function" && c.Function.Name != "":
		return Choice{Mode: "tool", Name: c.Function.Name}, nil
	case (c.Type == "function" || c.Type == "custom") && c.Name != "":
		return Choice{Mode: "tool", Name: flatName(c.Namespace, c.Name)}, nil
	case c.Type == "allowed_tools" && (c.Mode == "auto" || c.Mode == "required"):
		return Choice{Mode: c.Mode}, nil
	}
	return Choice{}, wrong("tool_choice", "names no tool")
}

func roleOf(field, s string) (Role, *FieldError) {
	switch s {
	case "system", "developer":
		return System, nil
	case "user":
		return User, nil
	case "assistant":
		return Assistant, nil
	case "tool", "function":
		return ToolRole, nil
	}
	return "", wrong(field+".role", "there is no role "+s)
}

func (m openAIMessage) message(field string) (Message, *FieldError) {
	role, err := roleOf(field, m.Role)
	if err != nil {
		return Message{}, err
	}
	out := Message{Role: role}
	if m.Reasoning != "" {
		out.Parts = append(out.Parts, Part{Kind: Reasoning, Text: m.Reasoning})
	}
	parts, err := contentOf(field+".content", m.Content)
	if err != nil {
		return Message{}, err
	}
	if m.Refusal != "" {
		parts = append(parts, textPart(m.Refusal))
	}
	if role == ToolRole {
		id := m.CallID
		if id == "" {
			id = m.Name // the older functions had no ids
		}
		if id == "" {
			return Message{}, wrong(field+".tool_call_id", isMissing)
		}
		out.Parts = []Part{{Kind: Result, Result: &ToolResult{ID: id, Name: m.Name, Text: textOf(parts), Images: imagesOf(parts)}}}
		return out, nil
	}
	for i := range parts {
		if role == User && parts[i].Kind == Text {
			parts[i].Name = m.Name
		}
	}
	out.Parts = append(out.Parts, parts...)
	for i, c := range m.ToolCalls {
		at := item(field+".tool_calls", i)
		args, err := argsOf(at+".function.arguments", c.Function.Arguments)
		if err != nil {
			return Message{}, err
		}
		if c.ID == "" || c.Function.Name == "" {
			return Message{}, wrong(at, "has no id or no name")
		}
		out.Parts = append(out.Parts, Part{Kind: Call, Call: &ToolCall{ID: c.ID, Name: c.Function.Name, Args: args, Extra: c.extra}})
	}
	return out, nil
}

// textOf joins the texts of parts.
func textOf(parts []Part) string {
	var s []byte
	for _, p := range parts {
		if p.Kind == Text {
			s = append(s, p.Text...)
		}
	}
	return string(s)
}

// imagesOf returns the images among parts.
func imagesOf(parts []Part) []Part {
	var out []Part
	for _, p := range parts {
		if p.Kind == Image {
			out = append(out, p)
		}
	}
	return out
}

// openAIPart is a content part of chat completions and of responses.
type openAIPart struct {
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	Refusal  string          `json:"refusal"`
	ImageURL json.RawMessage `json:"image_url"` // {url} or, in responses, the address
	File     *openAIFile     `json:"file"`
	Detail   string          `json:"detail"` // of an image, in responses
	openAIFile
}

type openAIFile struct {
	Data string `json:"file_data"`
	Name string `json:"filename"`
	ID   string `json:"file_id"`
	URL  string `json:"file_url"`
}

// contentOf reads content: nothing, a text, or a list of parts.
func contentOf(field string, raw json.RawMessage) ([]Part, *FieldError) {
	if null(raw) {
		return nil, nil
	}
	if begins(raw) == '"' {
		var text string
		if err := read(field, raw, &text); err != nil || text == "" {
			return nil, err
		}
		return []Part{textPart(text)}, nil
	}
	var list []openAIPart
	if err := read(field, raw, &list); err != nil {
		return nil, err
	}
	var out []Part
	for i, p := range list {
		part, err := p.part(item(field, i))
		if err != nil {
			return nil, err
		}
		if part.Kind != "" {
			out = append(out, part)
		}
	}
	return out, nil
}

func (p openAIPart) part(field string) (Part, *FieldError) {
	switch p.Type {
	case "text", "input_text", "output_text", "summary_text", "reasoning_text", "":
		if p.Text == "" {
			return Part{}, nil
		}
		return textPart(p.Text), nil
	case "refusal":
		return textPart(p.Refusal), nil
	case "image_url", "input_image":
		address := ""
		var nested struct {
			URL    string `json:"url"`
			Detail string `json:"detail"`
		}
		switch begins(p.ImageURL) {
		case '{':
			if err := read(field+".image_url", p.ImageURL, &nested); err != nil {
				return Part{}, err
			}
			address = nested.URL
		case '"':
			if err := read(field+".image_url", p.ImageURL, &address); err != nil {
				return Part{}, err
			}
		}
		image, err := media(field+".image_url", Image, address)
		if nested.Detail != "" && nested.Detail != "auto" || p.Detail != "" && p.Detail != "auto" {
			image.unread = []string{"image_url.detail"}
		}
		return image, err
	case "file", "input_file":
		f := p.openAIFile
		if p.File != nil {
			f = *p.File
		}
		return f.part(field)
	}
	return Part{}, wrong(field, "parts of type "+p.Type+" can't be taken")
}

func (f openAIFile) part(field string) (Part, *FieldError) {
	var p Part
	var err *FieldError
	switch {
	case f.URL != "":
		p, err = media(field+".file_url", File, f.URL)
	case len(f.Data) > 5 && f.Data[:5] == "data:":
		p, err = media(field+".file_data", File, f.Data)
	case f.Data != "":
		p.Kind = File
		p.Data, err = unbase64(field+".file_data", f.Data)
	default:
		return Part{}, wrong(field, "files have to come with their data: nothing is kept under a file_id")
	}
	p.Name = f.Name
	return p, err
}
