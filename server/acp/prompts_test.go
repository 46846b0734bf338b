package acp_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/server/acp"
)

// onePixel is a PNG.
const onePixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

func fileURI(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// What a prompt brings reaches the model: pictures, embedded files, and linked ones
// as the editor has them, with what isn't saved.
func TestPartsOfAPrompt(t *testing.T) {
	t.Parallel()
	h := open(t, usual)
	saved, link := filepath.Join(h.project, "saved.go"), filepath.Join(h.project, "a b.go")
	must(t, os.WriteFile(saved, []byte("package saved\n"), 0o600))
	must(t, os.WriteFile(link, []byte("package old\n"), 0o600))
	must(t, os.MkdirAll(filepath.Join(h.project, ".git"), 0o700))
	must(t, os.WriteFile(filepath.Join(h.project, ".git", "config"), []byte("secret\n"), 0o600))
	outside := filepath.Join(t.TempDir(), "outside.txt")
	must(t, os.WriteFile(outside, []byte("outside\n"), 0o600))
	e := h.connect()
	e.fs = func(method string, params json.RawMessage) (any, *wireError) {
		var p struct{ Path string }
		must(t, json.Unmarshal(params, &p))
		if method == "fs/read_text_file" && p.Path == link {
			return obj{"content": "package unsaved\n"}, nil
		}
		return nil, &wireError{-32002, "no such buffer", nil}
	}
	e.initialize()
	s := e.newSession(h.project)
	e.call("session/prompt", obj{"sessionId": s, "prompt": []any{
		obj{"type": "text", "text": "Look at "},
		obj{"type": "resource_link", "uri": fileURI(link), "name": "a b.go"},
		obj{"type": "text", "text": " and "},
		obj{"type": "resource_link", "uri": fileURI(saved), "name": "saved.go"},
		obj{"type": "resource_link", "uri": fileURI(outside), "name": "outside.txt"},
		obj{"type": "resource_link", "uri": fileURI(filepath.Join(h.project, ".git", "config")), "name": "config"},
		obj{"type": "resource_link", "uri": "https://example.org/doc", "name": "a page"},
		obj{"type": "resource", "resource": obj{"uri": fileURI(filepath.Join(h.project, "sel.txt")), "text": "selected"}},
		obj{"type": "image", "mimeType": "image/png", "data": onePixel},
		obj{"type": "resource", "resource": obj{"uri": "zed:///x.png", "blob": onePixel}},
	}}, nil)
	conv, err := h.eng.Chat(t.Context(), store.ChatRef{ID: s})
	must(t, err)
	var files, images []string
	for _, p := range conv.Messages[0].Parts {
		switch {
		case p.Kind == "file":
			files = append(files, p.Name+"="+p.Text)
		case p.Kind == "image":
			images = append(images, p.MIME)
		}
	}
	if got := strings.Join(files, "|"); got != "a b.go=package unsaved\n|saved.go=package saved\n|sel.txt=selected" {
		t.Errorf("files %q", got)
	}
	if len(images) != 2 || images[0] != "image/png" || images[1] != "image/png" {
		t.Errorf("images %q", images)
	}
	text := conv.Messages[0].Text()
	if !strings.HasPrefix(text, "Look at `a b.go` and `saved.go`") || !strings.Contains(text, "[a page](https://example.org/doc)") {
		t.Errorf("text %q", text)
	}
	e.forget()
	e.call("session/load", obj{"sessionId": s, "cwd": h.project, "mcpServers": []any{}}, nil)
	replayed, err := json.Marshal(e.updates("user_message_chunk"))
	must(t, err)
	for _, want := range []string{"package unsaved", fileURI(saved), onePixel} {
		if !strings.Contains(string(replayed), want) {
			t.Errorf("the replay lacks %q: %s", want, replayed)
		}
	}
}

func TestPromptsThatAreRefused(t *testing.T) {
	t.Parallel()
	h := open(t, usual)
	e := h.connect()
	e.initialize()
	s := e.newSession(h.project)
	text := obj{"type": "text", "text": "hi"}
	for _, c := range []struct {
		blocks []any
		want   string
	}{
		{nil, "prompt is missing"},
		{[]any{obj{"type": "text", "text": "  "}}, "empty"},
		{[]any{obj{"type": "text"}}, "[0] has no text"},
		{[]any{text, obj{"type": "audio", "data": "aGk=", "mimeType": "audio/wav"}}, "[1] is of a type"},
		{[]any{text, obj{"type": "image", "data": "!", "mimeType": "image/png"}}, "[1] has data that is no base64"},
		{[]any{text, obj{"type": "image", "data": base64.StdEncoding.EncodeToString([]byte("words")), "mimeType": "text/plain"}}, "is no image"},
		{[]any{obj{"type": "resource"}}, "has no resource"},
		{[]any{obj{"type": "resource", "resource": obj{"uri": "x:y", "blob": base64.StdEncoding.EncodeToString([]byte{0, 1, 2})}}}, "neither text nor an image"},
		{[]any{obj{"type": "resource_link", "name": "x"}}, "no uri"},
	} {
		if msg := e.fails(-32602, "session/prompt", obj{"sessionId": s, "prompt": c.blocks}); !strings.Contains(msg, c.want) {
			t.Errorf("%v is refused with %q", c.blocks, msg)
		}
	}
	e.fails(-32602, "session/prompt", obj{"prompt": []any{text}})
	e.fails(-32602, "session/prompt", obj{"sessionId": 7, "prompt": []any{text}})
	e.fails(-32002, "session/prompt", obj{"sessionId": "none", "prompt": []any{text}})
	if stop := e.prompt(s, "hello"); stop != "end_turn" {
		t.Errorf("then it stops for %s", stop)
	}
}

// A turn that fails is an error with a next step; one that reaches a limit stops.
func TestEndsOfTurns(t *testing.T) {
	t.Parallel()
	h := open(t, `
responses:
  - {when: broken, error: {kind: unauthorised, message: bad key}}
  - {when: long, deltas: [{content: Cut}, {meta: {stop_reason: length}}]}
  - {when: refuse, deltas: [{content: No}, {meta: {stop_reason: refusal}}]}
  - {when: loop, calls: [{name: list_files, args: {}}]}
  - {when: usage, deltas: [{content: Counted}, {meta: {stop_reason: stop, usage: {input_tokens: 12, output_tokens: 5}, context_length: 100}}]}
`)
	e := h.connect(func(o *acp.Options) {
		o.Prepare = func(req *engine.TurnRequest) { req.MaxSteps, req.MaxRepeats = 3, 10 }
	})
	e.initialize()
	s := e.newSession(h.project)
	m := e.response(e.send("session/prompt", obj{"sessionId": s, "prompt": []any{obj{"type": "text", "text": "broken"}}}))
	if m.Error == nil || m.Error.Code != -32603 || !strings.Contains(string(m.Error.Data), `"unauthorised"`) {
		t.Errorf("a refused key: %s", m.line)
	}
	for text, want := range map[string]string{"long": "max_tokens", "refuse": "refusal", "loop": "max_turn_requests", "usage": "end_turn"} {
		if stop := e.prompt(s, text); stop != want {
			t.Errorf("%s stops for %s", text, stop)
		}
	}
	if u := e.updates("usage_update"); len(u) != 1 || u[0]["used"] != 17.0 || u[0]["size"] != 100.0 {
		t.Errorf("usage %v", u)
	}
}

// Agents that hand over are told, and what doesn't answer is thought.
func TestHandover(t *testing.T) {
	t.Parallel()
	h := open(t, `
responses:
  - {system: You write, step: 0, text: Draft., calls: [{name: handoff_to_critic, args: {reason: judge it}}]}
  - {system: You judge, text: Fine.}
`)
	e := h.connect(func(o *acp.Options) { o.Agent = "writer" })
	e.initialize()
	s := e.newSession(h.project)
	e.prompt(s, "go")
	calls := e.updates("tool_call")
	if len(calls) != 1 || calls[0]["kind"] != "switch_mode" || calls[0]["title"] != "writer hands over to critic" {
		t.Errorf("the handover is %v", calls)
	}
	live := e.text("agent_message_chunk")
	if !strings.Contains(live, "Fine.") {
		t.Errorf("the answer is %q", live)
	}
	e.forget()
	e.call("session/load", obj{"sessionId": s, "cwd": h.project, "mcpServers": []any{}}, nil)
	if calls := e.updates("tool_call"); len(calls) != 1 || calls[0]["title"] != "writer hands over to critic" {
		t.Errorf("replayed, the handover is %v", calls)
	}
	if got := e.text("agent_message_chunk"); got != live {
		t.Errorf("replayed, the answer is %q, not %q", got, live)
	}
}

// ownPrompts are prompts as a user has them.
type ownPrompts map[string]string

func (p ownPrompts) Prompts(string) []acp.Prompt {
	var out []acp.Prompt
	for name := range p {
		out = append(out, acp.Prompt{Name: name, Description: "about " + name})
	}
	return out
}

func (p ownPrompts) Fill(_, name, input string) (string, error) {
	if input == "" {
		return "", fault.New(fault.Usage, "the prompt needs something; write /"+name+" what")
	}
	return p[name] + input, nil
}

func TestCommands(t *testing.T) {
	t.Parallel()
	h := open(t, `responses: [{when: "^Review this: tea$", text: Reviewed.}, {when: "", text: Asked.}]`)
	e := h.connect(func(o *acp.Options) { o.Prompts = ownPrompts{"review": "Review this: ", "undo": "never"} })
	e.initialize()
	s := e.newSession(h.project)
	m := e.wait("the commands", func(m wireMessage) bool { return strings.Contains(m.line, "available_commands_update") })
	for _, name := range []string{"undo", "redo", "compact", "model", "agent", "review"} {
		if strings.Count(m.line, `{"name":"`+name+`"`) != 1 {
			t.Errorf("%s is not there once: %s", name, m.line)
		}
	}
	if strings.Contains(m.line, `"workflow"`) {
		t.Error("a command for workflows, and there are none")
	}
	for _, c := range []struct{ prompt, want string }{
		{"/undo", "Nothing was asked"},
		{"/compact", "Nothing was asked"},
		{"/review tea", "Reviewed."},
		{"/unknown", "Asked."},
		{"/ what", "Asked."},
		{"/undo", "no files yet"},
		{"/undo soon", "/undo takes a number of steps"},
		{"/compact", "summed up for the model"},
		{"/compact now", "takes nothing"},
		{"/model", "The last answer was script/m.yaml's"},
		{"/model nothing", "PROVIDER/NAME"},
		{"/model script/m.yaml", "The model is script/m.yaml."},
		{"/agent", "`/agent writer`"},
		{"/agent nobody", "no agent nobody"},
		{"/agent critic", "The agent is critic."},
		{"/workflow", "No installed toolset"},
		{"/workflow x", "no workflow x"},
	} {
		e.forget()
		if stop := e.prompt(s, c.prompt); stop != "end_turn" {
			t.Errorf("%s stops for %s", c.prompt, stop)
		}
		if got := e.text("agent_message_chunk"); !strings.Contains(got, c.want) {
			t.Errorf("%s says %q", c.prompt, got)
		}
	}
	if msg := e.response(e.send("session/prompt", obj{"sessionId": s, "prompt": []any{obj{"type": "text", "text": "/review"}}})); msg.Error == nil || !strings.Contains(msg.line, "/review what") {
		t.Errorf("a prompt that lacks something: %s", msg.line)
	}
}

// What someone else changed since is not overwritten by undo, unless it is told to.
func TestUndoStopsForOthersChanges(t *testing.T) {
	t.Parallel()
	h := open(t, usual)
	e := h.connect()
	e.answer = choose("allow")
	e.initialize()
	s := e.newSession(h.project)
	e.prompt(s, "write it")
	file := filepath.Join(h.project, "notes", "a.txt")
	must(t, os.WriteFile(file, []byte("mine\n"), 0o600))
	e.forget()
	e.prompt(s, "/undo")
	if got := e.text("agent_message_chunk"); !strings.Contains(got, "notes/a.txt") || !strings.Contains(got, "/undo overwrite") {
		t.Errorf("it says %q", got)
	}
	if on, _ := os.ReadFile(file); string(on) != "mine\n" {
		t.Errorf("the file has %q", on)
	}
	e.prompt(s, "/undo overwrite")
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("overwritten, the file is there: %v", err)
	}
}

