package commands_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fettle-cli/fettle/commands/commandtest"
)

// responseKind is one file of testdata/responses: see the README there.
type responseKind struct {
	name   string
	want   map[string]string
	bodies []txtar.File
}

func responseKinds(t *testing.T) []responseKind {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("..", "testdata", "responses", "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d kinds: %v", len(paths), err)
	}
	var kinds []responseKind
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		a := txtar.Parse(bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n"))) // a checkout on Windows
		k := responseKind{name: strings.TrimSuffix(filepath.Base(path), ".txtar"), want: map[string]string{}, bodies: a.Files}
		for line := range strings.Lines(string(a.Comment)) {
			if name, value, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && !strings.HasPrefix(line, "#") {
				k.want[name] = value
			} else if name, ok := strings.CutSuffix(strings.TrimSpace(line), ":"); ok {
				k.want[name] = ""
			}
		}
		kinds = append(kinds, k)
	}
	return kinds
}

// responder answers requests for an answer with the bodies, by the path's first
// part, and counts them.
type responder struct {
	bodies map[string][]byte
	mu     sync.Mutex
	asked  map[string]int
	done   chan struct{} // ends connections that are kept open
}

func (s *responder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	id, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch {
	case strings.HasSuffix(rest, "chat/completions"), strings.HasSuffix(rest, "messages"), strings.HasSuffix(rest, "responses"), strings.HasSuffix(rest, "api/chat"):
	case strings.HasSuffix(rest, "api/show"):
		_, _ = io.WriteString(w, `{"capabilities":["completion","tools"],"model_info":{"general.architecture":"x","x.context_length":8192}}`)
		return
	default:
		http.NotFound(w, r)
		return
	}
	s.mu.Lock()
	s.asked[id]++
	s.mu.Unlock()
	s.play(w, r, s.bodies[id])
}

func (s *responder) play(w http.ResponseWriter, r *http.Request, file []byte) {
	first, body, _ := bytes.Cut(file, []byte("\n"))
	head := strings.Fields(string(first))
	status, _ := strconv.Atoi(head[0])
	w.Header()["Content-Type"] = nil
	if head[1] != "-" {
		w.Header().Set("Content-Type", head[1])
	}
	open, cut := false, false
	for _, option := range head[2:] {
		switch {
		case option == "open":
			open = true
		case option == "cut":
			cut = true
		case option == "quoted":
			body = unquoted(body)
		case strings.HasPrefix(option, "encoding="):
			w.Header().Set("Content-Encoding", strings.TrimPrefix(option, "encoding="))
		}
	}
	w.WriteHeader(status)
	_, _ = w.Write(body)
	_ = http.NewResponseController(w).Flush()
	if cut {
		panic(http.ErrAbortHandler)
	}
	for open {
		select {
		case <-time.After(100 * time.Millisecond):
			_, _ = io.WriteString(w, ": keep-alive\n\n")
			_ = http.NewResponseController(w).Flush()
		case <-r.Context().Done():
			return
		case <-s.done:
			return
		}
	}
}

func unquoted(body []byte) []byte {
	var out []byte
	for line := range bytes.Lines(body) {
		part, err := strconv.Unquote(`"` + strings.TrimSuffix(string(line), "\n") + `"`)
		if err != nil {
			panic(err)
		}
		out = append(out, part...)
	}
	return out
}

// Every kind of response, in every variation and protocol, comes to what a user
// expects of it.
func TestResponsesOfServers(t *testing.T) {
	t.Parallel()
	kinds := responseKinds(t)
	s := &responder{bodies: map[string][]byte{}, asked: map[string]int{}, done: make(chan struct{})}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	t.Cleanup(func() { close(s.done) })
	for _, k := range kinds {
		protocols := map[string]int{}
		for _, f := range k.bodies {
			protocols[strings.Split(f.Name, "/")[0]]++
		}
		for protocol, n := range protocols {
			if n < 2 {
				t.Errorf("%s has %d variations for %s", k.name, n, protocol)
			}
		}
		for i, f := range k.bodies {
			id := fmt.Sprintf("%s-%d", k.name, i)
			s.bodies[id] = f.Data
			t.Run(k.name+"/"+f.Name, func(t *testing.T) {
				t.Parallel()
				k.try(t, s, id, srv.URL+"/"+id, strings.Split(f.Name, "/")[0])
			})
		}
	}
}

// try asks once, and looks at what a user sees.
func (k responseKind) try(t *testing.T, s *responder, id, address, protocol string) {
	w := commandtest.New(t, yesScript)
	model := "p/m"
	switch protocol {
	case "ollama":
		w.Env, model = append(w.Env, "OLLAMA_HOST="+address), "ollama/m"
	default:
		if protocol != "anthropic" {
			address += "/v1"
		}
		if protocol == "responses" {
			protocol = "openai, api: responses"
		}
		w.Configure(fmt.Sprintf("providers:\n  p: {type: %s, base_url: '%s', key_env: LAB_KEY}\n", protocol, address))
		w.Env = append(w.Env, "LAB_KEY=secret-of-the-lab")
	}
	cmd := w.Command("ask", "-m", model, "hello")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	s.mu.Lock()
	asked := s.asked[id]
	s.mu.Unlock()
	status := strconv.Itoa(cmd.ProcessState.ExitCode())
	stdout, hasOut := k.want["stdout"]
	absent := k.want["absent"]
	switch {
	case k.want["status"] == "not 0" && status == "0", k.want["status"] != "not 0" && k.want["status"] != status:
		t.Errorf("exit status %s, want %s", status, k.want["status"])
	case hasOut && strings.TrimSpace(out.String()) != stdout:
		t.Errorf("it printed %q, want %q", out.String(), stdout)
	case !strings.Contains(errs.String(), k.want["stderr"]):
		t.Errorf("standard error lacks %q", k.want["stderr"])
	case absent != "" && strings.Contains(out.String()+errs.String(), absent):
		t.Errorf("it says %q", absent)
	case strings.Contains(out.String()+errs.String(), "Go struct"):
		t.Error("it names a type of the program")
	case k.want["requests"] != "" && k.want["requests"] != strconv.Itoa(asked):
		t.Errorf("%d requests, want %s", asked, k.want["requests"])
	}
	if t.Failed() {
		t.Logf("standard output %q\nstandard error:\n%s", out.String(), errs.String())
	}
}
