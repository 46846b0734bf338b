package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
)

func TestSplitURL(t *testing.T) {
	t.Parallel()
	for given, want := range map[string][2]string{
		"http://127.0.0.1:8765/#token=abc":      {"http://127.0.0.1:8765", "abc"},
		"http://localhost:8765":                 {"http://localhost:8765", ""},
		"http://[::1]:1/":                       {"http://[::1]:1", ""},
		" https://fettle.example.com/#token=x ": {"https://fettle.example.com", "x"},
		"https://example.com/fettle/":           {"https://example.com/fettle", ""},
	} {
		if server, token, err := SplitURL(given); err != nil || server != want[0] || token != want[1] {
			t.Errorf("%s: %q %q %v", given, server, token, err)
		}
	}
	for _, given := range []string{
		"", "example.com", "http://example.com/", "http://10.0.0.1/", "ftp://localhost", "https://me@example.com/", "https:///x",
		"https://example.com/?token=x", "https://example.com/#x", "http://localhost.example.com/", "http://127.0.0.1.example.com", "https://a b/",
	} {
		if server, token, err := SplitURL(given); err == nil {
			t.Errorf("%q is taken as %q %q", given, server, token)
		}
	}
}

// Each field of a request either crosses, or is refused, or is known not to matter
// to another server.
func TestEveryFieldOfARequestIsThoughtOf(t *testing.T) {
	t.Parallel()
	crosses := "Chat Parts Docs System Model Agent Tools AgentMode Context TextAlone InteractionType ActionMetadata Schema Policy CanConfirm CanAnswer CanReview Ephemeral Params Plan KeepMode KeepPlan"
	refused := "Calls Uploads Workspace History ClientTools MCP"
	its := "Editor Terminal Title Page Tab Suggestions MaxHandoffs Fallback MaxSteps MaxRepeats MaxFailures Timeout DiscardUnanswered Think Sampling Hints Prefill Ignored MustCall Own workflow app OnWait"
	known := strings.Fields(crosses + " " + refused + " " + its)
	for i := range reflect.TypeFor[engine.TurnRequest]().NumField() {
		name := reflect.TypeFor[engine.TurnRequest]().Field(i).Name
		found := false
		for _, k := range known {
			found = found || k == name
		}
		if !found {
			t.Errorf("what becomes of %s where another server is asked?", name)
		}
	}
	on := true
	q, err := bodyOf(engine.TurnRequest{
		Chat: store.ChatRef{Number: 3, Fork: true}, System: "s", Model: "m/x", Agent: "a", Tools: []string{}, Docs: []string{}, AgentMode: &on,
		Parts: []provider.Part{
			{Kind: provider.FilePart, Name: "n", Text: "file"}, {Kind: provider.ImagePart, Name: "i", MIME: "image/png", Data: []byte{1, 2}},
			{Kind: provider.TextPart, Text: "words"},
		},
		Context: json.RawMessage(`{"page":"p"}`), TextAlone: true, Schema: json.RawMessage(`{}`), CanConfirm: true, CanAnswer: true, CanReview: true, Ephemeral: true,
		Policy: permission.Policy{AllowAll: true, Allow: []string{"x"}, Approvals: permission.Edits}, Plan: &on, KeepMode: true, KeepPlan: true,
		Params: provider.Params{Effort: provider.EffortHigh, MaxTokens: 9},
	})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"message":"words","conversation_id":3,"fork":true,"context":{"page":"p"},"model":"m/x","agent":"a","system":"s","tools":[],"docs":[],"agent_mode":true,"text_alone":true,"ephemeral":true,"allow":["*","*:*","x"],"approvals":"edits","plan":true,"keep_mode":true,"keep_plan":true,"confirm":true,"forms":true,"reviews":true,"effort":"high","max_tokens":9,"schema":{},"files":[{"name":"n","text":"file"}],"images":[{"name":"i","mime":"image/png","data":"AQI="}]}`
	if string(raw) != want {
		t.Errorf("it sends\n%s, want\n%s", raw, want)
	}
	for name, req := range map[string]engine.TurnRequest{
		"a folder": {Workspace: "/x"}, "again": {Chat: store.ChatRef{Last: true, At: -1}}, "a call": {Calls: []engine.DirectCall{{}}},
		"an upload": {Uploads: []engine.Upload{{}}}, "a history": {History: []provider.Message{{}}},
		"a tool of the client's": {ClientTools: []engine.ClientTool{{}}}, "a server of the session's": {MCP: []catalog.MCPServer{{}}},
	} {
		if _, err := bodyOf(req); fault.CodeOf(err) != fault.Usage {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A server that isn't fettle, or means no good, gets no further than an error.
func TestStrangeServers(t *testing.T) {
	t.Parallel()
	var asked []string
	answers := map[string]http.HandlerFunc{
		"elsewhere": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
		},
		"a page":            func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") },
		"an id with a path": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"turn_id":"../../x"}`) },
		"nothing":           func(w http.ResponseWriter, _ *http.Request) {},
		"escapes":           refusing(400, "usage", "a\x1b[2Jb"),
		"a code of its own": refusing(418, "teapot", "short and stout"),
		"half of an answer": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "99")
			_, _ = io.WriteString(w, "{")
		},
		"something too long": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.Copy(w, io.LimitReader(endless{}, maxAnswer+1))
		},
	}
	for name, answer := range answers {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked = append(asked, r.URL.Path)
			_, _ = io.Copy(io.Discard, r.Body)
			answer(w, r)
		}))
		c := NewRemote(s.URL, "secret-token")
		_, err := c.Start(t.Context(), engine.TurnRequest{Parts: []provider.Part{{Kind: provider.TextPart, Text: "hi"}}})
		var f *fault.Fault
		if !errors.As(err, &f) || strings.ContainsAny(f.Msg, "\x1b\n") || strings.Contains(f.Msg, "secret-token") {
			t.Errorf("%s: %v", name, err)
		}
		c.Close()
		s.Close()
	}
	for _, path := range asked {
		if path != "/api/turns" {
			t.Errorf("it was asked for %s", path)
		}
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func refusing(status int, code, message string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		raw, err := json.Marshal(map[string]any{"error": map[string]any{"code": code, "message": message}})
		if err == nil {
			_, _ = w.Write(raw)
		}
	}
}

