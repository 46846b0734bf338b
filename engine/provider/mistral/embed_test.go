package mistral

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// Vectors and completions of code have routes and names of Mistral's own.
func TestEmbeddingsAndCompletions(t *testing.T) {
	t.Parallel()
	asked := map[string]map[string]any{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		var body map[string]any
		_ = json.Unmarshal(raw, &body)
		asked[r.URL.Path] = body
		if r.URL.Path == "/v1/embeddings" {
			_, _ = io.WriteString(w, `{"data":[{"index":0,"embedding":[1,2]}],"usage":{"prompt_tokens":4}}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, `data: {"choices":[{"index":0,"delta":{"content":"  x"},"finish_reason":null}]}`+"\n\n"+
			`data: {"choices":[{"index":0,"delta":{"content":""},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`+"\n\ndata: [DONE]\n\n")
	}))
	defer srv.Close()
	p, err := New(Options{Options: wire.Options{BaseURL: srv.URL}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.CloseIdleConnections()
	got, err := p.Embed(t.Context(), &provider.EmbedRequest{Model: "m", Texts: []string{"a"}, Dimensions: 2})
	if err != nil || got.Tokens != 4 || !slices.Equal(got.Vectors[0], []float32{1, 2}) || asked["/v1/embeddings"]["output_dimension"] != 2.0 {
		t.Errorf("got %+v, %v, asked with %v", got, err, asked["/v1/embeddings"])
	}
	seed, text := int64(7), ""
	for batch, err := range p.Stream(t.Context(), &provider.Request{Model: "m", Completion: &provider.Completion{Prompt: "a(", Suffix: ")"}, Sampling: provider.Sampling{Seed: &seed}}) {
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range batch {
			text += d.Text
		}
	}
	if body := asked["/v1/fim/completions"]; text != "  x" || body["suffix"] != ")" || body["random_seed"] != 7.0 {
		t.Errorf("read %q, asked with %v", text, body)
	}
}
