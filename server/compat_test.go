package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/models"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/server"
)

func asked(model, text string, more doc) doc {
	body := doc{"model": model, "messages": []doc{{"role": "user", "content": text}}}
	for k, v := range more {
		body[k] = v
	}
	return body
}

// What can't be answered is refused as OpenAI and Ollama do, in their own form
// and with the status that their clients look at.
func TestCompatibleRefusals(t *testing.T) {
	t.Parallel()
	h := open(t, plan{script: clientsScript})
	const m = "script/m.yaml"
	tool := func(name string) []doc { return []doc{{"type": "function", "function": doc{"name": name}}} }
	for name, c := range map[string]struct {
		path   string
		body   any
		status int
		param  string
		words  string
	}{
		"no JSON":                       {"/v1/chat/completions", `{`, 400, "", "JSON"},
		"a model that isn't there":      {"/v1/chat/completions", asked("script/none.yaml", "hi", nil), 404, "model", "none.yaml"},
		"a provider that isn't there":   {"/v1/chat/completions", asked("nobody/gpt", "hi", nil), 404, "model", "nobody"},
		"an agent that isn't there":     {"/v1/responses", doc{"model": "fettle/nobody", "input": "hi"}, 404, "model", "no agent nobody"},
		"an address of an image":        {"/v1/chat/completions", doc{"model": m, "messages": []doc{{"role": "user", "content": []doc{{"type": "image_url", "image_url": doc{"url": "http://127.0.0.1/x.png"}}}}}}, 400, "messages", "no address is fetched"},
		"a call without its result":     {"/v1/chat/completions", doc{"model": m, "messages": []doc{{"role": "user", "content": "a"}, {"role": "assistant", "tool_calls": []doc{{"id": "1", "type": "function", "function": doc{"name": "f", "arguments": "{}"}}}}}}, 400, "messages", "the user's"},
		"a result that nobody wants":    {"/v1/chat/completions", doc{"model": m, "messages": []doc{{"role": "tool", "tool_call_id": "x", "content": "b"}, {"role": "user", "content": "a"}}}, 400, "", "no call before it"},
		"a name that no tool can have":  {"/v1/chat/completions", asked(m, "hi", doc{"tools": tool("a b")}), 400, "", "letters"},
		"two answers":                   {"/v1/chat/completions", asked(m, "hi", doc{"n": 2}), 400, "n", "one answer"},
		"a conversation of OpenAI's":    {"/v1/responses", doc{"model": m, "input": "hi", "conversation": "conv_1"}, 400, "conversation", "previous_response_id"},
		"a response of another server":  {"/v1/responses", doc{"model": m, "input": "hi", "previous_response_id": "resp_abc"}, 404, "previous_response_id", "no response"},
		"a schema that is none":         {"/v1/chat/completions", asked(m, "hi", doc{"response_format": doc{"type": "json_schema", "json_schema": doc{"schema": doc{"type": "nothing"}}}}), 400, "", "schema"},
		"a list of models that is hurt": {"/v1/chat/completions", doc{"model": 1}, 400, "model", "string"},
	} {
		var got struct {
			Error struct{ Message, Type, Param, Code string }
		}
		h.call("POST", c.path, c.body).is(c.status, &got)
		if got.Error.Param != c.param || !strings.Contains(got.Error.Message, c.words) || got.Error.Type != "invalid_request_error" {
			t.Errorf("%s: %+v", name, got.Error)
		}
	}
	var plain struct{ Error string }
	h.call("POST", "/api/chat", asked("script/none.yaml", "hi", nil)).is(404, &plain)
	if !strings.Contains(plain.Error, "none.yaml") {
		t.Errorf("Ollama's: %q", plain.Error)
	}
	for _, path := range []string{"/v1/models", "/api/tags", "/api/version"} {
		req := h.request("GET", path, nil)
		req.Header.Del("Authorization")
		res, err := h.client.Do(req)
		must(t, err)
		if raw := read(t, res); res.StatusCode != 401 || !strings.Contains(raw, "error") {
			t.Errorf("%s without a token: %d %s", path, res.StatusCode, raw)
		}
		_ = res.Body.Close()
	}
}

