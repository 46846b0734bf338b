package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/chatcompletions"
	"github.com/fettle-cli/fettle/engine/provider/providertest"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// sayResponse is say over the Responses API.
func sayResponse(w http.ResponseWriter, text string) {
	fmt.Fprint(w, sendsEvent("response.output_text.delta", obj{"output_index": 0, "delta": text}), sendsEvent("response.completed", obj{"response": obj{"status": "completed"}}))
}

func TestTheAPIFollowsFromAddressAndModel(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ base, api, model, want string }{
		{"", "", "gpt-5.6", APIResponses},
		{"", "", "gpt-5.6-terra", APIResponses},
		{"", "", "gpt-5", APIResponses},
		{"", "", "gpt-5-mini-2025-08-07", APIResponses},
		{"", "", "gpt-5.1-codex-max", APIResponses},
		{"", "", "gpt-10", APIResponses},
		{"", "", "o3", APIResponses},
		{"", "", "o4-mini-deep-research", APIResponses},
		{"", "", "ft:o4-mini:me::1", APIResponses},
		{"", "", "codex-mini-latest", APIResponses},
		{"", "", "gpt-5-chat-latest", APIChat},
		{"", "", "gpt-5.2-chat-latest", APIResponses},
		{"", "", "gpt-4o", APIChat},
		{"", "", "gpt-4.1-mini", APIChat},
		{"", "", "gpt-audio", APIChat},
		{"", "", "chatgpt-4o-latest", APIChat},
		{"", "", "omni", APIChat},
		{"", APIChat, "gpt-5.6", APIChat},
		{"", APIResponses, "gpt-4o", APIResponses},
		{"https://lab.example/v1", "", "gpt-5.6", APIChat},
		{"https://lab.example/v1", APIResponses, "gpt-oss", APIResponses},
		{"https://res.openai.azure.com", "", "gpt-5.6", APIChat},
		{"https://res.openai.azure.com", APIResponses, "my-deployment", APIResponses},
	} {
		p, err := New(Options{Options: wire.Options{BaseURL: c.base}, API: c.api})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.api(c.model, p.Quirks(c.model)); got != c.want {
			t.Errorf("%s of %q with %q is asked by %s, want %s", c.model, c.base, c.api, got, c.want)
		}
	}
	if _, err := New(Options{Options: wire.Options{BaseURL: "https://res.openai.azure.com/openai/deployments/gpt"}, API: APIResponses}); !errors.Is(err, ErrDeployment) {
		t.Errorf("a deployment was taken: %v", err)
	}
}

