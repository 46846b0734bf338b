package server_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/models"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/script"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/sse"
	"github.com/fettle-cli/fettle/server"
	"github.com/fettle-cli/fettle/server/mcp"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/builtin"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// serveEnv makes the test binary a server of its own, for tests that kill one.
const serveEnv = "FETTLE_TEST_SERVER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(serveEnv); dir != "" {
		if err := serveChild(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// house is a running server on a scripted model, in folders of the test's own.
type house struct {
	t      testing.TB
	dir    string
	eng    *engine.Engine
	token  string
	url    string
	socket string
	log    *safeBuffer
	client *http.Client
	stop   func() error
}

// plan says what differs from the usual house.
type plan struct {
	script string
	tools  []toolset.Entry
	change func(*server.Options)
	built  func(*server.Server) // before it is served
	listen func(*server.ListenOptions)
	run    server.RunOptions
	dir    string // an old one
	narrow bool   // connections hold little
	agents []store.Agent
	// providers are further ones, by their names.
	providers map[string]func() (provider.Provider, error)
	// runs are what tools of toolsets do, by tool id; others say that they ran,
	// and parsers take data that is whole.
	runs map[string]toolset.RunnerFunc
}

const helloScript = `
responses:
  - {when: slow, deltas: [{content: Half}], hang: true}
  - {when: write, step: 0, text: I write it., calls: [{name: write_file, args: {path: notes/a.txt, content: "one\n"}}]}
  - {when: "", text: Hello there.}
`

func open(t testing.TB, p plan) *house {
	t.Helper()
	h := &house{t: t, dir: p.dir, log: &safeBuffer{}}
	if h.dir == "" {
		h.dir = t.TempDir()
		if p.script == "" {
			p.script = helloScript
		}
	}
	if p.script != "" {
		must(t, os.WriteFile(filepath.Join(h.dir, "m.yaml"), []byte(p.script), 0o600))
	}
	s, l := h.build(p)
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan struct{}), make(chan error, 1)
	p.run.Ready = func() { close(ready) }
	go func() { ended <- s.Run(ctx, l, p.run) }()
	h.stop = sync.OnceValue(func() error {
		cancel()
		err := <-ended
		h.client.CloseIdleConnections()
		return err
	})
	t.Cleanup(func() {
		if err := h.stop(); err != nil {
			t.Errorf("the server ended with %v\n%s", err, h.log)
		}
	})
	select {
	case <-ready:
	case err := <-ended:
		ended <- err
		t.Fatalf("the server did not begin: %v", err)
	}
	h.url = "http://" + l.TCP.Addr().String()
	if l.Unix != nil {
		h.socket = l.Unix.Addr().String()
	}
	return h
}

// build makes the engine and the server of a plan.
func (h *house) build(p plan) (*server.Server, *server.Listening) {
	h.t.Helper()
	data := filepath.Join(h.dir, "data")
	eo := engineOptions(h.t, h.dir, p.tools)
	if p.agents != nil {
		var err error
		eo.Agents, err = catalog.NewAgents(p.agents...)
		must(h.t, err)
	}
	for name, make := range p.providers {
		must(h.t, eo.Models.(*models.Catalog).Registry.Add(name, make))
	}
	usual := eo.Runner
	eo.Runner = func(set *registry.MirrorToolset, m *registry.MirrorTool) (toolset.Runner, error) {
		if f := p.runs[m.Tool.ID]; f != nil {
			return f, nil
		}
		if m.Parser {
			_, kind, _ := strings.Cut(m.Tool.ID, ":")
			return toolset.RunnerFunc(func(_ context.Context, c toolset.Call) (toolset.Result, error) { return parsed(kind, c) }), nil
		}
		return usual(set, m)
	}
	h.eng = engine.New(eo)
	var err error
	h.token, err = server.Token(data)
	must(h.t, err)
	o := server.Options{
		Engine: h.eng, Models: noModels{}, Token: h.token, DataDir: data, Version: "1.2.3",
		Log: slog.New(slog.NewJSONHandler(h.log, nil)), ApprovalTime: time.Minute, StallTime: 5 * time.Second,
	}
	o.MCP = func(start func(context.Context, engine.TurnRequest) (store.TurnID, error)) server.MCP {
		return mcp.New(mcp.Options{Engine: h.eng, Start: start, Version: "1.2.3"})
	}
	if p.change != nil {
		p.change(&o)
	}
	s, err := server.New(o)
	must(h.t, err)
	if p.built != nil {
		p.built(s)
	}
	where := server.ListenOptions{Address: "127.0.0.1:0", DataDir: data}
	if p.listen != nil {
		p.listen(&where)
	}
	l, err := server.Listen(where)
	must(h.t, err)
	if p.narrow {
		l.TCP = narrowListener{l.TCP}
	}
	// Each house has connections of its own, so that none is left when it ends.
	h.client = &http.Client{Transport: &http.Transport{}}
	return s, l
}

