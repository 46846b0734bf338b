package dialect

import (
	"encoding/json"
	"slices"

	"github.com/fettle-cli/fettle/engine/fault"
)

// responsesRequest is CreateResponse, as far as it means something here.
type responsesRequest struct {
	Model        string            `json:"model"`
	Input        json.RawMessage   `json:"input"`
	Instructions json.RawMessage   `json:"instructions"`
	Tools        []json.RawMessage `json:"tools"`
	ToolChoice   json.RawMessage   `json:"tool_choice"`
	Parallel     *bool             `json:"parallel_tool_calls"`
	MaxTokens    *int              `json:"max_output_tokens"`
	Text         json.RawMessage   `json:"text"`
	Reasoning    json.RawMessage   `json:"reasoning"`
	PreviousID   string            `json:"previous_response_id"`
	Conversation json.RawMessage   `json:"conversation"`
	Store        *bool             `json:"store"`
	Stream       *bool             `json:"stream"`
	Background   *bool             `json:"background"`
	Metadata     json.RawMessage   `json:"metadata"`
	settingsBody

	// These change nothing in some values, and are reported in others.
	StreamOptions *streamOptions `json:"stream_options"`
	TopLogprobs   *int           `json:"top_logprobs"`
	Truncation    string         `json:"truncation"`
}

// responsesText is the object text. responsesReasoning is the object reasoning: a summary is
// always shown.
type responsesText struct {
	Format    *openAIFormat `json:"format"`
	Verbosity string        `json:"verbosity"`
}

type responsesReasoning struct {
	Effort          string `json:"effort"`
	Summary         string `json:"summary"`
	GenerateSummary string `json:"generate_summary"`
}

func decodeResponses(r *Request, body []byte) *FieldError {
	var in responsesRequest
	if err := read("", body, &in); err != nil {
		return err
	}
	r.Model, r.Temperature, r.TopP, r.Parallel, r.Seed = in.Model, in.Temperature, in.TopP, in.Parallel, in.Seed
	r.Settings = in.settings()
	r.PreviousID, r.Metadata, r.Store = in.PreviousID, in.Metadata, in.Store
	r.Stream = in.Stream != nil && *in.Stream
	if in.MaxTokens != nil {
		r.MaxTokens = *in.MaxTokens
	}
	if in.Background != nil && *in.Background {
		return wrong("background", "responses are not made in the background")
	}
	r.unread("", body, in)
	r.ignore("top_logprobs", in.TopLogprobs != nil && *in.TopLogprobs > 0)
	r.ignore("truncation", in.Truncation != "" && in.Truncation != "disabled")
	err := in.objects(r)
	if err != nil {
		return err
	}
	if r.Choice, err = choiceOf(in.ToolChoice); err != nil {
		return err
	}
	if r.ThreadID, err = conversationOf(in.Conversation); err != nil {
		return err
	}
	kept, err := responsesTools(r, in.Tools)
	if err != nil {
		return err
	}
	if err := responsesInput(r, in); err != nil {
		return err
	}
	r.Echo = Echo{
		Instructions: instructionsText(r, in.Instructions), Temperature: in.Temperature, TopP: in.TopP,
		MaxTokens: r.MaxTokens, PreviousID: in.PreviousID, Metadata: objectOrNone(in.Metadata), Tools: kept,
	}
	if r.Choice.Mode != "" {
		r.Echo.ToolChoice = in.ToolChoice
	}
	if len(r.items) > 0 {
		return nil // Resolve adds them
	}
	return nonEmpty(r)
}

// objects reads the parameters that this API has in objects of their own.
func (in *responsesRequest) objects(r *Request) (err *FieldError) {
	if r.Stop, err = stringsOf("stop", in.Stop); err != nil {
		return err
	}
	if !null(in.Reasoning) {
		var reasoning responsesReasoning
		if err := read("reasoning", in.Reasoning, &reasoning); err != nil {
			return err
		}
		r.Effort = reasoning.Effort
		r.unread("reasoning.", in.Reasoning, reasoning)
	}
	if null(in.Text) {
		return nil
	}
	var text responsesText
	if err := read("text", in.Text, &text); err != nil {
		return err
	}
	r.unread("text.", in.Text, text)
	if text.Verbosity != "" {
		r.Verbosity = text.Verbosity
	}
	r.Format, err = text.Format.format("text.format")
	return err
}