// A refusal that names the other API moves a model there, in other processes too, unless the
// configuration has chosen.
func TestARefusalNamesTheOtherAPI(t *testing.T) {
	t.Parallel()
	const pointed = "Function tools with reasoning_effort are not supported for m in /v1/chat/completions. Please use /v1/responses instead."
	asked := func(bodies []string) (out string) {
		for _, b := range bodies {
			if strings.Contains(b, `"input":[`) {
				out += "R"
			} else {
				out += "C"
			}
		}
		return out
	}
	isChat := func(body string) bool { return strings.Contains(body, `"messages":[`) }
	req := &provider.Request{Model: "m", Messages: []provider.Message{providertest.User(providertest.Words("hi"))}, Tools: []provider.ToolSpec{{Name: "now"}}}
	for name, c := range map[string]struct {
		api     string
		answer  func(w http.ResponseWriter, body string)
		want    string
		lessons []string
	}{
		"chat names responses": {"", func(w http.ResponseWriter, body string) {
			if isChat(body) {
				refuse(w, pointed, "reasoning_effort")
				return
			}
			sayResponse(w, "hi")
		}, "CRR", []string{"api:responses"}},
		"a model of responses alone": {"", func(w http.ResponseWriter, body string) {
			if isChat(body) {
				w.WriteHeader(http.StatusNotFound)
				fmt.Fprint(w, `{"error":{"message":"This model is only supported in v1/responses and not in v1/chat/completions.","type":"invalid_request_error","param":"model"}}`)
				return
			}
			sayResponse(w, "hi")
		}, "CRR", []string{"api:responses"}},
		"it names what it doesn't have": {"", func(w http.ResponseWriter, body string) {
			switch {
			case !isChat(body):
				http.NotFound(w, nil)
			case !strings.Contains(body, `"reasoning_effort":"none"`):
				refuse(w, strings.Replace(pointed, "Please use", "use 'none' or", 1), "reasoning_effort")
			default:
				say(w, "hi")
			}
		}, "CRCCC", []string{"only-api:chat"}},
		"it has a page there": {"", func(w http.ResponseWriter, body string) {
			switch {
			case !isChat(body):
				fmt.Fprint(w, "<!doctype html><title>Home</title>")
			case !strings.Contains(body, `"reasoning_effort":"none"`):
				refuse(w, pointed, "reasoning_effort")
			default:
				say(w, "hi")
			}
		}, "CRCCC", []string{"only-api:chat"}},
		"it refuses everything there": {"", func(w http.ResponseWriter, body string) {
			switch {
			case !isChat(body):
				refuse(w, "no", "")
			case !strings.Contains(body, `"reasoning_effort":"none"`):
				refuse(w, pointed, "reasoning_effort")
			default:
				say(w, "hi")
			}
		}, "CRCCC", []string{"only-api:chat"}},
		"configured": {APIChat, func(w http.ResponseWriter, body string) {
			if !strings.Contains(body, `"reasoning_effort":"none"`) {
				refuse(w, pointed, "reasoning_effort")
				return
			}
			say(w, "hi")
		}, "CCC", nil},
		"configured for what it doesn't have": {APIResponses, func(w http.ResponseWriter, _ string) { http.NotFound(w, nil) }, "RR", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, bodies := serve(t, Options{API: c.api}, c.answer)
			for range 2 {
				text, _, err := listen(p, t.Context(), req)
				if fails := c.want == "RR"; (err != nil) != fails || text != "hi" && !fails || fails && !strings.Contains(err.Error(), "asks for the Responses API") {
					t.Fatalf("it said %q, %v", text, err)
				}
			}
			if got := asked(bodies()); got != c.want {
				t.Errorf("it asked %s, want %s", got, c.want)
			}
			if got := p.Lessons("m"); !slices.Equal(got, c.lessons) {
				t.Errorf("the lessons are %q", got)
			}
			other, again := serve(t, Options{API: c.api}, c.answer)
			other.Recall("m", p.Lessons("m"))
			if _, _, err := listen(other, t.Context(), req); err == nil && len(c.lessons) > 0 && asked(again())[0] != c.want[len(c.want)-1] {
				t.Errorf("another process asked %s", asked(again()))
			}
		})
	}
}

// thought is an item of reasoning among a part's details.
func thought(id string) provider.Part {
	return provider.Part{Kind: provider.ReasoningPart, Details: json.RawMessage(
		`[{"type":"openai.item","item":{"id":"` + id + `","type":"reasoning","summary":[],"encrypted_content":"enc-` + id + `","status":"completed"}}]`,
	)}
}

func entry(text string) provider.Part {
	return provider.Part{Kind: provider.ReasoningPart, Details: json.RawMessage("[" + text + "]")}
}

func calling(id string) provider.Part {
	return provider.Part{Kind: provider.ToolCallPart, Call: &provider.ToolCall{ID: id, Name: "look", Args: json.RawMessage(`{}`)}}
}