func engineOptions(t testing.TB, dir string, tools []toolset.Entry) engine.Options {
	reg := new(provider.Registry)
	err := reg.Add("script", func() (provider.Provider, error) { return script.New(script.Options{Dir: dir}), nil })
	if err != nil {
		t.Fatal(err)
	}
	set, err := toolset.NewSet(append(builtin.Entries(builtin.Options{}), tools...)...)
	if err != nil {
		t.Fatal(err)
	}
	return engine.Options{
		Options: store.Options{DataDir: filepath.Join(dir, "data"), Hold: true},
		Sources: catalog.Sources{
			Tools: set,
			Runner: func(*registry.MirrorToolset, *registry.MirrorTool) (toolset.Runner, error) {
				return toolset.RunnerFunc(func(context.Context, toolset.Call) (toolset.Result, error) {
					return toolset.Result{Text: "ran"}, nil
				}), nil
			},
		},
		Models: &models.Catalog{Registry: reg, Configured: "script/m.yaml"},
		Retry:  provider.RetryOptions{Attempts: 1},
	}
}

type noModels struct{}

func (noModels) List(context.Context, models.Query) ([]models.List, error) {
	return []models.List{{Provider: "script", Local: true, Models: []models.Model{{
		Model: provider.Model{Provider: "script", Name: "m.yaml", Tools: provider.Yes}, Local: true,
	}}}}, nil
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// answer is what a request was answered with.
type answer struct {
	t      testing.TB
	what   string
	status int
	header http.Header
	body   []byte
}

// call sends a request with the token, and holds the answer against the description. A body that is a string is sent as it is,
// any other as JSON; header pairs follow.
func (h *house) call(method, path string, body any, header ...string) answer {
	h.t.Helper()
	req := h.request(method, path, body, header...)
	res, err := h.client.Do(req)
	must(h.t, err)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	must(h.t, err)
	keeps(h.t, req, res.StatusCode, res.Header.Get("Content-Type"), raw)
	return answer{h.t, method + " " + path, res.StatusCode, res.Header, raw}
}

func (h *house) request(method, path string, body any, header ...string) *http.Request {
	h.t.Helper()
	var r io.Reader
	kind := ""
	switch b := body.(type) {
	case nil:
	case string:
		r, kind = strings.NewReader(b), "application/json"
	default:
		raw, err := json.Marshal(b)
		must(h.t, err)
		r, kind = bytes.NewReader(raw), "application/json"
	}
	req, err := http.NewRequestWithContext(context.Background(), method, h.url+path, r)
	must(h.t, err)
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	req.Header.Set("Authorization", "Bearer "+h.token)
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return req
}

// is checks the status, and decodes the body where v isn't nil.
func (a answer) is(status int, v any) answer {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("%s: status %d, want %d\n%s", a.what, a.status, status, a.body)
	}
	if v != nil {
		if err := json.Unmarshal(a.body, v); err != nil {
			a.t.Fatalf("%s: %v\n%s", a.what, err, a.body)
		}
	}
	return a
}

type doc = map[string]any

