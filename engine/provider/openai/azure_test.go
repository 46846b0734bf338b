package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/providertest"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// roundTrip answers requests without a network.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A resource of Azure is asked by its own path and header, an address elsewhere as before.
func TestAzure(t *testing.T) {
	t.Parallel()
	const token = "eyJhbGciOiJSUzI1NiJ9.e30.c2ln"
	version := map[string]string{"api-version": "2024-10-21"}
	for name, c := range map[string]struct {
		base, key string
		query     map[string]string
		address   string
		header    string
	}{
		"the resource alone":  {"https://res.openai.azure.com", "k", nil, "https://res.openai.azure.com/openai/v1/chat/completions", "Api-Key: k"},
		"with a slash":        {"https://res.openai.azure.com/openai/", "k", nil, "https://res.openai.azure.com/openai/v1/chat/completions", "Api-Key: k"},
		"the v1 API":          {"https://res.openai.azure.com/openai/v1", "k", nil, "https://res.openai.azure.com/openai/v1/chat/completions", "Api-Key: k"},
		"a deployment":        {"https://RES.openai.azure.com/openai/deployments/gpt", "k", version, "https://RES.openai.azure.com/openai/deployments/gpt/chat/completions?api-version=2024-10-21", "Api-Key: k"},
		"a token":             {"https://res.services.ai.azure.com/openai/v1", token, nil, "https://res.services.ai.azure.com/openai/v1/chat/completions", "Authorization: Bearer " + token},
		"cognitive services":  {"https://res.cognitiveservices.azure.com", "k", version, "https://res.cognitiveservices.azure.com/openai/v1/chat/completions?api-version=2024-10-21", "Api-Key: k"},
		"a name that ends so": {"https://notopenai.azure.com.example", "k", nil, "https://notopenai.azure.com.example/v1/chat/completions", "Authorization: Bearer k"},
		"elsewhere":           {"https://lab.example", "k", map[string]string{"a": "b c"}, "https://lab.example/v1/chat/completions?a=b+c", "Authorization: Bearer k"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked *http.Request
			client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				asked = r
				return &http.Response{
					StatusCode: 200, Request: r, Header: http.Header{"Content-Type": {"text/event-stream"}},
					Body: io.NopCloser(strings.NewReader(delta1(obj{"content": "hi"}, "stop"))),
				}, nil
			})}
			p, err := New(Options{Options: wire.Options{BaseURL: c.base, Client: client, Query: c.query, Key: func(context.Context) (string, error) { return c.key, nil }}})
			if err != nil {
				t.Fatal(err)
			}
			if text, _, err := listen(p, t.Context(), &provider.Request{Model: "m", Messages: []provider.Message{providertest.User(providertest.Words("hi"))}}); text != "hi" || err != nil {
				t.Fatalf("the answer is %q, %v", text, err)
			}
			header, value, _ := strings.Cut(c.header, ": ")
			if got := asked.URL.String(); got != c.address || asked.Header.Get(header) != value {
				t.Errorf("it asked %s with %v", got, asked.Header)
			}
			if header == "Api-Key" && asked.Header.Get("Authorization") != "" {
				t.Error("the key was sent twice")
			}
		})
	}
}

// The members of a configuration are in each question, in place of fettle's own.
func TestMembersOfAConfiguration(t *testing.T) {
	t.Parallel()
	p, bodies := serve(t, Options{Options: wire.Options{Body: map[string]json.RawMessage{
		"service_tier": json.RawMessage(`"flex"`), "model": json.RawMessage(`"other"`), "stream_options": json.RawMessage("null"),
		"provider": json.RawMessage(`{"order":["a"]}`),
	}}}, func(w http.ResponseWriter, _ string) { fmt.Fprint(w, delta1(obj{"content": "hi"}, "stop")) })
	if text, _, err := listen(p, t.Context(), &provider.Request{Model: "m", Messages: []provider.Message{providertest.User(providertest.Words("1 < 2"))}}); text != "hi" || err != nil {
		t.Fatalf("the answer is %q, %v", text, err)
	}
	var sent map[string]json.RawMessage
	if err := json.Unmarshal([]byte(bodies()[0]), &sent); err != nil {
		t.Fatal(err)
	}
	if string(sent["model"]) != `"other"` || string(sent["service_tier"]) != `"flex"` || string(sent["provider"]) != `{"order":["a"]}` || string(sent["stream"]) != "true" {
		t.Errorf("it sent %s", bodies()[0])
	}
	if _, ok := sent["stream_options"]; ok || !strings.Contains(bodies()[0], "1 < 2") {
		t.Errorf("it sent %s", bodies()[0])
	}
}
