package serve_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/commands/commandtest"
	"github.com/fettle-cli/fettle/internal/needtest"
)

// pad is a service that writes what it is sent into the workspace, between calls.
const pad = `
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

server, words, folder = None, [], None

class Page(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(", ".join(words).encode())

    def do_POST(self):
        text = self.rfile.read(int(self.headers["Content-Length"]))
        (folder / "posted.txt").write_bytes(text)
        self.do_GET()

    def log_message(self, *args):
        pass

def run(workspace, word):
    global server, folder
    folder = workspace
    words.append(word)
    (workspace / "words.txt").write_text("\n".join(words))
    if server is None:
        server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
        threading.Thread(target=server.serve_forever, daemon=True).start()
    return {"port": server.server_port}
`

const padScript = `
responses:
  - {when: "^one", step: 0, calls: [{name: run, args: {word: one}}]}
  - {when: "^two", step: 0, calls: [{name: run, args: {word: two}}]}
  - {when: "", text: It is written.}
`

// padWorld has the toolset of pad installed, on a machine that can contain it.
func padWorld(t *testing.T) *world {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("a service has a network of its own on Linux alone")
	}
	needtest.Program(t, "python3")
	w := newWorld(t, padScript)
	commandtest.Put(t, filepath.Join(w.Dir, "pad", "tools", "pad.py"), pad)
	commandtest.Put(t, filepath.Join(w.Dir, "pad", "toolset.yaml"), `{manifest_version: "1", id: pad, name: Pad, version: 1.0.0, description: A pad.,
tools: [{id: run, name: Run, description: Writes., entrypoint: "tools.pad:run", service: true, renderer: {type: frame, url: "http://localhost:$return.port/"},
  input_schema: {type: object, properties: {word: {type: string}}, required: [word]}}]}`)
	w.Run(0, "toolset", "import", "pad", "--yes")
	return w
}

