package server_test

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"strings"
	"testing"
)

const textsScript = `
responses:
  - {when: "(?s)func add.*<fill>}", text: "  return a + b\n", usage: {input_tokens: 7, output_tokens: 4}}
  - {when: busy, error: {kind: rate_limited, status: 429, message: slow down}}
  - {when: break, text: "  half", error: {kind: broken, message: the connection was lost}}
  - {when: cut, text: "1, 2", stop_reason: length}
  - {when: weather, system: ^Be brief, reasoning: I look., text: Rain.}
  - {when: "", text: Hello.}
`

// Vectors come in the form of each API, with the same numbers.
func TestVectorsOfTexts(t *testing.T) {
	t.Parallel()
	h := open(t, plan{script: textsScript})
	const m = "script/m.yaml"
	var plain struct {
		Object string
		Model  string
		Data   []struct {
			Object    string
			Index     int
			Embedding []float32
		}
		Usage struct {
			Prompt int `json:"prompt_tokens"`
		}
	}
	h.call("POST", "/v1/embeddings", doc{"model": m, "input": []string{"rain in Oslo", "snow"}, "dimensions": 8}).is(200, &plain)
	if plain.Object != "list" || plain.Model != m || len(plain.Data) != 2 || plain.Data[1].Index != 1 || plain.Data[0].Object != "embedding" ||
		len(plain.Data[0].Embedding) != 8 || plain.Usage.Prompt != 4 {
		t.Errorf("%+v", plain)
	}
	var packed struct{ Data []struct{ Embedding string } }
	h.call("POST", "/v1/embeddings", doc{"model": m, "input": "snow", "dimensions": 8, "encoding_format": "base64"}).is(200, &packed)
	raw, err := base64.StdEncoding.DecodeString(packed.Data[0].Embedding)
	must(t, err)
	var list struct {
		Model      string
		Embeddings [][]float32
		Tokens     int `json:"prompt_eval_count"`
	}
	h.call("POST", "/api/embed", doc{"model": m, "input": []string{"snow"}, "dimensions": 8}).is(200, &list)
	var one struct{ Embedding []float32 }
	h.call("POST", "/api/embeddings", doc{"model": m, "prompt": "snow", "dimensions": 8}).is(200, &one)
	for i, want := range plain.Data[1].Embedding {
		if got := math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:])); got != want || list.Embeddings[0][i] != want || one.Embedding[i] != want {
			t.Fatalf("number %d is %v, %v, %v, want %v", i, got, list.Embeddings[0][i], one.Embedding[i], want)
		}
	}
	if list.Model != m || list.Tokens != 1 {
		t.Errorf("Ollama's answer: %+v", list)
	}
	for name, body := range map[string]any{
		"tokens": doc{"model": m, "input": []int{1, 2}}, "no text": doc{"model": m}, "an empty text": doc{"model": m, "input": ""},
		"a format of no API": doc{"model": m, "input": "a", "encoding_format": "hex"}, "no JSON": `{`, "no model": doc{"input": "a"},
	} {
		var e struct {
			Error struct{ Message, Type string }
		}
		if h.call("POST", "/v1/embeddings", body).is(400, &e); e.Error.Type != "invalid_request_error" {
			t.Errorf("%s: %+v", name, e)
		}
	}
	var e struct{ Error string }
	h.call("POST", "/api/embed", doc{"model": "script/none.yaml", "input": "a"}).is(404, &e)
	if !strings.Contains(e.Error, "none.yaml") {
		t.Errorf("Ollama's error: %+v", e)
	}
}

