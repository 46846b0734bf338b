package anthropic

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/providertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.HTTP(suiteWire()))
}

func suiteWire() providertest.Wire {
	return providertest.Wire{
		New: func(t *testing.T, base string, c providertest.Config, client *http.Client) provider.Provider {
			p, err := New(Options{
				BaseURL: base, Client: client, FirstByte: c.FirstByte, Between: c.Between,
				Key: func(context.Context) (string, error) { return providertest.Key, nil },
			})
			if err != nil {
				t.Fatal(err)
			}
			return p
		},
		Chat:        "/v1/messages",
		ContentType: "text/event-stream; charset=utf-8",
		Idle:        ": still there\n\n",
		Piece:       suitePiece, Finish: suiteFinish, Refuse: suiteRefuse, Seen: suiteSeen,
		Key: func(h http.Header) string {
			if h.Get("Anthropic-Version") != version || h.Get("Authorization") != "" {
				return "no version, or a key where none belongs"
			}
			return "Bearer " + h.Get("X-Api-Key")
		},
	}
}

type obj = map[string]any

// sends is an event as it is sent.
func sends(kind string, v obj) string {
	v["type"] = kind
	b, _ := json.Marshal(v)
	return "event: " + kind + "\ndata: " + string(b) + "\n\n"
}

// sendsBlock is a block of one piece.
func sendsBlock(index int, block obj, deltas ...obj) string {
	out := sends("content_block_start", obj{"index": index, "content_block": block})
	for _, d := range deltas {
		out += sends("content_block_delta", obj{"index": index, "delta": d})
	}
	return out + sends("content_block_stop", obj{"index": index})
}

func suitePiece(p providertest.Piece) string {
	switch {
	case p.Text != "":
		return sendsBlock(1, obj{"type": "text", "text": ""}, obj{"type": "text_delta", "text": p.Text})
	case p.Reasoning != "":
		return sendsBlock(0, obj{"type": "thinking", "thinking": "", "signature": ""},
			obj{"type": "thinking_delta", "thinking": p.Reasoning}, obj{"type": "signature_delta", "signature": "c2ln"})
	case p.Error != "":
		return sends("error", obj{"error": obj{"type": "api_error", "message": p.Error}})
	case p.Garbage:
		return "event: content_block_delta\ndata: <garbage>\n\n"
	}
	call := obj{"type": "tool_use", "id": p.Call.ID, "name": p.Call.Name, "input": obj{}}
	var deltas []obj
	switch p.Call.Form {
	case providertest.ArgsEmpty:
		deltas = []obj{{"type": "input_json_delta", "partial_json": ""}}
	case providertest.ArgsNull:
		call["input"] = nil
	case providertest.ArgsMissing:
		delete(call, "input")
	case providertest.ArgsGiven:
		half := len(p.Call.Args) / 2
		deltas = []obj{
			{"type": "input_json_delta", "partial_json": ""},
			{"type": "input_json_delta", "partial_json": p.Call.Args[:half]},
			{"type": "input_json_delta", "partial_json": p.Call.Args[half:]},
		}
	}
	return sendsBlock(2, call, deltas...)
}

func suiteFinish(p providertest.Play) string {
	reason := map[string]string{provider.StopLength: "max_tokens"}[p.Stop]
	if reason == "" {
		reason = "end_turn"
	}
	end := obj{"delta": obj{"stop_reason": reason, "stop_sequence": nil}}
	if p.Usage != nil {
		end["usage"] = obj{"input_tokens": p.Usage.InputTokens, "output_tokens": p.Usage.OutputTokens}
	}
	return sends("message_delta", end) + sends("message_stop", obj{})
}

func errorBody(kind, message string) string {
	b, _ := json.Marshal(obj{"type": "error", "error": obj{"type": kind, "message": message}, "request_id": "req_011CSHoEeqs5C35K2UUqR7Fy"})
	return string(b)
}

