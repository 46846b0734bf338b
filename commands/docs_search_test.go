package commands_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fettle-cli/fettle/commands/commandtest"
)

// embeddings is an OpenAI-compatible server of an embedding model for which texts about cars,
// and about automobiles, are alike.
type embeddings struct {
	*httptest.Server
	mu   sync.Mutex
	sent []string
}

func newEmbeddings(t *testing.T) *embeddings {
	t.Helper()
	e := &embeddings{}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Input []string }
		if raw, err := io.ReadAll(r.Body); err != nil || json.Unmarshal(raw, &in) != nil || r.URL.Path != "/v1/embeddings" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		e.sent = append(e.sent, in.Input...)
		var vectors []string
		for _, text := range in.Input {
			cars := strings.Count(text, "car") + strings.Count(text, "automobile")
			vectors = append(vectors, fmt.Sprintf(`{"embedding":[%d,1]}`, cars))
		}
		fmt.Fprintf(w, `{"data":[%s],"usage":{"prompt_tokens":%d}}`, strings.Join(vectors, ","), len(vectors))
	}))
	t.Cleanup(e.Close)
	return e
}

func (e *embeddings) texts() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := e.sent
	e.sent = nil
	return out
}

// searchWorld has three documents and an embedding model in the configuration.
func searchWorld(t *testing.T) (*world, *embeddings) {
	t.Helper()
	w, e := newWorld(t, yesScript), newEmbeddings(t)
	for name, text := range map[string]string{
		"garage.md": "# Garage\n\nAn automobile needs oil.", "road.md": "A car is on the road.", "sky.md": "The sky is blue.",
	} {
		commandtest.Put(t, filepath.Join(w.Dir, name), text)
	}
	w.Configure(fmt.Sprintf("embedding: p/m\nproviders:\n  p: {type: openai, base_url: '%s/v1', key: none}\n", e.URL))
	w.Env = append(w.Env, "NO_PROXY=127.0.0.1", "HTTP_PROXY=", "HTTPS_PROXY=")
	w.Run(0, "docs", "add", "garage.md", "road.md", "sky.md")
	return w, e
}

// docs search finds by meaning, reports once which provider gets which text, and sends the
// documents once; with --words it sends nothing.
func TestDocsSearchByMeaning(t *testing.T) {
	t.Parallel()
	w, e := searchWorld(t)
	out, reported := w.Run(0, "docs", "search", "car")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "road.md\t1\t") || !strings.HasPrefix(lines[1], "garage.md\t1\t0.0164\t# Garage An automobile") {
		t.Errorf("docs search printed %q", out)
	}
	if !strings.Contains(reported, "embedding 3 documents, 71 bytes, with p/m, which gets their text") || len(e.texts()) != 4 {
		t.Errorf("docs search reported %q", reported)
	}
	var found struct {
		Model    string
		Embedded int
		Passages []struct {
			Name, Text    string
			Words         int `json:"words_rank"`
			Meaning       int `json:"meaning_rank"`
			Cosine, Score float64
		}
	}
	out, reported = w.Run(0, "docs", "search", "-o", "json", "-n", "2", "car")
	if err := json.Unmarshal([]byte(out), &found); err != nil {
		t.Fatal(err)
	}
	if found.Model != "p/m" || found.Embedded != 0 || len(found.Passages) != 2 || reported != "" {
		t.Errorf("the second search returned %s and reported %q", out, reported)
	}
	if p := found.Passages[1]; p.Name != "garage.md" || p.Words != 0 || p.Meaning != 1 || p.Cosine < 0.99 {
		t.Errorf("the passage by meaning is %+v", p)
	}
	if got := e.texts(); !slices.Equal(got, []string{"car"}) {
		t.Errorf("the second search sent %q", got)
	}
	if out, _ := w.Run(0, "docs", "search", "--words", "car"); strings.Count(out, "\n") != 1 || len(e.texts()) != 0 {
		t.Errorf("--words printed %q", out)
	}
	e.Close()
	if out, reported := w.Run(0, "docs", "search", "car"); !strings.HasPrefix(out, "road.md\t") || !strings.Contains(reported, "found by words alone") {
		t.Errorf("without the provider docs search printed %q and reported %q", out, reported)
	}
}

// The same search over HTTP.
func TestDocumentSearchOverHTTP(t *testing.T) {
	t.Parallel()
	w, e := searchWorld(t)
	base, token := startServe(t, w)
	body := fetched(t, base+"/api/search/documents?q=car&limit=2", token)
	passages := string(body["passages"])
	if string(body["model"]) != `"p/m"` || string(body["embedded"]) != "3" || strings.Index(passages, "road.md") > strings.Index(passages, "garage.md") || strings.Contains(passages, "sky.md") {
		t.Errorf("the search returned %s", body)
	}
	e.texts()
	if body := fetched(t, base+"/api/search/documents?q=car&words=true", token); len(e.texts()) != 0 || strings.Contains(string(body["passages"]), "garage.md") {
		t.Errorf("the search by words returned %s", body)
	}
	for query, want := range map[string]string{"q=": "q: there is nothing to search for", "q=car&limit=x": "limit", "q=car&words=x": "words"} {
		if text := string(fetched(t, base+"/api/search/documents?"+query, token)["error"]); !strings.Contains(text, want) {
			t.Errorf("%s is refused with %s", query, text)
		}
	}
}

// fetched is the JSON object of a GET.
func fetched(t *testing.T, address, token string) (out map[string]json.RawMessage) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}
