package mcp_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/mcp"
)

// httpServer is a legacy server over streamable HTTP whose answers a test decides.
type httpServer struct {
	*httptest.Server
	mu       sync.Mutex
	sessions int    // how many began
	current  string // the session that is known
	calls    int
	forget   bool // the session before the next call
	gone     func(w http.ResponseWriter, id json.RawMessage)
	version  string
	result   string // of a call
	events   bool   // answers come as server-sent events
	refuse   int    // the status of each POST, for a server of the older transport
	streams  chan string
}

func newHTTPServer(t *testing.T) *httpServer {
	t.Helper()
	s := &httpServer{version: "2025-06-18", result: `{"content":[{"type":"text","text":"done"}]}`, streams: make(chan string, 16)}
	s.gone = func(w http.ResponseWriter, _ json.RawMessage) { http.Error(w, "no such session", http.StatusNotFound) }
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

type wireMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
}

func (s *httpServer) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && s.refuse != 0 && !strings.HasSuffix(r.URL.Path, "/messages") {
		s.stream(w, r)
		return
	}
	var m wireMessage
	body, _ := io.ReadAll(r.Body)
	if r.Method != http.MethodPost || json.Unmarshal(body, &m) != nil {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refuse != 0 {
		if !strings.HasSuffix(r.URL.Path, "/messages") {
			http.Error(w, "no", s.refuse)
			return
		}
		if len(m.ID) > 0 {
			s.streams <- s.answer(m)
		}
		w.WriteHeader(http.StatusAccepted)
		return
	}
	switch {
	case m.Method == "server/discover":
	case m.Method == "initialize":
		s.sessions++
		s.current = fmt.Sprintf("s%d", s.sessions)
		w.Header().Set("Mcp-Session-Id", s.current)
	case m.Method == "tools/call" && s.forget:
		s.forget, s.current = false, ""
		fallthrough
	case r.Header.Get("Mcp-Session-Id") != s.current:
		s.gone(w, m.ID)
		return
	}
	if len(m.ID) == 0 {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if s.events {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "\ufeff: hello\n\nevent: message\ndata: {broken\n\nid: 7\nevent: message\n")
		for line := range strings.Lines(strings.ReplaceAll(s.answer(m), `,"id"`, ",\n"+`"id"`)) {
			fmt.Fprintf(w, "data: %s\n", strings.TrimSuffix(line, "\n"))
		}
		fmt.Fprint(w, "\n")
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	fmt.Fprint(w, "\ufeff"+s.answer(m))
}

func (s *httpServer) answer(m wireMessage) string {
	result := ""
	switch m.Method {
	case "initialize":
		result = `{"protocolVersion":"` + s.version + `","capabilities":{"tools":{}},"serverInfo":{"name":"http","version":"1"}}`
	case "tools/list":
		result = `{"tools":[{"name":"t","inputSchema":{"type":"object"}},{"name":"bad","inputSchema":{"type":"object"},"annotations":"none"}]}`
	case "tools/call":
		s.calls++
		result = s.result
	default:
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, m.ID)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

// stream is the stream of the older transport.
func (s *httpServer) stream(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, "event: endpoint\ndata: /messages\n\n")
	for {
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
			return
		case text := <-s.streams:
			fmt.Fprintf(w, "event: message\ndata: %s\n\n", text)
		}
	}
}

func (s *httpServer) as() mcp.Server { return mcp.Server{ID: "far", URL: s.URL + "/mcp", Own: true} }