func objectOrNone(raw json.RawMessage) json.RawMessage {
	if isObject(raw) {
		return raw
	}
	return nil
}

func conversationOf(raw json.RawMessage) (string, *FieldError) {
	if null(raw) {
		return "", nil
	}
	var id string
	if begins(raw) == '"' {
		err := read("conversation", raw, &id)
		return id, err
	}
	var c struct {
		ID string `json:"id"`
	}
	err := read("conversation", raw, &c)
	return c.ID, err
}

// responsesInput reads instructions and input: a text, or a list of items.
func responsesInput(r *Request, in responsesRequest) *FieldError {
	if !null(in.Instructions) {
		parts, err := contentOf("instructions", in.Instructions)
		if err != nil {
			return err
		}
		if len(parts) > 0 {
			r.Messages = append(r.Messages, Message{Role: System, Parts: parts})
		}
	}
	if null(in.Input) {
		return nil
	}
	if begins(in.Input) == '"' {
		parts, err := contentOf("input", in.Input)
		if err != nil {
			return err
		}
		r.Messages = append(r.Messages, Message{Role: User, Parts: parts})
		return nil
	}
	var items []responsesItem
	if err := read("input", in.Input, &items); err != nil {
		return err
	}
	if slices.ContainsFunc(items, responsesItem.refers) {
		r.items = items
		return nil
	}
	return r.addItems(items)
}

func (r *Request) addItems(items []responsesItem) *FieldError {
	for i, it := range items {
		if err := it.add(r, item("input", i)); err != nil {
			return err
		}
	}
	return nil
}

// refers reports whether an item stands for a stored one.
func (it responsesItem) refers() bool {
	return it.Type == "item_reference" || it.Type == "" && it.Role == "" && it.ID != "" && null(it.Content)
}

// References returns the ids of the stored items that the input of a response refers to, in
// order. While there are any, Messages lacks the input: see Resolve.
func (r *Request) References() []string {
	var ids []string
	for _, it := range r.items {
		if it.refers() {
			ids = append(ids, it.ID)
		}
	}
	return ids
}

// Resolve puts the stored items, by their ids, in the place of the references, and decodes the
// input.
func (r *Request) Resolve(stored map[string]json.RawMessage) *fault.Fault {
	items := slices.Clone(r.items)
	for i, it := range items {
		if !it.refers() {
			continue
		}
		raw, ok := stored[it.ID]
		if !ok {
			return NoItem(it.ID)
		}
		var found responsesItem
		if err := read(item("input", i), raw, &found); err != nil {
			return refusal(err)
		}
		items[i] = found
	}
	r.items = nil
	err := r.addItems(items)
	if err == nil {
		err = nonEmpty(r)
	}
	if err == nil {
		err = check(r)
	}
	if err != nil {
		return refusal(err)
	}
	return nil
}

// NoItem returns the error for an item that is not stored, in the words of OpenAI's API.
func NoItem(id string) *fault.Fault {
	f := fault.New(fault.NotFound, "Item with id '"+clean(id)+"' not found. Items are not persisted when `store` is set to false. "+
		"Try again with `store` set to true, or remove this item from your input.")
	f.Err = &FieldError{Field: "input", Problem: f.Msg}
	return f
}

func instructionsText(r *Request, raw json.RawMessage) string {
	if null(raw) || len(r.Messages) == 0 || r.Messages[0].Role != System {
		return ""
	}
	return textOf(r.Messages[0].Parts)
}

