package dialect

import (
	"encoding/json"
	"slices"
	"strings"
)

// anthropicRequest is the body of POST /v1/messages and of its count_tokens.
type anthropicRequest struct {
	Model       string             `json:"model"`
	Messages    []anthropicMessage `json:"messages"`
	System      json.RawMessage    `json:"system"`
	Tools       []json.RawMessage  `json:"tools"`
	ToolChoice  *anthropicChoice   `json:"tool_choice"`
	Temperature *float64           `json:"temperature"`
	TopP        *float64           `json:"top_p"`
	TopK        *int               `json:"top_k"`
	MaxTokens   *int               `json:"max_tokens"`
	Stop        []string           `json:"stop_sequences"`
	Stream      *bool              `json:"stream"`
	Metadata    json.RawMessage    `json:"metadata"`
	Tier        string             `json:"service_tier"`
	Thinking    *struct {
		Type   string `json:"type"`
		Budget int    `json:"budget_tokens"`
	} `json:"thinking"`
	Output  json.RawMessage   `json:"output_config"`
	Format  *anthropicFormat  `json:"output_format"` // before output_config
	Servers []json.RawMessage `json:"mcp_servers"`
	Thread  *struct {
		Type string `json:"type"`
	} `json:"thread"`
	// Cache changes nothing: what a provider caches is fettle's to mark.
	Cache json.RawMessage `json:"cache_control"`

	output anthropicOutput
}

// anthropicOutput is the object output_config, and anthropicMetadata the object metadata.
type anthropicOutput struct {
	Effort string           `json:"effort"`
	Format *anthropicFormat `json:"format"`
}

type anthropicMetadata struct {
	UserID string `json:"user_id"`
}

type anthropicFormat struct {
	Type   string          `json:"type"`
	Schema json.RawMessage `json:"schema"`
}

type anthropicChoice struct {
	Type        string `json:"type"`
	Name        string `json:"name"`
	NotParallel bool   `json:"disable_parallel_tool_use"`
}

type anthropicMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// anthropicBlock is a content block of a request.
type anthropicBlock struct {
	Type      string           `json:"type"`
	Text      string           `json:"text"`
	Source    *anthropicSource `json:"source"`
	Title     string           `json:"title"`
	Context   string           `json:"context"`
	ID        string           `json:"id"`
	Name      string           `json:"name"`
	Input     json.RawMessage  `json:"input"`
	ToolUseID string           `json:"tool_use_id"`
	Content   json.RawMessage  `json:"content"`
	IsError   bool             `json:"is_error"`
	Thinking  string           `json:"thinking"`
	Signature string           `json:"signature"`
	Data      string           `json:"data"`
	Citations json.RawMessage  `json:"citations"` // of a request: whether to cite

	raw json.RawMessage
}

// UnmarshalJSON reads a block and keeps its text.
func (b *anthropicBlock) UnmarshalJSON(raw []byte) error {
	type plain anthropicBlock
	var source struct {
		Source json.RawMessage `json:"source"`
	}
	if err := json.Unmarshal(raw, &source); err != nil {
		return err
	}
	if begins(source.Source) == '"' { // a search_result has an address there
		var found struct {
			Title   string          `json:"title"`
			Type    string          `json:"type"`
			Source  string          `json:"source"`
			Content json.RawMessage `json:"content"`
		}
		if err := json.Unmarshal(raw, &found); err != nil {
			return err
		}
		b.Type, b.Title, b.Context, b.Content = found.Type, found.Title, found.Source, found.Content
	} else if err := json.Unmarshal(raw, (*plain)(b)); err != nil {
		return err
	}
	b.raw = json.RawMessage(strings.Clone(string(raw)))
	return nil
}

// anthropicSource is where an image or a document comes from.
type anthropicSource struct {
	Type    string          `json:"type"`
	MIME    string          `json:"media_type"`
	Data    string          `json:"data"`
	URL     string          `json:"url"`
	Content json.RawMessage `json:"content"`
}

