package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/chatcompletions"
	"github.com/fettle-cli/fettle/engine/provider/providertest"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// entraToken is a token of Microsoft Entra, as a command prints it.
const entraToken = "eyJhbGciOiJSUzI1NiJ9." + providertest.Key

// Each API runs the suite at a plain address and at Azure, with a key and with a token.
func TestConformance(t *testing.T) {
	t.Parallel()
	const resource = "http://res.openai.azure.com"
	chat, responses := suiteWire(), responsesWire(t)
	deployment, tokens, both := chat, chat, responses
	deployment.New = newSuiteProvider(Options{Options: wire.Options{BaseURL: resource + "/openai/deployments/gpt", Query: map[string]string{"api-version": "2024-10-21"}}})
	deployment.Chat, deployment.Key = "/openai/deployments/gpt/chat/completions", azureKey
	tokens.New = newSuiteProvider(Options{Options: wire.Options{
		BaseURL: "http://res.services.ai.azure.com/openai/v1", Key: func(context.Context) (string, error) { return entraToken, nil },
	}})
	tokens.Chat, tokens.Key = "/openai/v1/chat/completions", azureKey
	both.New = newSuiteProvider(Options{Options: wire.Options{BaseURL: resource}, API: APIResponses})
	both.Chat, both.Key = "/openai/v1/responses", azureKey
	for name, row := range map[string]struct {
		wire  providertest.Wire
		lacks map[string]string
	}{
		"chat":             {chat, nil},
		"responses":        {responses, lacksStops},
		"azure deployment": {deployment, nil},
		"azure token":      {tokens, nil},
		"azure responses":  {both, lacksStops},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := providertest.HTTP(row.wire)
			h.Lacks = row.lacks
			providertest.Run(t, h)
		})
	}
}

// newSuiteProvider makes a provider with these options. An address of Azure is dialled at the
// suite's own server.
func newSuiteProvider(o Options) func(*testing.T, string, providertest.Config, *http.Client) provider.Provider {
	return func(t *testing.T, base string, c providertest.Config, client *http.Client) provider.Provider {
		o := o
		o.Client, o.FirstByte, o.Between = client, c.FirstByte, c.Between
		if o.Key == nil {
			o.Key = func(context.Context) (string, error) { return providertest.Key, nil }
		}
		if o.BaseURL == "" {
			o.BaseURL = base
		} else {
			there := client.Transport.(*http.Transport)
			there.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, network, strings.TrimPrefix(base, "http://"))
			}
		}
		p, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
}

// azureKey reads the key of a request to Azure, where a token is a bearer's and a key has a
// header of its own.
func azureKey(h http.Header) string {
	switch {
	case h.Get("Authorization") == "Bearer "+entraToken && h.Get("Api-Key") == "":
		return "Bearer " + providertest.Key
	case h.Get("Authorization") == "":
		return "Bearer " + h.Get("Api-Key")
	}
	return ""
}

func suiteWire() providertest.Wire {
	return providertest.Wire{
		New:         newSuiteProvider(Options{}),
		Chat:        "/v1/chat/completions",
		ContentType: "text/event-stream",
		Idle:        ": still there\n\n",
		Piece:       suitePiece, Finish: suiteFinish, Refuse: suiteRefuse, Seen: suiteSeen,
	}
}

func data(v any) string {
	b, _ := json.Marshal(v)
	return "data: " + string(b) + "\n\n"
}

type obj = map[string]any

func delta1(d obj, finish any) string {
	return data(obj{"choices": []obj{{"index": 0, "delta": d, "finish_reason": finish}}})
}

func suitePiece(p providertest.Piece) string {
	switch {
	case p.Text != "":
		return delta1(obj{"content": p.Text}, nil)
	case p.Reasoning != "":
		return delta1(obj{"reasoning_content": p.Reasoning}, nil)
	case p.Error != "":
		return data(obj{"error": obj{"message": p.Error, "type": "server_error"}})
	case p.Garbage:
		return "data: <garbage>\n\n"
	}
	fn := obj{"name": p.Call.Name}
	switch p.Call.Form {
	case providertest.ArgsEmpty:
		fn["arguments"] = ""
	case providertest.ArgsNull:
		fn["arguments"] = nil
	case providertest.ArgsGiven:
		fn["arguments"] = p.Call.Args
	}
	return delta1(obj{"tool_calls": []obj{{"id": p.Call.ID, "type": "function", "function": fn}}}, nil)
}

