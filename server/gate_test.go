package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/internal/needtest"
	"github.com/fettle-cli/fettle/server"
)

// Every request of the shared table has the answer that stands there: what pages
// of other sites, tools' pages and clumsy clients send.
func TestTheGate(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(needtest.Shared(t, "security", "web", "http-cases.json"))
	must(t, err)
	var cases []struct {
		N, Method, Path, Host, Raw string
		Headers                    map[string]string
		Expect                     any
	}
	must(t, json.Unmarshal(raw, &cases))
	if len(cases) < 15 {
		t.Fatalf("only %d cases", len(cases))
	}
	h := open(t, plan{})
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(h.url, "http://"))
	fill := strings.NewReplacer("{port}", port, "{token}", h.token, "{other}", "01ARZ3NDEKTSV4RRFFQ69G5FAV").Replace
	for _, c := range cases {
		t.Run(c.N, func(t *testing.T) {
			h := *h
			h.t = t
			text := fill(c.Raw)
			if text == "" {
				text = fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n", c.Method, fill(c.Path), fill(c.Host))
				for name, value := range c.Headers {
					text = strings.Replace(text, "Connection: close\r\n", "", map[bool]int{true: 1}[name == "Connection"])
					text += name + ": " + fill(value) + "\r\n"
				}
				switch {
				case strings.Contains(c.N, "over cap"):
					text += "Content-Length: " + strconv.Itoa(2<<20) + "\r\n"
				case c.Method == http.MethodPost:
					text += "Content-Length: 2\r\n\r\n{}"
				}
				text += "\r\n"
			}
			res := h.raw(text)
			defer res.Body.Close()
			if want := fmt.Sprint(c.Expect); !strings.HasPrefix(want, "no Access") && !strings.Contains(want, strconv.Itoa(res.StatusCode)) {
				body, _ := io.ReadAll(res.Body)
				t.Errorf("status %d, want %s\n%s", res.StatusCode, want, body)
			}
			for name := range res.Header {
				if strings.HasPrefix(name, "Access-Control-Allow") {
					t.Errorf("the answer allows something: %s", name)
				}
			}
		})
	}
}

func TestTheTokenComesInAHeaderOrInThePath(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	none := []string{"Authorization", ""}
	for name, c := range map[string]struct {
		path   string
		header []string
		want   int
	}{
		"in the header":             {"/api/chats", nil, 200},
		"in the header, lower case": {"/api/chats", []string{"Authorization", "bearer " + h.token}, 200},
		"in the path":               {"/t/" + h.token + "/api/chats", none, 200},
		"in the path, with a query": {"/t/" + h.token + "/api/chats?limit=1", none, 200},
		"in the path, deeper":       {"/t/" + h.token + "/api/chats/12/workspace/files/a%2Fb", none, 404},
		"nowhere":                   {"/api/chats", none, 401},
		"wrong in the path":         {"/t/" + strings.Repeat("x", 52) + "/api/chats", none, 401},
		"wrong beats a right one":   {"/t/" + strings.Repeat("x", 52) + "/api/chats", nil, 401},
		"not by basic":              {"/api/chats", []string{"Authorization", "Basic " + h.token}, 401},
		"not in a cookie":           {"/api/chats", append([]string{"Cookie", "token=" + h.token}, none...), 401},
		"not in the query":          {"/api/chats?token=" + h.token, none, 401},
		"public":                    {"/healthz", none, 200},
		"a stream has nothing":      {"/api/turns/01ARZ3NDEKTSV4RRFFQ69G5FAV/events", none, 404},
		"unknown":                   {"/api/nothing", nil, 404},
		"another method":            {"/api/search", nil, 400},
	} {
		t.Run(name, func(t *testing.T) {
			h := *h
			h.t = t
			if a := h.call("GET", c.path, nil, c.header...); a.status != c.want {
				t.Errorf("status %d, want %d: %s", a.status, c.want, a.body)
			}
		})
	}
	if a := h.call("DELETE", "/api/tools", nil).is(405, nil); a.header.Get("Allow") != "GET" {
		t.Errorf("allows %q", a.header.Get("Allow"))
	}
	if strings.Contains(h.log.String(), h.token) {
		t.Error("the token is in the log")
	}
}

// Wrong tokens run out; the right one still gets in.
func TestGuessingIsSlow(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	slowed := false
	for range 60 {
		a := h.call("GET", "/api/chats", nil, "Authorization", "Bearer "+strings.Repeat("y", 52))
		slowed = slowed || a.status == http.StatusTooManyRequests && a.header.Get("Retry-After") != ""
	}
	if !slowed {
		t.Error("sixty wrong tokens at once were all looked at")
	}
	h.call("GET", "/api/chats", nil).is(200, nil)
}

