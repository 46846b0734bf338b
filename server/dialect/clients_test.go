package dialect

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/internal/nodetest"
)

// clientsTake bounds one client's scenarios: they take a second or two here,
// and a machine that builds at the same time may take twenty times as long.
const clientsTake = 3 * time.Minute

// TestClients has the real clients, at the versions of testdata/clients, read
// recorded turns over HTTP: unmodified, with their own base URLs alone.
func TestClients(t *testing.T) {
	t.Parallel()
	modules, node := nodetest.Find(t, nodetest.Clients())
	dir := t.TempDir()
	if err := errors.Join(os.CopyFS(dir, scripts{os.DirFS(filepath.Join("testdata", "clients"))}),
		os.Symlink(modules, filepath.Join(dir, "node_modules"))); err != nil {
		t.Fatal(err)
	}
	for _, client := range []string{"openai", "aisdk", "agui", "ollama", "anthropic", "eventsource"} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(newReplay(t))
			defer server.Close()
			defer server.CloseClientConnections() // of a script that was killed
			ctx, cancel := context.WithTimeout(t.Context(), clientsTake)
			defer cancel()
			cmd := exec.CommandContext(ctx, node, client+".mjs", server.URL)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "NO_PROXY=127.0.0.1", "NODE_OPTIONS=")
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			if n := bytes.Count(append([]byte("\n"), out...), []byte("\nok ")); n < 3 {
				t.Errorf("it ran %d scenarios:\n%s", n, out)
			}
			t.Logf("%s", out)
		})
	}
}

// replay is a server of recorded turns: /TURN/PATH plays TURN in the dialect
// that PATH belongs to. It is what serve does, without an engine behind it.
type replay struct {
	t     *testing.T
	turns map[string][]event.Event

	mu   sync.Mutex
	left map[string]chan struct{} // hanging turns whose clients have gone
}

func newReplay(t *testing.T) *replay {
	return &replay{t: t, turns: turnFiles(t), left: map[string]chan struct{}{}}
}

func (p *replay) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	first, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch first {
	case "gone":
		p.gone(w, r, path)
	case "none":
		w.WriteHeader(http.StatusNoContent)
	case "hang":
		client, path, _ := strings.Cut(path, "/")
		p.hang(w, r, client, path)
	case "cut":
		turn, _, _ := strings.Cut(path, "/")
		p.events(w, r, p.turns[turn], 7)
	default:
		p.play(w, r, first, path)
	}
}

// dialectOf is the dialect of a path, as serve has them.
func dialectOf(path string) Name {
	switch {
	case path == "v1/chat/completions":
		return OpenAI
	case path == "v1/responses":
		return Responses
	case path == "api/chat":
		return Ollama
	case path == "v1/messages":
		return Anthropic
	case path == "agui":
		return AGUI
	case path == "events":
		return Chat
	case strings.HasPrefix(path, "aisdk"):
		return AISDK
	}
	return ""
}

func (p *replay) play(w http.ResponseWriter, r *http.Request, turn, path string) {
	if p.models(w, r, path) {
		return
	}
	path, again := strings.CutSuffix(path, "/resp_1")
	events, n := p.turns[turn], dialectOf(path)
	switch {
	case events == nil || n == "":
		http.NotFound(w, r)
		return
	case n == Chat:
		p.events(w, r, events, len(events))
		return
	}
	req := &Request{Stream: true}
	if r.Method == http.MethodPost {
		if req = p.decode(w, r, n); req == nil {
			return
		}
	}
	if e, refused := events[0].Body.(event.Error); refused {
		failed(w, n, e)
		return
	}
	p.expect(turn, req)
	o := req.Options()
	if r.Method == http.MethodGet {
		o.AskByPause, o.Settled = true, event.Seq(len(events))
	}
	if !req.Stream {
		p.object(w, n, o, events)
		return
	}
	if after, err := strconv.ParseInt(r.URL.Query().Get("starting_after"), 10, 64); again && err == nil {
		o.After = after + 1
	}
	p.stream(w, n, o, events, len(req.Answers))
}

// models answers what clients ask about models.
func (p *replay) models(w http.ResponseWriter, r *http.Request, path string) bool {
	var body []byte
	switch path {
	case "v1/models":
		body = OpenAIModels(someModels())
		if r.Header.Get("Anthropic-Version") != "" {
			body = AnthropicModels(someModels())
		}
	case "api/tags":
		body = OllamaTags(someModels())
	case "api/version":
		body = OllamaVersionBody()
	case "api/show":
		raw, err := io.ReadAll(r.Body)
		name, bad := ShowRequest(raw)
		if err != nil || bad != nil || name != someModels()[0].ID {
			p.t.Errorf("the client shows %q: %v %v", name, err, bad)
		}
		body = OllamaShow(someModels()[0])
	default:
		return false
	}
	w.Header().Set("Content-Type", typeJSON)
	_, _ = w.Write(body)
	return true
}