// send sends a request of the API.
func (s *serving) send(method, path, body string, into any) int {
	s.w.T.Helper()
	r, err := http.NewRequest(method, s.url+"/t/"+s.token+path, strings.NewReader(body))
	if err != nil {
		s.w.T.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	status, said := s.heard(s.client.Do(r))
	if into != nil && json.Unmarshal([]byte(said), into) != nil {
		s.w.T.Fatalf("%s %s: %d %s", method, path, status, said)
	}
	return status
}

// runningServices is what list_services tells.
type runningServices struct {
	Services []struct {
		ChatID string `json:"chat_id"`
		ToolID string `json:"tool_id"`
		Own    bool   `json:"own_network"`
		Calls  []struct {
			CallID string `json:"call_id"`
		} `json:"calls"`
	} `json:"services"`
}

func (s *serving) services() runningServices {
	s.w.T.Helper()
	var out runningServices
	s.send("GET", "/api/services", "", &out)
	return out
}

// at asks a service's own page.
func (s *serving) at(callID, method, body string) string {
	s.w.T.Helper()
	var shown struct{ URL, Problem string }
	s.send("POST", "/api/tool-calls/"+callID+"/artifact", "", &shown)
	u, err := url.Parse(shown.URL)
	if err != nil || u.Host == "" {
		s.w.T.Fatalf("call %s has no address: %+v", callID, shown)
	}
	r, err := http.NewRequest(method, "http://127.0.0.1:"+u.Port()+u.Path, strings.NewReader(body))
	if err != nil {
		s.w.T.Fatal(err)
	}
	r.Host = u.Host
	_, said := s.heard(s.client.Do(r))
	return said
}

// gone waits until no process of the world's tools is left.
func (w *world) gone() {
	w.T.Helper()
	end := time.Now().Add(time.Minute)
	for left := commandtest.Marked(w.T, w.Dir); len(left) > 0; left = commandtest.Marked(w.T, w.Dir) {
		if time.Now().After(end) {
			w.T.Fatalf("processes are left:\n%s", strings.Join(left, "\n"))
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// A person asks for a pad, writes on its page, asks again, takes all back, and deletes
// the chat.
func TestAServiceOfAChat(t *testing.T) {
	t.Parallel()
	w := padWorld(t)
	s := w.serve("--log", "off")
	if got := s.ask(`{"message":"one"}`); !strings.Contains(got, "It is written.") {
		t.Fatalf("the turn gave %s\n%s", got, s.errs)
	}
	all := s.services()
	if len(all.Services) == 1 && !all.Services[0].Own || len(all.Services) == 0 && strings.Contains(s.errs.String(), "contain") {
		needtest.Lacking(t, "user namespaces for a sandbox at full")
	}
	if len(all.Services) != 1 || all.Services[0].ToolID != "pad:run" {
		t.Fatalf("the services are %+v", all)
	}
	chat, call := all.Services[0].ChatID, all.Services[0].Calls[0].CallID
	if got := s.at(call, "GET", ""); got != "one" {
		t.Errorf("its page says %q", got)
	}
	s.at(call, "POST", "from the page")
	s.ask(`{"message":"two","chat_id":"` + chat + `"}`)
	if got := s.at(call, "GET", ""); got != "one, two" {
		t.Errorf("after the second call its page says %q", got)
	}
	var states struct {
		States []struct{ Source string }
	}
	s.send("GET", "/api/chats/"+chat+"/workspace/states", "", &states)
	var sources []string
	for _, state := range states.States {
		sources = append(sources, state.Source)
	}
	if got := strings.Join(sources, " "); !strings.HasPrefix(got, "tool_run external tool_run") {
		t.Errorf("the states are of %s", got)
	}
	if status := s.send("POST", "/api/chats/"+chat+"/workspace/undo", "{}", nil); status != http.StatusOK {
		t.Errorf("undo: %d", status)
	}
	var state struct{ State, Why string }
	s.send("GET", "/api/tool-calls/"+call+"/service", "", &state)
	if state.State != "ended" || state.Why != "files of its workspace were brought back" {
		t.Errorf("after undo the service is %+v", state)
	}
	w.gone()
	s.ask(`{"message":"two","chat_id":"` + chat + `"}`)
	if got := len(s.services().Services); got != 1 {
		t.Errorf("%d services run after it was called again", got)
	}
	s.send("DELETE", "/api/chats/"+chat, "", nil)
	if got := len(s.services().Services); got != 0 {
		t.Errorf("%d services of a deleted chat run", got)
	}
	w.gone()
}

// However the process ends that runs a service, nothing of that is left.
func TestNoServiceOutlivesItsFettle(t *testing.T) {
	t.Parallel()
	w := padWorld(t)
	if _, errs := w.Run(0, "ask", "--no-stdin", "one"); !strings.Contains(errs, "the service of pad:run ends with this command") {
		t.Errorf("ask says %q", errs)
	}
	w.gone()
	s := w.serve("--log", "off")
	s.ask(`{"message":"one"}`)
	if got := len(s.services().Services); got != 1 {
		t.Fatalf("%d services run", got)
	}
	if _, errs := w.Run(0, "ask", "--no-stdin", "two"); !strings.Contains(errs, "pad:run runs in fettle serve, at http://s-") {
		t.Errorf("ask through the server says %q", errs)
	}
	out, _ := w.Run(0, "tool", "services")
	if lines := strings.Split(strings.TrimSpace(out), "\n"); len(lines) != 2 || !strings.HasPrefix(lines[0], "pad:run\t") {
		t.Errorf("tool services prints %q", out)
	}
	if _, errs := w.Run(0, "tool", "stop", "pad:run", "--chat", "99"); !strings.Contains(errs, "no service of pad:run runs") {
		t.Errorf("of a chat without one tool stop says %q", errs)
	}
	if out, _ = w.Run(0, "tool", "stop", "pad:run", "--chat", "3", "-o", "json"); !strings.Contains(out, `"chat": 3`) || len(s.services().Services) != 1 {
		t.Errorf("tool stop --chat prints %s, and %d services run", out, len(s.services().Services))
	}
	w.Run(0, "toolset", "disable", "pad") // another process: the server looks for that
	for end := time.Now().Add(time.Minute); len(s.services().Services) > 0; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the services of a toolset that is switched off run on")
		}
	}
	w.Run(0, "toolset", "enable", "pad")
	s.ask(`{"message":"one"}`)
	if len(s.services().Services) != 1 || len(commandtest.Marked(t, w.Dir)) == 0 {
		t.Fatal("nothing runs that could be left")
	}
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait() // its status is the signal's
	w.gone()
}