// The items of an answer go back in their order; reasoning without what it belongs to does not.
func TestItemsGoBackInTheirOrder(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		parts []provider.Part
		want  string
	}{
		"reasoning and a call":      {[]provider.Part{thought("a"), calling("c")}, "enc-a call:c"},
		"two before a call":         {[]provider.Part{thought("a"), thought("b"), calling("c")}, "enc-a enc-b call:c"},
		"reasoning alone":           {[]provider.Part{thought("a")}, ""},
		"its call is gone":          {[]provider.Part{thought("a"), entry(`{"type":"openai.call","call":"gone"}`), thought("b"), calling("c")}, "enc-b call:c"},
		"between calls":             {[]provider.Part{thought("a"), entry(`{"type":"openai.call","call":"c"}`), thought("b"), calling("c"), calling("d")}, "enc-a call:c enc-b call:d"},
		"a text in pieces":          {[]provider.Part{thought("a"), providertest.Words("Hel"), providertest.Words("lo")}, "enc-a say:Hello"},
		"a text and a call":         {[]provider.Part{providertest.Words("I look."), thought("a"), calling("c")}, "say:I look. enc-a call:c"},
		"two messages":              {[]provider.Part{providertest.Words("One."), entry(`{"type":"openai.message"}`), providertest.Words("\n\nTwo.")}, "say:One. say:Two."},
		"phases":                    {[]provider.Part{providertest.Words("One."), entry(`{"type":"openai.message","fields":{"phase":"commentary"}}`), providertest.Words("\n\nTwo."), entry(`{"type":"openai.message","fields":{"phase":"final_answer"}}`)}, "commentary:One. final_answer:Two."},
		"an item that came late":    {[]provider.Part{providertest.Words("I look."), entry(`{"type":"openai.item","before":true,"item":{"type":"reasoning","id":"rs_1","content":[{"type":"reasoning_text","text":"Hm"}],"encrypted_content":""}}`), calling("c")}, "rs_1 say:I look. call:c"},
		"nothing to read it by":     {[]provider.Part{entry(`{"type":"openai.item","item":{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":null,"content":[]}}`), providertest.Words("Hi")}, "say:Hi"},
		"a tool of the server":      {[]provider.Part{entry(`{"type":"openai.item","item":{"type":"web_search_call","id":"ws_1","action":{"q":1}}}`), providertest.Words("Hi")}, "ws_1 say:Hi"},
		"details of other APIs":     {[]provider.Part{entry(`{"type":"thinking","thinking":"x","signature":"y"},{"type":"reasoning.encrypted","data":"z"},3`), providertest.Words("Hi")}, "say:Hi"},
		"what nobody can have sent": {[]provider.Part{entry(`{"type":"openai.item","item":3},{"type":"openai.call"},{"type":"openai.odd"},{"type":"openai.message","fields":[]}`), providertest.Words("Hi")}, "say:Hi"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := encode(t, &provider.Request{Model: "m", Messages: []provider.Message{{Role: provider.Assistant, Parts: c.parts}}}, APIResponses, chatcompletions.Quirks{})
			if got := itemsIn(t, b.Body); got != c.want {
				t.Errorf("it sent %q, want %q\n%s", got, c.want, b.Body)
			}
		})
	}
}

// itemsIn is the input of a request in short.
func itemsIn(t *testing.T, body []byte) string {
	t.Helper()
	var r struct {
		Input []struct {
			Type, ID, Phase, Status string
			CallID                  string `json:"call_id"`
			Encrypted               string `json:"encrypted_content"`
			Content                 []struct{ Text string }
		}
	}
	if err := json.Unmarshal(body, &r); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, i := range r.Input {
		switch {
		case i.Status != "" || i.Encrypted != "" && i.ID != "":
			t.Errorf("an item has a status or an id: %s", body)
		case i.Encrypted != "":
			out = append(out, i.Encrypted)
		case i.Type == "function_call":
			out = append(out, "call:"+i.CallID)
		case i.Type == "message" && i.Phase != "":
			out = append(out, i.Phase+":"+i.Content[0].Text)
		case i.Type == "message":
			out = append(out, "say:"+i.Content[0].Text)
		default:
			out = append(out, i.ID)
		}
	}
	return strings.Join(out, " ")
}

