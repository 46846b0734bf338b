package mcp_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/server/mcp"
	"github.com/fettle-cli/fettle/toolset"
)

// slow is a tool that says how far it is, and then works until it is ended.
func slow(begun, ended chan struct{}) toolset.Entry {
	return toolset.Entry{
		Tool: toolset.Tool{ID: "slow", Name: "Slow", Description: "takes its time", Category: "test", Enabled: true, Streaming: true,
			InputSchema: json.RawMessage(`{"type":"object"}`), Annotations: toolset.Annotations{ReadOnly: true}},
		Runner: toolset.RunnerFunc(func(ctx context.Context, c toolset.Call) (toolset.Result, error) {
			for _, part := range []float64{0.5, 0.25, 1} {
				c.Report(toolset.Progress{Stage: "work", Message: fmt.Sprintf("at\x1b[31m %v", part), Progress: &part})
				time.Sleep(100 * time.Millisecond) // more than what is held back
			}
			begun <- struct{}{}
			<-ctx.Done()
			ended <- struct{}{}
			return toolset.Result{}, ctx.Err()
		}),
	}
}

func within(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		t.Fatal(what + " did not happen")
	}
}

// A cancelled call ends its tool, and its progress only rose.
func TestCancelAndProgress(t *testing.T) {
	t.Parallel()
	begun, ended := make(chan struct{}, 1), make(chan struct{}, 1)
	open(t, plan{tools: []toolset.Entry{slow(begun, ended)}}).ways(t, nil, func(t *testing.T, dial func(answers) *user) {
		u := dial(nil)
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error, 1)
		go func() {
			p := &sdk.CallToolParams{Name: "slow"}
			p.SetProgressToken(7)
			_, err := u.CallTool(ctx, p)
			failed <- err
		}()
		within(t, "the call", begun)
		cancel()
		within(t, "the end of the tool", ended)
		if err := <-failed; err == nil {
			t.Error("the call succeeded")
		}
		await(t, "all progress", func() bool { return len(u.heard()) >= 3 })
		heard := u.heard()
		for i, p := range heard {
			if strings.ContainsRune(p.Message, '\x1b') || i > 0 && p.Progress <= heard[i-1].Progress {
				t.Errorf("progress %d is %+v", i, p)
			}
		}
	})
}

// A client that dies ends what was done for it: the end of the stream, and of a
// modern request.
func TestAClientThatDies(t *testing.T) {
	t.Parallel()
	begun, ended := make(chan struct{}, 1), make(chan struct{}, 1)
	h := open(t, plan{tools: []toolset.Entry{slow(begun, ended)}})
	t.Run("stdio", func(t *testing.T) {
		host := mcp.New(mcp.Options{Engine: h.eng})
		in, toServer := io.Pipe()
		served := make(chan error, 1)
		var out strings.Builder
		go func() { served <- host.Serve(context.Background(), in, &out) }()
		say := func(line string) {
			if _, err := io.WriteString(toServer, line+"\n"); err != nil {
				t.Error(err)
			}
		}
		say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
		say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"slow"}}`)
		within(t, "the call", begun)
		toServer.Close()
		within(t, "the end of the tool", ended)
		if err := <-served; err != nil {
			t.Error(err)
		}
		for line := range strings.Lines(out.String()) {
			if !json.Valid([]byte(line)) {
				t.Errorf("it wrote %q", line)
			}
		}
	})
	t.Run("http", func(t *testing.T) {
		url := h.serve(nil)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"progressToken":1}}}`
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
		must(t, err)
		for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": modern, "Mcp-Method": "tools/call", "Mcp-Name": "slow"} {
			req.Header.Set(name, value)
		}
		resp, err := client(t).Do(req)
		must(t, err)
		defer resp.Body.Close()
		if resp.Header.Get("X-Accel-Buffering") != "no" {
			t.Error("a proxy may gather the answer")
		}
		if line, err := bufio.NewReader(resp.Body).ReadString('\n'); err != nil {
			t.Errorf("%q %v", line, err)
		}
		within(t, "the call", begun)
		cancel()
		within(t, "the end of the tool", ended)
	})
}

