package chatcompletions

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// Message is a message as it is sent.
type Message struct {
	Role string `json:"role"`
	// Content is a string, a list of parts, or null beside calls alone.
	Content any `json:"content"`
	// ReasoningContent and Reasoning are nil where they are not sent: an empty text is sent.
	ReasoningContent *string           `json:"reasoning_content,omitempty"`
	Reasoning        *string           `json:"reasoning,omitempty"`
	Details          []json.RawMessage `json:"reasoning_details,omitempty"`
	ToolCalls        []Call            `json:"tool_calls,omitempty"`
	ToolCallID       string            `json:"tool_call_id,omitempty"`
	Name             string            `json:"name,omitempty"`    // of the participant, or of the tool
	Prefix           bool              `json:"prefix,omitempty"`  // see PrefillPrefix
	Partial          bool              `json:"partial,omitempty"` // see PrefillPartial

	extra json.RawMessage // further members
}

// MarshalJSON writes the message with its further members.
func (m Message) MarshalJSON() ([]byte, error) {
	type plain Message
	return wire.WithExtra(plain(m), m.extra)
}

// contentPart is a part of a content.
type contentPart struct {
	Type  string     `json:"type"`
	Text  string     `json:"text,omitempty"`
	Image any        `json:"image_url,omitempty"` // an imageURL, or a string among chunks
	Audio *audioData `json:"input_audio,omitempty"`

	raw json.RawMessage // a part that goes back as it came
}

// MarshalJSON writes the part.
func (p contentPart) MarshalJSON() ([]byte, error) {
	if p.raw != nil {
		return p.raw, nil
	}
	type plain contentPart
	return wire.Marshal(plain(p))
}

type imageURL struct {
	URL string `json:"url"`
}

type audioData struct {
	Data   string `json:"data"`
	Format string `json:"format"`
}

// Call is a call as it is sent.
type Call struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function CallFunction `json:"function"`

	extra json.RawMessage // further members, of the function too
}

// MarshalJSON writes the call with its further members.
func (c Call) MarshalJSON() ([]byte, error) {
	type plain Call
	return wire.WithExtra(plain(c), c.extra)
}

// CallFunction is the tool that is called, with its arguments as a text.
type CallFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// maxID is the longest id of a call that OpenAI takes.
const maxID = 40

// fitID makes an id one that OpenAI takes.
func fitID(id string) string {
	if id != "" && len(id) <= maxID {
		return id
	}
	return "call_" + wire.Digest(id)
}

// conversation puts messages together.
type conversation struct {
	q     Quirks
	now   Adaption
	names *provider.Names
	ids   *wire.IDs
	list  []Message
	sent  Sent
}

func newConversation(q Quirks, now Adaption, names *provider.Names) *conversation {
	fit := fitID
	if q.NineID {
		fit = wire.NineID
	}
	return &conversation{q: q, now: now, names: names, ids: wire.NewIDs(fit)}
}

// Messages returns the messages of a history as they are sent.
func Messages(history []provider.Message, names *provider.Names, q Quirks, now Adaption) []Message {
	c := newConversation(q, now, names)
	for _, m := range history {
		c.add(m)
	}
	return c.list
}

// add adds the messages that one message becomes: a tool message is one for
// each result.
func (c *conversation) add(m provider.Message) {
	switch m.Role {
	case provider.Tool:
		c.results(m.Parts)
	case provider.Assistant:
		c.answer(m)
	default:
		if parts := c.contentParts(m.Parts); len(parts) > 0 {
			c.ask(parts, m.Speaker())
		}
	}
}

// Stopped is the answer between a result and the user's next message, where a turn was stopped
// before the model answered and the API takes no user's message there.
const Stopped = "(The answer was stopped here.)"

// ask adds a user's message.
func (c *conversation) ask(parts []contentPart, name string) {
	if last := len(c.list) - 1; c.q.Turns && last >= 0 {
		switch c.list[last].Role {
		case "tool":
			c.list = append(c.list, Message{Role: "assistant", Content: Stopped})
		case "user":
			c.list[last].Content = simplest(append(asParts(c.list[last].Content), parts...))
			return
		}
	}
	c.list = append(c.list, Message{Role: "user", Content: simplest(parts), Name: name})
}

