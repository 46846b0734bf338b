package acp_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/models"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/server/acp"
)

// What is no message is answered with an error, and what follows is read.
func TestLinesThatAreNoMessages(t *testing.T) {
	t.Parallel()
	h := open(t, usual)
	e := h.connect()
	e.initialize()
	for _, c := range []struct {
		line string
		id   string
		code int
	}{
		{`{`, "null", -32700},
		{`{"jsonrpc":"2.0","id":"x\`, "null", -32700},
		{`[{"jsonrpc":"2.0","id":1,"method":"session/list"}]`, "null", -32600},
		{`7`, "null", -32600},
		{`{"id":900,"method":"session/list"}`, "900", -32600},
		{`{"jsonrpc":"1.0","id":901,"method":"session/list"}`, "901", -32600},
		{`{"jsonrpc":"2.0","id":902}`, "902", -32600},
		{`{"jsonrpc":"2.0","id":903,"method":""}`, "903", -32600},
		{`{"jsonrpc":"2.0","id":904,"method":7}`, "null", -32600},
		{`{"jsonrpc":"2.0","id":1.5,"method":"session/list"}`, "null", -32600},
		{`{"jsonrpc":"2.0","id":{},"method":"session/list"}`, "null", -32600},
		{`{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 300) + `","method":"session/list"}`, "null", -32600},
		{`{"jsonrpc":"2.0","id":"s","method":"session/new","params":[1]}`, `"s"`, -32602},
		{`{"jsonrpc":"2.0","id":905,"method":"session/new","params":{"cwd":[]}}`, "905", -32602},
		{`{"jsonrpc":"2.0","id":906,"method":"session/new"}`, "906", -32602},
		{`{"jsonrpc":"2.0","id":null,"method":"nothing/here"}`, "null", -32601},
		{`{"jsonrpc":"2.0","id":907,"method":"no\u0007thing\u202e"}`, "907", -32601},
	} {
		e.forget()
		e.raw(c.line)
		m := e.wait("an error for "+c.line, func(m wireMessage) bool { return m.Error != nil })
		if string(m.ID) != c.id || m.Error.Code != c.code {
			t.Errorf("%s is answered %s", c.line, m.line)
		}
		if strings.ContainsAny(m.Error.Message, "\a\u202e") {
			t.Errorf("control characters in %q", m.Error.Message)
		}
	}
	// Neither notifications nor answers that nobody waits for are answered.
	e.forget()
	for _, line := range []string{
		"", "   ", `{"jsonrpc":"2.0","method":"nothing/here"}`, `{"jsonrpc":"2.0","method":"session/cancel"}`,
		`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"none"}}`, `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":99}}`,
		`{"jsonrpc":"2.0","id":77,"result":{}}`, `{"jsonrpc":"2.0","id":78,"error":{"code":1,"message":"x"}}`,
	} {
		e.raw(line)
	}
	e.call("session/list", obj{}, nil)
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.got) != 1 {
		t.Errorf("more than one answer: %v", e.got)
	}
}

// An id that is in use is refused, and the first request is answered all the same.
func TestIDsInUse(t *testing.T) {
	t.Parallel()
	h := open(t, usual)
	e := h.connect()
	e.initialize()
	s := e.newSession(h.project)
	id := e.send("session/prompt", obj{"sessionId": s, "prompt": []any{obj{"type": "text", "text": "slow"}}})
	e.wait("the stream", func(m wireMessage) bool { return strings.Contains(m.line, "Half") })
	e.raw(`{"jsonrpc":"2.0","id":` + id + `,"method":"session/list"}`)
	if m := e.response(id); m.Error == nil || m.Error.Code != -32600 {
		t.Errorf("the second is answered %s", m.line)
	}
	e.forget()
	e.notify("session/cancel", obj{"sessionId": s})
	if m := e.response(id); !strings.Contains(m.line, "cancelled") {
		t.Errorf("the first is answered %s", m.line)
	}
}

// A tool's and a model's texts come without control characters where they are titles
// and names, and bounded.
func TestWhatIsSentIsBounded(t *testing.T) {
	t.Parallel()
	h := open(t, `
responses:
  - {when: "", step: 0, calls: [{name: write_file, args: {path: "a\u202e\u0007.txt", content: "`+strings.Repeat("x", 100_000)+`"}}]}
  - {when: "", text: Done.}
`)
	e := h.connect(func(o *acp.Options) {
		o.Prepare = func(req *engine.TurnRequest) { req.Policy.Allow = append(req.Policy.Allow, "write_file") }
	})
	e.initialize()
	e.prompt(e.newSession(h.project), "go")
	call := e.updates("tool_call")[0]
	if title := call["title"].(string); strings.ContainsAny(title, "\a\u202e") {
		t.Errorf("the title is %q", title)
	}
	input, err := json.Marshal(call["rawInput"])
	must(t, err)
	if len(input) > 40_000 || !strings.Contains(string(input), `"truncated":true`) {
		t.Errorf("the input has %d bytes", len(input))
	}
}

