package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/nodetest"
	"github.com/fettle-cli/fettle/toolset"
)

// clientsTake bounds one client's scenarios: they take a second or two, and a
// machine that builds at the same time may take twenty times as long.
const clientsTake = 3 * time.Minute

// clientsScript is the model that the clients talk with.
const clientsScript = `
responses:
  - {when: think, reasoning: The user greets me., text: Hello there., usage: {input_tokens: 12, output_tokens: 5}}
  - {when: too busy, error: {kind: overloaded, status: 529, message: overloaded}}
  - {when: busy, error: {kind: rate_limited, status: 429, message: slow down}}
  - {when: limited for long, error: {kind: rate_limited, status: 429, message: slow down, retry_after: 10m}}
  - {when: limited, error: {kind: rate_limited, status: 429, message: slow down, retry_after: 20ms}}
  - {when: fails inside, error: {kind: overloaded, status: 500, message: internal error}}
  - {when: break before, error: {kind: broken, message: the connection was lost}}
  - {when: uncounted, text: Hello., usage: {input_tokens: 0, output_tokens: 0}}
  - {when: refused, error: {kind: rejected, status: 400, message: not like this}}
  - {when: moderated, error: {kind: rejected, status: 403, message: your input was flagged}}
  - {when: wrong key, error: {kind: unauthorised, status: 401, message: the key is unknown}}
  - {when: no quota, error: {kind: rejected, status: 429, message: insufficient_quota}}
  - {when: gibberish, error: {kind: undecodable, message: "the answer can't be read"}}
  - {when: misses, text: this is not JSON}
  - {when: no such model, error: {kind: unknown_model, status: 404, message: there is no such model}}
  - {when: no such input, error: {kind: rejected, status: 422, message: unprocessable}}
  - {when: paid, error: {kind: rejected, status: 402, message: credits are used up}}
  - {when: too long, error: {kind: context_full, status: 400, message: the prompt is too long}}
  - {when: break, text: Hello th, error: {kind: broken, message: the connection was lost}}
  - {when: slow, deltas: [{content: Half}], hang: true}
  - {when: json, text: '{"city":"Oslo"}'}
  - {when: weather, step: 0, expect: {tools: [get_weather]}, reasoning: I need it., text: Let me look., calls: [{name: get_weather, args: {city: Oslo}}]}
  - {when: weather, step: 1, seen: 3 degrees, text: It is 3 degrees in Oslo.}
  - {when: patch it, step: 0, expect: {tools: [apply_patch, mcp__notes__find]}, calls: [{name: apply_patch, args: {input: "*** Begin"}}, {name: mcp__notes__find, args: {q: x}}]}
  - {when: patch it, step: 1, seen: found it, text: Patched.}
  - {when: must any, expect: {must_call: "*", tools: [get_weather, other]}, calls: [{name: get_weather, args: {city: Oslo}}]}
  - {when: must one, expect: {must_call: get_weather}, calls: [{name: get_weather, args: {city: Oslo}}]}
  - {when: what did you say, seen: It is 3 degrees in Oslo, text: That it is 3 degrees.}
  - {when: note it, step: 0, system: ^You are the Scribe, expect: {tools: [note]}, text: I note it., calls: [{name: note, args: {}}]}
  - {when: note it, step: 1, text: Noted.}
  - {when: "", text: Hello.}
`

// TestClients has the real clients of the wire dialects, at the versions of
// dialect/testdata/clients, talk with a server over a real engine: unmodified, with
// their own base URLs alone. Everything that they are answered is held against the
// formats' published schemas.
func TestClients(t *testing.T) {
	t.Parallel()
	runClients(t, nodetest.Clients(), "openai", "aisdk", "agui", "ollama", "anthropic", "eventsource")
}

// TestFrameworks has frameworks, and clients at older versions that are in use, do the same, at
// the versions of testdata/frameworks.
func TestFrameworks(t *testing.T) {
	t.Parallel()
	runClients(t, nodetest.Frameworks(), "ai_versions", "langchain", "llamaindex", "eventsource", "continue", "genai")
}

