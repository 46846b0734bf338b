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

	"github.com/fettle-cli/fettle/commands/commandtest"
	"github.com/fettle-cli/fettle/internal/ollamatest"
)

// modelWorld is a world with this Ollama, and no other provider.
func modelWorld(t *testing.T, o *commandtest.Ollama) *world {
	t.Helper()
	w := newWorld(t, "responses: [{text: Yes.}]")
	w.Env = append(w.Env, o.Settings()...)
	return w
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
	o := commandtest.NewOllama(t, "qwen3:8b", "llava", "gpt-oss:120b-cloud")
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
		out, errs := w.Run(0, append([]string{"models", "list"}, strings.Fields(args)...)...)
		same(t, args, out, want)
		if want == "" && !strings.Contains(errs, "fettle: no model is all of that") || want != "" && errs != "" {
			t.Errorf("%s: stderr %q", args, errs)
		}
	}
	out, _ := w.Run(0, "models", "list", "--images", "-o", "json")
	var list struct {
		SchemaVersion int `json:"schema_version"`
		Models        []map[string]any
		Providers     []map[string]any
		Errors        []map[string]any
		NotReady      []map[string]any `json:"not_ready"`
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
	o := commandtest.NewOllama(t, "qwen3")
	w := modelWorld(t, o)
	w.Configure("providers:\n  down: {base_url: \"http://127.0.0.1:1/v1\"}\n")
	const qwen = "ollama/qwen3\t40960\ttools\t5200000000\t8.2B Q4_K_M\n"

	out, errs := w.Run(0, "models", "list")
	same(t, "one fails", out, qwen)
	same(t, "and says so", errs, "fettle: down at http://127.0.0.1:1 can't be reached\n")
	out, errs = w.Run(0, "models", "list", "-o", "json")
	if !strings.Contains(out, `"code": "unavailable"`) || !strings.Contains(out, `"provider": "down"`) || errs != "" {
		t.Errorf("%s\n%s", out, errs)
	}
	_, errs = w.Run(4, "models", "list", "--provider", "down")
	same(t, "alone", errs, "fettle: down at http://127.0.0.1:1 can't be reached\n  try   check the address in the configuration, and the network\n")
	_, errs = w.Run(2, "models", "list", "--provider", "olama")
	if !strings.Contains(errs, "no provider is called olama (did you mean ollama?)") || !strings.Contains(errs, "--provider ollama") {
		t.Errorf("%s", errs)
	}
	_, errs = w.Run(4, "models", "list", "--provider", "openai")
	if !strings.Contains(errs, "openai: OPENAI_API_KEY not set") {
		t.Errorf("%s", errs)
	}

	o.Close()
	out, errs = w.Run(4, "models", "list")
	same(t, "none answers, one has before", out, qwen)
	if !strings.Contains(errs, "fettle: ollama at "+o.URL+" can't be reached; its list is from ") || !strings.Contains(errs, "fettle: down at") {
		t.Errorf("%s", errs)
	}
	if out, _ := w.Run(4, "models", "list", "-o", "json"); !strings.Contains(out, `"cached": true`) || !strings.Contains(out, "ollama/qwen3") {
		t.Errorf("%s", out)
	}
	if err := os.RemoveAll(filepath.Join(w.Dir, "data", "cache")); err != nil {
		t.Fatal(err)
	}
	out, errs = w.Run(4, "models", "list")
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
	w := modelWorld(t, commandtest.NewOllama(t))
	w.Env = append(w.Env, "HTTP_PROXY="+proxy.URL, "http_proxy="+proxy.URL, "NO_PROXY=")
	w.Configure("providers:\n  far: {base_url: \"http://models.test/v1\"}\n")

	out, errs := w.Run(0, "models", "list", "--provider", "far")
	same(t, "far", out, "far/gpt-5\t400000\ttools\t\t\nfar/plain\u241b[2J\t\t?\t\t\n")
	if errs != "" {
		t.Errorf("%q", errs)
	}
	again, errs := w.Run(0, "models", "list", "--provider", "far")
	if again != out || !strings.Contains(errs, "fettle: the list of far is from ") || !strings.Contains(errs, "; --refresh asks now") || count() != 1 {
		t.Errorf("%q %q, asked %d times", again, errs, count())
	}
	if _, errs = w.Run(0, "models", "list", "--provider", "far", "--refresh"); errs != "" || count() != 2 {
		t.Errorf("%q, asked %d times", errs, count())
	}
	_, errs = w.Run(0, "models", "list", "--provider", "far", "--tools")
	if !strings.Contains(errs, "1 model is left out, whose abilities nobody told") {
		t.Errorf("%q", errs)
	}
}

