package commands_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/internal/ollamatest"
)

// fakeOllama plays an Ollama's models: lists, facts, pulls and removals.
type fakeOllama struct {
	*httptest.Server

	mu     sync.Mutex
	models []string
	pulls  []http.HandlerFunc // the last one is played again
	pulled int
}

type obj = map[string]any

func newFakeOllama(t *testing.T, models ...string) *fakeOllama {
	t.Helper()
	o := &fakeOllama{models: models}
	o.Server = httptest.NewServer(http.HandlerFunc(o.serve))
	t.Cleanup(o.Close)
	return o
}

func (o *fakeOllama) serve(w http.ResponseWriter, r *http.Request) {
	var body struct{ Model string }
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

func (o *fakeOllama) pull(w http.ResponseWriter, r *http.Request, name string) {
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

func (o *fakeOllama) plays(pulls ...http.HandlerFunc) {
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

func layer(digest string, done, total int64) string {
	return fmt.Sprintf(`{"status":"pulling %s","digest":"sha256:%s","total":%d,"completed":%d}`+"\n", digest, digest, total, done)
}

const (
	pullBegins = `{"status":"pulling manifest"}` + "\n"
	pullEnds   = `{"status":"verifying sha256 digest"}` + "\n" + `{"status":"success"}` + "\n"
)

func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
}

// modelWorld is a world with this Ollama, and no other provider.
func modelWorld(t *testing.T, o *fakeOllama) *world {
	t.Helper()
	w := newWorld(t, "responses: [{text: Yes.}]")
	w.env = append(w.env, "OLLAMA_HOST="+o.URL, "ANTHROPIC_API_KEY=", "MISTRAL_API_KEY=", "FETTLE_RETRIES=0", "FETTLE_MODEL=")
	return w
}

func (w *world) configure(text string) {
	w.t.Helper()
	dir := filepath.Join(w.dir, "config")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// same compares what was printed, line by line.
func same(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n%s\nwant\n%s", what, got, want)
	}
}

func TestModelsList(t *testing.T) {
	t.Parallel()
	o := newFakeOllama(t, "qwen3:8b", "llava", "gpt-oss:120b-cloud")
	w := modelWorld(t, o)
	const qwen = "ollama/qwen3:8b\t40960\ttools\t5200000000\t8.2B Q4_K_M\n"
	const llava = "ollama/llava\t40960\timages\t5200000000\t8.2B Q4_K_M\n"
	const cloud = "ollama/gpt-oss:120b-cloud\t40960\ttools\t400\t8.2B Q4_K_M remote\n"
	for args, want := range map[string]string{
		"":                                    qwen + llava + cloud,
		"--tools":                             qwen + cloud,
		"--images":                            llava,
		"--tools --local":                     qwen,
		"--tools --images":                    "",
		"--provider ollama --local":           qwen + llava,
		"--thinking":                          "",
		"--refresh --provider=ollama -o text": qwen + llava + cloud,
	} {
		out, errs := w.run(0, append([]string{"models", "list"}, strings.Fields(args)...)...)
		same(t, args, out, want)
		if want == "" && !strings.Contains(errs, "fettle: no model is all of that") || want != "" && errs != "" {
			t.Errorf("%s: stderr %q", args, errs)
		}
	}
	out, _ := w.run(0, "models", "list", "--images", "-o", "json")
	var list struct {
		SchemaVersion int `json:"schema_version"`
		Models        []obj
		Providers     []obj
		Errors        []obj
		NotReady      []obj `json:"not_ready"`
	}
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		t.Fatal(err)
	}
	asked, err := time.Parse(time.RFC3339, fmt.Sprint(list.Providers[0]["asked_at"]))
	if err != nil || time.Since(asked) > time.Hour || list.Providers[0]["cached"] != false || list.Providers[0]["local"] != true {
		t.Errorf("providers: %v, %v", list.Providers, err)
	}
	m, _ := json.Marshal(list.Models)
	same(t, "json", string(m), `[{"context_length":40960,"details":"8.2B Q4_K_M","images":true,"local":true,"model":"ollama/llava",`+
		`"name":"llava","provider":"ollama","schema":true,"size":5200000000,"thinking":false,"tools":false}]`)
	if len(list.Errors) != 0 || len(list.NotReady) != 3 || list.SchemaVersion != 1 {
		t.Errorf("errors %v, not ready %v", list.Errors, list.NotReady)
	}
}

func TestModelsListWhereProvidersFail(t *testing.T) {
	t.Parallel()
	o := newFakeOllama(t, "qwen3")
	w := modelWorld(t, o)
	w.configure("providers:\n  down: {base_url: \"http://127.0.0.1:1/v1\"}\n")
	const qwen = "ollama/qwen3\t40960\ttools\t5200000000\t8.2B Q4_K_M\n"

	out, errs := w.run(0, "models", "list")
	same(t, "one fails", out, qwen)
	same(t, "and says so", errs, "fettle: down at http://127.0.0.1:1 can't be reached\n")
	out, errs = w.run(0, "models", "list", "-o", "json")
	if !strings.Contains(out, `"code": "unavailable"`) || !strings.Contains(out, `"provider": "down"`) || errs != "" {
		t.Errorf("%s\n%s", out, errs)
	}
	_, errs = w.run(4, "models", "list", "--provider", "down")
	same(t, "alone", errs, "fettle: down at http://127.0.0.1:1 can't be reached\n  try   check the address in the configuration, and the network\n")
	_, errs = w.run(2, "models", "list", "--provider", "olama")
	if !strings.Contains(errs, "no provider is called olama (did you mean ollama?)") || !strings.Contains(errs, "--provider ollama") {
		t.Errorf("%s", errs)
	}
	_, errs = w.run(4, "models", "list", "--provider", "openai")
	if !strings.Contains(errs, "openai: OPENAI_API_KEY not set") {
		t.Errorf("%s", errs)
	}

	o.Close()
	out, errs = w.run(4, "models", "list")
	same(t, "none answers, one has before", out, qwen)
	if !strings.Contains(errs, "fettle: ollama at "+o.URL+" can't be reached; its list is from ") || !strings.Contains(errs, "fettle: down at") {
		t.Errorf("%s", errs)
	}
	if out, _ := w.run(4, "models", "list", "-o", "json"); !strings.Contains(out, `"cached": true`) || !strings.Contains(out, "ollama/qwen3") {
		t.Errorf("%s", out)
	}
	if err := os.RemoveAll(filepath.Join(w.dir, "data", "cache")); err != nil {
		t.Fatal(err)
	}
	out, errs = w.run(4, "models", "list")
	if out != "" || !strings.HasPrefix(errs, "fettle: no provider could be asked for its models\n") || !strings.Contains(errs, "ollama serve") ||
		!strings.Contains(errs, "ANTHROPIC_API_KEY not set") {
		t.Errorf("%s\n%s", out, errs)
	}
}

// A list from elsewhere is kept. The proxy stands for the address elsewhere.
func TestModelsListKeepsAListFromElsewhere(t *testing.T) {
	t.Parallel()
	var asked sync.Map
	count := func() (n int) { asked.Range(func(any, any) bool { n++; return true }); return n }
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Host != "models.test" || r.URL.Path != "/v1/models" {
			t.Errorf("asked for %s", r.URL)
		}
		asked.Store(time.Now(), true)
		_, _ = io.WriteString(w, `{"data":[{"id":"gpt-5","context_length":400000,"supported_parameters":["tools"]},{"id":"plain\u001b[2J"}]}`)
	}))
	t.Cleanup(proxy.Close)
	w := modelWorld(t, newFakeOllama(t))
	w.env = append(w.env, "HTTP_PROXY="+proxy.URL, "http_proxy="+proxy.URL, "NO_PROXY=")
	w.configure("providers:\n  far: {base_url: \"http://models.test/v1\"}\n")

	out, errs := w.run(0, "models", "list", "--provider", "far")
	same(t, "far", out, "far/gpt-5\t400000\ttools\t\t\nfar/plain\u241b[2J\t\t?\t\t\n")
	if errs != "" {
		t.Errorf("%q", errs)
	}
	again, errs := w.run(0, "models", "list", "--provider", "far")
	if again != out || !strings.Contains(errs, "fettle: the list of far is from ") || !strings.Contains(errs, "; --refresh asks now") || count() != 1 {
		t.Errorf("%q %q, asked %d times", again, errs, count())
	}
	if _, errs = w.run(0, "models", "list", "--provider", "far", "--refresh"); errs != "" || count() != 2 {
		t.Errorf("%q, asked %d times", errs, count())
	}
	_, errs = w.run(0, "models", "list", "--provider", "far", "--tools")
	if !strings.Contains(errs, "1 model is left out, whose abilities nobody told") {
		t.Errorf("%q", errs)
	}
}

