package acp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
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
	"github.com/fettle-cli/fettle/server/acp"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/builtin"
	"github.com/fettle-cli/fettle/toolset/registry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds each wait of a test. What is waited for takes milliseconds; a
// machine that builds at the same time may take a hundred times as long.
const patience = time.Minute

// house is a data directory, a project's folder and a scripted model.
type house struct {
	t       testing.TB
	dir     string
	project string
	eng     *engine.Engine
}

func open(t testing.TB, script string, more ...toolset.Entry) *house {
	t.Helper()
	h := &house{t: t, dir: t.TempDir(), project: t.TempDir()}
	var err error
	h.project, err = filepath.EvalSymlinks(h.project)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(h.dir, "m.yaml"), []byte(script), 0o600))
	h.eng = h.engine(more...)
	t.Cleanup(func() { must(t, h.eng.Close()) })
	return h
}

// engine makes one on the house's data directory.
func (h *house) engine(more ...toolset.Entry) *engine.Engine {
	reg := new(provider.Registry)
	must(h.t, reg.Add("script", func() (provider.Provider, error) { return newScript(h.dir), nil }))
	set, err := toolset.NewSet(append(builtin.Entries(builtin.Options{}), more...)...)
	must(h.t, err)
	agents, err := catalog.NewAgents(
		store.Agent{ID: "writer", Name: "Writer", Purpose: "writes", Prompt: "You write.", Tools: []string{"write_file"}, Handoffs: []string{"critic"}},
		store.Agent{ID: "critic", Name: "Critic", Purpose: "judges", Prompt: "You judge."},
	)
	must(h.t, err)
	return engine.New(engine.Options{
		Options: store.Options{DataDir: filepath.Join(h.dir, "data"), Hold: true},
		Sources: catalog.Sources{
			Tools:  set,
			Agents: agents,
			Runner: func(*registry.MirrorToolset, *registry.MirrorTool) (toolset.Runner, error) {
				return nil, errors.New("no toolset is installed here")
			},
		},
		Models:    &models.Catalog{Registry: reg, Configured: "script/m.yaml"},
		Retry:     provider.RetryOptions{Attempts: 1},
		CutAdvice: acp.CutAdvice,
	})
}

// newScript is a scripted model.
func newScript(dir string) provider.Provider { return script.New(script.Options{Dir: dir}) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wireMessage is any message.
type wireMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *wireError      `json:"error"`
	line   string
}

type wireError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

// editor is the client's side of a connection. Each message, both ways, is held
// against its definition.
type editor struct {
	t     testing.TB
	check *checker
	in    *io.PipeWriter
	// answer gives the result of the agent's requests; nil or an error leaves them
	// open or fails them.
	answer func(method string, params json.RawMessage) (any, *wireError)
	// fs answers the requests about files; nil is an editor that has none open, and reads
	// and writes the disk.
	fs func(method string, params json.RawMessage) (any, *wireError)

	mu      sync.Mutex
	moved   *sync.Cond
	got     []wireMessage
	asked   map[string]string // our requests' methods, by id
	last    int
	writing sync.Mutex
	gone    bool

	stop  context.CancelFunc
	ended chan error
}

// connect starts an agent on the house's engine.
func (h *house) connect(change ...func(*acp.Options)) *editor {
	h.t.Helper()
	toAgent, in := io.Pipe()
	out, fromAgent := io.Pipe()
	e := &editor{t: h.t, check: definitions(h.t), in: in, asked: map[string]string{}, ended: make(chan error, 1)}
	e.moved = sync.NewCond(&e.mu)
	o := acp.Options{
		Engine: h.eng, Version: "1.2.3", In: toAgent, Out: fromAgent,
		Log: slog.New(slog.NewTextHandler(h.t.Output(), nil)),
	}
	for _, f := range change {
		f(&o)
	}
	ctx, cancel := context.WithCancel(context.Background())
	e.stop = cancel
	go func() {
		err := acp.Run(ctx, o)
		_ = fromAgent.Close()
		e.ended <- err
	}()
	read := make(chan struct{})
	go func() { e.read(out); close(read) }()
	h.t.Cleanup(func() {
		e.close()
		cancel()
		<-read
	})
	return e
}

