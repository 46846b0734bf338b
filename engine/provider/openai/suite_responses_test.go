package openai

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/providertest"
)

// lacksStops is what the Responses API has nothing of.
var lacksStops = map[string]string{"sends stop texts": "the Responses API has no stop sequences"}

// responsesWire is suiteWire for the Responses API.
func responsesWire(t *testing.T) providertest.Wire {
	w := suiteWire()
	w.New = newSuiteProvider(Options{API: APIResponses})
	w.Chat = "/v1/responses"
	w.Idle = ": still there\n\n"
	w.Piece, w.Finish, w.Seen = responsesPiece, responsesFinish, responsesSeen
	return w
}

// sendsEvent is an event of the Responses API. Its place is that of the only item of its type,
// so that the pieces of a play need no count.
func sendsEvent(kind string, members obj) string {
	members["type"] = kind
	b, _ := json.Marshal(members)
	return "event: " + kind + "\ndata: " + string(b) + "\n\n"
}

func responsesPiece(p providertest.Piece) string {
	switch {
	case p.Text != "":
		return sendsEvent("response.output_text.delta", obj{"output_index": 1, "content_index": 0, "item_id": "msg_1", "delta": p.Text})
	case p.Reasoning != "":
		return sendsEvent("response.reasoning_summary_text.delta", obj{"output_index": 0, "summary_index": 0, "item_id": "rs_1", "delta": p.Reasoning})
	case p.Error != "":
		return sendsEvent("error", obj{"code": "server_error", "message": p.Error, "param": nil})
	case p.Garbage:
		return "data: <garbage>\n\n"
	}
	item := obj{"type": "function_call", "id": "fc_1", "call_id": p.Call.ID, "name": p.Call.Name, "status": "completed"}
	switch p.Call.Form {
	case providertest.ArgsEmpty:
		item["arguments"] = ""
	case providertest.ArgsNull:
		item["arguments"] = nil
	case providertest.ArgsGiven:
		item["arguments"] = p.Call.Args
	}
	return sendsEvent("response.output_item.added", obj{"output_index": 2, "item": obj{"type": "function_call", "id": "fc_1", "call_id": p.Call.ID, "name": p.Call.Name}}) +
		sendsEvent("response.output_item.done", obj{"output_index": 2, "item": item})
}

func responsesFinish(p providertest.Play) string {
	out := ""
	thought := ""
	for _, pieces := range p.Writes {
		for _, piece := range pieces {
			thought += piece.Reasoning
		}
	}
	if thought != "" {
		out = sendsEvent("response.output_item.done", obj{"output_index": 0, "item": obj{
			"type": "reasoning", "id": "rs_1", "summary": []obj{{"type": "summary_text", "text": thought}}, "encrypted_content": "gAAA",
		}})
	}
	response, kind := obj{"status": "completed"}, "response.completed"
	if p.Stop == provider.StopLength {
		response, kind = obj{"status": "incomplete", "incomplete_details": obj{"reason": "max_output_tokens"}}, "response.incomplete"
	}
	if p.Usage != nil {
		response["usage"] = obj{"input_tokens": p.Usage.InputTokens, "output_tokens": p.Usage.OutputTokens}
	}
	return out + sendsEvent(kind, obj{"response": response})
}

