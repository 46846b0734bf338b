package openai

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

type message struct {
	Role string `json:"role"`
	// Content is a string, a list of parts, or null beside calls alone.
	Content any    `json:"content"`
	Name    string `json:"name,omitempty"` // of the participant
	// ReasoningContent and Reasoning are nil where they are not sent: an empty text is sent.
	ReasoningContent *string           `json:"reasoning_content,omitempty"`
	Reasoning        *string           `json:"reasoning,omitempty"`
	Details          []json.RawMessage `json:"reasoning_details,omitempty"`
	ToolCalls        []call            `json:"tool_calls,omitempty"`
	ToolCallID       string            `json:"tool_call_id,omitempty"`
	Prefix           bool              `json:"prefix,omitempty"`  // see prefillPrefix
	Partial          bool              `json:"partial,omitempty"` // see prefillPartial

	extra json.RawMessage // further members
}

// MarshalJSON writes the message with its further members.
func (m message) MarshalJSON() ([]byte, error) {
	type plain message
	return wire.WithExtra(plain(m), m.extra)
}

type contentPart struct {
	Type  string     `json:"type"`
	Text  string     `json:"text,omitempty"`
	Image *imageURL  `json:"image_url,omitempty"`
	Audio *audioData `json:"input_audio,omitempty"`
}

type imageURL struct {
	URL string `json:"url"`
}

type audioData struct {
	Data   string `json:"data"`
	Format string `json:"format"`
}

type call struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function callFunction `json:"function"`

	extra json.RawMessage // further members, of the function too
}

// MarshalJSON writes the call with its further members.
func (c call) MarshalJSON() ([]byte, error) {
	type plain call
	return wire.WithExtra(plain(c), c.extra)
}

type callFunction struct {
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
	q     quirks
	now   adaption
	names *provider.Names
	ids   *wire.IDs
	list  []message
	sent  sent
}

// sent is what a refusal of the messages may be about.
type sent struct {
	calls      bool     // some calls
	reasoning  bool     // a field with reasoning
	fields     []string // names of members that only the provider understands
	signatures bool     // signatures of the model's own
	media      bool     // images of results in messages of their own
	system     bool     // a message of the system
	encrypted  bool     // encrypted reasoning is asked for
	summary    bool     // a summary of the reasoning is asked for
	store      bool     // the field store
	final      bool     // the members that continue the last message
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
		if content := userContent(m.Parts); content != nil {
			c.list = append(c.list, message{Role: "user", Content: content, Name: m.Speaker()})
		}
	}
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
		out := message{Role: "tool", ToolCallID: c.ids.Result(r.ID), Content: r.Text}
		switch shown := contentParts(r.Media); {
		case len(shown) == 0:
		case c.q.mediaInTool:
			out.Content = append([]contentPart{{Type: "text", Text: r.Text}}, shown...)
		default:
			media = append(media, contentPart{Type: "text", Text: "What " + c.names.Wire(r.Name) + " returned for the call " + out.ToolCallID + ":"})
			media = append(media, shown...)
		}
		c.list = append(c.list, out)
	}
	if len(media) > 0 {
		c.list = append(c.list, message{Role: "user", Content: media})
		c.sent.media = true
	}
}

// answer adds what the model said before. An empty answer, which a cancelled
// turn leaves, is left out: many servers refuse one.
func (c *conversation) answer(m provider.Message) {
	out := message{Role: "assistant"}
	var text, reasoning strings.Builder
	field := ""
	for _, part := range m.Parts {
		switch part.Kind {
		case provider.TextPart:
			text.WriteString(part.Text)
		case provider.ReasoningPart:
			field = cmp.Or(part.Field, field)
			reasoning.WriteString(part.Text)
			out.details(part.Details)
		case provider.ToolCallPart:
			out.ToolCalls = append(out.ToolCalls, call{
				ID: c.ids.Call(part.Call.ID), Type: "function", extra: part.Call.Extra,
				Function: callFunction{Name: c.names.Wire(part.Call.Name), Arguments: string(wire.ObjectArgs(part.Call.Args))},
			})
		}
	}
	if text.Len() == 0 && len(out.ToolCalls) == 0 {
		return
	}
	if text.Len() > 0 {
		out.Content = text.String()
	}
	c.reason(&out, field, reasoning.String())
	c.opaque(&out)
	c.sent.calls = c.sent.calls || len(out.ToolCalls) > 0
	c.list = append(c.list, out)
}