// expect checks what was read of the requests that clients make of a turn.
func (p *replay) expect(turn string, req *Request) {
	if turn == "client_tool" && (len(req.Tools) < 2 || !isObject(req.Tools[0].Schema)) {
		p.t.Errorf("%s: the tools are %+v", req.Dialect, req.Tools)
	}
	for _, a := range req.Answers {
		if _, use, _ := SplitApprovalID(a.ID); use != "call_1" || a.Approved != (turn == "approval") || turn == "denied" && a.Reason != "not now" {
			p.t.Errorf("%s: the answer to %s is %+v", req.Dialect, turn, a)
		}
	}
	said := false
	for _, m := range req.Messages {
		said = said || m.Role == User && textOf(m.Parts) == "hi"
	}
	if req.Dialect != "" && !said {
		p.t.Errorf("%s: the messages are %+v", req.Dialect, req.Messages)
	}
}

func (p *replay) decode(w http.ResponseWriter, r *http.Request, n Name) *Request {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	if err != nil {
		p.t.Errorf("read a request: %v", err)
		return nil
	}
	req, f := Decode(n, body)
	if f != nil {
		status, kind, text := n.Failure(f)
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = w.Write(text)
		return nil
	}
	return req
}

func failed(w http.ResponseWriter, n Name, e event.Error) {
	status, kind, text := n.Failure(e.Fault())
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	_, _ = w.Write(text)
}

func (p *replay) object(w http.ResponseWriter, n Name, o Options, events []event.Event) {
	obj := NewObject(n, o)
	for _, e := range events {
		if err := obj.Add(e); err != nil {
			p.t.Error(err)
		}
	}
	status, body := obj.Body()
	w.Header().Set("Content-Type", n.Form().ObjectType)
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

func begin(w http.ResponseWriter, n Name) {
	form := n.Form()
	for k, v := range form.Header {
		w.Header().Set(k, v)
	}
	w.Header().Set("Content-Type", form.ContentType)
	w.WriteHeader(http.StatusOK)
}

// stream writes each event's frames on their own, with a keep-alive between
// any two. What was answered already was written by an earlier request.
func (p *replay) stream(w http.ResponseWriter, n Name, o Options, events []event.Event, answered int) {
	begin(w, n)
	enc := NewEncoder(n, o)
	for _, e := range events {
		frames, err := enc.Append(nil, e)
		if err != nil {
			p.t.Error(err)
		}
		if answered > 0 {
			if enc.Paused() {
				answered--
			}
			continue
		}
		flush(w, frames)
		if enc.Paused() {
			return
		}
		if !e.Ends() && len(frames) > 0 {
			flush(w, enc.KeepAlive(nil))
		}
	}
	flush(w, enc.End(nil))
}

// flush writes and sends; a client that has gone is seen by its context.
func flush(w http.ResponseWriter, b []byte) {
	if len(b) == 0 {
		return
	}
	_, _ = w.Write(b)
	_ = http.NewResponseController(w).Flush()
}

// events follows a turn for an EventSource, from the last id that it has, and
// breaks the connection after some.
func (p *replay) events(w http.ResponseWriter, r *http.Request, events []event.Event, most int) {
	after, _ := strconv.Atoi(r.Header.Get("Last-Event-ID"))
	rest := events[min(after, len(events)):]
	if len(rest) == 0 {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	begin(w, Chat)
	flush(w, []byte("retry: 1\n\n"))
	enc := NewEncoder(Chat, Options{})
	for _, e := range rest[:min(most, len(rest))] {
		frames, err := enc.Append(nil, e)
		if err != nil {
			p.t.Error(err)
		}
		flush(w, append(frames, enc.KeepAlive(nil)...))
	}
}

// hang plays the beginning of a turn and waits until its client leaves.
func (p *replay) hang(w http.ResponseWriter, r *http.Request, client, path string) {
	n := dialectOf(path)
	req := &Request{Stream: true}
	if r.Method == http.MethodPost {
		if req = p.decode(w, r, n); req == nil {
			return
		}
	}
	begin(w, n)
	enc := NewEncoder(n, req.Options())
	for _, e := range p.turns["text"][:3] {
		frames, err := enc.Append(nil, e)
		if err != nil {
			p.t.Error(err)
		}
		flush(w, frames)
	}
	<-r.Context().Done()
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.leaving(client):
	default:
		close(p.leaving(client))
	}
}

// leaving is closed when a client has left. The caller holds the lock.
func (p *replay) leaving(client string) chan struct{} {
	if p.left[client] == nil {
		p.left[client] = make(chan struct{})
	}
	return p.left[client]
}

func (p *replay) gone(w http.ResponseWriter, r *http.Request, client string) {
	p.mu.Lock()
	left := p.leaving(client)
	p.mu.Unlock()
	select {
	case <-left:
		_, _ = io.WriteString(w, "gone")
	case <-r.Context().Done():
	}
}