func TestTheSocketNeedsNoToken(t *testing.T) {
	t.Parallel()
	h := open(t, plan{listen: func(o *server.ListenOptions) { o.RuntimeDir = filepath.Join(o.DataDir, "run") }})
	if h.socket == "" {
		t.Skip("there is no Unix socket on this system")
	}
	info, err := os.Stat(h.socket)
	must(t, err)
	if info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others may use the socket: %v", info.Mode())
	}
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", h.socket)
	}}
	defer transport.CloseIdleConnections()
	res, err := (&http.Client{Transport: transport}).Get("http://fettle/api/chats")
	must(t, err)
	defer res.Body.Close()
	if res.StatusCode != 200 {
		t.Errorf("status %d", res.StatusCode)
	}
	note, err := server.ReadNote(filepath.Join(h.dir, "data"))
	must(t, err)
	if note.Socket != h.socket || note.Address != h.url || note.PID != os.Getpid() {
		t.Errorf("the note says %+v", note)
	}
	raw, err := os.ReadFile(filepath.Join(h.dir, "data", server.NoteFile))
	must(t, err)
	if strings.Contains(string(raw), h.token) {
		t.Error("the note has the token")
	}
	must(t, h.stop())
	for _, gone := range []string{h.socket, filepath.Join(h.dir, "data", server.NoteFile)} {
		if _, err := os.Stat(gone); !os.IsNotExist(err) {
			t.Errorf("%s is left behind: %v", gone, err)
		}
	}
}

func TestATokenIsMadeOnce(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	tokens := make(chan string, 8)
	for range cap(tokens) {
		go func() {
			token, err := server.Token(dir)
			if err != nil {
				token = err.Error()
			}
			tokens <- token
		}()
	}
	first := <-tokens
	for range cap(tokens) - 1 {
		if other := <-tokens; other != first {
			t.Errorf("%q beside %q", other, first)
		}
	}
	path := filepath.Join(dir, server.TokenFile)
	info, err := os.Stat(path)
	must(t, err)
	if len(first) < 32 || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%q with %v", first, info.Mode())
	}
	must(t, os.WriteFile(path, []byte("short"), 0o600))
	if _, err := server.Token(dir); err == nil {
		t.Error("a short token was taken")
	}
	must(t, os.WriteFile(path, []byte(first), 0o600))
	if err := os.Chmod(path, 0o644); err == nil && os.PathSeparator == '/' {
		if _, err := server.Token(dir); err == nil {
			t.Error("a token that others can read was taken")
		}
	}
}

func TestWhereAServerMayListen(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		o  server.ListenOptions
		ok bool
	}{
		"loopback":                  {server.ListenOptions{Address: "127.0.0.1:0"}, true},
		"localhost":                 {server.ListenOptions{Address: "localhost:0"}, true},
		"everybody":                 {server.ListenOptions{Address: ":0"}, false},
		"everybody by address":      {server.ListenOptions{Address: "0.0.0.0:0"}, false},
		"a name":                    {server.ListenOptions{Address: "example.org:0"}, false},
		"like loopback":             {server.ListenOptions{Address: "127.0.0.1.example:0"}, false},
		"everybody, by TLS":         {server.ListenOptions{Address: "0.0.0.0:0", TLS: true}, true},
		"everybody, behind a proxy": {server.ListenOptions{Address: "0.0.0.0:0", Behind: "https://fettle.example"}, true},
		"a proxy without TLS":       {server.ListenOptions{Address: "0.0.0.0:0", Behind: "http://fettle.example"}, false},
		"no port":                   {server.ListenOptions{Address: "127.0.0.1"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.o.DataDir = t.TempDir()
			l, err := server.Listen(c.o)
			if (err == nil) != c.ok {
				t.Errorf("%v", err)
			}
			if err == nil {
				must(t, l.Close())
			}
		})
	}
	h := open(t, plan{})
	_, err := server.Listen(server.ListenOptions{Address: "127.0.0.1:0", DataDir: filepath.Join(h.dir, "data")})
	if err == nil || !strings.Contains(err.Error(), h.url) {
		t.Errorf("a second server of the same data: %v", err)
	}
}

func TestOriginsThatMayBeTrusted(t *testing.T) {
	t.Parallel()
	for origin, ok := range map[string]bool{
		"http://localhost:5173": true, "http://127.0.0.1:5173/": true, "http://[::1]:80": true,
		"http://example.org": false, "null": false, "http://localhost:5173/page": false, "file:///x": false, "*": false,
		"http://localhost.example:5173": false, "http://u@localhost:1": false,
	} {
		_, err := server.New(server.Options{TrustOrigin: origin})
		if (err == nil) != ok {
			t.Errorf("%s: %v", origin, err)
		}
	}
}