// details takes the reasoning details of this API, and the members of a message that were
// kept among them.
func (m *message) details(raw json.RawMessage) {
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
func (c *conversation) reason(out *message, field, text string) {
	if c.q.noReasoning {
		out.Details = nil
		return
	}
	switch {
	case len(out.Details) > 0:
		c.sent.reasoning = true
		return
	case text == "":
		field = cmp.Or(field, c.q.needs)
	default:
		field = cmp.Or(field, c.q.needs, c.q.reasoning)
	}
	if field == "" {
		return
	}
	c.sent.reasoning = true
	if field == fieldReasoning {
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
func (c *conversation) opaque(out *message) {
	out.extra = wire.WithoutFields(out.extra, c.q.without)
	c.sent.fields = append(c.sent.fields, wire.FieldNames(out.extra)...)
	for i := range out.ToolCalls {
		one := &out.ToolCalls[i]
		one.extra = wire.WithoutFields(one.extra, c.q.without)
		signed := strings.Contains(string(one.extra), "thought_signature")
		if signed && c.now.dummies || !signed && i == 0 && c.q.signed {
			one.extra = wire.JoinFields(one.extra, json.RawMessage(dummySignature))
		} else if signed {
			c.sent.signatures = true
		}
		c.sent.fields = append(c.sent.fields, wire.FieldNames(one.extra)...)
	}
}

// finish returns the messages as the model's template takes them.
func (c *conversation) finish(system string) []message {
	c.fillReasoning()
	list := c.list
	if system != "" {
		c.sent.system = !c.q.noSystem
		if c.q.noSystem {
			list = foldSystem(list, system)
		} else {
			list = append([]message{{Role: "system", Content: system}}, list...)
		}
	}
	if c.q.alternate {
		list = joinNeighbours(list)
	}
	return list
}

// fillReasoning adds an empty reasoning_content to the calls that have none, if any message
// has one: servers that require the field require it beside each call.
func (c *conversation) fillReasoning() {
	if !slices.ContainsFunc(c.list, func(m message) bool { return m.ReasoningContent != nil }) {
		return
	}
	for i := range c.list {
		if m := &c.list[i]; len(m.ToolCalls) > 0 && m.ReasoningContent == nil && m.Reasoning == nil && len(m.Details) == 0 {
			m.ReasoningContent = new(string)
		}
	}
}

// foldSystem puts the system prompt at the beginning of the first question.
func foldSystem(list []message, system string) []message {
	for i, m := range list {
		if m.Role == "user" {
			list = slices.Clone(list)
			list[i].Content = joinContent(system, m.Content)
			return list
		}
	}
	return append([]message{{Role: "user", Content: system}}, list...)
}

// joinNeighbours joins neighbouring messages of users and of the model.
func joinNeighbours(list []message) []message {
	var out []message
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

func asParts(content any) []contentPart {
	if text, ok := content.(string); ok {
		return []contentPart{{Type: "text", Text: text}}
	}
	parts, _ := content.([]contentPart)
	return slices.Clone(parts)
}

// userContent gives a person's message: a string where it is text alone, which
// every server takes, else a list of parts.
func userContent(parts []provider.Part) any {
	list := contentParts(parts)
	var texts []string
	for _, part := range list {
		if part.Type != "text" {
			return list
		}
		texts = append(texts, part.Text)
	}
	if len(list) == 0 {
		return nil
	}
	return strings.Join(texts, "\n\n")
}

// contentParts returns the parts of a message, or the media of a result, as the API has them.
func contentParts(parts []provider.Part) []contentPart {
	var out []contentPart
	for _, part := range parts {
		switch {
		case part.Kind == provider.ImagePart:
			out = append(out, contentPart{Type: "image_url", Image: &imageURL{wire.DataURL(part)}})
		case part.Kind == provider.AudioPart:
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