// What an address refuses of the API is left out, and the refusal is known from then on.
func TestWhatResponsesRefuse(t *testing.T) {
	t.Parallel()
	history := []provider.Message{
		providertest.User(providertest.Words("look")),
		{Role: provider.Assistant, Parts: []provider.Part{
			thought("a"), entry(`{"type":"openai.item","item":{"type":"web_search_call","id":"ws_1"}}`),
			{Kind: provider.ToolCallPart, Call: &provider.ToolCall{ID: "c", Name: "look", Args: json.RawMessage(`{}`), Extra: json.RawMessage(`{"namespace":"crm"}`)}},
		}},
		{Role: provider.Tool, Parts: []provider.Part{{Kind: provider.ToolResultPart, Result: &provider.ToolResult{
			ID: "c", Name: "look", Text: "seen", Media: []provider.Part{{Kind: provider.ImagePart, MIME: "image/png", Data: []byte("png")}},
		}}}},
	}
	high := 0.5
	for name, c := range map[string]struct {
		field, refusal string // what is sent at first, and what is said to it
		instead        string
		lesson         string // that other processes recall; empty if it is about this history
		notes          int
	}{
		"encrypted reasoning":          {`"include":`, "Encrypted content is not supported with this model.", "", "no-encrypted-reasoning", 0},
		"the summary":                  {`"summary":"auto"`, "Your organization must be verified to generate reasoning summaries. Please go to: https://platform.openai.com/settings", "", "no-reasoning-summary", 0},
		"reasoning altogether":         {`"reasoning":{`, "Unsupported parameter: 'reasoning' is not supported with this model.", "", "no-reasoning-summary", 0},
		"store":                        {`"store"`, "Unknown parameter: 'store'.", "", "no-store", 0},
		"the temperature":              {`"temperature"`, "Unsupported parameter: 'temperature' is not supported with this model.", "", "", 1},
		"items without ids":            {`"type":"function_call","call_id"`, "Missing required parameter: 'input[2].id'.", `"type":"function_call","id":"fc_`, "item-ids", 0},
		"items without ids, otherwise": {`"type":"function_call","call_id"`, "input.2.ResponseFunctionToolCall.id: field required", `"type":"function_call","id":"fc_`, "item-ids", 0},
		"images in a result":           {`"output":[`, "Output of tool call should be 'Input text'", `"text":"What look returned for the call c:"`, "media-beside-results", 0},
		"a member of a call":           {`"namespace"`, "Unknown parameter: 'input[3].namespace'.", "", "without:namespace", 0},
		"an item of another type":      {`"web_search_call"`, "Invalid value: 'web_search_call'. Supported values are: 'message', 'reasoning', 'function_call'.", `enc-a`, "without:web_search_call", 0},
		"reasoning of another key":     {`enc-a`, "The encrypted content gAAA...Rg== could not be verified. Reason: Encrypted content could not be decrypted or parsed.", "", "", 0},
		"reasoning that it lost":       {`enc-a`, "Item with id 'rs_a' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.", "", "", 0},
		"reasoning out of its place":   {`enc-a`, "Item 'rs_a' of type 'reasoning' was provided without its required following item.", "", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer := func(w http.ResponseWriter, body string) {
				if strings.Contains(body, c.field) {
					refuse(w, c.refusal, "input")
					return
				}
				sayResponse(w, "hi")
			}
			p, bodies := serve(t, Options{API: APIResponses}, answer)
			req := &provider.Request{Model: "m", Messages: history, Temperature: &high}
			for range 2 {
				if text, notes, err := listen(p, t.Context(), req); text != "hi" || err != nil || len(notes) != c.notes {
					t.Fatalf("it said %q with notes %q, %v", text, notes, err)
				}
			}
			want := 3 // the second time it is known
			if c.lesson == "" && c.notes == 0 {
				want++ // it is about this history, so that it is not
			}
			got := bodies()
			if len(got) != want || !strings.Contains(got[len(got)-1], c.instead) {
				t.Fatalf("it sent %d requests:\n%s", len(got), strings.Join(got, "\n"))
			}
			if lessons := p.Lessons("m"); c.lesson != "" && !slices.Contains(lessons, c.lesson) || c.lesson == "" && len(lessons) > 0 {
				t.Errorf("the lessons are %q", lessons)
			}
			other, again := serve(t, Options{API: APIResponses}, answer)
			other.Recall("m", p.Lessons("m"))
			if _, _, err := listen(other, t.Context(), req); err != nil || c.lesson != "" && len(again()) != 1 {
				t.Errorf("another process sent %d requests, %v", len(again()), err)
			}
		})
	}
}

// A server that refuses to stream is asked for the whole answer, by either API.
func TestARefusedStream(t *testing.T) {
	t.Parallel()
	for api, whole := range map[string]string{
		APIChat:      `{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}`,
		APIResponses: `{"object":"response","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"hi"}]}]}`,
	} {
		p, bodies := serve(t, Options{API: api}, func(w http.ResponseWriter, body string) {
			if strings.Contains(body, `"stream":true`) {
				refuse(w, "Your organization must be verified to stream this model. Please go to: https://platform.openai.com/settings", "stream")
				return
			}
			fmt.Fprint(w, whole)
		})
		for range 2 {
			if text, _, err := listen(p, t.Context(), &provider.Request{Model: "m", Messages: []provider.Message{providertest.User(providertest.Words("hi"))}}); text != "hi" || err != nil {
				t.Errorf("%s: it said %q, %v", api, text, err)
			}
		}
		if got := bodies(); len(got) != 3 || strings.Contains(got[2], "stream_options") || !slices.Contains(p.Lessons("m"), "no-stream") {
			t.Errorf("%s: it sent %q", api, got)
		}
	}
}