// results adds the results of a step. The API takes only text in a tool's message, so that
// images and sounds follow in a user's message.
func (c *conversation) results(parts []provider.Part) {
	var media []contentPart
	for _, part := range parts {
		r := part.Result
		if r == nil {
			continue
		}
		out := Message{Role: "tool", ToolCallID: c.ids.Result(r.ID), Content: r.Text}
		if c.q.Chunks {
			out.Name = c.names.Wire(r.Name)
		}
		switch shown := c.contentParts(r.Media); {
		case len(shown) == 0:
		case c.q.MediaInTool:
			out.Content = append(asParts(r.Text), shown...)
		default:
			media = append(media, contentPart{Type: "text", Text: "What " + c.names.Wire(r.Name) + " returned for the call " + out.ToolCallID + ":"})
			media = append(media, shown...)
		}
		c.list = append(c.list, out)
	}
	if len(media) > 0 {
		c.list = append(c.list, Message{Role: "user", Content: media})
		c.sent.Media = true
	}
}

// answer adds what the model said before. An empty answer, which a cancelled
// turn leaves, is left out: many servers refuse one.
func (c *conversation) answer(m provider.Message) {
	out := Message{Role: "assistant"}
	var said chunks
	var reasoning strings.Builder
	field := ""
	for _, part := range m.Parts {
		switch part.Kind {
		case provider.TextPart:
			said.add(part.Text)
		case provider.ReasoningPart:
			field = cmp.Or(part.Field, field)
			reasoning.WriteString(part.Text)
			switch {
			case !c.q.Chunks:
				out.details(part.Details)
			case !c.now.NoItems:
				said.think(part.Details)
			}
		case provider.ToolCallPart:
			out.ToolCalls = append(out.ToolCalls, Call{
				ID: c.ids.Call(part.Call.ID), Type: "function", extra: part.Call.Extra,
				Function: CallFunction{Name: c.names.Wire(part.Call.Name), Arguments: string(wire.ObjectArgs(part.Call.Args))},
			})
		}
	}
	if !said.text && len(out.ToolCalls) == 0 {
		return
	}
	out.Content = said.content(c.q)
	c.reason(&out, field, reasoning.String())
	c.opaque(&out)
	c.sent.Reasoning = c.sent.Reasoning || said.thought
	c.sent.Calls = c.sent.Calls || len(out.ToolCalls) > 0
	c.list = append(c.list, out)
}

// details takes the reasoning details of this API, and the members of a message that were
// kept among them.
func (m *Message) details(raw json.RawMessage) {
	var entries []json.RawMessage
	if !wire.Lenient(raw, &entries) {
		return
	}
	for _, entry := range entries {
		var kept keptFields
		switch {
		case wire.Lenient(entry, &kept) && kept.Type == typeKeptFields:
			m.extra = wire.JoinFields(m.extra, kept.Fields)
		case ours(entry):
			m.Details = append(m.Details, entry)
		}
	}
}

// reason sends reasoning back in the field in which it came. Signed details contain all of
// it.
func (c *conversation) reason(out *Message, field, text string) {
	if c.q.NoReasoning {
		out.Details = nil
		return
	}
	switch {
	case len(out.Details) > 0:
		c.sent.Reasoning = true
		return
	case text == "":
		field = cmp.Or(field, c.q.Needs)
	default:
		field = cmp.Or(field, c.q.Needs, c.q.Reasoning)
	}
	if field == "" {
		return
	}
	c.sent.Reasoning = true
	if field == FieldReasoning {
		out.Reasoning = &text
	} else {
		out.ReasoningContent = &text
	}
}

// dummySignature is what Google documents for calls that Gemini did not make, or whose
// signature is lost: it is not checked.
const dummySignature = `{"extra_content":{"google":{"thought_signature":"skip_thought_signature_validator"}}}`

// opaque leaves out the members that were refused, and has the first call signed where the
// model requires that.
func (c *conversation) opaque(out *Message) {
	out.extra = wire.WithoutFields(out.extra, c.q.Without)
	c.sent.Fields = append(c.sent.Fields, wire.FieldNames(out.extra)...)
	for i := range out.ToolCalls {
		one := &out.ToolCalls[i]
		one.extra = wire.WithoutFields(one.extra, c.q.Without)
		signed := strings.Contains(string(one.extra), "thought_signature")
		if signed && c.now.Dummies || !signed && i == 0 && c.q.Signed {
			one.extra = wire.JoinFields(one.extra, json.RawMessage(dummySignature))
		} else if signed {
			c.sent.Signatures = true
		}
		c.sent.Fields = append(c.sent.Fields, wire.FieldNames(one.extra)...)
	}
}

