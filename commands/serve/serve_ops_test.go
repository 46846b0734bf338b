package serve_test

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/commands/commandtest"
	"github.com/fettle-cli/fettle/internal/otlp/otlptest"
)

// eventually waits for something that has to come.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it never came: %s", what)
		}
	}
}

// --open gives an address with a code to what opens a browser, which is good for
// the token once, and says so where nothing does.
func TestServeOpensABrowser(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("the system's own opener can't be played here")
	}
	w := newWorld(t, "{}")
	bin, told := filepath.Join(w.Dir, "bin"), filepath.Join(w.Dir, "told")
	commandtest.Put(t, filepath.Join(bin, "x"), "")
	if err := commandtest.WriteProgram(filepath.Join(bin, "xdg-open"), "#!/bin/sh\necho \"$1\" >'"+told+".new' && mv '"+told+".new' '"+told+"'\n"); err != nil {
		t.Fatal(err)
	}
	w.Env = append(w.Env, "DISPLAY=:0", "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	s := w.serve("--open", "--log", "off")
	var code string
	eventually(t, "the browser", func() bool {
		raw, err := os.ReadFile(told)
		var is bool
		code, is = strings.CutPrefix(strings.TrimSpace(string(raw)), s.url+"/#open=")
		return err == nil && is
	})
	if status, said := spend(t, s, code+"x"); status != http.StatusNotFound {
		t.Errorf("a wrong code gives %d %s", status, said)
	}
	if status, said := spend(t, s, code); status != http.StatusOK || !strings.Contains(said, s.token) {
		t.Errorf("the code gives %d %s", status, said)
	}
	if status, said := spend(t, s, code); status != http.StatusNotFound || strings.Contains(said, s.token) {
		t.Errorf("the code gives a second time %d %s", status, said)
	}
	s.end()
	if said := s.errs.String(); strings.Contains(said, s.token) || !strings.Contains(said, "serving at "+s.url) {
		t.Errorf("it says %s", said)
	}

	w = newWorld(t, "{}")
	w.Env = append(w.Env, "DISPLAY=", "WAYLAND_DISPLAY=", "BROWSER=")
	s = w.serve("--open", "--log", "off")
	s.end()
	if said := s.errs.String(); !strings.Contains(said, "there is no screen to open a browser on") || strings.Contains(said, s.token) {
		t.Errorf("without a screen, it says %s", said)
	}
}

// spend asks a server for its token, by a code.
func spend(t *testing.T, s *serving, code string) (status int, said string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/api/open", strings.NewReader(`{"code":"`+code+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

const traced = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// A question is traced where the environment names a receiver: within the caller's
// span, sent before the program ends, and without a word of what was said.
func TestAskIsTraced(t *testing.T) {
	t.Parallel()
	r := otlptest.New(t)
	w := newWorld(t, "responses: [{when: \"\", text: Between us.}]")
	w.Run(0, "ask", "--no-stdin", "nobody asked for spans")
	w.Env = append(w.Env, "OTEL_EXPORTER_OTLP_ENDPOINT="+r.URL, "OTEL_EXPORTER_OTLP_HEADERS=api-key=hush", "OTEL_SERVICE_NAME=desk", "TRACEPARENT="+traced)
	out, said := w.Run(0, "ask", "--no-stdin", "a private question")
	if out != "Between us.\n" || said != "" {
		t.Errorf("it says %q and %q", out, said)
	}
	spans := r.Wait(2)
	if len(spans) != 2 || spans[0].Name != "invoke_agent" || spans[1].Name != "chat m.yaml" || spans[1].Kind != "SPAN_KIND_CLIENT" {
		t.Fatalf("%+v", spans)
	}
	if !bytes.HasPrefix(spans[0].TraceID, []byte{0x0a, 0xf7}) || !bytes.HasPrefix(spans[0].ParentSpanID, []byte{0xb7, 0xad}) || !bytes.Equal(spans[1].ParentSpanID, spans[0].SpanID) {
		t.Errorf("%+v", spans)
	}
	req := r.Requests()[0]
	if req.Header.Get("Api-Key") != "hush" || req.Resource["service.name"] != "desk" {
		t.Errorf("%v %v", req.Header, req.Resource)
	}
	for _, word := range []string{"private", "Between", "hush", w.Dir} {
		if strings.Contains(req.Text, word) {
			t.Errorf("the spans have %q: %s", word, req.Text)
		}
	}
	// A receiver that can't be used costs a question nothing, and is told to who asks.
	w.Env = append(w.Env, "OTEL_EXPORTER_OTLP_ENDPOINT=localhost:4317")
	if out, said := w.Run(0, "ask", "--no-stdin", "again"); out != "Between us.\n" || said != "" {
		t.Errorf("it says %q and %q", out, said)
	}
	if _, said := w.Run(0, "ask", "-v", "--no-stdin", "again"); !strings.Contains(said, "no spans are sent: OTEL_EXPORTER_OTLP_ENDPOINT") {
		t.Errorf("it says %q", said)
	}
	// One that never answers is waited for a moment alone.
	var l net.ListenConfig
	silent, err := l.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	w.Env = append(w.Env, "OTEL_EXPORTER_OTLP_ENDPOINT=http://"+silent.Addr().String())
	w.Run(0, "ask", "--no-stdin", "again")
}

func TestServeIsTraced(t *testing.T) {
	t.Parallel()
	r := otlptest.New(t)
	w := newWorld(t, "responses: [{when: \"\", text: Hello.}]")
	w.Env = append(w.Env, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT="+r.URL+"/mine?key=hush")
	s := w.serve("--log", "json")
	s.ask(`{"message":"hi"}`)
	r.Wait(2)
	if got := r.Requests()[0].Path; got != "/mine" {
		t.Errorf("they go to %s", got)
	}
	eventually(t, "the counter", func() bool {
		_, body := s.get("/metrics")
		return strings.Contains(body, "fettle_spans_sent_total 2") && strings.Contains(body, "fettle_spans_dropped_total 0")
	})
	s.end()
	if said := s.errs.String(); !strings.Contains(said, `"receiver":"`+strings.TrimPrefix(r.URL, "http://")) || strings.Contains(said, "hush") {
		t.Errorf("the log says %s", said)
	}
}