func TestModelsShow(t *testing.T) {
	t.Parallel()
	w := modelWorld(t, commandtest.NewOllama(t, "qwen3:8b", "llava:latest"))
	w.Configure("models:\n  ollama/qwen3:8b: {context_length: 16384, images: true}\n")
	config := filepath.Join(w.Dir, "config", "config.yaml")
	out, errs := w.Run(0, "models", "show", "ollama/qwen3:8b")
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
	out, _ = w.Run(0, "models", "show", "ollama/qwen3:8b", "-o", "json")
	if err := json.Unmarshal([]byte(out), &shown); err != nil {
		t.Fatal(err)
	}
	if s := shown.Sources; shown.ContextLength != 16384 || !shown.Listed || s["tools"].From != "provider" ||
		s["context_length"].From != "configuration" || s["context_length"].Origin.Line != 2 {
		t.Errorf("%s", out)
	}
	same(t, "example", shown.Example, `fettle ask -m ollama/qwen3:8b "why is the sky blue?"`)
	if out, _ := w.Run(0, "models", "show", "ollama/llava"); !strings.HasPrefix(out, "ollama/llava\n") {
		t.Errorf("%s", out)
	}
	if out, _ := w.Run(0, "models", "show", "qwen3:8b"); !strings.HasPrefix(out, "ollama/qwen3:8b\n") {
		t.Errorf("by its short name: %s", out)
	}
	if out, _ := w.Run(0, "models", "show"); !strings.HasPrefix(out, "ollama/qwen3:8b\n") {
		t.Errorf("without a name: %s", out)
	}
	for ref, want := range map[string]string{
		"ollama/qwen4":    "fettle: ollama has no model qwen4 (did you mean qwen3:8b?)\n  try   fettle models show ollama/qwen3:8b\n   or   fettle models list --provider ollama\n",
		"qwen4":           "fettle: no model is called qwen4\n  try   fettle ask -m ollama/qwen3:8b …\n   or   fettle models list   lists the models\n",
		"olama/qwen3:8b":  "fettle: no provider is called olama (did you mean ollama?)\n  try   fettle models show ollama/qwen3:8b\n   or   fettle models list\n",
		"ollama/zzzzzzzz": "fettle: ollama has no model zzzzzzzz\n  try   fettle models list --provider ollama\n",
	} {
		cmd := w.Command("models", "show", ref)
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
	for _, kv := range w.Env {
		if v, ok := strings.CutPrefix(kv, "OLLAMA_HOST="); ok {
			last = v
		}
	}
	return last
}

func TestModelsPull(t *testing.T) {
	t.Parallel()
	o := commandtest.NewOllama(t, "llava")
	w := modelWorld(t, o)
	whole := commandtest.PullBegins + commandtest.Layer("a", 0, 5_200_000_000) + commandtest.Layer("a", 5_200_000_000, 5_200_000_000) + commandtest.PullEnds
	o.Plays(commandtest.Says(whole))
	out, errs := w.Run(0, "models", "pull", "qwen3")
	if out != "" || !strings.HasPrefix(errs, "pulled ollama/qwen3, 5.2 GB in ") || strings.Count(errs, "\n") != 1 {
		t.Errorf("%q %q", out, errs)
	}
	// Completion knows it at once, and asks nobody.
	if out, _ := w.Run(0, "__complete", "bash", "--", "=ollama/q", "ask", "-m"); !strings.HasPrefix(out, "ollama/qwen3\t40k context, tools, 5.2 GB\n") {
		t.Errorf("%q", out)
	}
	out, _ = w.Run(0, "models", "pull", "ollama/mistral-small", "-o", "json")
	var done struct {
		Model         string
		Size, Fetched int64
	}
	if err := json.Unmarshal([]byte(out), &done); err != nil || done.Model != "ollama/mistral-small" || done.Size != 5_200_000_000 || done.Fetched != done.Size {
		t.Errorf("%s %v", out, err)
	}
	o.Plays(commandtest.Says(commandtest.PullBegins + commandtest.Layer("a", 9000, 9000) + commandtest.PullEnds))
	if _, errs := w.Run(0, "models", "pull", "llava"); errs != "all of ollama/llava was here, 9.0 KB\n" {
		t.Errorf("%q", errs)
	}
	for name, c := range map[string]struct {
		play   http.HandlerFunc
		status int
		says   []string
	}{
		"no such model": {commandtest.Says(commandtest.PullBegins + `{"error":"pull model manifest: file does not exist"}`), 4, []string{"ollama finds no model qwen3 to pull", "file does not exist"}},
		"cut": {commandtest.Says(commandtest.PullBegins + commandtest.Layer("a", 1_200_000_000, 5_200_000_000)), 4,
			[]string{"before its end", "fettle models pull qwen3   goes on from 1.2 GB of 5.2 GB"}},
		"an error on the way": {commandtest.Says(commandtest.PullBegins + commandtest.Layer("a", 10, 100) + `{"error":"max retries exceeded"}`), 4,
			[]string{"max retries exceeded", "goes on from 10 bytes of 100 bytes"}},
		"the disk is full": {commandtest.Says(commandtest.PullBegins + `{"error":"write blob: no space left on device"}`), 4, []string{"no space left on device"}},
	} {
		o.Plays(c.play)
		out, errs := w.Run(c.status, "models", "pull", "qwen3")
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
		if _, errs := w.Run(2, append([]string{"models", "pull"}, strings.Fields(args)...)...); !strings.Contains(errs, want) {
			t.Errorf("%s: %q", args, errs)
		}
	}
	if _, errs := w.Run(4, "models", "pull", "two words"); !strings.Contains(errs, "is no name that Ollama could have") {
		t.Errorf("%q", errs)
	}
}

func TestModelsPullGoesOnByItself(t *testing.T) {
	t.Parallel()
	o := commandtest.NewOllama(t)
	o.Plays(commandtest.Says(commandtest.PullBegins+commandtest.Layer("a", 40, 100)), commandtest.Says(commandtest.PullBegins+commandtest.Layer("a", 40, 100)+commandtest.Layer("a", 100, 100)+commandtest.PullEnds))
	w := modelWorld(t, o)
	w.Env = append(w.Env, "FETTLE_RETRIES=1")
	if _, errs := w.Run(0, "models", "pull", "qwen3"); !strings.HasPrefix(errs, "pulled ollama/qwen3, 100 bytes in ") {
		t.Errorf("%q", errs)
	}
}

func TestModelsPullIsStopped(t *testing.T) {
	t.Parallel()
	signals := commandtest.EndingSignals()
	if len(signals) == 0 {
		t.Skip("no signals here")
	}
	o := commandtest.NewOllama(t)
	begun, gone := make(chan struct{}), make(chan struct{})
	o.Plays(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, commandtest.PullBegins+commandtest.Layer("a", 1_000, 3_000))
		close(begun)
		<-r.Context().Done()
		close(gone)
	})
	w := modelWorld(t, o)
	cmd := w.Command("models", "pull", "qwen3")
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
	o := commandtest.NewOllama(t, "qwen3:8b", "llava", "llama3.2")
	w := modelWorld(t, o)
	_, errs := w.Run(2, "models", "rm", "llava")
	if !strings.Contains(errs, "nobody can be asked here") || !strings.Contains(errs, "fettle models rm llava --yes") {
		t.Errorf("%q", errs)
	}
	_, errs = w.Run(4, "models", "rm", "llava", "lava", "--yes")
	if !strings.Contains(errs, "ollama has no model lava (did you mean llava?)") || !strings.Contains(errs, "fettle models rm ollama/llava") {
		t.Errorf("%q", errs)
	}
	if out, _ := w.Run(0, "models", "list"); strings.Count(out, "\n") != 3 {
		t.Errorf("something was removed: %s", out)
	}
	_, errs = w.Run(0, "models", "rm", "llava", "ollama/llama3.2", "-y")
	same(t, "rm", errs, "fettle: removed ollama/llava (5.2 GB)\nfettle: removed ollama/llama3.2 (5.2 GB)\n")
	if out, _ := w.Run(0, "__complete", "bash", "--", "=", "models", "rm"); out != "qwen3:8b\t40k context, tools, 5.2 GB\n" {
		t.Errorf("completion offers %q", out)
	}
	for args, want := range map[string]string{"": "wants the name of a model", "mistral/x": "mistral has its models elsewhere: there is nothing to rm"} {
		if _, errs := w.Run(2, append([]string{"models", "rm"}, strings.Fields(args)...)...); !strings.Contains(errs, want) {
			t.Errorf("%s: %q", args, errs)
		}
	}
}