// responsesItem is one item of input.
type responsesItem struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Summary   json.RawMessage `json:"summary"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Namespace string          `json:"namespace"`
	Arguments json.RawMessage `json:"arguments"`
	Input     string          `json:"input"` // of a custom_tool_call
	Output    json.RawMessage `json:"output"`
	Error     json.RawMessage `json:"error"`

	extra json.RawMessage // of a function_call
}

// UnmarshalJSON reads it.
func (it *responsesItem) UnmarshalJSON(b []byte) error {
	type plain responsesItem
	if err := json.Unmarshal(b, (*plain)(it)); err != nil {
		return err
	}
	if it.Type == "function_call" {
		it.extra = extraOf(b, "call_id", "name", "arguments", "status", "namespace", "caller", "created_by", "agent")
	}
	return nil
}

func (it responsesItem) add(r *Request, field string) *FieldError {
	switch it.Type {
	case "message", "":
		role, err := roleOf(field, it.Role)
		if err != nil {
			return err
		}
		parts, err := contentOf(field+".content", it.Content)
		if err != nil {
			return err
		}
		if n := len(r.Messages) - 1; role == Assistant && n >= 0 && r.Messages[n].thinks() {
			r.Messages[n].Parts = append(r.Messages[n].Parts, parts...)
			return nil
		}
		r.Messages = append(r.Messages, Message{ID: it.ID, Role: role, Parts: parts})
	case "function_call", "mcp_call":
		return it.call(r, field)
	case "custom_tool_call":
		it.Arguments = open(nil).str("input", it.Input).close()
		return it.call(r, field)
	case "function_call_output", "custom_tool_call_output":
		text, images, err := outputOf(field+".output", it.Output)
		if err != nil {
			return err
		}
		r.result(ToolResult{ID: it.CallID, Name: it.Name, Text: text, Images: images})
	case "reasoning":
		parts, err := contentOf(field+".summary", it.Summary)
		if err != nil || len(parts) == 0 {
			return err
		}
		r.assistant(Part{Kind: Reasoning, Text: textOf(parts)})
	default:
		r.ignore(field+" of type "+clean(it.Type), true)
	}
	return nil
}

// thinks reports whether a message is reasoning alone, which belongs to the answer after it.
func (m Message) thinks() bool {
	return m.Role == Assistant && !slices.ContainsFunc(m.Parts, func(p Part) bool { return p.Kind != Reasoning })
}

func (it responsesItem) call(r *Request, field string) *FieldError {
	args, err := argsOf(field+".arguments", it.Arguments)
	if err != nil {
		return err
	}
	ours := it.Type == "mcp_call"
	id := it.CallID
	if ours {
		id = it.ID
	}
	if id == "" || it.Name == "" {
		return wrong(field, "has no id or no name")
	}
	r.assistant(Part{Kind: Call, Call: &ToolCall{ID: id, Name: flatName(it.Namespace, it.Name), Args: args, Ours: ours, Extra: it.extra}})
	if !ours {
		return nil
	}
	text, _, err := outputOf(field+".output", it.Output)
	if err != nil {
		return err
	}
	r.result(ToolResult{ID: id, Name: it.Name, Text: text, Error: !null(it.Error)})
	return nil
}

// outputOf reads a result as text and images. What is neither text nor parts stays JSON.
func outputOf(field string, raw json.RawMessage) (text string, images []Part, err *FieldError) {
	if null(raw) {
		return "", nil, nil
	}
	if c := begins(raw); c == '"' || c == '[' {
		parts, err := contentOf(field, raw)
		if err == nil {
			return textOf(parts), imagesOf(parts), nil
		}
		if c == '"' {
			return "", nil, err
		}
	}
	return string(appendRaw(nil, raw)), nil, nil
}

// assistant adds a part to the assistant's message that is being told, and
// result one to the results after it.
func (r *Request) assistant(p Part) { r.add(Assistant, p) }

func (r *Request) result(t ToolResult) { r.add(ToolRole, Part{Kind: Result, Result: &t}) }

func (r *Request) add(role Role, p Part) {
	if n := len(r.Messages); n > 0 && r.Messages[n-1].Role == role {
		r.Messages[n-1].Parts = append(r.Messages[n-1].Parts, p)
		return
	}
	r.Messages = append(r.Messages, Message{Role: role, Parts: []Part{p}})
}