// close ends the editor, and waits for the agent's end.
func (e *editor) close() error {
	_ = e.in.Close()
	select {
	case err := <-e.ended:
		e.ended <- err
		return err
	case <-time.After(patience):
		e.t.Error("the agent does not end")
		return nil
	}
}

func (e *editor) read(out io.Reader) {
	in := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			e.mu.Lock()
			e.gone = true
			e.moved.Broadcast()
			e.mu.Unlock()
			return
		}
		m := wireMessage{line: strings.TrimSpace(line)}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			e.t.Errorf("no JSON: %q", line)
			continue
		}
		e.held(m)
		e.mu.Lock()
		e.got = append(e.got, m)
		e.moved.Broadcast()
		e.mu.Unlock()
		if m.Method != "" && m.ID != nil && strings.HasPrefix(m.Method, "fs/") {
			files := e.fs
			if files == nil {
				files = onDisk
			}
			if result, failed := files(m.Method, m.Params); result != nil || failed != nil {
				e.respond(m, result, failed)
			}
			continue
		}
		if m.Method != "" && m.ID != nil && e.answer != nil {
			result, failed := e.answer(m.Method, m.Params)
			if result == nil && failed == nil {
				continue
			}
			e.respond(m, result, failed)
		}
	}
}

// onDisk answers a request about a file as an editor does that has it closed.
func onDisk(method string, params json.RawMessage) (any, *wireError) {
	var p struct{ Path, Content string }
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, &wireError{-32602, err.Error(), nil}
	}
	if method == "fs/read_text_file" {
		raw, err := os.ReadFile(p.Path)
		if err != nil {
			return nil, &wireError{-32002, "there is no such file", nil}
		}
		return obj{"content": string(raw)}, nil
	}
	if err := os.WriteFile(p.Path, []byte(p.Content), 0o600); err != nil {
		return nil, &wireError{-32603, "the file can't be written", nil}
	}
	return obj{}, nil
}

// held holds a message of the agent's against its definition.
func (e *editor) held(m wireMessage) {
	switch {
	case m.Method != "":
		e.check.params(e.t, "client", m.Method, m.Params)
	case m.Error != nil:
		e.check.def(e.t, "Error", m.line, mustJSON(e.t, m.Error))
	default:
		e.mu.Lock()
		method := e.asked[string(m.ID)]
		e.mu.Unlock()
		e.check.result(e.t, "agent", method, m.Result)
	}
}

func mustJSON(t testing.TB, v any) []byte {
	raw, err := json.Marshal(v)
	must(t, err)
	return raw
}

func (e *editor) respond(m wireMessage, result any, failed *wireError) {
	if failed == nil {
		e.check.result(e.t, "client", m.Method, mustJSON(e.t, result))
		e.raw(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, mustJSON(e.t, result)))
		return
	}
	e.raw(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, m.ID, failed.Code, failed.Message))
}

// raw writes a line.
func (e *editor) raw(line string) {
	e.writing.Lock()
	defer e.writing.Unlock()
	_, _ = io.WriteString(e.in, line+"\n") // a closed pipe is found out by who waits
}

// send begins a request, and gives its id.
func (e *editor) send(method string, params any) string {
	e.t.Helper()
	e.check.params(e.t, "agent", method, mustJSON(e.t, params))
	return e.sendLoose(method, params)
}

// sendLoose is send for what isn't valid.
func (e *editor) sendLoose(method string, params any) string {
	e.mu.Lock()
	e.last++
	id := fmt.Sprint(e.last)
	e.asked[id] = method
	e.mu.Unlock()
	e.raw(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, mustJSON(e.t, params)))
	return id
}

func (e *editor) notify(method string, params any) {
	e.raw(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, mustJSON(e.t, params)))
}