func TestModelsShow(t *testing.T) {
	t.Parallel()
	w := modelWorld(t, newFakeOllama(t, "qwen3:8b", "llava:latest"))
	w.configure("models:\n  ollama/qwen3:8b: {context_length: 16384, images: true}\n")
	config := filepath.Join(w.dir, "config", "config.yaml")
	out, errs := w.run(0, "models", "show", "ollama/qwen3:8b")
	same(t, "show", out, "ollama/qwen3:8b\n"+
		"context\t16,384 tokens\t"+config+":2:21\n"+
		"tools\tyes\tollama\nimages\tyes\t"+config+":2:44\nthinking\tno\tollama\nschema\tyes\tollama\nsize\t5.2 GB\tollama\n"+
		"details\t8.2B Q4_K_M\t\naddress\t"+w.ollama()+"\t\n")
	if errs != "" {
		t.Errorf("%q", errs)
	}
	var shown struct {
		ContextLength int `json:"context_length"`
		Listed        bool
		Example       string
		Sources       map[string]struct {
			From   string
			Origin *struct {
				Line int
			}
		}
	}
	out, _ = w.run(0, "models", "show", "ollama/qwen3:8b", "-o", "json")
	if err := json.Unmarshal([]byte(out), &shown); err != nil {
		t.Fatal(err)
	}
	if s := shown.Sources; shown.ContextLength != 16384 || !shown.Listed || s["tools"].From != "provider" ||
		s["context_length"].From != "configuration" || s["context_length"].Origin.Line != 2 {
		t.Errorf("%s", out)
	}
	same(t, "example", shown.Example, `fettle ask -m ollama/qwen3:8b "why is the sky blue?"`)
	if out, _ := w.run(0, "models", "show", "ollama/llava"); !strings.HasPrefix(out, "ollama/llava\n") {
		t.Errorf("%s", out)
	}
	if out, _ := w.run(0, "models", "show"); !strings.HasPrefix(out, "ollama/qwen3:8b\n") {
		t.Errorf("without a name: %s", out)
	}
	for ref, want := range map[string]string{
		"ollama/qwen4":    "fettle: ollama has no model qwen4 (did you mean qwen3:8b?)\n  try   fettle models show ollama/qwen3:8b\n   or   fettle models list --provider ollama\n",
		"qwen3:8b":        "fettle: no model is called qwen3:8b: a model is named provider/model\n  try   fettle models show ollama/qwen3:8b\n   or   fettle models list\n",
		"olama/qwen3:8b":  "fettle: no provider is called olama (did you mean ollama?)\n  try   fettle models show ollama/qwen3:8b\n   or   fettle models list\n",
		"ollama/zzzzzzzz": "fettle: ollama has no model zzzzzzzz\n  try   fettle models list --provider ollama\n",
	} {
		cmd := w.command("models", "show", ref)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		if err := cmd.Run(); err == nil || cmd.ProcessState.ExitCode() != 4 && cmd.ProcessState.ExitCode() != 2 {
			t.Errorf("%s: %v", ref, err)
		}
		same(t, ref, errs.String(), want)
	}
}