// The level of the effort is one that the model has.
func TestEffortOverResponses(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	for name, c := range map[string]struct {
		think  *bool
		effort provider.Effort
		says   string
		takes  string
		notes  int
	}{
		"as asked":     {&yes, provider.EffortHigh, "", `"effort":"high"`, 0},
		"usual":        {&yes, "", "", `"effort":"medium"`, 0},
		"off":          {&no, "", "", `"reasoning":{"effort":"none"}`, 0},
		"unasked":      {nil, "", "", `"reasoning":{"summary":"auto"}`, 0},
		"not this one": {&yes, provider.EffortXHigh, "Unsupported value: 'xhigh' is not supported with the 'm' model. Supported values are: 'minimal', 'low', 'medium', and 'high'. (reasoning.effort)", `"effort":"high"`, 1},
		"never off":    {&no, "", "Unsupported value: 'none' is not supported with the 'm' model (reasoning.effort). Supported values are: 'minimal', 'low', 'medium', and 'high'.", `"effort":"minimal"`, 0},
		"by Ollama":    {&yes, provider.EffortMinimal, `invalid reasoning value: "minimal" (must be "high", "medium", "low", "max", or "none")`, `"effort":"low"`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, bodies := serve(t, Options{API: APIResponses}, func(w http.ResponseWriter, body string) {
				if !strings.Contains(body, c.takes) {
					refuse(w, c.says, "reasoning.effort")
					return
				}
				sayResponse(w, "hi")
			})
			req := &provider.Request{Model: "m", Messages: []provider.Message{providertest.User(providertest.Words("hi"))}, Think: c.think, Effort: c.effort}
			if text, notes, err := listen(p, t.Context(), req); text != "hi" || err != nil || len(notes) != c.notes {
				t.Errorf("it said %q with notes %q, %v\n%s", text, notes, err, bodies())
			}
		})
	}
}

// What the API does not have is left out with a footnote.
func TestWhatResponsesDoNotHave(t *testing.T) {
	t.Parallel()
	seed := int64(7)
	p, bodies := serve(t, Options{API: APIResponses}, func(w http.ResponseWriter, _ string) { sayResponse(w, "hi") })
	req := &provider.Request{Model: "m", Messages: []provider.Message{providertest.User(
		providertest.Words("hi"), provider.Part{Kind: provider.AudioPart, MIME: "audio/wav", Data: []byte("x")}, provider.Part{Kind: provider.AudioPart, MIME: "audio/wav", Data: []byte("y")},
	)}}
	req.Stop, req.Seed = []string{"END"}, &seed
	_, notes, err := listen(p, t.Context(), req)
	want := []string{"left out the parameters seed, stop: m does not take them", "a sound was left out: the Responses API takes none"}
	if err != nil || !slices.Equal(notes, want) || strings.Contains(bodies()[0], "END") {
		t.Errorf("the notes are %q, %v", notes, err)
	}
}

// After the last event nothing is awaited, whatever the connection does.
func TestNothingIsAwaitedAfterCompleted(t *testing.T) {
	t.Parallel()
	done := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sayResponse(w, "hi")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(done)
	}))
	transport := &http.Transport{}
	t.Cleanup(func() { transport.CloseIdleConnections(); srv.Close() })
	p, err := New(Options{Options: wire.Options{BaseURL: srv.URL, Client: &http.Client{Transport: transport}}, API: APIResponses})
	if err != nil {
		t.Fatal(err)
	}
	if text, _, err := listen(p, t.Context(), &provider.Request{Model: "m", Messages: []provider.Message{providertest.User(providertest.Words("hi"))}}); text != "hi" || err != nil {
		t.Errorf("it said %q, %v", text, err)
	}
	<-done
}
