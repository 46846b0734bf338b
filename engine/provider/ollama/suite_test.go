package ollama

import (
	"context"
	"encoding/base64"
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
	h := providertest.HTTP(suiteWire())
	const leaves = "Ollama can't be told; TestAToolThatHasToBeCalledIsLeftToTheModel has what it does"
	h.Lacks = map[string]string{"a tool that has to be called": leaves, "a model that can't be made to call": leaves}
	providertest.Run(t, h)
}

func suiteWire() providertest.Wire {
	return providertest.Wire{
		New: func(t *testing.T, base string, c providertest.Config, client *http.Client) provider.Provider {
			p, err := New(Options{
				Host: base, Client: client, FirstByte: c.FirstByte, Between: c.Between,
				Key: func(context.Context) (string, error) { return providertest.Key, nil },
			})
			if err != nil {
				t.Fatal(err)
			}
			return p
		},
		Chat:        "/api/chat",
		ContentType: "application/x-ndjson",
		Idle:        "\n",
		Piece:       suitePiece, Finish: suiteFinish, Refuse: suiteRefuse, Seen: suiteSeen,
		Facts: facts(obj{"capabilities": []string{"completion", "tools", "vision"}}),
	}
}

type obj = map[string]any

// facts answers for a server that has one model; extra is added to what
// /api/show says.
func facts(extra obj) http.HandlerFunc {
	show := obj{"model_info": obj{"general.architecture": "llama", "llama.context_length": 8192}, "details": obj{}}
	for k, v := range extra {
		show[k] = v
	}
	return func(w http.ResponseWriter, r *http.Request) {
		answers := map[string]any{
			"/api/show": show, "/api/ps": obj{"models": []obj{}}, "/api/version": obj{"version": "0.17.4"},
		}
		answer, ok := answers[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_ = json.NewEncoder(w).Encode(answer)
	}
}

func line(v any) string {
	b, _ := json.Marshal(v)
	return string(b) + "\n"
}

func said(m obj) string {
	m["role"] = "assistant"
	return line(obj{"model": "m", "created_at": "2026-11-27T21:57:20.465170303Z", "message": m, "done": false})
}

func suitePiece(p providertest.Piece) string {
	switch {
	case p.Text != "":
		return said(obj{"content": p.Text})
	case p.Reasoning != "":
		return said(obj{"content": "", "thinking": p.Reasoning})
	case p.Error != "":
		return line(obj{"error": p.Error})
	case p.Garbage:
		return "<garbage>\n"
	}
	fn := obj{"name": p.Call.Name}
	switch p.Call.Form {
	case providertest.ArgsEmpty:
		fn["arguments"] = ""
	case providertest.ArgsNull:
		fn["arguments"] = nil
	case providertest.ArgsGiven:
		fn["arguments"] = json.RawMessage(p.Call.Args)
	}
	return said(obj{"content": "", "tool_calls": []obj{{"id": p.Call.ID, "function": fn}}})
}

func suiteFinish(p providertest.Play) string {
	end := obj{"model": "m", "message": obj{"role": "assistant", "content": ""}, "done": true, "done_reason": "stop"}
	if p.Stop != "" {
		end["done_reason"] = p.Stop
	}
	if p.Usage != nil {
		end["prompt_eval_count"], end["eval_count"] = p.Usage.InputTokens, p.Usage.OutputTokens
	}
	return line(end)
}

func suiteRefuse(why providertest.RefusalWhy) (int, string) {
	says := func(s string) string { return line(obj{"error": s}) }
	switch why {
	case providertest.BadKey:
		return 401, says("unauthorized: " + providertest.Key)
	case providertest.NoSuchModel:
		return 404, says("model 'tiny-test' not found")
	case providertest.TooMany:
		return 429, says("too many requests")
	case providertest.Unavailable:
		return 503, says("server busy, please try again.  maximum pending requests exceeded")
	case providertest.TooLong:
		return 400, says("the input length exceeds the context length")
	case providertest.NoTools:
		return 400, says("registry.ollama.ai/library/tiny-test:latest does not support tools")
	}
	return 500, says("model runner has unexpectedly stopped, this may be due to resource limitations or an internal error, check ollama server logs for details")
}

func suiteSeen(raw []byte) (providertest.Seen, error) {
	var r struct {
		chatRequest
		Truncate *bool `json:"truncate"`
		Shift    *bool `json:"shift"`
		Messages []struct {
			chatMessage
			Images []string `json:"images"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return providertest.Seen{}, err
	}
	if !r.Stream || r.Truncate == nil || *r.Truncate || r.Shift == nil || *r.Shift {
		return providertest.Seen{}, fmt.Errorf("it may be cut: %s", raw)
	}
	seen := providertest.Seen{
		Model: r.Model, Schema: r.Format, MaxTokens: r.Options.NumPredict, Temperature: r.Options.Temperature,
		TopP: r.Options.TopP, Stop: r.Options.Stop,
	}
	for _, t := range r.Tools {
		seen.Tools = append(seen.Tools, provider.ToolSpec{
			Name: t.Function.Name, Description: t.Function.Description, InputSchema: t.Function.Parameters,
		})
	}
	for _, m := range r.Messages {
		sm := providertest.SeenMessage{Role: m.Role, Text: m.Content, Thinking: m.Thinking, CallID: m.ToolCallID}
		for _, image := range m.Images { // no MIME type is sent
			raw, err := base64.StdEncoding.DecodeString(image)
			if err != nil {
				return seen, err
			}
			mime, _, _ := strings.Cut(http.DetectContentType(raw), ";")
			sm.Images = append(sm.Images, mime+","+image)
		}
		for _, c := range m.ToolCalls {
			sm.Calls = append(sm.Calls, provider.ToolCall{ID: c.ID, Name: c.Function.Name, Args: c.Function.Arguments})
		}
		seen.Messages = append(seen.Messages, sm)
	}
	return seen, nil
}