// A stream that is taken up again begins behind the last event.
func TestFollowTakesUpBehindTheLastEvent(t *testing.T) {
	t.Parallel()
	frame := func(seq, kind string) string {
		return "id: " + seq + "\ndata: {\"type\":\"" + kind + "\",\"turn_id\":\"t\",\"seq\":" + seq + ",\"time\":\"2026-01-02T03:04:05Z\",\"text\":\"x\"}\n\n"
	}
	var opened []event.Seq
	streams := []string{frame("1", "text_delta") + frame("2", "text_delta") + "data: half", frame("2", "text_delta") + "data: {\"type\":\"approval\"}\n\n" + frame("3", "cancelled")}
	from := source{most: time.Minute, open: func(_ context.Context, after event.Seq) (*http.Response, error) {
		opened = append(opened, after)
		body := streams[len(opened)-1]
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(body))}, nil
	}}
	var got []event.Seq
	for e, err := range follow(t.Context(), 0, from) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e.Seq)
	}
	if !reflect.DeepEqual(got, []event.Seq{1, 2, 3}) || !reflect.DeepEqual(opened, []event.Seq{0, 2}) {
		t.Errorf("events %v, opened after %v", got, opened)
	}
}

// Whatever a server streams, what is yielded is in order and has an end.
func FuzzFollow(f *testing.F) {
	f.Add([]byte("id: 1\ndata: {\"type\":\"text_delta\",\"seq\":1,\"turn_id\":\"t\",\"time\":\"2026-01-02T03:04:05Z\",\"text\":\"x\"}\n\n"))
	f.Add([]byte("event: more\nid: 9\ndata: {\"type\":\"complete\",\"seq\":9}\n\nid: 3\ndata: {\"type\":\"x\",\"seq\":3}\n\n"))
	f.Add([]byte(":\n\ndata: []\nid: x\n\n"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		from := source{open: func(context.Context, event.Seq) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(bytes.NewReader(stream))}, nil
		}}
		last, ended := event.Seq(0), false
		for e, err := range follow(t.Context(), 0, from) {
			if ended {
				t.Fatal("something comes behind the end")
			}
			if err != nil {
				ended = true
				continue
			}
			if e.Seq <= last {
				t.Fatalf("event %d comes behind %d", e.Seq, last)
			}
			last, ended = e.Seq, e.Ends()
		}
	})
}

func FuzzSplitURL(f *testing.F) {
	f.Add("http://127.0.0.1:8765/#token=abc")
	f.Add("https://example.com/x#token=%0a")
	f.Fuzz(func(t *testing.T, given string) {
		server, _, err := SplitURL(given)
		if err != nil {
			return
		}
		if again, _, err := SplitURL(server); err != nil || again != server {
			t.Errorf("%q is %q, which is %q, %v", given, server, again, err)
		}
	})
}
