package mistral

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/chatcompletions"
	"github.com/fettle-cli/fettle/engine/provider/providertest"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.HTTP(suiteWire()))
}

func suiteWire() providertest.Wire {
	return providertest.Wire{
		New: func(t *testing.T, base string, c providertest.Config, client *http.Client) provider.Provider {
			p, err := New(Options{Options: wire.Options{
				BaseURL: base, Client: client, FirstByte: c.FirstByte, Between: c.Between,
				Key: func(context.Context) (string, error) { return providertest.Key, nil },
			}})
			if err != nil {
				t.Fatal(err)
			}
			return p
		},
		Chat:        "/v1/chat/completions",
		ContentType: "text/event-stream; charset=utf-8",
		Idle:        ": still there\n\n",
		Piece:       suitePiece, Finish: suiteFinish, Refuse: suiteRefuse, Seen: suiteSeen,
	}
}

type obj = map[string]any

// sends is an event as it is sent.
func sends(v any) string {
	b, _ := json.Marshal(v)
	return "data: " + string(b) + "\n\n"
}

// sendsDelta is an event with a delta and a finish reason, if there is one.
func sendsDelta(delta obj, finish string) string {
	choice := obj{"index": 0, "delta": delta, "finish_reason": nil}
	if finish != "" {
		choice["finish_reason"] = finish
	}
	return sends(obj{"id": "cmpl-1", "object": "chat.completion.chunk", "model": "m", "choices": []any{choice}})
}

func suitePiece(p providertest.Piece) string {
	switch {
	case p.Text != "":
		return sendsDelta(obj{"content": p.Text}, "")
	case p.Reasoning != "":
		return sendsDelta(obj{"content": []any{obj{"type": "thinking", "thinking": []any{obj{"type": "text", "text": p.Reasoning}}}}}, "")
	case p.Error != "":
		return sends(obj{"object": "error", "message": p.Error, "type": "internal_server_error", "code": "1000"})
	case p.Garbage:
		return "data: <garbage>\n\n"
	}
	call := func(fn obj) string {
		return sendsDelta(obj{"tool_calls": []any{obj{"id": p.Call.ID, "index": 0, "function": fn}}}, "")
	}
	switch p.Call.Form {
	case providertest.ArgsEmpty:
		return call(obj{"name": p.Call.Name, "arguments": ""})
	case providertest.ArgsNull:
		return call(obj{"name": p.Call.Name, "arguments": nil})
	case providertest.ArgsMissing:
		return call(obj{"name": p.Call.Name})
	}
	half := len(p.Call.Args) / 2
	return call(obj{"name": p.Call.Name, "arguments": p.Call.Args[:half]}) + call(obj{"name": "", "arguments": p.Call.Args[half:]})
}

func suiteFinish(p providertest.Play) string {
	reason := map[string]string{provider.StopLength: "length"}[p.Stop]
	if reason == "" {
		reason = "stop"
	}
	end := obj{"choices": []any{obj{"index": 0, "delta": obj{"content": ""}, "finish_reason": reason}}}
	if p.Usage != nil {
		end["usage"] = obj{"prompt_tokens": p.Usage.InputTokens, "completion_tokens": p.Usage.OutputTokens}
	}
	return sends(end) + "data: [DONE]\n\n"
}

func errorBody(kind, code, message string) string {
	b, _ := json.Marshal(obj{"object": "error", "message": message, "type": kind, "param": nil, "code": code})
	return string(b)
}

func suiteRefuse(why providertest.RefusalWhy) (int, string) {
	switch why {
	case providertest.BadKey:
		return 401, `{"detail":"Unauthorized: ` + providertest.Key + `"}`
	case providertest.NoSuchModel:
		return 400, errorBody("invalid_model", "1500", "Invalid model: "+providertest.ModelName)
	case providertest.TooMany:
		return 429, errorBody("rate_limited", "1300", "Rate limit exceeded")
	case providertest.Unavailable:
		return 503, "<html><head><title>503 Service Temporarily Unavailable</title></head></html>"
	case providertest.TooLong:
		return 400, errorBody("context_length_exceeded", "3051", "Prompt contains 213462 tokens and 0 draft tokens, too large for model with 131072 maximum context length")
	case providertest.NoToolChoice:
		return 400, errorBody("invalid_request_error", "3051", "tool_choice is not supported by this model")
	case providertest.NoTools:
		return 400, errorBody("invalid_request_error", "3000", "Function calling is not enabled for this model")
	}
	return 500, errorBody("internal_server_error", "1000", "Internal server error")
}