// A legacy client over HTTP that goes away ends its call: nobody could fetch the
// result.
func TestALegacyClientThatGoes(t *testing.T) {
	t.Parallel()
	begun, ended := make(chan struct{}, 1), make(chan struct{}, 1)
	url := open(t, plan{tools: []toolset.Entry{slow(begun, ended)}}).serve(nil)
	session := ""
	post := func(ctx context.Context, body string) (*http.Response, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
		must(t, err)
		for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Session-Id": session} {
			if value != "" {
				req.Header.Set(name, value)
			}
		}
		return client(t).Do(req)
	}
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
	} {
		resp, err := post(t.Context(), body)
		must(t, err)
		session = cmp.Or(resp.Header.Get("Mcp-Session-Id"), session)
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	resp, err := post(ctx, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"slow","_meta":{"progressToken":1}}}`)
	must(t, err)
	defer resp.Body.Close()
	within(t, "the call", begun)
	cancel()
	within(t, "the end of the tool", ended)
}

// A message without a session that does not begin one leaves no chat, and one that is not JSON
// never makes one.
func TestWhatBeginsNoSessionKeepsNothing(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	url := h.serve(nil)
	for _, body := range []string{`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, `nonsense`} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
		must(t, err)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		resp, err := client(t).Do(req)
		must(t, err)
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	await(t, "the end of each", func() bool { return h.eng.Minted.Len() == 0 })
}

// The end of the host ends what runs and what waits for an approval.
func TestTheEndOfTheHost(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	host := mcp.New(mcp.Options{Engine: h.eng, Workspace: t.TempDir()})
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	served := make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		served <- host.Serve(ctx, in, out)
		_ = out.Close()
	}()
	asked, ended := make(chan struct{}, 1), make(chan struct{})
	u := connect(t, &sdk.IOTransport{Reader: fromServer, Writer: toServer}, modern, func(string) *sdk.ElicitResult {
		asked <- struct{}{}
		<-ended // an answer before could be in time
		return &sdk.ElicitResult{Action: "cancel"}
	})
	failed := make(chan error, 1)
	go func() {
		_, err := u.CallTool(t.Context(), &sdk.CallToolParams{Name: "write_file", Arguments: json.RawMessage(`{"path":"a","content":"b"}`)})
		failed <- err
	}()
	within(t, "the question", asked)
	cancel()
	if err := <-served; err != nil {
		t.Error(err)
	}
	close(ended)
	if err := <-failed; err == nil {
		t.Error("the call succeeded")
	}
	if page, err := h.eng.Chats(t.Context(), store.ListChats{}); err != nil || len(page.Chats) != 1 {
		t.Errorf("the turn left %+v, %v", page.Chats, err)
	}
}

// A request state is good for what it was given for, once.
func TestRequestStates(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	dir := t.TempDir()
	url := h.serve(func(o *mcp.Options) { o.Workspace = dir })
	post := func(session, more, args string) (state, whole string) {
		t.Helper()
		body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write_file","arguments":` + args + more +
			`,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}`
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"?session="+session, strings.NewReader(body))
		must(t, err)
		for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": modern, "Mcp-Method": "tools/call", "Mcp-Name": "write_file"} {
			req.Header.Set(name, value)
		}
		resp, err := client(t).Do(req)
		must(t, err)
		defer resp.Body.Close()
		raw, err := io.ReadAll(resp.Body)
		must(t, err)
		_, data, _ := strings.Cut(string(raw), "data: ")
		if !strings.HasPrefix(string(raw), "event:") && !strings.HasPrefix(string(raw), "data:") {
			data = string(raw)
		}
		var m struct {
			Result struct {
				RequestState string `json:"requestState"`
			} `json:"result"`
		}
		_ = json.Unmarshal([]byte(data), &m) // an error has no state
		return m.Result.RequestState, string(raw)
	}
	const args = `{"path":"a.txt","content":"hi"}`
	yes := func(state string) string {
		return `,"requestState":"` + state + `","inputResponses":{"approval":{"action":"accept","content":{"decision":"allow"}}}`
	}
	state, whole := post("one", "", args)
	if state == "" {
		t.Fatalf("nothing was asked: %s", whole)
	}
	for name, try := range map[string][3]string{
		"another state":     {"one", yes(state + "x"), args},
		"another session":   {"two", yes(state), args},
		"another arguments": {"one", yes(state), `{"path":"b.txt","content":"hi"}`},
	} {
		if _, whole := post(try[0], try[1], try[2]); !strings.Contains(whole, "-32602") {
			t.Errorf("%s: %s", name, whole)
		}
	}
	if _, whole := post("one", yes(state), args); !strings.Contains(whole, "made a.txt") {
		t.Errorf("the right one: %s", whole)
	}
	if _, whole := post("one", yes(state), args); !strings.Contains(whole, "-32602") {
		t.Errorf("twice: %s", whole)
	}
}
