package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/server/mcp"
	"github.com/fettle-cli/fettle/toolset"
)

const (
	legacy = "2025-11-25"
	modern = "2026-07-28"
)

// user is what a client's user does.
type user struct {
	*sdk.ClientSession
	mu       sync.Mutex
	progress []*sdk.ProgressNotificationParams
	asked    []string
	// prompts receives a value for each notification that the prompts changed.
	prompts chan struct{}
}

func (u *user) heard() []*sdk.ProgressNotificationParams {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Clone(u.progress)
}

// answers says how a user answers; nil is one who can't be asked.
type answers func(message string) *sdk.ElicitResult

func decides(decision string) answers {
	return func(string) *sdk.ElicitResult {
		return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"decision": decision}}
	}
}

// connect makes a client of an era.
func connect(t testing.TB, to sdk.Transport, era string, say answers) *user {
	t.Helper()
	u := &user{prompts: make(chan struct{}, 64)}
	o := &sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{}, ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.progress = append(u.progress, r.Params)
	}, PromptListChangedHandler: func(context.Context, *sdk.PromptListChangedRequest) { u.prompts <- struct{}{} }}
	if say != nil {
		o.ElicitationHandler = func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			u.mu.Lock()
			u.asked = append(u.asked, r.Params.Message)
			u.mu.Unlock()
			return say(r.Params.Message), nil
		}
	}
	var err error
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	u.ClientSession, err = sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "1"}, o).Connect(ctx, to, &sdk.ClientSessionOptions{ProtocolVersion: era})
	must(t, err)
	t.Cleanup(func() { _ = u.Close() }) // some tests end it themselves
	return u
}

// ways are the transports and eras that a test goes through.
func (h *house) ways(t *testing.T, change func(*mcp.Options), each func(t *testing.T, dial func(say answers) *user)) {
	t.Helper()
	url := h.serve(change)
	for _, era := range []string{legacy, modern} {
		t.Run("http "+era, func(t *testing.T) {
			each(t, func(say answers) *user {
				return connect(t, &sdk.StreamableClientTransport{Endpoint: url, HTTPClient: client(t)}, era, say)
			})
		})
		t.Run("stdio "+era, func(t *testing.T) {
			each(t, func(say answers) *user { return h.stdio(t, era, change, say) })
		})
	}
}

// stdio is a client of Serve.
func (h *house) stdio(t *testing.T, era string, change func(*mcp.Options), say answers) *user {
	t.Helper()
	o := mcp.Options{Engine: h.eng, Version: "1.2.3"}
	if change != nil {
		change(&o)
	}
	host := mcp.New(o)
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- host.Serve(context.Background(), in, out)
		_ = out.Close()
	}()
	t.Cleanup(func() {
		_ = toServer.Close()
		_ = fromServer.Close()
		if err := <-ended; err != nil && !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("Serve: %v", err)
		}
	})
	return connect(t, &sdk.IOTransport{Reader: fromServer, Writer: toServer}, era, say)
}

func (u *user) call(t testing.TB, name, args string) *sdk.CallToolResult {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	p := &sdk.CallToolParams{Name: name, Arguments: json.RawMessage(args)}
	p.SetProgressToken("token")
	res, err := u.CallTool(ctx, p)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return res
}

func textOf(res *sdk.CallToolResult) string {
	var out []string
	for _, c := range res.Content {
		if c, ok := c.(*sdk.TextContent); ok {
			out = append(out, c.Text)
		}
	}
	return strings.Join(out, "\n")
}