// A completion has the model's text as it is, with its leading spaces, streamed and not.
func TestCompletionsOfTexts(t *testing.T) {
	t.Parallel()
	h := open(t, plan{script: textsScript})
	const m = "script/m.yaml"
	ask := doc{"model": m, "prompt": "func add(a, b int) int {\n", "suffix": "}\n", "max_tokens": 50}
	var whole struct {
		ID, Object, Model string
		Choices           []struct {
			Text   string
			Reason string `json:"finish_reason"`
		}
		Usage struct {
			Total int `json:"total_tokens"`
		}
	}
	h.call("POST", "/v1/completions", ask).is(200, &whole)
	if whole.Object != "text_completion" || !strings.HasPrefix(whole.ID, "cmpl-") || whole.Model != m || whole.Usage.Total != 11 ||
		len(whole.Choices) != 1 || whole.Choices[0].Text != "  return a + b\n" || whole.Choices[0].Reason != "stop" {
		t.Errorf("%+v", whole)
	}
	ask["echo"] = true
	h.call("POST", "/v1/completions", ask).is(200, &whole)
	if whole.Choices[0].Text != "func add(a, b int) int {\n  return a + b\n" {
		t.Errorf("with the prompt: %q", whole.Choices[0].Text)
	}
	ask["stream"], ask["stream_options"] = true, doc{"include_usage": true}
	got := string(h.call("POST", "/v1/completions", ask).is(200, nil).body)
	if !strings.Contains(got, `"text":"b\n"`) || !strings.Contains(got, `"choices":[],"usage":{"prompt_tokens":7`) || !strings.HasSuffix(got, "data: [DONE]\n\n") {
		t.Errorf("the stream: %s", got)
	}
	for text, want := range map[string]string{"cut": `"finish_reason":"length"`, "break": `{"error":{"message":"script: the connection was lost`} {
		if got := string(h.call("POST", "/v1/completions", doc{"model": m, "prompt": text, "stream": true}).is(200, nil).body); !strings.Contains(got, want) {
			t.Errorf("%s: %s", text, got)
		}
	}
	h.call("POST", "/v1/completions", doc{"model": m, "prompt": "busy", "stream": true}).is(429, nil)
	h.call("POST", "/v1/completions", doc{"model": m, "prompt": "busy"}).is(429, nil)
	h.call("POST", "/v1/completions", doc{"model": m, "prompt": []string{"a", "b"}}).is(400, nil)
	h.call("POST", "/v1/completions", doc{"model": "fettle/nobody", "prompt": "a"}).is(400, nil)
	h.call("POST", "/v1/completions", doc{"model": "script/none.yaml", "prompt": "a"}).is(404, nil)
	if got := h.titles("/api/chats"); len(got) > 0 {
		t.Errorf("%d chats were kept", len(got))
	}
}

// Infill takes the requests of llama.vscode 0.0.63 as they are, and streams as llama.cpp does.
func TestInfillOfLlamaCpp(t *testing.T) {
	t.Parallel()
	h := open(t, plan{script: textsScript})
	ask := func(more doc) doc {
		body := doc{
			"id_slot": 0, "input_prefix": "package sums\n\n", "input_suffix": "}\n", "prompt": "func add(a, b int) int {\n",
			"input_extra": []doc{{"text": "package sums\n", "time": 1755590000000, "filename": "sums/doc.go"}},
			"n_predict":   128, "n_cmpl": 3, "top_k": 40, "top_p": 0.99, "stream": false, "samplers": []string{"top_k", "top_p", "infill"},
			"cache_prompt": true, "n_indent": 4, "t_max_prompt_ms": 500, "t_max_predict_ms": 2500, "model": "script/m.yaml",
		}
		for k, v := range more {
			body[k] = v
		}
		return body
	}
	var whole struct {
		Content, Model string
		Stop           bool
		StopType       string `json:"stop_type"`
		Predicted      int    `json:"tokens_predicted"`
		Timings        struct {
			Evaluated int `json:"prompt_n"`
		}
	}
	h.call("POST", "/infill", ask(nil)).is(200, &whole)
	if whole.Content != "  return a + b\n" || !whole.Stop || whole.Model != "script/m.yaml" || whole.StopType != "eos" || whole.Predicted != 4 || whole.Timings.Evaluated != 7 {
		t.Errorf("%+v", whole)
	}
	got := string(h.call("POST", "/infill", ask(doc{"stream": true})).is(200, nil).body)
	if !strings.Contains(got, `data: {"content":"b\n","stop":false}`+"\n\n") || strings.Contains(got, "[DONE]") || strings.Count(got, `"stop":true`) != 1 {
		t.Errorf("the stream: %s", got)
	}
	h.call("POST", "/infill", ask(doc{"prompt": "cut", "input_suffix": ""})).is(200, &whole)
	if whole.Content != "1, 2" || whole.StopType != "limit" {
		t.Errorf("at the limit: %+v", whole)
	}
	h.call("POST", "/infill", ask(doc{"n_predict": 0, "prompt": "busy"})).is(200, &whole)
	if whole.Content != "" || !whole.Stop {
		t.Errorf("without anything to predict: %+v", whole)
	}
	var e struct {
		Error struct{ Message, Type string }
	}
	h.call("POST", "/infill", ask(doc{"prompt": "busy"})).is(429, &e)
	h.call("POST", "/infill", ask(doc{"model": "script/none.yaml"})).is(404, &e)
	h.call("POST", "/infill", ask(doc{"input_suffix": 3})).is(400, &e)
	if e.Error.Type != "invalid_request_error" || !strings.Contains(e.Error.Message, "input_suffix") {
		t.Errorf("the error is %+v", e)
	}
	whole.Content = ""
	h.call("POST", "/infill", doc{"model": "script/m.yaml", "input_prefix": "func add(a, b int) int {\n", "input_suffix": "}\n"}).is(200, &whole)
	if whole.Content != "  return a + b\n" {
		t.Errorf("with the least of a request: %+v", whole)
	}
}

