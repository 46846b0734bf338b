package python_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/python"
)

// tally is a service: an http.server in a thread, that counts the calls it got.
const tally = `
import http.server, os, threading

calls = []
server = None

class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(("calls: " + ", ".join(calls)).encode())

    def log_message(self, *args):
        pass

def run(workspace, word, do=""):
    global server
    if do == "fail":
        raise ValueError("no such word")
    if do == "die":
        os._exit(3)
    calls.append(word)
    if do == "hang":
        (workspace / "hangs").touch()
        threading.Event().wait()
    if server is None:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
        threading.Thread(target=server.serve_forever, daemon=True).start()
    (workspace / "calls.txt").write_text("\n".join(calls))
    return {"port": server.server_port, "calls": len(calls)}
`

func service(t *testing.T, least toolset.Level) python.Spec {
	s := source(t, tally)
	s.Service, s.ToolID, s.Revision = true, "testing:count", "r1"
	s.Policy.Least, s.Policy.Most = least, least
	return s
}

func callNamed(ws *toolset.Workspace, id, chat, args string) toolset.Call {
	return toolset.Call{ID: id, ChatID: chat, Args: json.RawMessage(args), Workspace: ws}
}

// page reads the page of the service that served a call.
func page(t *testing.T, w *world, callID string) string {
	t.Helper()
	s, ok := w.ServiceOf(callID)
	if !ok || s.Ended != nil {
		t.Fatalf("no service runs for %s: %+v", callID, s)
	}
	conn, err := w.DialService(t.Context(), s.ID, s.Port(callID))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "GET / HTTP/1.0\r\n\r\n")
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// full skips where a service can't have a network of its own.
func full(t *testing.T, w *world) {
	t.Helper()
	r, err := w.launcher.Report(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	need(t, r.Level == toolset.LevelFull, "user namespaces for a sandbox at full")
}

func ofChat(id string) func(toolset.Service) bool {
	return func(s toolset.Service) bool { return s.ChatID == id }
}

func TestAServiceLivesOnAndServesTheNextCall(t *testing.T) {
	t.Parallel()
	for _, level := range []toolset.Level{toolset.LevelFull, toolset.LevelNone} {
		t.Run(level.String(), func(t *testing.T) {
			t.Parallel()
			w, ws := newWorld(t, python.Options{}), workspace(t)
			if level == toolset.LevelFull {
				full(t, w)
			}
			s := service(t, level)
			first := mustRun(t, w, s, callNamed(ws, "c1", "a", `{"word": "one"}`))
			if got := page(t, w, "c1"); got != "calls: one" {
				t.Errorf("its page says %q", got)
			}
			if own := strings.Contains(first.Text, "no network of its own"); own != (level == toolset.LevelNone) {
				t.Errorf("at %s its text is %q", level, first.Text)
			}
			mustRun(t, w, s, callNamed(ws, "c2", "a", `{"word": "two"}`))
			mustRun(t, w, s, callNamed(ws, "c3", "b", `{"word": "other"}`))
			if a, b := page(t, w, "c1"), page(t, w, "c3"); a != "calls: one, two" || b != "calls: other" {
				t.Errorf("the pages say %q and %q", a, b)
			}
			all := w.Services()
			if len(all) != 2 || all[0].ToolID != "testing:count" || len(all[0].Calls) != 2 || all[0].Own != (level == toolset.LevelFull) {
				t.Errorf("the services are %+v", all)
			}
			if _, err := w.DialService(t.Context(), all[0].ID, all[0].Ports[0]+1); !errors.Is(err, python.ErrNoService) {
				t.Errorf("a port that no result named: %v", err)
			}
			w.EndServices("the chat was deleted", ofChat("a"))
			if s, _ := w.ServiceOf("c1"); s.Ended == nil || s.Ended.Why != "the chat was deleted" {
				t.Errorf("the service ended as %+v", s.Ended)
			}
			if _, err := w.DialService(t.Context(), all[0].ID, all[0].Ports[0]); !errors.Is(err, python.ErrNoService) {
				t.Errorf("a service that ended: %v", err)
			}
			again := mustRun(t, w, s, callNamed(ws, "c4", "a", `{"word": "anew"}`))
			if !strings.Contains(again.Text, "had ended (the chat was deleted) and was started again") {
				t.Errorf("it doesn't say that it was started again: %q", again.Text)
			}
			if got := page(t, w, "c4"); got != "calls: anew" {
				t.Errorf("its page says %q", got)
			}
		})
	}
}

func TestWhatBecomesOfAServiceWhoseCallFails(t *testing.T) {
	t.Parallel()
	w, ws := newWorld(t, python.Options{}), workspace(t)
	s := service(t, toolset.LevelNone)
	if wrong := mustFail(t, w, s, callNamed(ws, "c0", "a", `{"word": "x", "do": "fail"}`)); !strings.Contains(wrong.Message, "no such word") {
		t.Errorf("it failed of %q", wrong.Message)
	}
	if all := w.Services(); len(all) != 0 {
		t.Errorf("a first call that failed left %+v", all)
	}
	mustRun(t, w, s, callNamed(ws, "c1", "a", `{"word": "one"}`))
	mustFail(t, w, s, callNamed(ws, "c2", "a", `{"word": "x", "do": "fail"}`))
	if got := page(t, w, "c1"); got != "calls: one" {
		t.Errorf("after a later failure its page says %q", got)
	}
	if wrong := mustFail(t, w, s, callNamed(ws, "c3", "a", `{"word": "x", "do": "die"}`)); !strings.Contains(wrong.Message, "exit status 3") {
		t.Errorf("it failed of %q", wrong.Message)
	}
	if got, ok := w.ServiceOf("c1"); !ok || got.Ended == nil {
		t.Errorf("the process is gone, and the service %+v", got)
	}
	s.Policy.Limits.Time = 300 * time.Millisecond
	if wrong := mustFail(t, w, s, callNamed(ws, "c4", "a", `{"word": "x", "do": "hang"}`)); !strings.Contains(wrong.Message, "took longer than 300ms") {
		t.Errorf("it failed of %q", wrong.Message)
	}
	if all := w.Services(); len(all) != 0 {
		t.Errorf("a call that was cut off left %+v", all)
	}
}

func TestACancelledCallEndsItsService(t *testing.T) {
	t.Parallel()
	w, ws := newWorld(t, python.Options{}), workspace(t)
	s := service(t, toolset.LevelNone)
	mustRun(t, w, s, callNamed(ws, "c1", "a", `{"word": "one"}`))
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for ctx.Err() == nil {
			if _, err := ws.Root.Stat("hangs"); err == nil {
				cancel()
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	if _, err := w.Runner(s).Run(ctx, callNamed(ws, "c2", "a", `{"word": "x", "do": "hang"}`)); !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
	if got, ok := w.ServiceOf("c1"); !ok || got.Ended == nil || got.Ended.Why != "a call of it was cancelled" {
		t.Errorf("the service is %+v", got)
	}
}

func TestACallOfAChangedToolStartsAnew(t *testing.T) {
	t.Parallel()
	w, ws := newWorld(t, python.Options{}), workspace(t)
	s := service(t, toolset.LevelNone)
	kept := make(chan string, 4)
	s.Keep = func() func() { kept <- "kept"; return func() { kept <- "let go" } }
	mustRun(t, w, s, callNamed(ws, "c1", "a", `{"word": "one"}`))
	s.Policy.Env = []string{"COLOUR=blue"}
	res := mustRun(t, w, s, callNamed(ws, "c2", "a", `{"word": "two"}`))
	if !strings.Contains(res.Text, "is another one now") {
		t.Errorf("it says %q", res.Text)
	}
	if got := page(t, w, "c2"); got != "calls: two" {
		t.Errorf("its page says %q", got)
	}
	for _, want := range []string{"kept", "let go", "kept"} {
		if got := <-kept; got != want {
			t.Errorf("its files were %s, want %s", got, want)
		}
	}
}

func TestServicesAreBounded(t *testing.T) {
	t.Parallel()
	w, ws := newWorld(t, python.Options{}), workspace(t)
	s := service(t, toolset.LevelNone)
	start := func(n int, chat string) error {
		s.ToolID = fmt.Sprintf("testing:count%d", n)
		_, err := w.Runner(s).Run(t.Context(), callNamed(ws, fmt.Sprintf("c%d", n), chat, `{"word": "x"}`))
		return err
	}
	var open []net.Conn
	look := func(n int) {
		at, _ := w.ServiceOf(fmt.Sprintf("c%d", n))
		conn, err := w.DialService(t.Context(), at.ID, at.Ports[0])
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, conn)
	}
	for n := range python.MaxChatServices {
		if err := start(n, "a"); err != nil {
			t.Fatal(err)
		}
	}
	look(0) // somebody looks at the oldest, so the next gives way
	if err := start(10, "a"); err != nil {
		t.Fatal(err)
	}
	if got, _ := w.ServiceOf("c1"); got.Ended == nil || !strings.Contains(got.Ended.Why, "made room") {
		t.Errorf("the second is %+v", got)
	}
	for _, n := range []int{2, 3, 10} {
		look(n)
	}
	if err := start(11, "a"); err == nil || !strings.Contains(err.Error(), "as many as may") {
		t.Errorf("one more, where all are in use: %v", err)
	}
	if err := start(12, "b"); err != nil {
		t.Errorf("another chat's: %v", err)
	}
	for _, conn := range open {
		conn.Close()
		conn.Close() // twice is once
	}
	if err := start(13, "a"); err != nil {
		t.Errorf("nobody looks any more: %v", err)
	}
}

func TestAnIdleServiceEnds(t *testing.T) {
	t.Parallel()
	ended := make(chan toolset.Service, 1)
	w := newWorld(t, python.Options{ServiceIdle: 200 * time.Millisecond, ServiceEnded: func(s toolset.Service) { ended <- s }})
	mustRun(t, w, service(t, toolset.LevelNone), callNamed(workspace(t), "c1", "a", `{"word": "one"}`))
	if got := <-ended; got.Ended.Why != "nobody used it for 200ms" {
		t.Errorf("it ended since %s", got.Ended.Why)
	}
}

func TestHeldServicesGoOn(t *testing.T) {
	t.Parallel()
	w, ws := newWorld(t, python.Options{}), workspace(t)
	mustRun(t, w, service(t, toolset.LevelNone), callNamed(ws, "c1", "a", `{"word": "one"}`))
	release := w.HoldServices(t.Context(), ofChat("a"))
	release()
	release()
	if got := page(t, w, "c1"); got != "calls: one" {
		t.Errorf("its page says %q", got)
	}
}