func decodeAnthropic(r *Request, body []byte) *FieldError {
	var in anthropicRequest
	if err := read("", body, &in); err != nil {
		return err
	}
	r.Model, r.Temperature, r.TopP, r.Stop = in.Model, in.Temperature, in.TopP, in.Stop
	r.TopK, r.Tier = in.TopK, in.Tier
	r.Stream = in.Stream != nil && *in.Stream
	if in.MaxTokens != nil {
		r.MaxTokens = *in.MaxTokens
	}
	if in.Thread != nil {
		return in.noThread()
	}
	if len(in.Servers) > 0 {
		return wrong("mcp_servers", "fettle calls no MCP server that a request names; add the server to fettle")
	}
	r.unread("", body, in)
	err := in.objects(r)
	if err != nil {
		return err
	}
	if r.Format, err = in.format(); err != nil {
		return err
	}
	if r.Choice, err = in.ToolChoice.choice(); err != nil {
		return err
	}
	if in.ToolChoice != nil && in.ToolChoice.NotParallel {
		r.Parallel = new(bool)
	}
	if err := anthropicTools(r, in.Tools); err != nil {
		return err
	}
	system, err := anthropicContent("system", in.System)
	if err != nil {
		return err
	}
	if len(system) > 0 {
		r.Messages = append(r.Messages, Message{Role: System, Parts: system})
	}
	for i, m := range in.Messages {
		if err := m.add(r, item("messages", i)); err != nil {
			return err
		}
	}
	return nonEmpty(r)
}

// noThread refuses a conversation that the server would have to keep, with the code by
// which clients send the whole conversation instead.
func (in *anthropicRequest) noThread() *FieldError {
	err := wrong("thread", "fettle keeps no conversation of this API; send all messages")
	if err.Code = "thread_unsupported_request"; in.Thread.Type == "continue" {
		err.Code = "thread_not_found"
	}
	return err
}

// objects reads the parameters that are in objects of their own.
func (in *anthropicRequest) objects(r *Request) *FieldError {
	if !null(in.Metadata) {
		var meta anthropicMetadata
		if err := read("metadata", in.Metadata, &meta); err != nil {
			return err
		}
		r.User = meta.UserID
		r.unread("metadata.", in.Metadata, meta)
	}
	if !null(in.Output) {
		if err := read("output_config", in.Output, &in.output); err != nil {
			return err
		}
		r.unread("output_config.", in.Output, in.output)
	}
	return in.think(r)
}

// think reads how much the model is asked to reason: a level, or a number of tokens.
func (in *anthropicRequest) think(r *Request) *FieldError {
	if t := in.Thinking; t != nil {
		if t.Type != "enabled" && t.Type != "disabled" && t.Type != "adaptive" && t.Type != "between_tools" {
			return wrong("thinking.type", "Input should be 'enabled', 'disabled', 'adaptive' or 'between_tools'")
		}
		on := t.Type != "disabled"
		r.Think = &on
		if on && t.Budget > 0 {
			r.Effort, r.ThinkTokens = effortOfBudget(t.Budget), t.Budget
		}
	}
	if effort := in.output.Effort; effort != "" {
		if !slices.Contains(Efforts(), effort) {
			return wrong("output_config.effort", "Input should be 'low', 'medium', 'high', 'xhigh' or 'max'")
		}
		r.Effort, r.ThinkTokens = effort, 0
	}
	return nil
}

// effortOfBudget is the level of reasoning that a budget in tokens amounts to.
func effortOfBudget(tokens int) string {
	switch {
	case tokens <= 4096:
		return "low"
	case tokens <= 16_384:
		return "medium"
	}
	return "high"
}

func (in *anthropicRequest) format() (*Format, *FieldError) {
	f, field := in.Format, "output_format"
	if in.output.Format != nil {
		f, field = in.output.Format, "output_config.format"
	}
	switch {
	case f == nil:
		return nil, nil
	case f.Type != "json_schema":
		return nil, wrong(field, "there is no format "+f.Type)
	case null(f.Schema):
		return nil, wrong(field, "json_schema has no schema")
	}
	return &Format{Schema: f.Schema}, nil
}