// The log has a line and an id for each request, and nothing that is somebody's.
func TestTheLogTellsNoSecrets(t *testing.T) {
	t.Parallel()
	const words, answer, key = "a private question", "a private answer", "sk-test-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c"
	w := newWorld(t, "responses: [{when: \"\", text: "+answer+"}]")
	w.Env = append(w.Env, "OPENAI_API_KEY="+key)
	for _, form := range []string{"json", "text"} {
		s := w.serve("--log", form)
		for _, body := range []string{
			`{"message":"` + words + `"}`, `{"message":"` + words, `{"message":["` + words + `"]}`, `{"` + words + `":1}`,
			`{"message":"` + words + `","model":"openai/` + words + `"}`, `{"message":"x","chat_id":"` + words + `"}`,
			`{"message":"x","interaction_type":"` + words + `"}`, `{"message":"x","files":[{"name":"` + words + `","data":"` + words + `"}]}`,
			`{"message":"x","schema":{"type":"` + words + `"}}`, `{"message":"x","tools":["` + words + `"]}`, `{"message":"x","agent":"` + words + `"}`,
		} {
			s.ask(body)
		}
		for _, path := range []string{"/api/search?q=private+question", "/api/chats/1/messages?x=private", "/private-question", "/api/chats/private"} {
			s.get(path)
		}
		wrong := "/t/" + strings.Repeat("W", 52) + "/api/chats"
		if res, err := s.client.Get(s.url + wrong); err != nil || res.Body.Close() != nil || res.StatusCode != 401 {
			t.Errorf("%v %v", res, err)
		}
		if !s.end() {
			return
		}
		log := s.errs.String()
		for _, secret := range []string{"private", s.token, key, "WWWW", "m.yaml"} {
			if strings.Contains(log, secret) {
				t.Errorf("the %s log has %q:\n%s", form, secret, log)
			}
		}
		if n := len(regexp.MustCompile(`(?m)request_id.{1,3}[A-Z2-7]{26}.*op.*status.*$`).FindAllString(log, -1)); n != 16 {
			t.Errorf("it has %d requests with an id:\n%s", n, log)
		}
	}
}

// systemd passes the socket and is told when requests are answered, and when the
// end begins.
func TestServeUnderSystemd(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there is no systemd on Windows")
	}
	w := newWorld(t, "responses: [{when: \"\", text: Hello.}]")
	told, err := os.MkdirTemp("", "n") // whose path is short enough for a socket's
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(told)
	notes, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(told, "n"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer notes.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	f, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w.Env = append(w.Env, "NOTIFY_SOCKET="+filepath.Join(told, "n"))
	cmd := w.Command("-c", `LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" serve --log json`, os.Args[0])
	cmd.Path, cmd.Args[0], cmd.ExtraFiles = "/bin/sh", "sh", []*os.File{f}
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	if err := notes.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	next := func() string {
		note := make([]byte, 100)
		n, err := notes.Read(note)
		if err != nil {
			t.Fatalf("%v\n%s", err, said.String())
		}
		return string(note[:n])
	}
	if got := next(); got != "READY=1" {
		t.Errorf("it says %q first", got)
	}
	if out, _ := w.Run(0, "serve", "--check"); !strings.Contains(out, l.Addr().String()) {
		t.Errorf("it is at %s, and not at the socket that it was given, %s", out, l.Addr())
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if got := next(); got != "STOPPING=1" {
		t.Errorf("it says %q at the end", got)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, said.String())
	}
}
