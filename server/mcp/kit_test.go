package mcp_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/models"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/script"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/server"
	"github.com/fettle-cli/fettle/server/mcp"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/builtin"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds each wait of a test. What is waited for takes milliseconds; a
// machine that builds at the same time may take a hundred times as long.
const patience = time.Minute

// house is a data directory with an engine on a scripted model.
type house struct {
	t   testing.TB
	dir string
	eng *engine.Engine
	// close ends the engine once; the server does so itself.
	close func() error
}

// plan says what differs from the usual house.
type plan struct {
	script string
	tools  []toolset.Entry
	agents []store.Agent
	policy permission.Policy
}

func open(t testing.TB, p plan) *house {
	t.Helper()
	h := &house{t: t, dir: t.TempDir()}
	if p.script == "" {
		p.script = `responses: [{when: "", text: Hello there.}]`
	}
	must(t, os.WriteFile(filepath.Join(h.dir, "m.yaml"), []byte(p.script), 0o600))
	reg := new(provider.Registry)
	must(t, reg.Add("script", func() (provider.Provider, error) { return script.New(script.Options{Dir: h.dir}), nil }))
	set, err := toolset.NewSet(append(builtin.Entries(builtin.Options{}), p.tools...)...)
	must(t, err)
	agents, err := catalog.NewAgents(p.agents...)
	must(t, err)
	h.eng = engine.New(engine.Options{
		Options: store.Options{DataDir: filepath.Join(h.dir, "data"), Hold: true},
		Sources: catalog.Sources{Tools: set, Agents: agents},
		Policy:  p.policy,
		Models:  &models.Catalog{Registry: reg, Configured: "script/m.yaml"},
		Retry:   provider.RetryOptions{Attempts: 1},
	})
	h.close = sync.OnceValue(h.eng.Close)
	t.Cleanup(func() { must(t, h.close()) })
	return h
}

// serve serves the house as fettle serve does, and gives the address with its
// token.
func (h *house) serve(change func(*mcp.Options)) string {
	h.t.Helper()
	data := filepath.Join(h.dir, "data")
	token, err := server.Token(data)
	must(h.t, err)
	s, err := server.New(server.Options{
		Engine: h.eng, Models: noModels{}, Token: token, DataDir: data, Version: "1.2.3", Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		MCP: func(start func(context.Context, engine.TurnRequest) (store.TurnID, error)) server.MCP {
			o := mcp.Options{Engine: h.eng, Start: start, Version: "1.2.3"}
			if change != nil {
				change(&o)
			}
			return mcp.New(o)
		},
	})
	must(h.t, err)
	l, err := server.Listen(server.ListenOptions{Address: "127.0.0.1:0", DataDir: data})
	must(h.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- s.Run(ctx, l, server.RunOptions{Drain: -1, Ready: func() { close(ready) }}) }()
	h.t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			h.t.Errorf("the server ended with %v", err)
		}
		h.close = func() error { return nil } // it has closed the engine
	})
	select {
	case <-ready:
	case err := <-ended:
		ended <- err
		h.t.Fatalf("the server did not begin: %v", err)
	}
	return "http://" + l.TCP.Addr().String() + "/t/" + token + "/mcp"
}

// client has connections of its own, so that none is left when the test ends.
func client(t testing.TB) *http.Client {
	c := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(c.CloseIdleConnections)
	return c
}

type noModels struct{}

func (noModels) List(context.Context, models.Query) ([]models.List, error) { return nil, nil }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// await waits for something that happens beside the test.
func await(t testing.TB, what string, happened func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !happened(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(what + " did not come")
		}
	}
}