// finish returns the messages as the model's template takes them.
func (c *conversation) finish(system string) []Message {
	c.fillReasoning()
	list := c.list
	if system != "" {
		c.sent.System = !c.q.NoSystem
		if c.q.NoSystem {
			list = foldSystem(list, system)
		} else {
			list = append([]Message{{Role: "system", Content: system}}, list...)
		}
	}
	if c.q.Alternate {
		list = joinNeighbours(list)
	}
	return list
}

// fillReasoning adds an empty reasoning_content to the calls that have none, if any message
// has one: servers that require the field require it Beside each call.
func (c *conversation) fillReasoning() {
	if !slices.ContainsFunc(c.list, func(m Message) bool { return m.ReasoningContent != nil }) {
		return
	}
	for i := range c.list {
		if m := &c.list[i]; len(m.ToolCalls) > 0 && m.ReasoningContent == nil && m.Reasoning == nil && len(m.Details) == 0 {
			m.ReasoningContent = new(string)
		}
	}
}

// foldSystem puts the system prompt at the beginning of the first question.
func foldSystem(list []Message, system string) []Message {
	for i, m := range list {
		if m.Role == "user" {
			list = slices.Clone(list)
			list[i].Content = joinContent(system, m.Content)
			return list
		}
	}
	return append([]Message{{Role: "user", Content: system}}, list...)
}

// joinNeighbours joins neighbouring messages of users and of the model.
func joinNeighbours(list []Message) []Message {
	var out []Message
	for _, m := range list {
		last := len(out) - 1
		if last < 0 || out[last].Role != m.Role || m.Role != "user" && m.Role != "assistant" || len(out[last].ToolCalls) > 0 {
			out = append(out, m)
			continue
		}
		m.Content = joinContent(out[last].Content, m.Content)
		m.extra = wire.JoinFields(out[last].extra, m.extra)
		if m.ReasoningContent == nil && m.Reasoning == nil && len(m.Details) == 0 {
			m.ReasoningContent, m.Reasoning, m.Details = out[last].ReasoningContent, out[last].Reasoning, out[last].Details
		}
		out[last] = m
	}
	return out
}

// joinContent joins two contents.
func joinContent(a, b any) any {
	first, isText := a.(string)
	second, isTextToo := b.(string)
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case isText && isTextToo:
		return first + "\n\n" + second
	}
	return append(asParts(a), asParts(b)...)
}

// asParts returns a content as a list of parts, which has none for an empty text.
func asParts(content any) []contentPart {
	if text, ok := content.(string); ok {
		if text == "" {
			return nil
		}
		return []contentPart{{Type: "text", Text: text}}
	}
	parts, _ := content.([]contentPart)
	return slices.Clone(parts)
}

// simplest returns parts as a string where they are text alone, which every server takes.
func simplest(parts []contentPart) any {
	var texts []string
	for _, part := range parts {
		if part.Type != "text" {
			return parts
		}
		texts = append(texts, part.Text)
	}
	return strings.Join(texts, "\n\n")
}

// contentParts returns the parts of a message, or the media of a result, as the API has them.
func (c *conversation) contentParts(parts []provider.Part) []contentPart {
	var out []contentPart
	for _, part := range parts {
		switch {
		case part.Kind == provider.ImagePart && c.q.Chunks:
			out = append(out, contentPart{Type: "image_url", Image: wire.DataURL(part)})
		case part.Kind == provider.ImagePart:
			out = append(out, contentPart{Type: "image_url", Image: imageURL{wire.DataURL(part)}})
		case part.Kind == provider.AudioPart && !c.q.Chunks:
			format := "wav"
			if part.MIME == "audio/mpeg" {
				format = "mp3"
			}
			out = append(out, contentPart{Type: "input_audio", Audio: &audioData{base64.StdEncoding.EncodeToString(part.Data), format}})
		case part.Text != "":
			out = append(out, contentPart{Type: "text", Text: part.Text})
		}
	}
	return out
}
