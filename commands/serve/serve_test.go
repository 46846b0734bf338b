package serve_test

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// serving is a running `fettle serve`.
type serving struct {
	w      *world
	cmd    *exec.Cmd
	out    *bufio.Reader
	errs   *bytes.Buffer
	url    string
	token  string
	client *http.Client
}

func (w *world) serve(args ...string) *serving {
	w.T.Helper()
	s := &serving{w: w, errs: new(bytes.Buffer), client: &http.Client{Transport: &http.Transport{}}}
	s.cmd = w.Command(append([]string{"serve", "--print-url", "--listen", "127.0.0.1:0"}, args...)...)
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		w.T.Fatal(err)
	}
	s.cmd.Stderr = s.errs
	if err := s.cmd.Start(); err != nil {
		w.T.Fatal(err)
	}
	w.T.Cleanup(func() { _ = s.cmd.Process.Kill(); _ = s.cmd.Wait() })
	w.T.Cleanup(s.client.CloseIdleConnections)
	s.out = bufio.NewReader(out)
	line, err := s.out.ReadString('\n')
	if err != nil {
		_ = s.cmd.Wait()
		w.T.Fatalf("serve printed %q and %v\n%s", line, err, s.errs)
	}
	s.url, s.token, _ = strings.Cut(strings.TrimSpace(line), "/#token=")
	return s
}

// get asks for a path, with the token in it, and gives status and body.
func (s *serving) get(path string) (int, string) {
	s.w.T.Helper()
	return s.heard(s.client.Get(s.url + "/t/" + s.token + path))
}

// ask sends a question, and gives the whole stream.
func (s *serving) ask(body string) string {
	s.w.T.Helper()
	_, said := s.heard(s.client.Post(s.url+"/t/"+s.token+"/api/stream", "application/json", strings.NewReader(body)))
	return said
}

// heard reads an answer to its end, and gives status and body.
func (s *serving) heard(res *http.Response, err error) (int, string) {
	s.w.T.Helper()
	if err != nil {
		s.w.T.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		s.w.T.Fatal(err)
	}
	return res.StatusCode, string(raw)
}

// end ends the server in order, and tells whether it could: no signal does that on
// Windows. It has to have printed nothing but its address.
func (s *serving) end() bool {
	s.w.T.Helper()
	if runtime.GOOS == "windows" {
		return false
	}
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.w.T.Fatal(err)
	}
	rest, err := io.ReadAll(s.out)
	if err != nil || len(rest) != 0 {
		s.w.T.Errorf("it printed more than its address: %q, %v", rest, err)
	}
	if err := s.cmd.Wait(); err != nil {
		s.w.T.Errorf("it ended with %v\n%s", err, s.errs)
	}
	return true
}

// A person serves a model and ends it again.
func TestServe(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "responses: [{when: \"\", text: From the script.}]")
	s := w.serve("--log", "json")
	if got := s.ask(`{"message":"hi"}`); !strings.Contains(got, `"type":"complete"`) || !strings.Contains(got, "From the script.") {
		t.Errorf("it says %s", got)
	}
	if out, _ := w.Run(0, "serve", "--check"); !strings.Contains(out, "at "+s.url+" is ready") {
		t.Errorf("checked, it says %s", out)
	}
	if out, _ := w.Run(0, "serve", "--check", "--print-url"); out != s.url+"/#token="+s.token+"\n" {
		t.Errorf("it is said to be at %s", out)
	}
	if status, body := s.get("/api/chats"); status != 200 || !strings.Contains(body, `"title":"hi"`) {
		t.Errorf("chats: %d %s", status, body)
	}
	_, said := w.Run(1, "serve", "--listen", "127.0.0.1:0")
	if !strings.Contains(said, "fettle serve runs already") || !strings.Contains(said, s.url) {
		t.Errorf("a second one says %s", said)
	}
	if !s.end() {
		return
	}
	if strings.Contains(s.errs.String(), s.token) {
		t.Error("the token is in the log")
	}
	if _, err := os.Stat(w.Dir + "/data/serve.json"); !os.IsNotExist(err) {
		t.Errorf("serve.json is left behind: %v", err)
	}
	if _, said := w.Run(4, "serve", "--check"); !strings.Contains(said, "no fettle serve runs") {
		t.Errorf("without one, the check says %s", said)
	}
}

// A question beside a running server has the answer that it has without one, and
// the server has its chat soon.
func TestAskBesideServe(t *testing.T) {
	t.Parallel()
	const script = "responses: [{when: \"\", text: The same answer.}]"
	alone, _ := newWorld(t, script).Run(0, "ask", "--no-stdin", "why?")
	w := newWorld(t, script)
	s := w.serve("--log", "off")
	for range 3 {
		beside, said := w.Run(0, "ask", "--no-stdin", "why?")
		if beside != alone {
			t.Errorf("beside the server %q, without it %q\n%s", beside, alone, said)
		}
	}
	status, body := s.get("/api/chats")
	if status != 200 || strings.Count(body, `"title":"why?"`) != 3 {
		t.Errorf("the server has %d %s", status, body)
	}
}