func (c *anthropicChoice) choice() (Choice, *FieldError) {
	if c == nil {
		return Choice{}, nil
	}
	switch c.Type {
	case "auto", "none":
		return Choice{Mode: c.Type}, nil
	case "any":
		return Choice{Mode: "required"}, nil
	case "tool":
		return Choice{Mode: "tool", Name: c.Name}, nil
	}
	return Choice{}, wrong("tool_choice", "there is no choice "+c.Type)
}

// anthropicTools reads the tools that the client runs. Those with a type of their own have
// no schema, or run at Anthropic's: only Anthropic's models and servers know them.
func anthropicTools(r *Request, list []json.RawMessage) *FieldError {
	for i, raw := range list {
		field := item("tools", i)
		var t struct {
			Type        string          `json:"type"`
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Schema      json.RawMessage `json:"input_schema"`
			Strict      bool            `json:"strict"`
			Cache       json.RawMessage `json:"cache_control"` // see anthropicRequest
		}
		if err := read(field, raw, &t); err != nil {
			return err
		}
		r.unread("tools[].", raw, t)
		if t.Type != "" && t.Type != "custom" {
			return wrong(field, "the tool "+t.Name+" of type "+t.Type+" can't be offered; send it as a tool with a name and an input_schema")
		}
		r.Tools = append(r.Tools, Tool{Name: t.Name, Description: t.Description, Schema: t.Schema, Strict: t.Strict})
	}
	return nil
}

// add appends a message. The results of tools that a user's message begins with are a
// message of their own.
func (m anthropicMessage) add(r *Request, field string) *FieldError {
	role, err := roleOf(field, m.Role)
	if err != nil {
		return err
	}
	parts, err := anthropicContent(field+".content", m.Content)
	if err != nil {
		return err
	}
	parts = withExtra(parts)
	for len(parts) > 0 {
		n, is := 1, parts[0].Kind == Result
		for n < len(parts) && (parts[n].Kind == Result) == is {
			n++
		}
		if is {
			r.Messages = append(r.Messages, Message{Role: ToolRole, Parts: parts[:n:n]})
		} else {
			r.Messages = append(r.Messages, Message{Role: role, Parts: parts[:n:n]})
		}
		parts = parts[n:]
	}
	return nil
}

// withExtra adds to the calls among parts the members that [seal] has kept for them.
func withExtra(parts []Part) []Part {
	extra := map[string]json.RawMessage{}
	out := parts[:0]
	for _, p := range parts {
		if !isObject(p.Details) {
			out = append(out, p)
			continue
		}
		for id, raw := range siblings(p.Details) {
			extra[id] = raw
		}
	}
	for _, p := range out {
		if p.Call != nil && len(p.Call.Extra) == 0 && isObject(extra[p.Call.ID]) {
			p.Call.Extra = extra[p.Call.ID]
		}
	}
	return out
}

// anthropicContent reads content: a text, or a list of blocks.
func anthropicContent(field string, raw json.RawMessage) ([]Part, *FieldError) {
	if null(raw) {
		return nil, nil
	}
	if begins(raw) == '"' {
		return contentOf(field, raw)
	}
	var list []anthropicBlock
	if err := read(field, raw, &list); err != nil {
		return nil, err
	}
	var out []Part
	for i, b := range list {
		parts, err := b.parts(item(field, i))
		if err != nil {
			return nil, err
		}
		if len(parts) > 0 && isObject(b.Citations) && !strings.Contains(string(b.Citations), "false") {
			parts[0].unread = append(parts[0].unread, "citations")
		}
		out = append(out, parts...)
	}
	return out, nil
}

// parts are what a block adds to its message.
func (b *anthropicBlock) parts(field string) ([]Part, *FieldError) {
	switch b.Type {
	case "text", "":
		if b.Text == "" {
			return nil, nil
		}
		return []Part{textPart(b.Text)}, nil
	case "image":
		p, err := b.Source.media(field, Image)
		return []Part{p}, err
	case "document":
		return b.document(field)
	case "search_result":
		parts, err := anthropicContent(field+".content", b.Content)
		return []Part{{Kind: File, Name: clean(b.Title + " " + b.Context), MIME: "text/plain", Data: []byte(textOf(parts))}}, err
	case blockThinking, blockRedacted:
		return b.reasoning(), nil
	case blockToolUse:
		return b.toolUse(field)
	case "tool_result":
		return b.result(field)
	case "server_tool_use", "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result":
		return []Part{{unread: []string{b.Type}}}, nil // a call of Anthropic's server and its result, which other models don't know
	}
	return nil, wrong(field, "blocks of type "+clean(b.Type)+" can't be taken")
}

