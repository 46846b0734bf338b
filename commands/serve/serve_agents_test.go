package serve_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fettle-cli/fettle/commands/commandtest"
	"github.com/fettle-cli/fettle/internal/sse"
)

// page is a page of another origin of this machine, without a token.
const page = "http://localhost:5173"

// chat posts a message of a session as the page of document 003 does.
func (s *serving) chat(session, message string) (*http.Response, []byte) {
	s.w.T.Helper()
	body, err := json.Marshal(map[string]string{"session_id": session, "message": message})
	if err != nil {
		s.w.T.Fatal(err)
	}
	req, err := http.NewRequestWithContext(s.w.T.Context(), http.MethodPost, s.url+"/chat", bytes.NewReader(body))
	if err != nil {
		s.w.T.Fatal(err)
	}
	for name, value := range map[string]string{"Content-Type": "application/json", "Origin": page, "Sec-Fetch-Site": "same-site"} {
		req.Header.Set(name, value)
	}
	res, err := s.client.Do(req)
	if err != nil {
		s.w.T.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		s.w.T.Fatal(err)
	}
	return res, raw
}

// agentFrames are the frames of one stream of document 003, the tokens as one,
// and their text.
func agentFrames(t *testing.T, stream []byte) (frames []string, tokens int, text string) {
	t.Helper()
	in := sse.NewReader(bytes.NewReader(stream), sse.Options{})
	for {
		raw, err := in.Next()
		if err == io.EOF {
			return frames, tokens, text
		}
		if err != nil {
			t.Fatal(err)
		}
		var e struct{ Agent, From, To, Tool, Query, Result, Text, Message string }
		if err := json.Unmarshal(raw.Data, &e); err != nil {
			t.Fatalf("%s: %v", raw.Data, err)
		}
		f := ""
		switch raw.Name {
		case "agent_start":
			f = fmt.Sprintf("agent_start { agent: %q }", e.Agent)
		case "handoff":
			f = fmt.Sprintf("handoff { from: %q, to: %q }", e.From, e.To)
		case "tool_call":
			f = fmt.Sprintf("tool_call { agent: %q, tool: %q, query: %q }", e.Agent, e.Tool, e.Query)
		case "tool_result":
			f = fmt.Sprintf("tool_result { agent: %q, tool: %q }", e.Agent, e.Tool)
			if !strings.HasPrefix(e.Result, "[Notion | MVP") && !strings.HasPrefix(e.Result, "[Slack | #engineering") {
				t.Errorf("%s gave %q", e.Tool, e.Result)
			}
		case "token":
			tokens++
			text += e.Text
			if f = "token"; frames[len(frames)-1] == f {
				continue
			}
		case "done":
			if f = "done"; string(raw.Data) != "{}" {
				t.Errorf("done has %s", raw.Data)
			}
		default:
			f = raw.Name + " " + e.Message
		}
		frames = append(frames, f)
	}
}

// Document 003 over HTTP, from its page's origin: the first turn goes through all
// agents, and the second one of the session answers from what was said.
func TestTheDemoScriptOverHTTP(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "{}")
	temp := t.TempDir()
	w.Env = append(w.Env, "TMPDIR="+temp, "TMP="+temp, "TEMP="+temp, "XDG_RUNTIME_DIR="+filepath.Join(w.Dir, "run"))
	s := w.serve("--demo", "--trust-origin", page, "--log", "off")

	res, raw := s.chat("7b0d3c9e-0c1c-4a63-9a9b-57f9bb0cfa6b", "I'm starting on the login system. What's the final spec?")
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/event-stream; charset=utf-8" || res.Header.Get("Access-Control-Allow-Origin") != page {
		t.Fatalf("%d %v\n%s", res.StatusCode, res.Header, raw)
	}
	frames, tokens, answer := agentFrames(t, raw)
	want := commandtest.DocumentFrames()
	for i, f := range want {
		if strings.HasPrefix(f, `tool_call { agent: "scavenger", tool: "read_slack_mock"`) {
			results := []string{`tool_result { agent: "scavenger", tool: "read_notion_mock" }`, `tool_result { agent: "scavenger", tool: "read_slack_mock" }`}
			want = append(append(append([]string{}, want[:i+1]...), results...), want[i+1:]...)
			break
		}
	}
	if diff := cmp.Diff(want, inOrder(frames)); diff != "" {
		t.Errorf("the first turn (- the document, + fettle):\n%s", diff)
	}
	if tokens < 2 || !strings.Contains(answer, "Google OAuth only") {
		t.Errorf("%d tokens: %s", tokens, answer)
	}

	_, raw = s.chat("7b0d3c9e-0c1c-4a63-9a9b-57f9bb0cfa6b", "What library should I use for that?")
	frames, tokens, answer = agentFrames(t, raw)
	if diff := cmp.Diff([]string{`agent_start { agent: "interface" }`, `token`, `done`}, frames); diff != "" {
		t.Errorf("the second turn (- the document, + fettle):\n%s", diff)
	}
	if tokens < 2 || !strings.Contains(answer, "react-oauth/google") || !strings.Contains(answer, "authlib") {
		t.Errorf("%d tokens: %s", tokens, answer)
	}
	// One chat for the session; another session has its own.
	if status, body := s.get("/api/chats"); status != 200 || strings.Count(body, `"number"`) != 1 {
		t.Errorf("chats: %d %s", status, body)
	}
	defer func() { // nothing of it is kept, and nothing else was touched
		if !s.end() {
			return
		}
		for _, dir := range []string{temp, filepath.Join(w.Dir, "data"), filepath.Join(w.Dir, "run")} {
			if left, err := os.ReadDir(dir); len(left) > 0 || err != nil && !os.IsNotExist(err) {
				t.Errorf("%s has %v, %v", dir, left, err)
			}
		}
	}()
	if res, raw := s.chat("", "hi"); res.StatusCode != 400 || !strings.Contains(string(raw), "session_id") || res.Header.Get("Access-Control-Allow-Origin") != page {
		t.Errorf("without a session: %d %s", res.StatusCode, raw)
	}
}

// inOrder puts the frames of two calls that ran beside each other in one order:
// the calls, then what they gave. Calls of one response may end in any.
func inOrder(frames []string) []string {
	var out, results []string
	for _, f := range frames {
		switch {
		case strings.HasPrefix(f, "tool_result"):
			results = append(results, f)
			continue
		case !strings.HasPrefix(f, "tool_call"):
			if len(results) == 2 && results[0] > results[1] {
				results[0], results[1] = results[1], results[0]
			}
			out, results = append(out, results...), nil
		}
		out = append(out, f)
	}
	return out
}

// Without the flag no other origin gets to ask, and an origin elsewhere can't be
// trusted at all.
func TestNoOriginIsTrustedUnlessItIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "{}")
	s := w.serve("--demo", "--log", "off")
	if res, raw := s.chat("a", "hi"); res.StatusCode != 403 || res.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("without the flag: %d %s", res.StatusCode, raw)
	}
	for _, origin := range []string{"https://example.org", "localhost:5173", "*"} {
		if _, said := w.Run(2, "serve", "--listen", "127.0.0.1:0", "--trust-origin", origin); !strings.Contains(said, "fettle serve --trust-origin") {
			t.Errorf("%s: %s", origin, said)
		}
	}
}