func suiteRefuse(why providertest.RefusalWhy) (int, string) {
	switch why {
	case providertest.BadKey:
		return 401, errorBody("authentication_error", "invalid x-api-key "+providertest.Key)
	case providertest.NoSuchModel:
		return 404, errorBody("not_found_error", "model: "+providertest.ModelName)
	case providertest.TooMany:
		return 429, errorBody("rate_limit_error", "This request would exceed your organization's rate limit of 50 requests per minute")
	case providertest.Unavailable:
		return 503, "<html><head><title>503 Service Temporarily Unavailable</title></head></html>"
	case providertest.TooLong:
		return 400, errorBody("invalid_request_error", "prompt is too long: 213462 tokens > 200000 maximum")
	case providertest.NoToolChoice:
		return 400, errorBody("invalid_request_error", "tool_choice: not supported for this model")
	case providertest.NoTools:
		return 400, errorBody("invalid_request_error", "'"+providertest.ModelName+"' does not support tools.")
	}
	return 500, errorBody("api_error", "Internal server error")
}

// sent is a request as it came in.
type sent struct {
	Model     string
	MaxTokens int `json:"max_tokens"`
	Stream    bool
	System    []sentBlock
	Messages  []struct {
		Role    string
		Content []sentBlock
	}
	Tools []struct {
		Name        string
		Description string
		InputSchema json.RawMessage `json:"input_schema"`
	}
	ToolChoice   *toolChoice   `json:"tool_choice"`
	OutputConfig *outputConfig `json:"output_config"`
	Thinking     *thinkConfig
	Temperature  *float64
	TopP         *float64 `json:"top_p"`
	Stop         []string `json:"stop_sequences"`
}

type sentBlock struct {
	Type      string
	Text      string
	Thinking  string
	Source    imageSource
	ID        string
	Name      string
	Input     json.RawMessage
	ToolUseID string `json:"tool_use_id"`
	Content   string
}

func suiteSeen(raw []byte) (providertest.Seen, error) {
	var r sent
	if err := json.Unmarshal(raw, &r); err != nil {
		return providertest.Seen{}, err
	}
	if !r.Stream || r.MaxTokens <= 0 {
		return providertest.Seen{}, fmt.Errorf("it asks for no stream, or for no tokens: %s", raw)
	}
	seen := providertest.Seen{Model: r.Model, MaxTokens: r.MaxTokens, Temperature: r.Temperature, TopP: r.TopP, Stop: r.Stop}
	for _, t := range r.Tools {
		if r.ToolChoice != nil && t.Name == r.ToolChoice.Name && t.Name == answerKey {
			seen.Schema = t.InputSchema
			continue
		}
		seen.Tools = append(seen.Tools, provider.ToolSpec{Name: t.Name, Description: t.Description, InputSchema: t.InputSchema})
	}
	switch c := r.ToolChoice; {
	case c == nil || c.Type == "tool" && c.Name == answerKey: // that is how a schema is sent
	case c.Type == "any" && c.Name == "":
		seen.MustCall = provider.AnyTool
	case c.Type == "tool" && c.Name != "":
		seen.MustCall = c.Name
	default:
		return seen, fmt.Errorf("its tool_choice is %+v", c)
	}
	for _, b := range r.System {
		seen.Messages = append(seen.Messages, providertest.SeenMessage{Role: "system", Text: b.Text})
	}
	for i, m := range r.Messages {
		if i > 0 && r.Messages[i-1].Role == m.Role {
			return seen, fmt.Errorf("two messages of %s follow each other", m.Role)
		}
		seen.Messages = append(seen.Messages, seenMessages(m.Role, m.Content)...)
	}
	return seen, nil
}

// seenMessages splits the results of tools from what a person says after them.
func seenMessages(role string, content []sentBlock) []providertest.SeenMessage {
	var out []providertest.SeenMessage
	said := providertest.SeenMessage{Role: role}
	var texts []string
	for _, b := range content {
		switch b.Type {
		case "text":
			texts = append(texts, b.Text)
		case "image":
			said.Images = append(said.Images, b.Source.MediaType+","+b.Source.Data)
		case "thinking":
			said.Thinking += b.Thinking
		case "tool_use":
			said.Calls = append(said.Calls, provider.ToolCall{ID: b.ID, Name: b.Name, Args: b.Input})
		case "tool_result":
			out = append(out, providertest.SeenMessage{Role: "tool", Text: b.Content, CallID: b.ToolUseID})
		}
	}
	glue := "\n\n"
	if role == roleAssistant {
		glue = ""
	}
	said.Text = strings.Join(texts, glue)
	if said.Text == "" && said.Images == nil && said.Calls == nil {
		return out
	}
	return append(out, said)
}