// runClients runs the scripts of clients with the packages of a set.
func runClients(t *testing.T, set nodetest.Set, scripts ...string) {
	t.Helper()
	modules, node := nodetest.Find(t, set)
	dir := t.TempDir()
	must(t, errors.Join(os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "clients"))),
		os.Symlink(modules, filepath.Join(dir, "node_modules"))))
	for _, client := range scripts {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			h := open(t, plan{script: clientsScript, tools: noteTool(), agents: []store.Agent{
				{ID: "scribe", Purpose: "notes", Prompt: "You are the Scribe.", Tools: []string{"note"}},
			}})
			front := newFront(t, h)
			ctx, cancel := context.WithTimeout(t.Context(), clientsTake)
			defer cancel()
			cmd := exec.CommandContext(ctx, node, client+".mjs", front.URL, h.token)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "NO_PROXY=127.0.0.1", "NODE_OPTIONS=")
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%s\n%s", err, out, front.last())
			}
			if n := bytes.Count(append([]byte("\n"), out...), []byte("\nok ")); n < 4 {
				t.Errorf("it ran %d scenarios:\n%s", n, out)
			}
			t.Logf("%s", out)
			front.judge(t)
		})
	}
}

// noteTool is a tool of fettle's that no client knows.
func noteTool() []toolset.Entry {
	return []toolset.Entry{{
		Tool: toolset.Tool{ID: "note", Name: "Note", Description: "notes", Enabled: true, InputSchema: json.RawMessage(`{"type":"object"}`)},
		Runner: toolset.RunnerFunc(func(context.Context, toolset.Call) (toolset.Result, error) {
			return toolset.Result{Text: "noted"}, nil
		}),
	}}
}

// front stands before a server: it passes everything on, and keeps what was
// answered.
type front struct {
	*httptest.Server
	mu       sync.Mutex
	answered []*tape
}

// tape is one answer as it came.
type tape struct {
	path, kind string
	anthropic  bool // the client is of Anthropic's API
	status     int
	mu         *sync.Mutex
	body       bytes.Buffer
	whole      bool
	from       io.ReadCloser
}

func (t *tape) Read(p []byte) (int, error) {
	n, err := t.from.Read(p)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.body.Write(p[:n])
	t.whole = t.whole || err == io.EOF
	return n, err
}

func (t *tape) Close() error { return t.from.Close() }

func newFront(t *testing.T, h *house) *front {
	t.Helper()
	f := &front{}
	target, err := url.Parse(h.url)
	must(t, err)
	proxy := &httputil.ReverseProxy{
		FlushInterval: -1, Transport: &http.Transport{},
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			wholeBody(t, r)
		},
		ModifyResponse: func(res *http.Response) error {
			path := strings.TrimPrefix(res.Request.URL.Path, "/t/"+h.token)
			one := &tape{path: res.Request.Method + " " + path, kind: res.Header.Get("Content-Type"), status: res.StatusCode, mu: &f.mu, from: res.Body, anthropic: res.Request.Header.Get("Anthropic-Version") != ""}
			f.mu.Lock()
			defer f.mu.Unlock()
			f.answered = append(f.answered, one)
			res.Body = one
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	mux := http.NewServeMux()
	mux.Handle("/", proxy)
	mux.HandleFunc("GET /cancelled", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.URL.Query().Get("n"))
		eventually(t, "a cancelled turn", func() bool { return strings.Count(h.log.String(), `"end":"cancelled"`) >= n })
		_, _ = io.WriteString(w, "cancelled")
	})
	mux.HandleFunc("GET /cancel", func(w http.ResponseWriter, r *http.Request) {
		must(t, h.eng.Cancel(r.Context(), lastBegun(t, h)))
	})
	f.Server = httptest.NewServer(mux)
	t.Cleanup(func() {
		f.CloseClientConnections() // of a script that was killed
		f.Close()
		proxy.Transport.(*http.Transport).CloseIdleConnections()
	})
	return f
}

// wholeBody has a proxy read the body of a request before it passes it on. An answer that
// begins before net/http has looked for the end of the body closes the body, and net/http
// then gives up the connection with the answer.
func wholeBody(t *testing.T, r *httputil.ProxyRequest) {
	if r.In.ContentLength <= 0 {
		return
	}
	raw, err := io.ReadAll(r.In.Body)
	if err != nil {
		t.Errorf("read a request: %v", err)
	}
	r.Out.Body = io.NopCloser(bytes.NewReader(raw))
}

// last tells of the last answers, for a client that failed.
func (f *front) last() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out strings.Builder
	for _, one := range f.answered[max(0, len(f.answered)-3):] {
		fmt.Fprintf(&out, "== %s: %d\n%s\n", one.path, one.status, one.body.Bytes())
	}
	return out.String()
}

// lastBegun is the turn that the server began last.
func lastBegun(t *testing.T, h *house) (id store.TurnID) {
	for line := range strings.Lines(h.log.String()) {
		var entry struct{ Msg, Turn string }
		if err := json.Unmarshal([]byte(line), &entry); err == nil && entry.Msg == "turn begun" {
			id = store.TurnID(entry.Turn)
		}
	}
	if id == "" {
		t.Error("no turn was begun")
	}
	return id
}