// A call works in the session's folder, gives its text and its data, and its files
// are resources; another client's session knows nothing of them.
func TestToolsAndFiles(t *testing.T) {
	t.Parallel()
	open(t, plan{}).ways(t, nil, func(t *testing.T, dial func(answers) *user) {
		u := dial(nil)
		res := u.call(t, "write_file", `{"path":"notes/a b.md","content":"one\n"}`)
		if res.IsError || !strings.Contains(textOf(res), "notes/a b.md") || res.StructuredContent == nil {
			t.Fatalf("%+v %q", res, textOf(res))
		}
		if link, ok := res.Content[len(res.Content)-1].(*sdk.ResourceLink); !ok || link.URI != "workspace:///notes/a%20b.md" {
			t.Errorf("the file is not named: %+v", res.Content)
		}
		if res := u.call(t, "read_file", `{"path":"notes/a b.md"}`); !strings.Contains(textOf(res), "one") {
			t.Errorf("the same folder isn't there: %q", textOf(res))
		}
		list, err := u.ListResources(t.Context(), nil)
		must(t, err)
		if len(list.Resources) != 1 || list.Resources[0].Size != 4 || list.Resources[0].MIMEType != "text/markdown" {
			t.Errorf("resources: %+v", list.Resources)
		}
		read, err := u.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "workspace:///notes/a%20b.md"})
		must(t, err)
		if read.Contents[0].Text != "one\n" {
			t.Errorf("it reads %q", read.Contents[0].Text)
		}
		for _, uri := range []string{"workspace:///missing", "workspace:///../m.yaml", "workspace:///notes", "workspace://host/notes", "file:///etc/passwd"} {
			if _, err := u.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err == nil {
				t.Errorf("%s could be read", uri)
			}
		}
	})
}

// What can't be called is told apart: arguments that a model can better, and a tool
// that isn't there.
func TestWhatCanNotBeCalled(t *testing.T) {
	t.Parallel()
	broken := toolset.Entry{
		Tool: toolset.Tool{ID: "broken", Name: "Broken", Description: "fails", Category: "test", Enabled: true, InputSchema: json.RawMessage(`{"type":"object"}`),
			OutputSchema: json.RawMessage(`{"type":"object"}`), Annotations: toolset.Annotations{ReadOnly: true}},
		Runner: toolset.RunnerFunc(func(_ context.Context, c toolset.Call) (toolset.Result, error) {
			if strings.Contains(string(c.Args), "text") {
				return toolset.Result{Text: "a text alone"}, nil
			}
			return toolset.Result{}, toolset.Errorf("it broke")
		}),
	}
	open(t, plan{tools: []toolset.Entry{broken}}).ways(t, nil, func(t *testing.T, dial func(answers) *user) {
		u := dial(nil)
		for name, want := range map[string]string{"write_file": `missing property "path"`, "broken": "it broke"} {
			res := u.call(t, name, `{}`)
			if !res.IsError || !strings.Contains(textOf(res), want) || res.StructuredContent != nil {
				t.Errorf("%s: %+v %q", name, res, textOf(res))
			}
		}
		if res := u.call(t, "broken", `{"text":1}`); !res.IsError || !strings.Contains(textOf(res), "a text alone") {
			t.Errorf("a promise was broken, and nobody said so: %q", textOf(res))
		}
		_, err := u.CallTool(t.Context(), &sdk.CallToolParams{Name: "nothing"})
		var wire *jsonrpc.Error
		if !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInvalidParams {
			t.Errorf("an unknown tool: %v", err)
		}
	})
}

// Approvals are asked of the user where the client can, and denied elsewhere, unless
// a rule allows the call.
func TestApprovals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		say   answers
		rule  string
		wrote bool
		asks  int
		want  string
	}{
		{"allowed", decides("allow"), "", true, 1, "made a.txt"},
		{"denied", decides("deny"), "", false, 1, "denied by the user"},
		{"dismissed", func(string) *sdk.ElicitResult { return &sdk.ElicitResult{Action: "cancel"} }, "", false, 1, "denied by the user"},
		{"nobody to ask", nil, "", false, 0, "--allow 'write_file'"},
		{"by a rule", nil, "write_file", true, 0, "made a.txt"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := open(t, plan{})
			dir := ""
			change := func(o *mcp.Options) {
				o.Workspace = dir
				if c.rule != "" {
					o.Policy = permission.Policy{Allow: []string{c.rule}}
				}
			}
			for _, era := range []string{legacy, modern} {
				dir = t.TempDir()
				u := h.stdio(t, era, change, c.say)
				res := u.call(t, "write_file", `{"path":"a.txt","content":"hi"}`)
				if res.IsError == c.wrote || !strings.Contains(textOf(res), c.want) {
					t.Errorf("%s: error %v, %q", era, res.IsError, textOf(res))
				}
				if len(u.asked) != c.asks {
					t.Errorf("%s: it asked %q", era, u.asked)
				}
			}
		})
	}
}