// A failure before the first word has the same status and the same words whether
// the client streams or not, since its client retries by the status alone.
func TestCompatibleFailuresStreamedOrNot(t *testing.T) {
	t.Parallel()
	h := open(t, plan{script: clientsScript})
	const m = "script/m.yaml"
	for text, status := range map[string]int{
		"refused": 400, "moderated": 403, "wrong key": 401, "no quota": 402, "gibberish": 424, "too long": 400, "busy": 429,
	} {
		for path, body := range map[string]doc{
			"/v1/chat/completions": asked(m, text, nil),
			"/v1/responses":        {"model": m, "input": text},
			"/api/chat":            asked(m, text, nil),
			"/v1/messages":         asked(m, text, nil),
		} {
			var said [2]string
			for i, stream := range []bool{false, true} {
				body["stream"] = stream
				said[i] = string(h.call("POST", path, body).is(status, nil).body)
			}
			if said[0] != said[1] {
				t.Errorf("%s, %s:\n%s\n%s", path, text, said[0], said[1])
			}
		}
	}
}

// A model gets the client's tools and none of fettle's, and of those what
// tool_choice lets through; neither the configuration's prompt nor its agent.
func TestCompatibleToolsAreTheClients(t *testing.T) {
	t.Parallel()
	h := open(t, plan{
		script: `
responses:
  - {when: none, text: None.}
  - {when: "", expect: {tools: [mine]}, calls: [{name: mine, args: {}}]}
`,
		agents: []store.Agent{{ID: "usual", Purpose: "x", Prompt: "You are the usual one."}},
		change: func(o *server.Options) {
			o.Prepare = func(req *engine.TurnRequest) {
				if req.Agent == "" {
					req.Agent = "usual"
				}
				if req.System == "" {
					req.System = "The configuration's word."
				}
			}
		},
	})
	tools := []doc{{"type": "function", "function": doc{"name": "mine"}}, {"type": "function", "function": doc{"name": "other"}}}
	finish := func(body doc) string {
		var out struct {
			Choices []struct {
				Reason string `json:"finish_reason"`
			}
		}
		h.call("POST", "/v1/chat/completions", body).is(200, &out)
		return out.Choices[0].Reason
	}
	if got := finish(asked("script/m.yaml", "go", doc{"tools": tools})); got != "tool_calls" {
		t.Errorf("the turn finished with %s", got)
	}
	if got := finish(asked("script/m.yaml", "go", doc{"tools": tools, "tool_choice": doc{"type": "function", "function": doc{"name": "mine"}}})); got != "tool_calls" {
		t.Errorf("with one chosen: %s", got)
	}
	if got := finish(asked("script/m.yaml", "none", doc{"tools": tools, "tool_choice": "none"})); got != "stop" {
		t.Errorf("with none: %s", got)
	}
	h.call("POST", "/v1/chat/completions", asked("script/m.yaml", "go", nil)).is(http.StatusBadRequest, nil) // the model wants tools
	if got := h.titles("/api/chats"); len(got) > 0 {
		t.Errorf("%d chats were kept", len(got))
	}
}

// titles are those of the chats.
func (h *house) titles(path string) (titles []string) {
	h.t.Helper()
	var list struct{ Chats []struct{ Title string } }
	h.call("GET", path, nil).is(200, &list)
	for _, c := range list.Chats {
		titles = append(titles, c.Title)
	}
	return titles
}

