//go:build unix

package commands_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/fettle-cli/fettle/commands/commandtest"
)

// expiring is a server whose token expires after each answer. It writes the next one into a
// file, from which the key's command reads it.
type expiring struct {
	file string
	last int // the number of the last token that is accepted, however often it expires

	mu      sync.Mutex
	n       int // of the token that is accepted
	refused int
	answers int
}

func (e *expiring) token() string { return fmt.Sprintf("token-%04d-0123456789abcdef", e.n) }

// refusals returns how many requests were refused since it was called last.
func (e *expiring) refusals() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := e.refused
	e.refused = 0
	return n
}

func (e *expiring) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	e.mu.Lock()
	defer e.mu.Unlock()
	if !strings.Contains(r.Header.Get("Authorization")+r.Header.Get("X-Api-Key"), e.token()) {
		e.refused++
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"error":{"message":"the token expired","type":"invalid_request_error"}}`)
		return
	}
	e.answers++
	if e.n < e.last {
		e.n++
		if err := os.WriteFile(e.file, []byte(e.token()+"\n"), 0o600); err != nil {
			panic(err)
		}
	}
	protocol := map[bool]string{true: "anthropic", false: "openai"}[strings.HasSuffix(r.URL.Path, "/messages")]
	reply := peerReply{text: "answered"}
	if e.answers < 3 {
		reply = peerReply{call: fmt.Sprintf("callid%03d", e.answers)}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, reply.encode(protocol))
}

// The command for a key runs again when a server refuses the key, once for each request. A
// new key that is refused is an error of the key.
func TestTheCommandForAKeyRunsAgainAfterARefusal(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"openai", "anthropic", "mistral"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, yesScript)
			e := &expiring{file: filepath.Join(w.Dir, "token"), last: 2}
			srv := httptest.NewServer(e)
			t.Cleanup(srv.Close)
			commandtest.Put(t, e.file, e.token()+"\n")
			command := "echo run >>'" + filepath.Join(w.Dir, "runs") + "'; cat '" + e.file + "'"
			w.Configure(fmt.Sprintf("providers:\n  p: {type: %s, base_url: '%s/v1', key: %q}\n", kind, srv.URL, "!"+command))
			w.Env = append(w.Env, "NO_PROXY=127.0.0.1", "HTTP_PROXY=", "HTTPS_PROXY=")
			w.Run(0, "trust", "--command", command)
			if out := askTool(t, w, "p/m"); !strings.HasPrefix(out, "answered") {
				t.Errorf("it printed %q", out)
			}
			runs, err := os.ReadFile(filepath.Join(w.Dir, "runs"))
			refused := e.refusals()
			if got := strings.Count(string(runs), "run"); err != nil || got != 3 || refused != 2 {
				t.Errorf("the command ran %d times after %d refusals, %v", got, refused, err)
			}
			commandtest.Put(t, e.file, "another-token-0123456789abcdef\n")
			_, errs := w.Run(5, "ask", "--no-stdin", "-m", "p/m", "again")
			if refused = e.refusals(); refused != 1 || !strings.Contains(errs, "the token expired") {
				t.Errorf("a wrong key was sent %d times: %q", refused, errs)
			}
		})
	}
}

// A token expires after each request: later requests for vectors and completions are repeated
// with a renewed one, and a server that repeats it in a completion doesn't show it.
func TestVectorsAndCompletionsWithARenewedKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t, yesScript)
	e := &expiring{file: filepath.Join(w.Dir, "token"), last: 100}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Input []string }
		raw, err := io.ReadAll(r.Body)
		token, ok := e.spend(r)
		switch {
		case err != nil || json.Unmarshal(raw, &in) != nil || !ok:
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/v1/embeddings":
			vectors := strings.Repeat(`,{"embedding":[1,2]}`, len(in.Input))
			_, _ = io.WriteString(w, `{"data":[`+vectors[1:]+`]}`)
		case r.URL.Path == "/v1/completions":
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, `data: {"choices":[{"index":0,"text":"key = %s","finish_reason":null}]}`+"\n\n", token[:16])
			fmt.Fprintf(w, `data: {"choices":[{"index":0,"text":"%s;","finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n", token[16:])
		}
	}))
	t.Cleanup(srv.Close)
	commandtest.Put(t, e.file, e.token()+"\n")
	command := "cat '" + e.file + "'"
	w.Configure(fmt.Sprintf("providers:\n  p: {type: openai, base_url: '%s/v1', key: %q}\n", srv.URL, "!"+command))
	w.Env = append(w.Env, "NO_PROXY=127.0.0.1", "HTTP_PROXY=", "HTTPS_PROXY=")
	w.Run(0, "trust", "--command", command)
	args := []string{"embed", "-m", "p/m"}
	for i := range 200 {
		args = append(args, fmt.Sprint("text ", i))
	}
	if out, _ := w.Run(0, args...); strings.Count(out, `"embedding":[1,2]`) != 200 {
		t.Errorf("embed printed %.300q", out)
	}
	base, token := startServe(t, w)
	for range 3 {
		choices := string(postJSON(t, base+"/v1/completions", token, map[string]any{"model": "p/m", "prompt": "key = "})["choices"])
		if !strings.Contains(choices, "key = [redacted];") {
			t.Errorf("the completion is %s", choices)
		}
	}
	if n := e.refusals(); n < 4 {
		t.Errorf("%d requests were refused", n)
	}
}

// spend returns the token of a request, after which it expires; ok is false if it has expired.
func (e *expiring) spend(r *http.Request) (token string, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	token = e.token()
	if r.Header.Get("Authorization") != "Bearer "+token {
		e.refused++
		return "", false
	}
	e.n++
	if err := os.WriteFile(e.file, []byte(e.token()+"\n"), 0o600); err != nil {
		panic(err)
	}
	return token, true
}