// One call is undone alone, by the id that the list names, and messages name the files.
func TestUndoOfOneCallInAnEditor(t *testing.T) {
	t.Parallel()
	h := open(t, usual)
	e := h.connect()
	e.answer = choose("allow")
	e.initialize()
	s := e.newSession(h.project)
	e.prompt(s, "write it")
	file := filepath.Join(h.project, "notes", "a.txt")
	e.forget()
	e.prompt(s, "/undo list")
	list := e.text("agent_message_chunk")
	found := regexp.MustCompile("`/undo call ([0-9A-Z]{8})`  write_file notes/a.txt").FindStringSubmatch(list)
	if found == nil {
		t.Fatalf("the list is %q", list)
	}
	e.forget()
	e.prompt(s, "/undo call "+found[1])
	if got := e.text("agent_message_chunk"); !strings.Contains(got, "Undid write_file notes/a.txt: removed 1 file. /redo reverts this.") || !strings.Contains(got, "\nFiles: notes/a.txt") {
		t.Errorf("it says %q", got)
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("undone, the file is there: %v", err)
	}
	e.forget()
	e.prompt(s, "/undo list")
	if got := e.text("agent_message_chunk"); !strings.Contains(got, "write_file notes/a.txt (undone)") {
		t.Errorf("the list is %q", got)
	}
	e.forget()
	e.prompt(s, "/undo call "+found[1])
	if got := e.text("agent_message_chunk"); !strings.Contains(got, "is undone already") {
		t.Errorf("once more, it says %q", got)
	}
	e.prompt(s, "/redo")
	must(t, os.WriteFile(file, []byte("mine\n"), 0o600))
	e.forget()
	e.prompt(s, "/undo call "+found[1])
	if got := e.text("agent_message_chunk"); !strings.Contains(got, "notes/a.txt") || !strings.Contains(got, "/undo call "+found[1]+" overwrite") {
		t.Errorf("over an edit, it says %q", got)
	}
}