// When the editor goes, its prompt is cancelled, and the chat can be gone on with.
func TestEditorThatGoesAway(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"end of input", "context", "broken output"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			h := open(t, usual)
			var cut func()
			e := h.connect(func(o *acp.Options) {
				out := o.Out.(*io.PipeWriter)
				cut = func() { _ = out.CloseWithError(io.ErrClosedPipe) }
			})
			e.initialize()
			s := e.newSession(h.project)
			e.send("session/prompt", obj{"sessionId": s, "prompt": []any{obj{"type": "text", "text": "slow"}}})
			e.wait("the stream", func(m wireMessage) bool { return strings.Contains(m.line, "Half") })
			switch how {
			case "end of input":
				_ = e.in.Close()
			case "context":
				e.stop()
			default:
				cut()
				e.notify("session/cancel", obj{"sessionId": s}) // what it has to say finds nobody
			}
			err := <-e.ended
			e.ended <- err
			if (err != nil) != (how == "broken output") {
				t.Errorf("it ended with %v", err)
			}
			conv, err := h.eng.Chat(t.Context(), store.ChatRef{ID: s})
			if err != nil || conv.Messages[len(conv.Messages)-1].Status != chat.Stopped {
				t.Fatalf("the chat is %+v, %v", conv, err)
			}
			again := h.connect()
			again.initialize()
			again.call("session/load", obj{"sessionId": s, "cwd": h.project, "mcpServers": []any{}}, nil)
			if got := again.text("agent_message_chunk"); got != "Half" {
				t.Errorf("the replay says %q", got)
			}
			if stop := again.prompt(s, "hello"); stop != "end_turn" {
				t.Errorf("then it stops for %s", stop)
			}
		})
	}
}

// The models are those of the providers, and come late without being waited for.
func TestModelsToChooseFrom(t *testing.T) {
	t.Parallel()
	h := open(t, usual)
	let := make(chan struct{})
	e := h.connect(func(o *acp.Options) { o.Models = slowModels{let} })
	e.initialize()
	s := e.newSession(h.project)
	close(let)
	e.wait("the list", func(m wireMessage) bool {
		return strings.Contains(m.line, "config_option_update") && strings.Contains(m.line, `"fake/one"`) && strings.Contains(m.line, s)
	})
}

type slowModels struct{ let chan struct{} }

func (s slowModels) List(ctx context.Context, _ models.Query) ([]models.List, error) {
	select {
	case <-s.let:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return []models.List{{Provider: "fake", Models: []models.Model{{Model: fakeModel()}}}}, nil
}

// listedModels lists some providers.
type listedModels []models.List

func (l listedModels) List(context.Context, models.Query) ([]models.List, error) { return l, nil }

// A model that no provider lists is refused when it is chosen, by the option and by the
// command, and the one before stays. A provider that failed to list its models may have any.
func TestUnlistedModelsAreRefusedAtOnce(t *testing.T) {
	t.Parallel()
	h := open(t, usual)
	e := h.connect(func(o *acp.Options) {
		o.Model = "script/m.yaml" // which no list has
		o.Models = listedModels{
			{Provider: "fake", Models: []models.Model{{Model: fakeModel()}}},
			{Provider: "away", Err: errors.New("it is out of reach")},
			{Provider: "keyless", NotReady: "a key"},
		}
	})
	e.initialize()
	s := e.newSession(h.project)
	set := func(ref string) obj { return obj{"sessionId": s, "configId": "model", "value": ref} }
	for _, ref := range []string{"zzz/none", "fake/two", "keyless/any"} {
		if msg := e.fails(-32602, "session/set_config_option", set(ref)); !strings.Contains(msg, "there is no model "+ref) {
			t.Errorf("%s: %s", ref, msg)
		}
		e.forget()
		e.prompt(s, "/model "+ref)
		if said := e.text("agent_message_chunk"); !strings.Contains(said, "there is no model "+ref) || !strings.Contains(said, "The model is script/m.yaml") && strings.Contains(said, "The model is "+ref) {
			t.Errorf("/model %s says %q", ref, said)
		}
	}
	for _, ref := range []string{"fake/one", "away/any", "script/m.yaml", "auto"} {
		e.call("session/set_config_option", set(ref), nil)
	}
}

// What no definition allows is found.
func TestTheCheckerFindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	c := definitions(t)
	if c == nil {
		t.Skip("there is no schema to check by")
	}
	rec := &recorder{TB: t}
	c.params(rec, "client", "session/update", []byte(`{"sessionId":"x","update":{"sessionUpdate":"agent_message_chunk"}}`))
	c.params(rec, "client", "session/nothing", []byte(`{}`))
	c.result(rec, "agent", "session/prompt", []byte(`{"stopReason":"tired"}`))
	if rec.errors != 3 {
		t.Errorf("it found %d of 3", rec.errors)
	}
}

// recorder counts errors instead of failing.
type recorder struct {
	testing.TB
	errors int
}

func (r *recorder) Errorf(string, ...any) { r.errors++ }
func (r *recorder) Helper()               {}
