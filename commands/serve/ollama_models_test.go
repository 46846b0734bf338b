package serve_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/commands/commandtest"
)

// A client of Ollama's API pulls, lists and deletes Ollama's models through serve, with
// Ollama's names for them.
func TestOllamasModelsAreManaged(t *testing.T) {
	t.Parallel()
	ollama := commandtest.NewOllama(t, "qwen3")
	ollama.Plays(commandtest.Says(commandtest.PullBegins+commandtest.Layer("a", 1, 2)+commandtest.PullEnds), commandtest.Says(`{"error":"pull model manifest: file does not exist"}`+"\n"))
	w := newWorld(t, "responses: [{text: Yes.}]")
	w.Env = append(w.Env, ollama.Settings()...)
	s := w.serve("--log", "off")
	send := func(method, path, body string) (int, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, s.url+"/t/"+s.token+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		res, err := s.client.Do(req) // without a Content-Type
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		raw, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(raw)
	}
	status, said := send(http.MethodPost, "/api/pull", `{"model":"llama3.2"}`)
	if status != 200 || !strings.Contains(said, `{"status":"pulling manifest"}`) || !strings.Contains(said, `"total":2,"completed":1`) || !strings.HasSuffix(said, `{"status":"success"}`+"\n") {
		t.Errorf("a pull: %d %s", status, said)
	}
	if status, said := send(http.MethodGet, "/api/tags", ""); status != 200 || !strings.Contains(said, `"ollama/llama3.2"`) {
		t.Errorf("the list: %d %s", status, said)
	}
	if status, said := send(http.MethodPost, "/api/pull", `{"model":"nothing","stream":false}`); status != 404 && status != 503 || !strings.Contains(said, `"error":"`) {
		t.Errorf("a pull of nothing: %d %s", status, said)
	}
	if status, said := send(http.MethodGet, "/api/ps", ""); status != 200 || !strings.Contains(said, `"name":"qwen3"`) || !strings.Contains(said, `"size_vram":4`) {
		t.Errorf("what is in memory: %d %s", status, said)
	}
	if status, said := send(http.MethodDelete, "/api/delete", `{"model":"ollama/qwen3"}`); status != 200 || said != "" {
		t.Errorf("a removal: %d %s", status, said)
	}
	if status, said := send(http.MethodDelete, "/api/delete", `{"model":"qwen3"}`); status != 404 || !strings.Contains(said, "qwen3") {
		t.Errorf("a second removal: %d %s", status, said)
	}
}