// failure is the code of an error, and its words.
func (a answer) failure() (code, message string) {
	a.t.Helper()
	var e struct {
		Error struct {
			Code, Message string
			RequestID     string `json:"request_id"`
		}
	}
	if err := json.Unmarshal(a.body, &e); err != nil || e.Error.RequestID == "" {
		a.t.Errorf("%s: no error of ours: %s", a.what, a.body)
	}
	return e.Error.Code, e.Error.Message
}

// stream is a client of a stream of events.
type stream struct {
	t    testing.TB
	res  *http.Response
	in   *sse.Reader
	turn bool   // it is a turn's, of the API's own form
	last string // the last id
}

// follow opens a stream; the status is the caller's to look at.
func (h *house) follow(method, path string, body any, header ...string) *stream {
	h.t.Helper()
	res, err := h.client.Do(h.request(method, path, body, header...))
	must(h.t, err)
	s := &stream{t: h.t, res: res, turn: strings.HasPrefix(path, "/api/turns/"), in: sse.NewReader(res.Body, sse.Options{})}
	h.t.Cleanup(s.close)
	return s
}

func (s *stream) close() { _ = s.res.Body.Close() }

// next gives the next event; ok is false at the end.
func (s *stream) next() (e doc, ok bool) {
	s.t.Helper()
	raw, err := s.in.Next()
	if err == io.EOF {
		return nil, false
	}
	if err != nil {
		s.t.Fatalf("read the stream: %v", err)
	}
	if raw.HasID {
		s.last = raw.ID
	}
	if err := json.Unmarshal(raw.Data, &e); err != nil {
		s.t.Fatalf("%v: %s", err, raw.Data)
	}
	if s.turn {
		keepsEvent(s.t, fmt.Sprint(e["type"]), raw.Data)
	}
	return e, true
}

// until reads up to an event of a type.
func (s *stream) until(kind string) doc {
	s.t.Helper()
	for {
		e, ok := s.next()
		if !ok {
			s.t.Fatalf("the stream ended without %s", kind)
		}
		if e["type"] == kind {
			return e
		}
	}
}

// all reads to the end.
func (s *stream) all() (out []doc) {
	s.t.Helper()
	for {
		e, ok := s.next()
		if !ok {
			return out
		}
		out = append(out, e)
	}
}

// kinds are the types of events.
func kinds(events []doc) string {
	var out []string
	for _, e := range events {
		out = append(out, fmt.Sprint(e["type"]))
	}
	return strings.Join(out, " ")
}

// start begins a turn and gives its id and the chat's number.
func (h *house) start(body doc) (turn string, chat int) {
	h.t.Helper()
	var out struct {
		TurnID         string `json:"turn_id"`
		ConversationID int    `json:"conversation_id"`
	}
	h.call("POST", "/api/turns", body).is(http.StatusAccepted, &out)
	return out.TurnID, out.ConversationID
}

// raw sends bytes as they are, and reads the answer.
func (h *house) raw(text string) *http.Response {
	h.t.Helper()
	var d net.Dialer
	conn, err := d.DialContext(context.Background(), "tcp", strings.TrimPrefix(h.url, "http://"))
	must(h.t, err)
	h.t.Cleanup(func() { _ = conn.Close() })
	_, err = io.WriteString(conn, text)
	must(h.t, err)
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	must(h.t, err)
	return res
}

// safeBuffer is a log that several goroutines write.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// eventually waits for something that has to come.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); {
		if time.Now().After(end) {
			t.Fatalf("it never came: %s", what)
		}
		select {
		case <-t.Context().Done():
			t.Fatal("the test ended")
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// removeTool wants an approval for each call.
func removeTool() []toolset.Entry {
	return []toolset.Entry{{
		Tool: toolset.Tool{
			ID: "remove", Name: "Remove", Description: "removes", Enabled: true, RequiresConfirmation: true,
			InputSchema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`),
		},
		Runner: toolset.RunnerFunc(func(context.Context, toolset.Call) (toolset.Result, error) {
			return toolset.Result{Text: "removed"}, nil
		}),
	}}
}
