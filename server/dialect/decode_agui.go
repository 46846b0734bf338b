package dialect

import (
	"encoding/json"
)

// aguiRequest is RunAgentInput.
type aguiRequest struct {
	Protocol    json.RawMessage `json:"protocolVersion"`
	ThreadID    string          `json:"threadId"`
	RunID       string          `json:"runId"`
	ParentRunID string          `json:"parentRunId"`
	State       json.RawMessage `json:"state"`
	Messages    []aguiMessage   `json:"messages"`
	Tools       []aisdkTool     `json:"tools"`
	Context     []struct {
		Description string          `json:"description"`
		Value       json.RawMessage `json:"value"`
	} `json:"context"`
	Forwarded json.RawMessage `json:"forwardedProps"`
	Resume    []struct {
		InterruptID string          `json:"interruptId"`
		Status      string          `json:"status"`
		Payload     json.RawMessage `json:"payload"`
	} `json:"resume"`
}

type aguiMessage struct {
	ID        string          `json:"id"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	CallID    string          `json:"toolCallId"`
	Error     string          `json:"error"`
	ToolCalls []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"function"`
	} `json:"toolCalls"`
}

func decodeAGUI(r *Request, body []byte) *FieldError {
	var in aguiRequest
	if err := read("", body, &in); err != nil {
		return err
	}
	if in.ThreadID == "" || in.RunID == "" {
		return wrong("threadId", "a run needs a threadId and a runId")
	}
	r.ThreadID, r.RunID, r.ParentRunID, r.Stream = in.ThreadID, in.RunID, in.ParentRunID, true
	r.State, r.Forwarded = in.State, in.Forwarded
	var props struct {
		Model   string `json:"model"`
		Confirm bool   `json:"confirm"`
		callSettings
	}
	if isObject(in.Forwarded) && json.Unmarshal(in.Forwarded, &props) == nil {
		r.Model, r.Confirm = props.Model, props.Confirm
		props.into(r)
		r.unread("forwardedProps.", in.Forwarded, props)
	}
	r.unread("", body, in)
	r.ignore("state", isObject(in.State) && len(siblings(in.State)) > 0)
	for _, t := range in.Tools {
		r.Tools = append(r.Tools, t.tool())
	}
	for _, c := range in.Context {
		r.Notes = append(r.Notes, Note{Name: c.Description, Text: jsonText(c.Value)})
	}
	for i, a := range in.Resume {
		answer, err := resumeOf(item("resume", i), a.InterruptID, a.Status, a.Payload)
		if err != nil {
			return err
		}
		r.Answers = append(r.Answers, answer)
	}
	for i, m := range in.Messages {
		if err := m.add(r, item("messages", i)); err != nil {
			return err
		}
	}
	if len(r.Answers) > 0 {
		return nil // what it goes on with is known
	}
	return nonEmpty(r)
}

// resumeOf reads an answer to an interrupt. Its payload is what the interrupt's
// responseSchema asks for, or simply true or false. What can't be read as a yes
// is a no.
func resumeOf(field, id, status string, payload json.RawMessage) (Answer, *FieldError) {
	if id == "" {
		return Answer{}, wrong(field+".interruptId", isMissing)
	}
	a := Answer{ID: id}
	switch status {
	case "cancelled":
		return a, nil
	case "resolved":
	default:
		return a, wrong(field+".status", "is neither resolved nor cancelled")
	}
	var given struct {
		Approved bool   `json:"approved"`
		Remember string `json:"remember"`
		Reason   string `json:"reason"`
	}
	switch {
	case null(payload):
	case isObject(payload):
		if err := read(field+".payload", payload, &given); err != nil {
			return a, err
		}
	default:
		if err := read(field+".payload", payload, &given.Approved); err != nil {
			return a, err
		}
	}
	switch given.Remember {
	case "", "chat", "always":
	default:
		return a, wrong(field+".payload.remember", "is neither chat nor always")
	}
	a.Approved, a.Remember, a.Reason = given.Approved, given.Remember, words(given.Reason)
	return a, nil
}

func (m aguiMessage) add(r *Request, field string) *FieldError {
	switch m.Role {
	case "activity":
		return nil // what a page showed of the work
	case "reasoning":
		if text := jsonText(m.Content); text != "" && !null(m.Content) {
			r.assistant(Part{Kind: Reasoning, Text: text})
		}
		return nil
	}
	role, err := roleOf(field, m.Role)
	if err != nil {
		return err
	}
	parts, err := m.content(field + ".content")
	if err != nil {
		return err
	}
	msg := Message{ID: m.ID, Role: role, Parts: parts}
	if role == ToolRole {
		if m.CallID == "" {
			return wrong(field+".toolCallId", isMissing)
		}
		text := textOf(parts)
		if text == "" {
			text = m.Error
		}
		msg.Parts = []Part{{Kind: Result, Result: &ToolResult{ID: m.CallID, Text: text, Error: m.Error != ""}}}
	}
	for i, c := range m.ToolCalls {
		at := item(field+".toolCalls", i)
		args, err := argsOf(at+".function.arguments", c.Function.Arguments)
		if err != nil {
			return err
		}
		if c.ID == "" || c.Function.Name == "" {
			return wrong(at, "has no id or no name")
		}
		msg.Parts = append(msg.Parts, Part{Kind: Call, Call: &ToolCall{ID: c.ID, Name: c.Function.Name, Args: args}})
	}
	r.Messages = append(r.Messages, msg)
	return nil
}

// content reads a text, or parts: texts, images and documents.
func (m aguiMessage) content(field string) ([]Part, *FieldError) {
	if null(m.Content) || begins(m.Content) == '"' {
		return contentOf(field, m.Content)
	}
	var list []struct {
		Type   string `json:"type"`
		Text   string `json:"text"`
		Source struct {
			Type  string `json:"type"`
			Value string `json:"value"`
			MIME  string `json:"mimeType"`
		} `json:"source"`
		// The form before 1.0.
		URL  string `json:"url"`
		Data string `json:"data"`
		MIME string `json:"mimeType"`
		Name string `json:"filename"`
	}
	if err := read(field, m.Content, &list); err != nil {
		return nil, err
	}
	var out []Part
	for i, p := range list {
		at := item(field, i)
		if p.Type == "text" {
			out = append(out, textPart(p.Text))
			continue
		}
		kind := File
		if p.Type == "image" {
			kind = Image
		}
		part := Part{Kind: kind, MIME: mimeType(p.Source.MIME + p.MIME), Name: p.Name}
		var err *FieldError
		switch {
		case p.Type != "image" && p.Type != "document" && p.Type != "binary":
			return nil, wrong(at, "parts of type "+p.Type+" can't be taken")
		case p.Source.Type == "data" || p.Data != "":
			part.Data, err = unbase64(at, p.Source.Value+p.Data)
		case p.Source.Type == "url" || p.URL != "":
			part, err = media(at, kind, p.Source.Value+p.URL)
		default:
			return nil, wrong(at, "files have to come with their data or an address")
		}
		if err != nil {
			return nil, err
		}
		out = append(out, part)
	}
	return out, nil
}
