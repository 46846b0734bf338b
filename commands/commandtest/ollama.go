package commandtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Ollama plays an Ollama's models: lists, facts, vectors, pulls and removals; all are in memory.
type Ollama struct {
	*httptest.Server

	mu     sync.Mutex
	models []string
	pulls  []http.HandlerFunc // the last one is played again
	pulled int
}

type obj = map[string]any

// NewOllama begins one that has the models.
func NewOllama(t *testing.T, models ...string) *Ollama {
	t.Helper()
	o := &Ollama{models: models}
	o.Server = httptest.NewServer(http.HandlerFunc(o.serve))
	t.Cleanup(o.Close)
	return o
}

func (o *Ollama) serve(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Model string
		Input []string
	}
	if r.Body != nil {
		_ = json.NewDecoder(r.Body).Decode(&body)
	}
	o.mu.Lock()
	have := append([]string(nil), o.models...)
	o.mu.Unlock()
	known := false
	list := []obj{}
	for _, name := range have {
		known = known || name == body.Model
		m := obj{"name": name, "model": name, "size": 5_200_000_000, "details": obj{"parameter_size": "8.2B", "quantization_level": "Q4_K_M"}}
		if strings.HasSuffix(name, "-cloud") {
			m["remote_host"], m["size"] = "https://ollama.com", 400
		}
		list = append(list, m)
	}
	switch {
	case r.URL.Path == "/api/tags":
		_ = json.NewEncoder(w).Encode(obj{"models": list})
	case r.URL.Path == "/api/ps":
		running := []obj{}
		for _, name := range have {
			running = append(running, obj{"name": name, "model": name, "size": 9, "size_vram": 4, "context_length": 4096, "expires_at": "2030-01-01T00:00:00Z"})
		}
		_ = json.NewEncoder(w).Encode(obj{"models": running})
	case r.URL.Path == "/api/pull":
		o.pull(w, r, body.Model)
	case !known:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintf(w, `{"error":"model '%s' not found"}`, body.Model)
	case r.URL.Path == "/api/show":
		able := []string{"completion", "tools"}
		if strings.HasPrefix(body.Model, "llava") {
			able = []string{"completion", "vision"}
		}
		_ = json.NewEncoder(w).Encode(obj{
			"capabilities": able, "model_info": obj{"general.architecture": "q", "q.context_length": 40960},
			"details": obj{"parameter_size": "8.2B", "quantization_level": "Q4_K_M"},
		})
	case r.URL.Path == "/api/embed":
		vectors := [][]float64{}
		for _, text := range body.Input {
			vectors = append(vectors, []float64{float64(len(text)), 1})
		}
		_ = json.NewEncoder(w).Encode(obj{"embeddings": vectors, "prompt_eval_count": len(vectors)})
	case r.URL.Path == "/api/delete":
		o.mu.Lock()
		for i, name := range o.models {
			if name == body.Model {
				o.models = append(o.models[:i:i], o.models[i+1:]...)
				break
			}
		}
		o.mu.Unlock()
	}
}

func (o *Ollama) pull(w http.ResponseWriter, r *http.Request, name string) {
	o.mu.Lock()
	play := o.pulls[min(o.pulled, len(o.pulls)-1)]
	o.pulled++
	o.mu.Unlock()
	rec := &watched{ResponseWriter: w}
	play(rec, r)
	if strings.Contains(rec.said.String(), `"success"`) {
		o.mu.Lock()
		o.models = append(o.models, name)
		o.mu.Unlock()
	}
}

// Plays says what the next pulls are; the last one is played again.
func (o *Ollama) Plays(pulls ...http.HandlerFunc) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.pulls, o.pulled = pulls, 0
}

// watched keeps what a pull said.
type watched struct {
	http.ResponseWriter
	said bytes.Buffer
}

func (w *watched) Write(p []byte) (int, error) {
	w.said.Write(p)
	n, err := w.ResponseWriter.Write(p)
	w.ResponseWriter.(http.Flusher).Flush()
	return n, err
}

// Layer is a line of a pull: how much of a layer is there.
func Layer(digest string, done, total int64) string {
	return fmt.Sprintf(`{"status":"pulling %s","digest":"sha256:%s","total":%d,"completed":%d}`+"\n", digest, digest, total, done)
}

// A pull begins and ends with these lines.
const (
	PullBegins = `{"status":"pulling manifest"}` + "\n"
	PullEnds   = `{"status":"verifying sha256 digest"}` + "\n" + `{"status":"success"}` + "\n"
)

// Says is a pull that sends the text.
func Says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
}

// Settings are variables that make this Ollama the only provider.
func (o *Ollama) Settings() []string {
	return []string{"OLLAMA_HOST=" + o.URL, "ANTHROPIC_API_KEY=", "MISTRAL_API_KEY=", "FETTLE_RETRIES=0", "FETTLE_MODEL="}
}