// responsesSeen reads a request as OpenAI would, which refuses what it does not know.
func responsesSeen(raw []byte) (providertest.Seen, error) {
	var r struct {
		Model        string
		Stream       bool
		Store        *bool
		Instructions string
		Include      []string
		Input        []json.RawMessage
		Tools        []struct {
			Type, Name, Description string
			Parameters              json.RawMessage
			Strict                  *bool
		}
		ToolChoice json.RawMessage `json:"tool_choice"`
		Text       struct {
			Format struct {
				Type, Name string
				Schema     json.RawMessage
			}
		}
		MaxTokens   int `json:"max_output_tokens"`
		Temperature *float64
		TopP        *float64 `json:"top_p"`
		Reasoning   json.RawMessage
	}
	if err := strictly(raw, &r); err != nil {
		return providertest.Seen{}, err
	}
	if !r.Stream || r.Store == nil || *r.Store || len(r.Include) != 1 {
		return providertest.Seen{}, fmt.Errorf("it asks for no stream, has the answer stored, or gets no reasoning: %s", raw)
	}
	seen := providertest.Seen{Model: r.Model, MaxTokens: r.MaxTokens, Temperature: r.Temperature, TopP: r.TopP, Schema: r.Text.Format.Schema}
	var choice struct{ Type, Name string }
	switch {
	case len(r.ToolChoice) == 0:
	case string(r.ToolChoice) == `"required"`:
		seen.MustCall = provider.AnyTool
	case strictly(r.ToolChoice, &choice) != nil || choice.Type != "function":
		return seen, fmt.Errorf("its tool_choice is %s", r.ToolChoice)
	default:
		seen.MustCall = choice.Name
	}
	for _, t := range r.Tools {
		if t.Type != "function" || t.Strict == nil {
			return seen, fmt.Errorf("a tool of the type %q, strict %v", t.Type, t.Strict)
		}
		seen.Tools = append(seen.Tools, provider.ToolSpec{Name: t.Name, Description: t.Description, InputSchema: t.Parameters})
	}
	if r.Instructions != "" {
		seen.Messages = append(seen.Messages, providertest.SeenMessage{Role: "system", Text: r.Instructions})
	}
	for _, item := range r.Input {
		if err := seeItem(&seen, item); err != nil {
			return seen, err
		}
	}
	return seen, nil
}

func strictly(raw []byte, v any) error {
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.DisallowUnknownFields()
	return dec.Decode(v)
}

// seeItem adds an item to the messages: one message of an answer may be several items.
func seeItem(seen *providertest.Seen, raw json.RawMessage) error {
	var i struct {
		Type, Role, Name, Arguments string
		CallID                      string `json:"call_id"`
		Content                     []struct {
			Type, Text, Detail string
			ImageURL           string `json:"image_url"`
		}
		Output    json.RawMessage
		Summary   []struct{ Type, Text string }
		Encrypted string `json:"encrypted_content"`
	}
	if err := strictly(raw, &i); err != nil {
		return fmt.Errorf("item %s: %w", raw, err)
	}
	answer := func() *providertest.SeenMessage {
		if n := len(seen.Messages); n == 0 || seen.Messages[n-1].Role != "assistant" || len(seen.Messages[n-1].Calls) > 0 && i.Type != "function_call" {
			seen.Messages = append(seen.Messages, providertest.SeenMessage{Role: "assistant"})
		}
		return &seen.Messages[len(seen.Messages)-1]
	}
	switch {
	case i.Type == "message" && i.Role == "assistant":
		for _, part := range i.Content {
			answer().Text += part.Text
		}
	case i.Type == "message":
		m := providertest.SeenMessage{Role: i.Role}
		for _, part := range i.Content {
			m.Text += part.Text
			if part.ImageURL != "" {
				m.Images = append(m.Images, strings.Replace(strings.TrimPrefix(part.ImageURL, "data:"), ";base64,", ",", 1))
			}
		}
		seen.Messages = append(seen.Messages, m)
	case i.Type == "reasoning" && i.Encrypted != "":
		for _, part := range i.Summary {
			answer().Thinking += part.Text
		}
	case i.Type == "function_call":
		answer().Calls = append(answer().Calls, provider.ToolCall{ID: i.CallID, Name: i.Name, Args: json.RawMessage(i.Arguments)})
	case i.Type == "function_call_output":
		m := providertest.SeenMessage{Role: "tool", CallID: i.CallID}
		if err := json.Unmarshal(i.Output, &m.Text); err != nil {
			return err
		}
		seen.Messages = append(seen.Messages, m)
	default:
		return fmt.Errorf("an item that is refused: %s", raw)
	}
	return nil
}
