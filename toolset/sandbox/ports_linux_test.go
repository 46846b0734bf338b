package sandbox_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/sandbox"
)

// serving is a process that serves the text of a file over HTTP, says at which port,
// and writes a number into the folder over and over.
const serving = `
import http.server, itertools, threading
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b"from inside " + self.path.encode())
    def log_message(self, *a): pass
s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), H)
threading.Thread(target=s.serve_forever, daemon=True).start()
for n in itertools.count():
    with open("beat", "w") as f: f.write(str(n))
    if n == 0: print(s.server_port, flush=True)
`

func startServing(t *testing.T, p toolset.Policy) (toolset.Process, int) {
	t.Helper()
	l := newLauncher(t, sandbox.Options{})
	proc, err := l.Start(t.Context(), p, toolset.Command{Args: []string{python(t), "-I", "-c", serving}})
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(proc.Stdout()).ReadString('\n')
	if err != nil {
		proc.Kill()
		exit, _ := proc.Wait(t.Context())
		t.Fatalf("it said no port: %v, %s", err, exit.Stderr)
	}
	port, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { proc.Stdout().Close() })
	return proc, port
}

func TestAPortIsReachedFromOutside(t *testing.T) {
	t.Parallel()
	needLevel(t, toolset.LevelFull)
	proc, port := startServing(t, toolset.Policy{Workspace: t.TempDir(), Serves: true, Least: toolset.LevelFull})
	in := proc.(toolset.Reacher)
	if !in.OwnNetwork() {
		t.Error("it isn't alone in its network")
	}
	for n := range 20 {
		conn, err := in.DialPort(t.Context(), port)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "GET /%d HTTP/1.0\r\n\r\n", n)
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		if want := fmt.Sprintf("from inside /%d", n); err != nil || string(text) != want {
			t.Errorf("it answered %q, %v, want %q", text, err, want)
		}
		conn.Close()
	}
	if _, err := in.DialPort(t.Context(), 1); !errors.Is(err, toolset.ErrNotListening) {
		t.Errorf("a port where nobody listens: %v", err)
	}
	if conn, err := net.DialTimeout("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), time.Second); err == nil {
		// Another program may have the number; what it answers is not the process's.
		fmt.Fprint(conn, "GET / HTTP/1.0\r\n\r\n")
		conn.SetReadDeadline(time.Now().Add(time.Second))
		text, _ := io.ReadAll(conn)
		conn.Close()
		if strings.Contains(string(text), "from inside") {
			t.Error("the machine's own loopback leads into the sandbox")
		}
	}
	proc.Kill()
	if _, err := in.DialPort(t.Context(), port); err == nil || errors.Is(err, toolset.ErrNotListening) {
		t.Errorf("a process that has ended: %v", err)
	}
}

func TestAServiceReachesNobodyElse(t *testing.T) {
	t.Parallel()
	needLevel(t, toolset.LevelFull)
	outside, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer outside.Close()
	_, port, _ := net.SplitHostPort(outside.Addr().String())
	const reach = `
import socket, sys
for address in (("127.0.0.1", int(sys.argv[1])), ("1.1.1.1", 443)):
    try:
        socket.create_connection(address, timeout=2); print("reached", address)
    except OSError as e:
        print("no")
`
	l := newLauncher(t, sandbox.Options{})
	ran, err := l.Run(t.Context(), toolset.Policy{Serves: true, Least: toolset.LevelFull}, toolset.Command{Args: []string{python(t), "-I", "-c", reach, port}})
	if err != nil || ran.Stdout.String() != "no\nno\n" {
		t.Errorf("it said %q, %v", ran.Stdout, err)
	}
}

func TestAServiceNeedsANetworkOfItsOwn(t *testing.T) {
	t.Parallel()
	needLevel(t, toolset.LevelReduced)
	l := newLauncher(t, sandbox.Options{})
	_, err := l.Start(t.Context(), toolset.Policy{Serves: true, Most: toolset.LevelReduced}, toolset.Command{Args: []string{"true"}})
	var uncontained *toolset.UncontainedError
	if !errors.As(err, &uncontained) {
		t.Errorf("it started at reduced: %v", err)
	}
}

func TestNothingIsWrittenWhileAProcessIsHeld(t *testing.T) {
	t.Parallel()
	levels(t, func(t *testing.T, level toolset.Level) {
		dir := t.TempDir()
		proc, _ := startServing(t, toolset.Policy{Workspace: dir, Serves: true, Least: level, Most: level})
		beat := func() string {
			data, err := os.ReadFile(filepath.Join(dir, "beat"))
			if err != nil {
				t.Fatal(err)
			}
			return string(data)
		}
		moves := func(from string) bool {
			for range 500 {
				if beat() != from {
					return true
				}
				time.Sleep(10 * time.Millisecond)
			}
			return false
		}
		in := proc.(toolset.Reacher)
		one, two := in.Hold(t.Context()), in.Hold(t.Context())
		still := beat()
		one()
		one() // twice is once
		for range 30 {
			if now := beat(); now != still {
				t.Fatalf("it wrote %q after %q while it was held", now, still)
			}
			time.Sleep(time.Millisecond)
		}
		two()
		if !moves(still) {
			t.Error("it doesn't go on")
		}
		in.Hold(t.Context())
		proc.Kill() // also while it is held
		in.Hold(t.Context())()
	}, toolset.LevelFull, toolset.LevelNone)
}