// reasoning is what the model thought. The details go back to its provider: those that
// fettle has put into the signature, or the block as Anthropic has signed it.
func (b *anthropicBlock) reasoning() []Part {
	var out []Part
	if b.Thinking != "" {
		out = append(out, Part{Kind: Reasoning, Text: b.Thinking})
	}
	sealed := b.Signature
	if b.Type == blockRedacted {
		sealed = b.Data
	}
	details := unseal(sealed)
	if details == nil && sealed != "" && !strings.HasPrefix(sealed, sealPrefix) {
		details = append(append(json.RawMessage("["), b.raw...), ']')
	}
	if details != nil {
		out = append(out, Part{Kind: Reasoning, Details: details})
	}
	return out
}

func (b *anthropicBlock) toolUse(field string) ([]Part, *FieldError) {
	args, err := argsOf(field+".input", b.Input)
	if err != nil {
		return nil, err
	}
	if b.ID == "" || b.Name == "" {
		return nil, wrong(field, "has no id or no name")
	}
	return []Part{{Kind: Call, Call: &ToolCall{
		ID: b.ID, Name: b.Name, Args: args, Extra: extraOf(b.raw, "name", "input", "cache_control", "caller"),
	}}}, nil
}

func (b *anthropicBlock) result(field string) ([]Part, *FieldError) {
	if b.ToolUseID == "" {
		return nil, wrong(field+".tool_use_id", isMissing)
	}
	parts, err := anthropicContent(field+".content", b.Content)
	if err != nil {
		return nil, err
	}
	var text []string
	for _, p := range parts {
		switch p.Kind {
		case Text:
			text = append(text, p.Text)
		case File:
			text = append(text, string(p.Data))
		}
	}
	return []Part{{Kind: Result, Result: &ToolResult{
		ID: b.ToolUseID, Text: strings.Join(text, "\n"), Error: b.IsError, Images: imagesOf(parts),
	}}}, nil
}

// document reads a document as a text with a name, and the images in it.
func (b *anthropicBlock) document(field string) ([]Part, *FieldError) {
	s := b.Source
	if s == nil {
		return nil, wrong(field+".source", isMissing)
	}
	name := clean(strings.TrimSpace(b.Title + " " + b.Context))
	if s.Type == "content" {
		parts, err := anthropicContent(field+".source.content", s.Content)
		file := Part{Kind: File, Name: name, MIME: "text/plain", Data: []byte(textOf(parts))}
		return append([]Part{file}, imagesOf(parts)...), err
	}
	if s.Type == "text" {
		return []Part{{Kind: File, Name: name, MIME: "text/plain", Data: []byte(s.Data)}}, nil
	}
	p, err := s.media(field, File)
	if err == nil && p.URL == "" && !strings.HasPrefix(p.MIME, "text/") {
		return nil, wrong(field+".source", "documents of type "+clean(p.MIME)+" can't be taken; send their text")
	}
	p.Name = name
	return []Part{p}, err
}

// media reads an image or a document that comes as base64 or as an address.
func (s *anthropicSource) media(field string, kind Kind) (Part, *FieldError) {
	field += ".source"
	switch {
	case s == nil:
		return Part{}, wrong(field, isMissing)
	case s.Type == "base64":
		data, err := unbase64(field+".data", s.Data)
		return Part{Kind: kind, MIME: mimeType(s.MIME), Data: data}, err
	case s.Type == "url":
		return media(field+".url", kind, s.URL)
	}
	return Part{}, wrong(field, "has to come with its data: there is no source of type "+clean(s.Type)+" here")
}