// The whole way with a real Ollama, where one is on the PATH.
func TestModelsOfARealOllama(t *testing.T) {
	server := ollamatest.Start(t)
	w := newWorld(t, "responses: [{text: Yes.}]")
	w.Env = append(w.Env, "OLLAMA_HOST="+server.Host, "ANTHROPIC_API_KEY=", "MISTRAL_API_KEY=", "FETTLE_MODEL=")
	out, errs := w.Run(0, "models", "list", "--tools", "--local")
	if !strings.HasPrefix(out, "ollama/"+ollamatest.Model+"\t"+fmt.Sprint(ollamatest.ContextLength)+"\ttools\t") || errs != "" {
		t.Errorf("list: %q %q", out, errs)
	}
	out, _ = w.Run(0, "models", "show", "ollama/"+ollamatest.Model)
	for _, want := range []string{"context\t8,192 tokens\tollama\n", "tools\tyes\tollama\n", "images\tno\tollama\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("show lacks %q:\n%s", want, out)
		}
	}
	if _, errs := w.Run(4, "models", "show", "ollama/tini"); !strings.Contains(errs, "did you mean tiny?") {
		t.Errorf("show: %q", errs)
	}
	if _, errs := w.Run(0, "models", "rm", ollamatest.Model, "--yes"); !strings.Contains(errs, "removed ollama/tiny") {
		t.Errorf("rm: %q", errs)
	}
	if out, errs := w.Run(0, "models", "list"); out != "" || !strings.Contains(errs, "there are no models") {
		t.Errorf("list: %q %q", out, errs)
	}
}
