package client_test

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/models"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/script"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/server"
	"github.com/fettle-cli/fettle/server/client"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/builtin"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const build = "1.2.3+abc"

const houseScript = `
responses:
  - {when: slow, deltas: [{content: Half}], hang: true}
  - {when: long, deltas: [LONG]}
  - {when: write, step: 0, text: I write., calls: [{name: write_file, args: {path: a.txt, content: "one\n"}}]}
  - {when: "", text: Hello there.}
`

// house is a running server on a scripted model.
type house struct {
	t      testing.TB
	dir    string
	data   string
	eng    *engine.Engine
	token  string
	url    string
	socket string
	stop   func() error
}

func newHouse(t testing.TB) *house {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("there is no Unix socket that keeps others out on Windows")
	}
	h := &house{t: t, dir: t.TempDir()}
	h.data = filepath.Join(h.dir, "data")
	long := strings.TrimSuffix(strings.Repeat("{content: \"some words \", wait: 1ms}, ", 200), ", ")
	must(t, os.WriteFile(filepath.Join(h.dir, "m.yaml"), []byte(strings.Replace(houseScript, "LONG", long, 1)), 0o600))
	h.start()
	return h
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// engine is one of this house's data, which holds the store or shares it.
func (h *house) engine(hold bool, taken func(context.Context) error) *engine.Engine {
	reg := new(provider.Registry)
	must(h.t, reg.Add("script", func() (provider.Provider, error) { return script.New(script.Options{Dir: h.dir}), nil }))
	set, err := toolset.NewSet(builtin.Entries(builtin.Options{})...)
	must(h.t, err)
	return engine.New(engine.Options{
		Options: store.Options{DataDir: h.data, Hold: hold, StoreTaken: taken},
		Sources: catalog.Sources{Tools: set},
		Retry:   provider.RetryOptions{Attempts: 1},
		Models:  &models.Catalog{Registry: reg, Configured: "script/m.yaml"},
	})
}

func (h *house) start() {
	h.t.Helper()
	h.eng = h.engine(true, nil)
	var err error
	h.token, err = server.Token(h.data)
	must(h.t, err)
	s, err := server.New(server.Options{Engine: h.eng, Token: h.token, DataDir: h.data, Version: "1.2.3", Build: build, Settings: func() string { return "these" }})
	must(h.t, err)
	run, err := os.MkdirTemp("", "fettle-run-") // a short path
	must(h.t, err)
	l, err := server.Listen(server.ListenOptions{Address: "127.0.0.1:0", DataDir: h.data, RuntimeDir: run})
	must(h.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- s.Run(ctx, l, server.RunOptions{Drain: -1, Ready: func() { close(ready) }}) }()
	h.stop = sync.OnceValue(func() error {
		cancel()
		defer os.RemoveAll(run)
		return <-ended
	})
	h.t.Cleanup(func() {
		if err := h.stop(); err != nil {
			h.t.Errorf("the server ended with %v", err)
		}
	})
	select {
	case <-ready:
	case err := <-ended:
		ended <- err
		h.t.Fatalf("the server did not begin: %v", err)
	}
	h.url, h.socket = l.URL(), l.Unix.Addr().String()
}

func (h *house) options() client.Options { return client.Options{DataDir: h.data, Version: build} }

// find finds the server.
func (h *house) find() *client.Local {
	h.t.Helper()
	l, err := client.Find(h.t.Context(), h.options())
	must(h.t, err)
	if l == nil {
		h.t.Fatal("no server was found")
	}
	h.t.Cleanup(l.Close)
	return l
}

// says changes what the note of the server says.
func (h *house) says(field string, value any) {
	h.t.Helper()
	path := filepath.Join(h.data, server.NoteFile)
	raw, err := os.ReadFile(path)
	must(h.t, err)
	var fields map[string]any
	must(h.t, json.Unmarshal(raw, &fields))
	fields[field] = value
	raw, err = json.Marshal(fields)
	must(h.t, err)
	must(h.t, os.WriteFile(path, raw, 0o600))
}

// asking is a request with one text.
func asking(text string) engine.TurnRequest {
	return engine.TurnRequest{Parts: []provider.Part{{Kind: provider.TextPart, Text: text}}}
}

// all follows a turn to its end, and gives its events as JSON.
func all(t testing.TB, turns client.Turns, id store.TurnID) (out []string) {
	t.Helper()
	want := event.Seq(1)
	for e, err := range turns.Follow(t.Context(), id, 0) {
		must(t, err)
		if e.Seq != want {
			t.Fatalf("event %d came where %d was next", e.Seq, want)
		}
		want++
		raw, err := e.Append(nil)
		must(t, err)
		out = append(out, string(raw))
	}
	return out
}

// cutting is a way to a socket whose every connection breaks after so many bytes of
// answers.
func cutting(t testing.TB, socket string, after int64) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "fettle-cut-")
	must(t, err)
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	must(t, err)
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { cut(in, socket, after) })
		}
	})
	t.Cleanup(func() { _ = l.Close(); wg.Wait(); _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "s")
}