// wait gives the first message that is wanted.
func (e *editor) wait(what string, wanted func(wireMessage) bool) wireMessage {
	e.t.Helper()
	late := time.AfterFunc(patience, func() { e.mu.Lock(); e.gone = true; e.moved.Broadcast(); e.mu.Unlock() })
	defer late.Stop()
	e.mu.Lock()
	defer e.mu.Unlock()
	for seen := 0; ; {
		for ; seen < len(e.got); seen++ {
			if wanted(e.got[seen]) {
				return e.got[seen]
			}
		}
		if e.gone {
			var all []string
			for _, m := range e.got {
				all = append(all, m.line)
			}
			e.t.Fatalf("%s never came:\n%s", what, strings.Join(all, "\n"))
		}
		e.moved.Wait()
	}
}

// response waits for the answer to a request.
func (e *editor) response(id string) wireMessage {
	e.t.Helper()
	return e.wait("the answer to "+id, func(m wireMessage) bool { return m.Method == "" && string(m.ID) == id })
}

// call makes a request that has to succeed, and reads its result.
func (e *editor) call(method string, params, result any) {
	e.t.Helper()
	m := e.response(e.send(method, params))
	if m.Error != nil {
		e.t.Fatalf("%s: %s", method, m.line)
	}
	if result != nil {
		must(e.t, json.Unmarshal(m.Result, result))
	}
}

// fails makes a request that has to fail with a code, and gives the message.
func (e *editor) fails(code int, method string, params any) string {
	e.t.Helper()
	m := e.response(e.sendLoose(method, params))
	if m.Error == nil || m.Error.Code != code {
		e.t.Fatalf("%s %s: %s, want the code %d", method, mustJSON(e.t, params), m.line, code)
	}
	return m.Error.Message
}

type obj = map[string]any

// initialize shakes hands as an editor that can do all that is used here.
func (e *editor) initialize() obj {
	e.t.Helper()
	var out obj
	e.call("initialize", obj{"protocolVersion": 1, "clientCapabilities": obj{
		"fs": obj{"readTextFile": true, "writeTextFile": true}, "terminal": true, "session": obj{"notices": obj{}, "compaction": obj{}},
	}, "clientInfo": obj{"name": "test", "version": "1"}}, &out)
	return out
}

// newSession opens a session in a folder.
func (e *editor) newSession(cwd string) string {
	e.t.Helper()
	var out struct{ SessionID string }
	e.call("session/new", obj{"cwd": cwd, "mcpServers": []any{}}, &out)
	return out.SessionID
}

// prompt asks something and gives the stop reason.
func (e *editor) prompt(session, text string) string {
	e.t.Helper()
	var out struct{ StopReason string }
	e.call("session/prompt", obj{"sessionId": session, "prompt": []any{obj{"type": "text", "text": text}}}, &out)
	return out.StopReason
}

// updates are all updates of a kind, so far.
func (e *editor) updates(kind string) []obj {
	e.mu.Lock()
	defer e.mu.Unlock()
	var out []obj
	for _, m := range e.got {
		if u := updateOf(m); u != nil && (kind == "" || u["sessionUpdate"] == kind) {
			out = append(out, u)
		}
	}
	return out
}

func updateOf(m wireMessage) obj {
	if m.Method != "session/update" {
		return nil
	}
	var p struct{ Update obj }
	if json.Unmarshal(m.Params, &p) != nil {
		return nil
	}
	return p.Update
}

// text is what the chunks of a kind say together.
func (e *editor) text(kind string) string {
	var b strings.Builder
	for _, u := range e.updates(kind) {
		if c, ok := u["content"].(map[string]any); ok {
			if s, ok := c["text"].(string); ok {
				b.WriteString(s)
			}
		}
	}
	return b.String()
}

// forget drops what was received so far.
func (e *editor) forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.got = nil
}

func fakeModel() provider.Model { return provider.Model{Provider: "fake", Name: "one"} }
