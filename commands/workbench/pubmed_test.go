package workbench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/models"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/script"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/needtest"
	"github.com/fettle-cli/fettle/internal/paths"
	"github.com/fettle-cli/fettle/toolset/mcp"
	"github.com/fettle-cli/fettle/toolset/python"
	"github.com/fettle-cli/fettle/toolset/registry"
	"github.com/fettle-cli/fettle/toolset/sandbox"
)

// ncbi answers as E-utilities do, with the sample's articles.
func ncbi(t *testing.T, articles []byte) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/eutils/esearch.fcgi":
			_, _ = fmt.Fprint(w, `{"header":{"type":"esearch"},"esearchresult":{"count":"4711","idlist":["99000005","99000002"],"querytranslation":"naps"}}`)
		case "/eutils/efetch.fcgi":
			_, _ = w.Write(articles)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

// pubmedEngine has the toolset installed and runs its tools as fettle does. Only
// the sandbox's way out is the test's: the one host that the toolset may reach
// is a server on this machine.
func pubmedEngine(t *testing.T, dial func(context.Context, string, string) (net.Conn, error), model string) *engine.Engine {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "m.yaml"), []byte(model), 0o600); err != nil {
		t.Fatal(err)
	}
	box := &toolbox{
		dirs: paths.Dirs{Data: filepath.Join(dir, "data"), Home: dir},
		launcher: sandbox.New(sandbox.Options{
			Dial: dial, KeeperEnv: []string{"GORACE=" + strings.TrimSpace(os.Getenv("GORACE")+" atexit_sleep_ms=0")},
		}),
	}
	box.python = python.New(python.Options{
		Launcher: box.launcher, CacheDir: filepath.Join(dir, "cache"), Notice: func(s string) { t.Log(s) }, NoSpares: true,
	})
	box.servers = mcp.New(mcp.Options{Launcher: box.launcher, Dir: filepath.Join(dir, "mcp")})
	reg := new(provider.Registry)
	if err := reg.Add("script", func() (provider.Provider, error) { return script.New(script.Options{Dir: dir}), nil }); err != nil {
		t.Fatal(err)
	}
	eng := engine.New(engine.Options{
		Options: store.Options{DataDir: box.dirs.Data},
		Models:  &models.Catalog{Registry: reg, Configured: "script/m.yaml"},
		Sources: catalog.Sources{Runner: box.runner},
	})
	t.Cleanup(func() {
		if err := errors.Join(eng.Close(), box.Close()); err != nil {
			t.Error(err)
		}
	})
	plan, err := eng.PlanToolset(t.Context(), needtest.Toolset(t, "research-streams"), registry.PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer plan.Close()
	if _, err := eng.ImportToolset(t.Context(), plan, registry.ApplyOptions{Approved: true}); err != nil {
		t.Fatal(err)
	}
	return eng
}

// PubMed's tools in a turn, from the model's call over the sandbox's network to
// the payload: document 001's two tool payloads.
func TestPubMedInATurn(t *testing.T) {
	needtest.Program(t, "python3")
	articles, err := os.ReadFile(filepath.Join(needtest.Toolset(t, "research-streams"), "assets", "sample", "articles.xml"))
	if err != nil {
		t.Fatal(err)
	}
	server := ncbi(t, articles)
	t.Setenv("NCBI_EUTILS_URL", "http://eutils.ncbi.nlm.nih.gov/eutils")
	var mu sync.Mutex
	var reached []string
	eng := pubmedEngine(t, func(ctx context.Context, network, address string) (net.Conn, error) {
		mu.Lock()
		reached = append(reached, address)
		mu.Unlock()
		return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
	}, `{responses: [
  {step: 0, calls: [{name: search_pubmed, args: {query: naps}}]},
  {step: 1, calls: [{name: get_pubmed_article, args: {pmid: "99000002"}}]},
  {step: 2, text: Found.}]}`)
	id, err := eng.Start(t.Context(), engine.TurnRequest{
		Parts: []provider.Part{{Kind: provider.TextPart, Text: "naps?"}}, Policy: permission.Policy{AllowAll: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	var end event.ResponsePayload
	for e, err := range eng.Follow(t.Context(), id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		switch b := e.Body.(type) {
		case event.ToolComplete:
			got = append(got, b.Tool+" "+string(b.Status)+" "+b.Error)
		case event.Payload:
			got = append(got, b.Kind+" "+b.Title+" by "+b.Source)
		case event.Complete:
			end = b.Payload
		case event.Error:
			t.Errorf("the turn ended: %s", b.Message)
		}
	}
	want := []string{
		"search_pubmed success ", "pubmed_search_results PubMed Search Results by tool",
		"get_pubmed_article success ", "pubmed_article PubMed Article by tool",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the turn was\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if end.CustomPayload == nil || end.CustomPayload.Type != "pubmed_article" || !strings.Contains(string(end.CustomPayload.Data), `"source":"pubmed"`) ||
		end.Message != "[[tool:0]][[tool:1]]Found." {
		t.Errorf("%q, %+v", end.Message, end.CustomPayload)
	}
	mu.Lock()
	defer mu.Unlock()
	for _, address := range reached {
		if address != "eutils.ncbi.nlm.nih.gov:80" {
			t.Errorf("it reached %s", address)
		}
	}
	if len(reached) == 0 {
		t.Error("nothing went through the sandbox's network")
	}
}