// "Allow in this session" holds for what comes after.
func TestApprovalForTheSession(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	for _, era := range []string{legacy, modern} {
		dir := t.TempDir()
		u := h.stdio(t, era, func(o *mcp.Options) { o.Workspace = dir }, decides("allow_chat"))
		for _, content := range []string{"one", "two"} {
			if res := u.call(t, "write_file", `{"path":"a","content":"`+content+`"}`); res.IsError {
				t.Errorf("%s: %q", era, textOf(res))
			}
		}
		if len(u.asked) != 1 || !strings.Contains(u.asked[0], "write_file") {
			t.Errorf("%s: it asked %q", era, u.asked)
		}
	}
}

// An agent is a tool: it answers by its model, with its calls as progress, and
// knows what was said before.
func TestAgents(t *testing.T) {
	t.Parallel()
	const words = `
responses:
  - {when: first, step: 0, calls: [{name: write_file, args: {path: a.txt, content: hi}}]}
  - {when: first, text: It is written.}
  - {when: "", text: I know you.}
`
	h := open(t, plan{script: words, agents: []store.Agent{{ID: "helper", Name: "Helper", Purpose: "helps", Prompt: "You help.", Tools: []string{"write_file"}}}})
	h.ways(t, nil, func(t *testing.T, dial func(answers) *user) {
		u := dial(nil)
		res := u.call(t, "agent__helper", `{"message":"the first thing"}`)
		if res.IsError || !strings.Contains(textOf(res), "It is written.") {
			t.Fatalf("%q", textOf(res))
		}
		await(t, "word of the tool", func() bool { // a client's handlers may run behind its results
			return slices.ContainsFunc(u.heard(), func(p *sdk.ProgressNotificationParams) bool { return strings.Contains(p.Message, "write_file") })
		})
		last := -1.0
		for _, p := range u.heard() {
			if p.Progress <= last {
				t.Errorf("progress fell from %v to %v", last, p.Progress)
			}
			last = p.Progress
		}
		if res := u.call(t, "agent__helper", `{"message":"again"}`); !strings.Contains(textOf(res), "I know you.") {
			t.Errorf("%q", textOf(res))
		}
		for _, args := range []string{`{}`, `{"message":" "}`, `{"message":1}`, `{"message":"a","more":1}`} {
			if res := u.call(t, "agent__helper", args); !res.IsError || !strings.Contains(textOf(res), "don't fit") {
				t.Errorf("%s: %q", args, textOf(res))
			}
		}
	})
}

// Names are such that providers take them, and each is one tool's.
func TestNames(t *testing.T) {
	t.Parallel()
	good := regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_-]{0,63}$`)
	for id, want := range map[string]string{
		"read_file": "read_file", "data:analyze": "data__analyze", "a.b:c d": "a_b__c_d", "9lives:x": "t_9lives__x",
		"ü": "t__", "": "t_", strings.Repeat("long", 20) + ":x": "",
	} {
		got := mcp.WireName("", id)
		if !good.MatchString(got) || want != "" && got != want {
			t.Errorf("%q is called %q, want %q", id, got, want)
		}
	}
	if mcp.WireName("", strings.Repeat("a", 90)+":x") == mcp.WireName("", strings.Repeat("a", 90)+":y") {
		t.Error("two long ids have one name")
	}
}