// A response that is stored is a turn of a chat, one that isn't leaves nothing,
// and two that go on from the same one are branches.
func TestResponsesThatAreKept(t *testing.T) {
	t.Parallel()
	h := open(t, plan{script: "responses:\n  - {when: \"\", text: Yes.}\n"})
	respond := func(body doc) (id string) {
		var out struct{ ID string }
		body["model"] = "script/m.yaml"
		h.call("POST", "/v1/responses", body).is(200, &out)
		return out.ID
	}
	gone := respond(doc{"input": "not this", "store": false})
	respond(doc{"input": []doc{{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "user", "content": "nor this"}}})
	first := respond(doc{"input": "keep this"})
	second := respond(doc{"input": "and this", "previous_response_id": first})
	respond(doc{"input": "a branch", "previous_response_id": first})
	respond(doc{"input": "more", "previous_response_id": second})
	if got := h.titles("/api/chats"); fmt.Sprint(got) != "[keep this]" {
		t.Errorf("the chats are %q", got)
	}
	if got := h.texts("1"); got != "keep this | Yes. | and this | Yes. | more | Yes." {
		t.Errorf("the chat has %s", got)
	}
	h.call("POST", "/v1/responses", doc{"model": "script/m.yaml", "input": "x", "previous_response_id": gone}).is(404, nil)
	h.call("POST", "/v1/responses", doc{"model": "script/m.yaml", "input": "x", "previous_response_id": first, "store": false}).is(400, nil)
}

// A stream that has nothing to say yet is kept alive by lines that no client takes
// for an event, and a turn ends with its client.
func TestCompatibleStreamsThatWait(t *testing.T) {
	t.Parallel()
	h := open(t, plan{
		script: "responses:\n  - {hang: true}\n",
		change: func(o *server.Options) { o.KeepAlive = 20 * time.Millisecond },
	})
	for path, want := range map[string]string{
		"/v1/chat/completions": ": ping\n", "/api/chat": `"done":false`, "/v1/messages": "event: ping\n",
	} {
		res, err := h.client.Do(h.request("POST", path, asked("script/m.yaml", "hi", doc{"stream": true})))
		must(t, err)
		buf := make([]byte, 512)
		got := ""
		for strings.Count(got, want) < 2 {
			n, err := res.Body.Read(buf)
			must(t, err)
			got += string(buf[:n])
		}
		if path[1] == 'v' && strings.Contains(got, ": ping\n\n") {
			t.Errorf("%s: an empty event: %q", path, got)
		}
		_ = res.Body.Close()
	}
	eventually(t, "three cancelled turns", func() bool { return strings.Count(h.log.String(), `"end":"cancelled"`) == 3 })
}

// The lists have what editors look at.
func TestCompatibleModels(t *testing.T) {
	t.Parallel()
	h := open(t, plan{
		agents: []store.Agent{{ID: "team:scribe", ToolsetID: "team", Purpose: "notes", Prompt: "You note."}},
		change: func(o *server.Options) { o.Prepare = func(req *engine.TurnRequest) { req.Model = "script/:usual" } },
	})
	var list struct{ Data []struct{ ID, Object string } }
	h.call("GET", "/v1/models", nil).is(200, &list)
	if fmt.Sprint(list.Data) != "[{script/m.yaml model} {script/:usual model} {fettle/team:scribe model}]" {
		t.Errorf("%+v", list.Data)
	}
	for _, path := range []string{"script/m.yaml", "fettle/team:scribe", "fettle%2Fteam%3Ascribe", "script/m.yaml:latest"} {
		h.call("GET", "/v1/models/"+path, nil).is(200, nil)
	}
	h.call("GET", "/v1/models/none", nil).is(404, nil)
	var shown struct {
		Capabilities []string
		Info         map[string]json.RawMessage `json:"model_info"`
	}
	h.call("POST", "/api/show", doc{"name": "script/m.yaml"}).is(200, &shown)
	if !strings.Contains(strings.Join(shown.Capabilities, " "), "tools") || shown.Info == nil {
		t.Errorf("%+v", shown)
	}
}