func suiteFinish(p providertest.Play) string {
	reason := p.Stop
	if reason == "" {
		reason = "stop"
	}
	out := delta1(obj{}, reason)
	if p.Usage != nil {
		out += data(obj{"choices": []obj{}, "usage": obj{"prompt_tokens": p.Usage.InputTokens, "completion_tokens": p.Usage.OutputTokens}})
	}
	return out + "data: [DONE]\n\n"
}

func suiteRefuse(why providertest.RefusalWhy) (int, string) {
	body := func(message, kind, code string) string {
		b, _ := json.Marshal(obj{"error": obj{"message": message, "type": kind, "code": code}})
		return string(b)
	}
	switch why {
	case providertest.BadKey:
		return 401, body("Incorrect API key provided: "+providertest.Key+".", "invalid_request_error", "invalid_api_key")
	case providertest.NoSuchModel:
		return 404, body("The model `x` does not exist or you do not have access to it.", "invalid_request_error", "model_not_found")
	case providertest.TooMany:
		return 429, body("Rate limit reached for requests", "requests", "rate_limit_exceeded")
	case providertest.Unavailable:
		return 503, "<html><head><title>503 Service Temporarily Unavailable</title></head></html>"
	case providertest.TooLong:
		return 400, body("This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.", "invalid_request_error", "context_length_exceeded")
	case providertest.NoToolChoice:
		return 400, body("tool_choice is not supported by this model", "invalid_request_error", "")
	case providertest.NoTools:
		return 404, body("No endpoints found that support tool use.", "", "404")
	}
	return 500, body("The server had an error while processing your request.", "server_error", "")
}

func suiteSeen(raw []byte) (providertest.Seen, error) {
	var r struct {
		Model    string
		Stream   bool
		Messages []struct {
			Role       string
			Content    json.RawMessage
			ToolCalls  []chatcompletions.Call `json:"tool_calls"`
			ToolCallID string                 `json:"tool_call_id"`
			Reasoning  string                 `json:"reasoning_content"`
		}
		Tools      []chatcompletions.Tool
		ToolChoice json.RawMessage `json:"tool_choice"`
		Format     *struct {
			Schema chatcompletions.AnswerSchema `json:"json_schema"`
		} `json:"response_format"`
		MaxTokens     int `json:"max_tokens"`
		Temperature   *float64
		TopP          *float64 `json:"top_p"`
		Stop          []string
		StreamOptions *struct {
			IncludeUsage bool `json:"include_usage"`
		} `json:"stream_options"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return providertest.Seen{}, err
	}
	if !r.Stream || r.StreamOptions == nil || !r.StreamOptions.IncludeUsage {
		return providertest.Seen{}, fmt.Errorf("it asks for no stream with usage: %s", raw)
	}
	seen := providertest.Seen{Model: r.Model, MaxTokens: r.MaxTokens, Temperature: r.Temperature, TopP: r.TopP, Stop: r.Stop}
	var err error
	if seen.MustCall, err = providertest.ChoiceSeen(r.ToolChoice, "required"); err != nil {
		return seen, err
	}
	if r.Format != nil {
		seen.Schema = r.Format.Schema.Schema
	}
	for _, t := range r.Tools {
		seen.Tools = append(seen.Tools, provider.ToolSpec{
			Name: t.Function.Name, Description: t.Function.Description, InputSchema: t.Function.Parameters,
		})
	}
	for _, m := range r.Messages {
		sm := providertest.SeenMessage{Role: m.Role, CallID: m.ToolCallID, Thinking: m.Reasoning}
		var parts []struct {
			Text  string
			Image *struct{ URL string } `json:"image_url"`
		}
		if json.Unmarshal(m.Content, &sm.Text) != nil {
			if err := json.Unmarshal(m.Content, &parts); err != nil {
				return seen, err
			}
		}
		for _, part := range parts {
			sm.Text += part.Text
			if part.Image != nil {
				url := strings.TrimPrefix(part.Image.URL, "data:")
				sm.Images = append(sm.Images, strings.Replace(url, ";base64,", ",", 1))
			}
		}
		for _, c := range m.ToolCalls {
			sm.Calls = append(sm.Calls, provider.ToolCall{ID: c.ID, Name: c.Function.Name, Args: json.RawMessage(c.Function.Arguments)})
		}
		seen.Messages = append(seen.Messages, sm)
	}
	return seen, nil
}
