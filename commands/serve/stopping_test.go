package serve_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/commands/commandtest"
	"github.com/fettle-cli/fettle/internal/lockfile"
	"github.com/fettle-cli/fettle/internal/needtest"
)

// waiting starts a server, and returns once it waits for the store.
func (w *world) waiting(args ...string) *serving {
	w.T.Helper()
	s := &serving{w: w, errs: new(bytes.Buffer), client: &http.Client{}}
	s.cmd = w.Command(append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	s.cmd.Stderr = s.errs
	if err := s.cmd.Start(); err != nil {
		w.T.Fatal(err)
	}
	w.T.Cleanup(func() { _ = s.cmd.Process.Kill(); _ = s.cmd.Wait() })
	s.until("the store", func() bool {
		release, free, err := lockfile.Try(filepath.Join(w.Dir, "data", "wait.lock"))
		if err == nil && free {
			release()
		}
		return err == nil && !free
	})
	return s
}

// until waits for a state of the server that no output of it reports.
func (s *serving) until(what string, is func() bool) {
	s.w.T.Helper()
	for begun := time.Now(); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Since(begun) > time.Minute {
			s.w.T.Fatalf("it waits for %s in vain\n%s", what, s.errs)
		}
	}
}

// stopBound is what serve promises after its drain time.
const stopBound = 10 * time.Second

// stops sends a signal and fails unless the process ends in time.
func (s *serving) stops(sig os.Signal) {
	s.w.T.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.w.T.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.cmd.Wait() }()
	select {
	case <-ended:
	case <-time.After(stopBound + time.Second):
		_ = s.cmd.Process.Signal(syscall.SIGQUIT) // which prints where it hangs
		<-ended
		s.w.T.Fatalf("%v did not end it within %v\n%s", sig, stopBound, s.errs)
	}
}

// starts begins a turn, and waits for a text in its stream.
func (s *serving) starts(body, until string) {
	s.w.T.Helper()
	res, err := s.client.Post(s.url+"/t/"+s.token+"/api/stream", "application/json", strings.NewReader(body))
	if err != nil {
		s.w.T.Fatal(err)
	}
	s.w.T.Cleanup(func() { _ = res.Body.Close() })
	in := bufio.NewReader(res.Body)
	for {
		line, err := in.ReadString('\n')
		if strings.Contains(line, until) {
			return
		}
		if err != nil {
			s.w.T.Fatalf("the stream ended without %q: %v\n%s", until, err, s.errs)
		}
	}
}

// toolWorld has a toolset of one tool, which the model calls.
func toolWorld(t *testing.T, code string, service bool) *world {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("tools are contained on Linux alone")
	}
	needtest.Program(t, "python3")
	w := newWorld(t, "responses: [{when: \"\", step: 0, calls: [{name: run, args: {}}]}, {when: \"\", text: It is done.}]")
	commandtest.Put(t, filepath.Join(w.Dir, "set", "tools", "t.py"), code)
	commandtest.Put(t, filepath.Join(w.Dir, "set", "toolset.yaml"), fmt.Sprintf(`{manifest_version: "1", id: set, name: Set, version: 1.0.0, description: A set.,
tools: [{id: run, name: Run, description: Runs., entrypoint: "tools.t:run", service: %t%s, input_schema: {type: object}}]}`,
		service, map[bool]string{true: `, renderer: {type: frame, url: "http://localhost:$return.port/"}`}[service]))
	w.Run(0, "toolset", "import", "set", "--yes")
	return w
}

// stubborn is a tool that ignores every request to end.
const stubborn = `
import signal, time

def run(workspace):
    for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(s, signal.SIG_IGN)
    (workspace / "begun").write_text("x")
    while True:
        try:
            time.sleep(1)
        except BaseException:
            pass
`

// stubbornService is a service that does so, and answers no request.
const stubbornService = `
import signal, socket, threading, time

def run(workspace):
    for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(s, signal.SIG_IGN)
    server = socket.socket()
    server.bind(("127.0.0.1", 0))
    server.listen()
    threading.Thread(target=time.sleep, args=(1000,)).start()
    return {"port": server.getsockname()[1]}
`