// ollama is the address in the world's environment.
func (w *world) ollama() string {
	last := ""
	for _, kv := range w.env {
		if v, ok := strings.CutPrefix(kv, "OLLAMA_HOST="); ok {
			last = v
		}
	}
	return last
}

func TestModelsPull(t *testing.T) {
	t.Parallel()
	o := newFakeOllama(t, "llava")
	w := modelWorld(t, o)
	whole := pullBegins + layer("a", 0, 5_200_000_000) + layer("a", 5_200_000_000, 5_200_000_000) + pullEnds
	o.plays(says(whole))
	out, errs := w.run(0, "models", "pull", "qwen3")
	if out != "" || !strings.HasPrefix(errs, "pulled ollama/qwen3, 5.2 GB in ") || strings.Count(errs, "\n") != 1 {
		t.Errorf("%q %q", out, errs)
	}
	// Completion knows it at once, and asks nobody.
	if out, _ := w.run(0, "__complete", "bash", "--", "=ollama/q", "ask", "-m"); !strings.HasPrefix(out, "ollama/qwen3\t40k context, tools, 5.2 GB\n") {
		t.Errorf("%q", out)
	}
	out, _ = w.run(0, "models", "pull", "ollama/mistral-small", "-o", "json")
	var done struct {
		Model         string
		Size, Fetched int64
	}
	if err := json.Unmarshal([]byte(out), &done); err != nil || done.Model != "ollama/mistral-small" || done.Size != 5_200_000_000 || done.Fetched != done.Size {
		t.Errorf("%s %v", out, err)
	}
	o.plays(says(pullBegins + layer("a", 9000, 9000) + pullEnds))
	if _, errs := w.run(0, "models", "pull", "llava"); errs != "all of ollama/llava was here, 9.0 KB\n" {
		t.Errorf("%q", errs)
	}
	for name, c := range map[string]struct {
		play   http.HandlerFunc
		status int
		says   []string
	}{
		"no such model": {says(pullBegins + `{"error":"pull model manifest: file does not exist"}`), 4, []string{"ollama finds no model qwen3 to pull", "file does not exist"}},
		"cut": {says(pullBegins + layer("a", 1_200_000_000, 5_200_000_000)), 4,
			[]string{"before its end", "fettle models pull qwen3   goes on from 1.2 GB of 5.2 GB"}},
		"an error on the way": {says(pullBegins + layer("a", 10, 100) + `{"error":"max retries exceeded"}`), 4,
			[]string{"max retries exceeded", "goes on from 10 bytes of 100 bytes"}},
		"the disk is full": {says(pullBegins + `{"error":"write blob: no space left on device"}`), 4, []string{"no space left on device"}},
	} {
		o.plays(c.play)
		out, errs := w.run(c.status, "models", "pull", "qwen3")
		for _, want := range c.says {
			if !strings.Contains(errs, want) || out != "" {
				t.Errorf("%s: %q %q lacks %q", name, out, errs, want)
			}
		}
	}
	for args, want := range map[string]string{
		"":             "models pull wants the name of one model",
		"a b":          "models pull wants the name of one model",
		"openai/gpt-5": "openai has its models elsewhere: there is nothing to pull",
		"script/x":     "script has its models elsewhere: there is nothing to pull",
	} {
		if _, errs := w.run(2, append([]string{"models", "pull"}, strings.Fields(args)...)...); !strings.Contains(errs, want) {
			t.Errorf("%s: %q", args, errs)
		}
	}
	if _, errs := w.run(4, "models", "pull", "two words"); !strings.Contains(errs, "is no name that Ollama could have") {
		t.Errorf("%q", errs)
	}
}

