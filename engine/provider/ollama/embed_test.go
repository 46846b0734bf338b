package ollama

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/fettle-cli/fettle/engine/provider"
)

// texts serves the routes of texts and keeps the bodies of the requests by path.
func texts(t *testing.T, answers map[string]string) (p *Provider, asked map[string]map[string]any) {
	t.Helper()
	asked = map[string]map[string]any{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		var body map[string]any
		_ = json.Unmarshal(raw, &body)
		asked[r.URL.Path] = body
		answer, ok := answers[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, answer)
	}))
	p, err := New(Options{Host: srv.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	t.Cleanup(p.CloseIdleConnections)
	return p, asked
}

const textShow = `{"capabilities":["completion","insert"],"model_info":{"general.architecture":"q","q.context_length":40960},"details":{}}`

func TestEmbeddings(t *testing.T) {
	t.Parallel()
	p, asked := texts(t, map[string]string{"/api/embed": `{"model":"m","embeddings":[[1,0.5],[0,2]],"prompt_eval_count":5}`})
	req := &provider.EmbedRequest{Model: "m", Texts: []string{"a", "b"}, Dimensions: 2}
	got, err := p.Embed(t.Context(), req)
	if err != nil || got.Tokens != 5 || !slices.Equal(got.Vectors[1], []float32{0, 2}) {
		t.Fatalf("got %+v, %v", got, err)
	}
	// A text that is cut would have the vector of its beginning.
	if body := asked["/api/embed"]; body["truncate"] != false || body["dimensions"] != 2.0 || len(body["input"].([]any)) != 2 {
		t.Errorf("asked with %v", body)
	}
	req.Texts = req.Texts[:1]
	var pe *provider.Error
	if _, err := p.Embed(t.Context(), req); !errors.As(err, &pe) || pe.Kind != provider.Undecodable {
		t.Errorf("two vectors for one text: %v", err)
	}
}

func TestCompletions(t *testing.T) {
	t.Parallel()
	p, asked := texts(t, map[string]string{
		"/api/show":     textShow,
		"/api/ps":       `{"models":[]}`,
		"/api/generate": `{"response":"  <think>","done":false}` + "\n" + `{"response":" x","done":false}` + "\n" + `{"response":"","done":true,"done_reason":"stop","prompt_eval_count":3,"eval_count":2}` + "\n",
	})
	text, meta := "", false
	for batch, err := range p.Stream(t.Context(), &provider.Request{Model: "m", Completion: &provider.Completion{Prompt: "a(", Suffix: ")", Raw: true}, MaxTokens: 9}) {
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range batch {
			text += d.Text
			meta = meta || d.Meta != nil && d.Meta.Usage.OutputTokens == 2
		}
	}
	if text != "  <think> x" || !meta {
		t.Errorf("read %q, with its usage %v", text, meta)
	}
	body := asked["/api/generate"]
	if options, _ := body["options"].(map[string]any); body["suffix"] != ")" || body["raw"] != true || options["num_predict"] != 9.0 || options["num_ctx"] == nil {
		t.Errorf("asked with %v", body)
	}
}

// What is in memory is listed with its size and its end.
func TestRunningModels(t *testing.T) {
	t.Parallel()
	p, _ := texts(t, map[string]string{"/api/ps": `{"models":[{"name":"q:8b","digest":"abc","size":10,"size_vram":4,"context_length":4096,"expires_at":"2026-11-30T10:00:00Z"}]}`})
	got, err := p.Running(t.Context())
	if err != nil || len(got) != 1 || got[0].Name != "q:8b" || got[0].VRAM != 4 || got[0].ContextLength != 4096 || got[0].Expires.IsZero() {
		t.Errorf("got %+v, %v", got, err)
	}
}