// A client of Google's API gets an error in that API's form that names what to use, with any key.
func TestClientsOfGoogleGetAnErrorThatHelps(t *testing.T) {
	t.Parallel()
	h := open(t, plan{script: textsScript})
	for _, c := range []struct{ method, path string }{
		{"POST", "/v1beta/models/gemini-2.5-flash:generateContent"}, {"POST", "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse&key=x"},
		{"POST", "/v1beta/models/gemini-2.5-flash:countTokens"}, {"GET", "/v1beta/models?key=x"}, {"GET", "/v1beta/models/gemini-2.5-flash"},
	} {
		var body any
		if c.method == "POST" {
			body = doc{"contents": []doc{{"parts": []doc{{"text": "hi"}}}}}
		}
		req := h.request(c.method, c.path, body, "X-Goog-Api-Key", "any")
		req.Header.Del("Authorization")
		res, err := h.client.Do(req)
		must(t, err)
		var e struct {
			Error struct {
				Code            int
				Message, Status string
			}
		}
		err = json.NewDecoder(res.Body).Decode(&e)
		must(t, res.Body.Close())
		if err != nil || res.StatusCode != 501 || e.Error.Code != 501 || e.Error.Status != "UNIMPLEMENTED" || !strings.Contains(e.Error.Message, "OpenAI-compatible") {
			t.Errorf("%s %s: status %d, %+v, %v", c.method, c.path, res.StatusCode, e, err)
		}
	}
}

// Ollama's generate is a question of any model, and continues a text where there is a suffix
// or raw is set.
func TestGenerateOfOllama(t *testing.T) {
	t.Parallel()
	h := open(t, plan{script: textsScript})
	const m = "script/m.yaml"
	type answer struct {
		Model, Response, Thinking string
		Reason                    string `json:"done_reason"`
		Done                      bool
	}
	var got answer
	h.call("POST", "/api/generate", doc{"model": m, "prompt": "weather?", "system": "Be brief.", "stream": false}).is(200, &got)
	if got != (answer{m, "Rain.", "I look.", "stop", true}) {
		t.Errorf("%+v", got)
	}
	got = answer{}
	h.call("POST", "/api/generate", doc{"model": m, "prompt": "func add(a, b int) int {\n", "suffix": "}\n", "stream": false}).is(200, &got)
	if got.Response != "  return a + b\n" || !got.Done {
		t.Errorf("with a suffix: %+v", got)
	}
	lines := string(h.call("POST", "/api/generate", doc{"model": m, "prompt": "weather?", "system": "Be brief."}).is(200, nil).body)
	if !strings.Contains(lines, `"response":"Rain."`) || !strings.Contains(lines, `"thinking":"look."`) || !strings.Contains(lines, `"done":true`) || strings.Contains(lines, `"message"`) {
		t.Errorf("the stream: %s", lines)
	}
	got = answer{}
	h.call("POST", "/api/generate", doc{"model": m}).is(200, &got)
	if got.Reason != "load" || !got.Done {
		t.Errorf("without a prompt: %+v", got)
	}
	// As Ollama's documentation has it: curl's -d sends the type of a form.
	req := h.request("POST", "/api/generate", doc{"model": m, "prompt": "hi", "stream": false})
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := h.client.Do(req)
	must(t, err)
	if raw := read(t, res); res.StatusCode != 200 || !strings.Contains(raw, "Hello.") {
		t.Errorf("with the type of a form: %d %s", res.StatusCode, raw)
	}
	for _, path := range []string{"/api/create", "/api/copy", "/api/push"} {
		var e struct{ Error string }
		if h.call("POST", path, doc{"model": m}).is(404, &e); e.Error == "" {
			t.Errorf("%s: no error as a text", path)
		}
	}
}