func TestModelsPullGoesOnByItself(t *testing.T) {
	t.Parallel()
	o := newFakeOllama(t)
	o.plays(says(pullBegins+layer("a", 40, 100)), says(pullBegins+layer("a", 40, 100)+layer("a", 100, 100)+pullEnds))
	w := modelWorld(t, o)
	w.env = append(w.env, "FETTLE_RETRIES=1")
	if _, errs := w.run(0, "models", "pull", "qwen3"); !strings.HasPrefix(errs, "pulled ollama/qwen3, 100 bytes in ") {
		t.Errorf("%q", errs)
	}
}

func TestModelsPullIsStopped(t *testing.T) {
	t.Parallel()
	signals := endingSignals()
	if len(signals) == 0 {
		t.Skip("no signals here")
	}
	o := newFakeOllama(t)
	begun, gone := make(chan struct{}), make(chan struct{})
	o.plays(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, pullBegins+layer("a", 1_000, 3_000))
		close(begun)
		<-r.Context().Done()
		close(gone)
	})
	w := modelWorld(t, o)
	cmd := w.command("models", "pull", "qwen3")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-begun
	time.Sleep(50 * time.Millisecond) // until it has read how far it is
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	<-gone
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 130 || errs.String() != "fettle: stopped; fettle models pull qwen3   goes on from 1.0 KB of 3.0 KB\n" {
		t.Errorf("status %d, %q", code, errs.String())
	}
}