// stubbornServer is an MCP server that answers the requests that begin a session, and
// then none.
const stubbornServer = `
trap "" INT TERM HUP
while read -r line; do
  id=$(printf %s "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
  version=$(printf %s "$line" | sed 's/.*"protocolVersion":"\([^"]*\)".*/\1/')
  case $line in
  *'"method":"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"'$version'","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}';;
  *'"method":"tools/list"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[{"name":"hang","inputSchema":{"type":"object"}}]}}';;
  *'"method":"tools/call"'*) while :; do sleep 1; done;;
  *'"id":'*) echo '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32601,"message":"no such method"}}';;
  esac
done
while :; do sleep 1; done
`

// serve ends within its drain time and ten seconds, regardless of what its turns do.
func TestASignalEndsServe(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no signal ends a process in order there")
	}
	for name, c := range map[string]func(t *testing.T) (*serving, os.Signal){
		"a tool that ignores everything": func(t *testing.T) (*serving, os.Signal) {
			w := toolWorld(t, stubborn, false)
			s := w.serve("--drain", "0s")
			s.starts(`{"message":"go","allow":["*"]}`, `"tool_start"`)
			s.until("a call", func() bool {
				var begun []string // in the folder, or in the layer of the call
				for _, pattern := range []string{"chats/*/workspace/begun", "layers/*/upper/begun"} {
					found, err := filepath.Glob(filepath.Join(w.Dir, "data", filepath.FromSlash(pattern)))
					if err != nil {
						t.Fatal(err)
					}
					begun = append(begun, found...)
				}
				return len(begun) > 0
			})
			return s, syscall.SIGTERM
		},
		"a service that ignores everything": func(t *testing.T) (*serving, os.Signal) {
			w := toolWorld(t, stubbornService, true)
			s := w.serve("--drain", "0s")
			s.starts(`{"message":"go","allow":["*"]}`, `"complete"`)
			if len(s.services().Services) == 0 {
				t.Fatal("no service runs")
			}
			return s, syscall.SIGTERM
		},
		"a provider that hangs": func(t *testing.T) (*serving, os.Signal) {
			asked := make(chan struct{}, 8)
			held := make(chan struct{})
			hung := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				asked <- struct{}{}
				<-held
			}))
			t.Cleanup(hung.Close)
			t.Cleanup(func() { close(held) })
			w := newWorld(t, "responses: [{when: \"\", text: x}]")
			w.Env = append(w.Env, "OPENAI_BASE_URL="+hung.URL+"/v1", "OPENAI_API_KEY=sk-test", "FETTLE_MODEL=openai/m")
			s := w.serve("--drain", "0s")
			go func() { // it is cut off
				if res, err := s.client.Post(s.url+"/t/"+s.token+"/api/stream", "application/json", strings.NewReader(`{"message":"go"}`)); err == nil {
					_, _ = io.Copy(io.Discard, res.Body) // closing it before would cancel the turn
					_ = res.Body.Close()
				}
			}()
			<-asked
			return s, syscall.SIGINT
		},
		"a client that never reads": func(t *testing.T) (*serving, os.Signal) {
			w := newWorld(t, "responses: [{when: \"\", text: \""+strings.Repeat("words and ", 400_000)+"\"}]")
			s := w.serve("--drain", "0s")
			conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = conn.Close() })
			body := `{"message":"go"}`
			fmt.Fprintf(conn, "POST /t/%s/api/stream HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
				s.token, strings.TrimPrefix(s.url, "http://"), len(body), body)
			if _, err := conn.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			return s, syscall.SIGTERM
		},
		"an MCP server that hangs": func(t *testing.T) (*serving, os.Signal) {
			if runtime.GOOS != "linux" {
				t.Skip("the server is a script of sh in a sandbox")
			}
			w := newWorld(t, "responses: [{when: \"\", step: 0, calls: [{name: hang, args: {}}]}, {when: \"\", text: x}]")
			w.Run(0, "mcp", "add", "deaf", "--", "sh", "-c", stubbornServer)
			s := w.serve("--drain", "0s")
			s.starts(`{"message":"go","allow":["*"]}`, `"tool_start"`)
			return s, syscall.SIGTERM
		},
		"a store that another process has": func(t *testing.T) (*serving, os.Signal) {
			w := newWorld(t, "responses: [{when: \"\", text: x}]")
			w.Run(0, "ask", "hi")
			release, ok, err := lockfile.Try(filepath.Join(w.Dir, "data", "store.lock"))
			if err != nil || !ok {
				t.Fatal(ok, err)
			}
			t.Cleanup(release)
			return w.waiting("--drain", "0s"), syscall.SIGTERM
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, sig := c(t)
			s.stops(sig)
		})
	}
}
