//go:build unix

package commands_test

import (
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

// A key that a command prints is printed anew when a server refuses it, once a request. A
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