// sent is a request as it came in.
type sent struct {
	Model    string
	Stream   bool
	Messages []sentMessage
	Tools    []struct {
		Function struct {
			Name, Description string
			Parameters        json.RawMessage
		}
	}
	ToolChoice json.RawMessage `json:"tool_choice"`
	Format     *struct {
		Type   string
		Schema struct {
			Name   string
			Schema json.RawMessage
			Strict bool
		} `json:"json_schema"`
	} `json:"response_format"`
	MaxTokens   int `json:"max_tokens"`
	Temperature *float64
	TopP        *float64 `json:"top_p"`
	Stop        []string
}

type sentMessage struct {
	Role       string
	Content    json.RawMessage
	ToolCalls  []chatcompletions.Call `json:"tool_calls"`
	ToolCallID string                 `json:"tool_call_id"`
	Name       string
}

// suiteSeen reads a request. Ids that the suite made up are in the form that
// the API wants, and are turned back.
func suiteSeen(raw []byte) (providertest.Seen, error) {
	var r sent
	if err := json.Unmarshal(raw, &r); err != nil {
		return providertest.Seen{}, err
	}
	if !r.Stream {
		return providertest.Seen{}, fmt.Errorf("it asks for no stream: %s", raw)
	}
	seen := providertest.Seen{Model: r.Model, MaxTokens: r.MaxTokens, Temperature: r.Temperature, TopP: r.TopP, Stop: r.Stop}
	for _, t := range r.Tools {
		seen.Tools = append(seen.Tools, provider.ToolSpec{Name: t.Function.Name, Description: t.Function.Description, InputSchema: t.Function.Parameters})
	}
	if r.Format != nil && r.Format.Type == "json_schema" && r.Format.Schema.Name != "" && r.Format.Schema.Strict {
		seen.Schema = r.Format.Schema.Schema
	}
	var err error
	if seen.MustCall, err = providertest.ChoiceSeen(r.ToolChoice, "any"); err != nil {
		return seen, err
	}
	own := func(id string) string {
		if id == wire.NineID("call_1") {
			return "call_1"
		}
		return id
	}
	for i, m := range r.Messages {
		if err := follows(r.Messages[:i], m); err != nil {
			return seen, err
		}
		msg, err := seenMessage(m)
		if err != nil {
			return seen, err
		}
		if msg.Text == chatcompletions.Stopped {
			continue
		}
		msg.CallID = own(m.ToolCallID)
		for i := range msg.Calls {
			msg.Calls[i].ID = own(msg.Calls[i].ID)
		}
		seen.Messages = append(seen.Messages, msg)
	}
	return seen, nil
}

// follows checks the order of messages as the API does.
func follows(before []sentMessage, m sentMessage) error {
	role := ""
	if len(before) > 0 {
		role = before[len(before)-1].Role
	}
	allowed := map[string][]string{
		"system": {""}, "user": {"", "system", "assistant"}, "assistant": {"", "system", "user", "assistant", "tool"}, "tool": {"assistant", "tool"},
	}
	if !slices.Contains(allowed[m.Role], role) {
		return fmt.Errorf("a message of %q follows one of %q", m.Role, role)
	}
	if m.Role == "assistant" && len(m.ToolCalls) == 0 && (len(m.Content) <= len(`""`)) {
		return fmt.Errorf("an answer says nothing")
	}
	for _, id := range append([]string{m.ToolCallID}, ids(m.ToolCalls)...) {
		if id != "" && wire.NineID(id) != id {
			return fmt.Errorf("the API takes no id like %q", id)
		}
	}
	return nil
}

func ids(calls []chatcompletions.Call) (out []string) {
	for _, c := range calls {
		out = append(out, c.ID)
	}
	return out
}

func seenMessage(m sentMessage) (providertest.SeenMessage, error) {
	out := providertest.SeenMessage{Role: m.Role}
	for _, c := range m.ToolCalls {
		out.Calls = append(out.Calls, provider.ToolCall{ID: c.ID, Name: c.Function.Name, Args: json.RawMessage(c.Function.Arguments)})
	}
	if json.Unmarshal(m.Content, &out.Text) == nil {
		return out, nil
	}
	var chunks []struct {
		Type, Text string
		Image      string `json:"image_url"`
		Thinking   []struct{ Text string }
	}
	if err := json.Unmarshal(m.Content, &chunks); err != nil {
		return out, err
	}
	for _, c := range chunks {
		out.Text += c.Text
		for _, thought := range c.Thinking {
			out.Thinking += thought.Text
		}
		if c.Image != "" {
			out.Images = append(out.Images, strings.Replace(strings.TrimPrefix(c.Image, "data:"), ";base64,", ",", 1))
		}
	}
	return out, nil
}