func TestModelsRm(t *testing.T) {
	t.Parallel()
	o := newFakeOllama(t, "qwen3:8b", "llava", "llama3.2")
	w := modelWorld(t, o)
	_, errs := w.run(2, "models", "rm", "llava")
	if !strings.Contains(errs, "nobody can be asked here") || !strings.Contains(errs, "fettle models rm llava --yes") {
		t.Errorf("%q", errs)
	}
	_, errs = w.run(4, "models", "rm", "llava", "lava", "--yes")
	if !strings.Contains(errs, "ollama has no model lava (did you mean llava?)") || !strings.Contains(errs, "fettle models rm ollama/llava") {
		t.Errorf("%q", errs)
	}
	if out, _ := w.run(0, "models", "list"); strings.Count(out, "\n") != 3 {
		t.Errorf("something was removed: %s", out)
	}
	_, errs = w.run(0, "models", "rm", "llava", "ollama/llama3.2", "-y")
	same(t, "rm", errs, "fettle: removed ollama/llava (5.2 GB)\nfettle: removed ollama/llama3.2 (5.2 GB)\n")
	if out, _ := w.run(0, "__complete", "bash", "--", "=", "models", "rm"); out != "qwen3:8b\t40k context, tools, 5.2 GB\n" {
		t.Errorf("completion offers %q", out)
	}
	for args, want := range map[string]string{"": "wants the name of a model", "mistral/x": "mistral has its models elsewhere: there is nothing to rm"} {
		if _, errs := w.run(2, append([]string{"models", "rm"}, strings.Fields(args)...)...); !strings.Contains(errs, want) {
			t.Errorf("%s: %q", args, errs)
		}
	}
}

// The whole way with a real Ollama, where one is on the PATH.
func TestModelsOfARealOllama(t *testing.T) {
	server := ollamatest.Start(t)
	w := newWorld(t, "responses: [{text: Yes.}]")
	w.env = append(w.env, "OLLAMA_HOST="+server.Host, "ANTHROPIC_API_KEY=", "MISTRAL_API_KEY=", "FETTLE_MODEL=")
	out, errs := w.run(0, "models", "list", "--tools", "--local")
	if !strings.HasPrefix(out, "ollama/"+ollamatest.Model+"\t"+fmt.Sprint(ollamatest.ContextLength)+"\ttools\t") || errs != "" {
		t.Errorf("list: %q %q", out, errs)
	}
	out, _ = w.run(0, "models", "show", "ollama/"+ollamatest.Model)
	for _, want := range []string{"context\t8,192 tokens\tollama\n", "tools\tyes\tollama\n", "images\tno\tollama\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("show lacks %q:\n%s", want, out)
		}
	}
	if _, errs := w.run(4, "models", "show", "ollama/tini"); !strings.Contains(errs, "did you mean tiny?") {
		t.Errorf("show: %q", errs)
	}
	if _, errs := w.run(0, "models", "rm", ollamatest.Model, "--yes"); !strings.Contains(errs, "removed ollama/tiny") {
		t.Errorf("rm: %q", errs)
	}
	if out, errs := w.run(0, "models", "list"); out != "" || !strings.Contains(errs, "there are no models") {
		t.Errorf("list: %q %q", out, errs)
	}
}