// Tokens that a provider has not counted are left out, or null or 0 where an API requires
// the field: a 0 would be taken for a count.
func TestUnknownUsageIsLeftOut(t *testing.T) {
	t.Parallel()
	h := open(t, plan{script: `
responses:
  - {when: zeros, text: Hello., usage: {input_tokens: 0, output_tokens: 0}}
  - {when: counted, text: Hello., usage: {input_tokens: 12, output_tokens: 5}}
  - {when: "", text: Hello.}
`})
	const m = "script/m.yaml"
	for _, text := range []string{"silent", "zeros", "counted"} {
		for path, c := range map[string]struct {
			body doc
			has  string // of an answer with usage
		}{
			"/v1/chat/completions": {asked(m, text, doc{"stream_options": doc{"include_usage": true}}), `"usage":{"prompt_tokens":12`},
			"/v1/completions":      {doc{"model": m, "prompt": text, "stream_options": doc{"include_usage": true}}, `"usage":{"prompt_tokens":12`},
			"/v1/responses":        {doc{"model": m, "input": text, "store": false}, `"usage":{"input_tokens":12`},
			"/api/chat":            {asked(m, text, nil), `"prompt_eval_count":12`},
			"/api/generate":        {doc{"model": m, "prompt": text}, `"prompt_eval_count":12`},
		} {
			for _, stream := range []bool{false, true} {
				c.body["stream"] = stream
				body := string(h.call("POST", path, c.body).is(200, nil).body)
				if strings.Contains(body, c.has) != (text == "counted") || text != "counted" && (strings.Contains(body, "usage") || strings.Contains(body, "eval_count")) {
					t.Errorf("%s, %s, streamed %v: %s", path, text, stream, body)
				}
			}
		}
		for stream, unknown := range map[bool]string{
			false: `"usage":{"input_tokens":0,"cache_creation_input_tokens":null,"cache_read_input_tokens":null,"output_tokens":0}`,
			true:  `"usage":{"input_tokens":null,"cache_creation_input_tokens":null,"cache_read_input_tokens":null,"output_tokens":0}`,
		} {
			body := string(h.call("POST", "/v1/messages", asked(m, text, doc{"stream": stream, "max_tokens": 9})).is(200, nil).body)
			if strings.Contains(body, unknown) == (text == "counted") || strings.Contains(body, `"output_tokens":5`) != (text == "counted") {
				t.Errorf("/v1/messages, %s, streamed %v: %s", text, stream, body)
			}
		}
	}
}

// The time of a model is the one that its provider or the table of models has, and else the
// time from which on the server has offered it. Anthropic's API has a word for an unknown
// time, which is the epoch.
func TestTimesOfModels(t *testing.T) {
	t.Parallel()
	made := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	begun := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	h := open(t, plan{agents: []store.Agent{{ID: "helper", Purpose: "x", Prompt: "x"}}, change: func(o *server.Options) {
		o.Now = func() time.Time { return begun }
		o.Models = datedModels(made)
	}})
	var openAI struct {
		Data []struct {
			ID      string
			Created int64
		}
	}
	h.call("GET", "/v1/models", nil).is(200, &openAI)
	var anthropic struct {
		Data []struct {
			ID        string
			CreatedAt time.Time `json:"created_at"`
		}
	}
	h.call("GET", "/v1/models", nil, "Anthropic-Version", "2023-06-01").is(200, &anthropic)
	var ollama struct {
		Models []struct {
			Name       string
			ModifiedAt time.Time `json:"modified_at"`
		}
	}
	h.call("GET", "/api/tags", nil).is(200, &ollama)
	if len(openAI.Data) != 3 || len(anthropic.Data) != 3 || len(ollama.Models) != 3 {
		t.Fatalf("%+v\n%+v\n%+v", openAI, anthropic, ollama)
	}
	for i, at := range []time.Time{made, begun, begun} {
		known := at
		if i > 0 {
			known = time.Unix(0, 0).UTC()
		}
		if got := time.Unix(openAI.Data[i].Created, 0); !got.Equal(at) || !ollama.Models[i].ModifiedAt.Equal(at) || !anthropic.Data[i].CreatedAt.Equal(known) {
			t.Errorf("%s: %s, %s and %s, want %s", openAI.Data[i].ID, got, ollama.Models[i].ModifiedAt, anthropic.Data[i].CreatedAt, at)
		}
	}
}

// datedModels has two models: of one the time is known.
type datedModels time.Time

func (d datedModels) List(context.Context, models.Query) ([]models.List, error) {
	return []models.List{{Provider: "script", Models: []models.Model{
		{Model: provider.Model{Provider: "script", Name: "dated", Created: time.Time(d)}},
		{Model: provider.Model{Provider: "script", Name: "m.yaml"}},
	}}}, nil
}
