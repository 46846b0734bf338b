package dialect

import "encoding/json"

// decodeChat reads document 000's request: useGeneralChat's sendMessage with
// the context that it keeps.
func decodeChat(r *Request, body []byte) *FieldError {
	var in struct {
		Message      string          `json:"message"`
		Conversation *int64          `json:"conversation_id"`
		Context      json.RawMessage `json:"context"`
		Interaction  string          `json:"interaction_type"`
		Action       json.RawMessage `json:"action_metadata"`
		Tools        []string        `json:"tools"`
		Model        string          `json:"model"`
		Stream       *bool           `json:"stream"`
	}
	if err := read("", body, &in); err != nil {
		return err
	}
	if in.Conversation != nil {
		if r.ChatNumber = *in.Conversation; r.ChatNumber < 0 {
			return wrong("conversation_id", "is no chat's number")
		}
	}
	if !null(in.Context) && !isObject(in.Context) {
		return wrong("context", "is no object")
	}
	if !null(in.Action) && !isObject(in.Action) {
		return wrong("action_metadata", "is no object")
	}
	if len(in.Tools) > maxTools {
		return wrong("tools", "there are too many")
	}
	for i, t := range in.Tools {
		if problem := badName(t); problem != "" {
			return wrong(item("tools", i), problem)
		}
	}
	r.Model, r.Page, r.Interaction, r.Action, r.ToolNames = in.Model, in.Context, in.Interaction, in.Action, in.Tools
	r.Stream = in.Stream == nil || *in.Stream
	return r.says(in.Message)
}

// decodeAgents reads document 003's request.
func decodeAgents(r *Request, body []byte) *FieldError {
	var in struct {
		Session string `json:"session_id"`
		Message string `json:"message"`
	}
	if err := read("", body, &in); err != nil {
		return err
	}
	if in.Session == "" {
		return wrong("session_id", isMissing)
	}
	r.ThreadID, r.Stream = in.Session, true
	return r.says(in.Message)
}

// says makes the one new message.
func (r *Request) says(text string) *FieldError {
	if text == "" {
		return wrong("message", isMissing)
	}
	r.Messages = []Message{{Role: User, Parts: []Part{textPart(text)}}}
	return nil
}