// TestALostSessionBeginsAgain makes a server lose its sessions and report that in the
// usual ways: the call is made once, in a new session, without a pause.
func TestALostSessionBeginsAgain(t *testing.T) {
	t.Parallel()
	text := func(status int, body string) func(http.ResponseWriter, json.RawMessage) {
		return func(w http.ResponseWriter, id json.RawMessage) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			fmt.Fprintf(w, body, id)
		}
	}
	for name, gone := range map[string]func(http.ResponseWriter, json.RawMessage){
		"404":                 nil,
		"404 with an error":   text(404, `{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":%s}`),
		"404 without an id":   text(404, `{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}%.0s`),
		"400 about a session": text(400, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}%.0s`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newHTTPServer(t)
			if gone != nil {
				s.gone = gone
			}
			w := newWorld(t, mcp.Options{})
			for i := range 3 {
				s.mu.Lock()
				s.forget = i > 0
				s.mu.Unlock()
				if res, err := w.call(t, s.as(), "t", `{}`); err != nil || res.Text != "done" {
					t.Fatalf("call %d: %q, %v", i+1, res.Text, err)
				}
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.sessions != 3 || s.calls != 3 {
				t.Errorf("%d sessions, %d calls", s.sessions, s.calls)
			}
		})
	}
}

// TestASessionThatIsAlwaysLostIsRepeatedOnce bounds what a call costs at a server that
// refuses each session.
func TestASessionThatIsAlwaysLostIsRepeatedOnce(t *testing.T) {
	t.Parallel()
	s := newHTTPServer(t)
	refused := 0
	s.gone = func(w http.ResponseWriter, _ json.RawMessage) {
		refused++
		s.forget = true // s.mu is held
		http.Error(w, "gone", http.StatusNotFound)
	}
	s.forget = true
	w := newWorld(t, mcp.Options{})
	_, err := w.call(t, s.as(), "t", `{}`)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil || s.calls != 0 || refused != 2 {
		t.Errorf("%d calls, %d refused: %v", s.calls, refused, err)
	}
}

// TestAServerOfTheOlderTransport reaches a server that does not support streamable
// HTTP.
func TestAServerOfTheOlderTransport(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusMethodNotAllowed, http.StatusNotFound, http.StatusBadRequest} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			t.Parallel()
			s := newHTTPServer(t)
			s.refuse = status
			w := newWorld(t, mcp.Options{})
			if res, err := w.call(t, s.as(), "t", `{}`); err != nil || res.Text != "done" {
				t.Errorf("%q, %v", res.Text, err)
			}
		})
	}
	t.Run("neither", func(t *testing.T) {
		t.Parallel()
		s := httptest.NewServer(http.NotFoundHandler())
		defer s.Close()
		w := newWorld(t, mcp.Options{})
		_, err := w.call(t, mcp.Server{ID: "far", URL: s.URL, Own: true}, "t", `{}`)
		if err == nil || !strings.Contains(err.Error(), "it refused streamable HTTP (404 Not Found), and the older HTTP+SSE transport failed") {
			t.Error(err)
		}
	})
}

// TestAPartThatCannotBeReadLeavesTheRest has results with parts that are not as the
// protocol has them, as JSON and as events, with byte order marks and broken events.
func TestAPartThatCannotBeReadLeavesTheRest(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ result, want string }{
		"unknown type":         {`{"content":[{"type":"text","text":"a"},{"type":"hologram"},{"type":"text","text":"z"}]}`, "a\n\n[part 2 of content cannot be read: its type hologram is not known]\n\nz"},
		"broken base64":        {`{"content":[{"type":"image","mimeType":"image/png","data":"§§"},{"type":"text","text":"z"}]}`, "[part 1 of content cannot be read: illegal base64 data at input byte 0]\n\nz"},
		"missing field":        {`{"content":[{"type":"image","mimeType":"image/png"},{"type":"resource"},{"text":"x"},null,5,{"type":"text","text":"z"}]}`, "z"},
		"number for a text":    {`{"content":[{"type":"text","text":5},{"type":"text","text":"z"}]}`, "z"},
		"one part, no list":    {`{"content":{"type":"text","text":"z"}}`, "z"},
		"structured alone":     {`{"content":[],"structuredContent":{"n":5}}`, `{"n":5}`},
		"structured and image": {`{"content":[{"type":"image","mimeType":"image/png","data":"AAAA"}],"structuredContent":{"n":5}}`, `{"n":5}`},
		"an error, structured": {`{"isError":true,"structuredContent":{"why":"locked"}}`, `locked`},
	} {
		for _, events := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, events %v", name, events), func(t *testing.T) {
				t.Parallel()
				s := newHTTPServer(t)
				s.result, s.events = c.result, events
				w := newWorld(t, mcp.Options{})
				res, err := w.call(t, s.as(), "t", `{}`)
				if text := fmt.Sprint(res.Text, err); !strings.Contains(text, c.want) {
					t.Errorf("%s, want %s", text, c.want)
				}
			})
		}
	}
}

// The parts of a result that a model may take reach it: images and sounds as media, text
// that comes as bytes as text, and structured content that no text repeats.
func TestContentReachesTheModel(t *testing.T) {
	t.Parallel()
	png := base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\nrest"))
	wav := base64.StdEncoding.EncodeToString([]byte("RIFF\x10\x00\x00\x00WAVEfmt "))
	for name, c := range map[string]struct{ result, text, media string }{
		"image":                      {`{"content":[{"type":"text","text":"a chart"},{"type":"image","mimeType":"image/png","data":"` + png + `"}]}`, "a chart\n\n[image, image/png, 12 bytes]", "image/png"},
		"image of a wrong type":      {`{"content":[{"type":"image","mimeType":"image/jpeg","data":"` + png + `"}]}`, "[image, image/jpeg, 12 bytes]", "image/png"},
		"sound":                      {`{"content":[{"type":"audio","mimeType":"audio/wav","data":"` + wav + `"}]}`, "[audio, audio/wav, 16 bytes]", "audio/wav"},
		"resource that is an image":  {`{"content":[{"type":"resource","resource":{"uri":"mem://a","mimeType":"image/png","blob":"` + png + `"}}]}`, "[image, image/png, 12 bytes]", "image/png"},
		"resource that is text":      {`{"content":[{"type":"resource","resource":{"uri":"mem://a","mimeType":"text/csv","blob":"YSxi"}}]}`, "[resource mem://a]\na,b", ""},
		"resource of another kind":   {`{"content":[{"type":"resource","resource":{"uri":"mem://a","mimeType":"application/pdf","blob":"YSxi"}}]}`, "[resource, application/pdf, 3 bytes: not for the model, but shown where it can be]", ""},
		"structured beside a text":   {`{"content":[{"type":"text","text":"two rows"}],"structuredContent":{"rows":[1,2]}}`, "two rows\n\n{\"rows\":[1,2]}", ""},
		"structured, and in a text":  {`{"content":[{"type":"text","text":"{ \"rows\": [1, 2] }"}],"structuredContent":{"rows":[1,2]}}`, "{ \"rows\": [1, 2] }", ""},
		"structured beside an image": {`{"content":[{"type":"image","mimeType":"image/png","data":"` + png + `"}],"structuredContent":{"n":5}}`, "[image, image/png, 12 bytes]\n\n{\"n\":5}", "image/png"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newHTTPServer(t)
			s.result = c.result
			w := newWorld(t, mcp.Options{})
			res, err := w.call(t, s.as(), "t", `{}`)
			media := ""
			for _, m := range res.Media {
				media += m.MIME
			}
			if err != nil || res.Text != c.text || media != c.media {
				t.Errorf("the text is %q and the media %q, %v; want %q and %q", res.Text, media, err, c.text, c.media)
			}
		})
	}
}

// TestAServerOfAnotherRevision names the revisions of both sides.
func TestAServerOfAnotherRevision(t *testing.T) {
	t.Parallel()
	s := newHTTPServer(t)
	s.version = "2031-01-01"
	w := newWorld(t, mcp.Options{})
	_, err := w.call(t, s.as(), "t", `{}`)
	if err == nil || !strings.Contains(err.Error(), "it speaks MCP 2031-01-01, and fettle speaks the revisions 2026-07-28") || !strings.Contains(err.Error(), "update fettle") {
		t.Error(err)
	}
	_, err = w.Look(t.Context(), pythonServer(t, realPython(t), "future.py"), nil)
	var version *mcp.VersionError
	if !errors.As(err, &version) || version.Theirs != "2032-02-02" {
		t.Errorf("over its streams: %v", err)
	}
}

// TestMuchThatIsNotAMessageCostsNothing has a server write more lines of a log than it
// may, and a byte order mark before its first message.
func TestMuchThatIsNotAMessageCostsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mcp.Options{})
	if _, err := w.call(t, server(t, "chatty"), "echo", `{}`); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(w.said(), "fix: no message"); n == 0 || n > 200 {
		t.Errorf("%d lines are logged", n)
	}
}

// TestAServerThatMayNotBeUsedAnyMoreEnds has another process disable a server.
func TestAServerThatMayNotBeUsedAnyMoreEnds(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var unusable []string
	w := newWorld(t, mcp.Options{Unusable: func([]string) []string {
		mu.Lock()
		defer mu.Unlock()
		return unusable
	}})
	if _, err := w.call(t, server(t, "normal"), "echo", `{}`); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	unusable = []string{"fix"}
	mu.Unlock()
	await(t, func() bool { return len(w.Running()) == 0 })
}

// TestAHundredCallsOfServersInPython makes 100 calls of each server with its tools pinned,
// over several starts: none of them changes a tool that a model reads.
func TestAHundredCallsOfServersInPython(t *testing.T) {
	t.Parallel()
	python := realPython(t)
	for _, name := range []string{"modern.py", "old.py"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hundred(t, pythonServer(t, python, name), func(i int) (tool, args, want string) {
				return "echo", fmt.Sprintf(`{"text":"n%d"}`, i), fmt.Sprintf("echo n%d", i)
			})
		})
	}
	w := newWorld(t, mcp.Options{})
	res, err := w.call(t, pythonServer(t, python, "old.py"), "broken", `{}`)
	if err != nil || !strings.HasPrefix(res.Text, "before\n\n[part 2 of content cannot be read: ") || !strings.HasSuffix(res.Text, "after") {
		t.Errorf("%q, %v", res.Text, err)
	}
}

// hundred pins the tools of a server as it is added, and calls it as a chat does: with a
// folder and with a user who can be asked.
func hundred(t *testing.T, s mcp.Server, call func(int) (tool, args, want string)) {
	t.Helper()
	added := newWorld(t, mcp.Options{})
	report, err := added.Look(t.Context(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Pinned = report.Tools
	w := newWorld(t, mcp.Options{})
	ws := managed(t)
	for i := range 100 {
		if i%25 == 24 {
			w.Forget(s.ID)
		}
		tool, args, want := call(i)
		res, err := w.Runner(s, toolset.Tool{ID: s.ID + ":" + tool}).Run(t.Context(), toolset.Call{Args: json.RawMessage(args), Workspace: ws})
		if err != nil || !strings.Contains(res.Text, want) {
			t.Fatalf("call %d: %.200q, %v", i+1, res.Text, err)
		}
	}
	again, err := w.Look(t.Context(), s, ws)
	if err != nil {
		t.Fatal(err)
	}
	if len(again.Tools) != len(report.Tools) {
		t.Errorf("%d tools with a folder, %d without", len(again.Tools), len(report.Tools))
	}
	if told := w.told(); len(told) > 0 {
		t.Errorf("told of a change: %q", told)
	}
}
