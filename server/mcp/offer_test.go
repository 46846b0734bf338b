package mcp_test

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/server/mcp"
)

func namesOf(t *testing.T, u *user) []string {
	t.Helper()
	list, err := u.ListTools(t.Context(), nil)
	must(t, err)
	var out []string
	for _, tool := range list.Tools {
		out = append(out, tool.Name)
	}
	return out
}

// What is offered is what the filter names, in one order; an address that names
// nothing is told so.
func TestFilters(t *testing.T) {
	t.Parallel()
	h := open(t, plan{agents: []store.Agent{{ID: "helper", Purpose: "helps", Prompt: "You help."}}})
	url := h.serve(nil)
	dial := func(at string) *user {
		return connect(t, &sdk.StreamableClientTransport{Endpoint: at, HTTPClient: client(t)}, modern, nil)
	}
	all, some := namesOf(t, dial(url)), namesOf(t, dial(url+"/builtin"))
	if !slices.IsSorted(all) || !slices.Contains(all, "agent__helper") || !slices.Contains(all, "write_file") {
		t.Errorf("all are %q", all)
	}
	if slices.Contains(some, "agent__helper") || !slices.Contains(some, "write_file") {
		t.Errorf("those of builtin are %q", some)
	}
	resp, err := client(t).Post(url+"/nothing", "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
	must(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	must(t, err)
	if resp.StatusCode != http.StatusNotFound || !strings.Contains(string(body), "no toolset nothing") {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
	if got := namesOf(t, h.stdio(t, legacy, func(o *mcp.Options) { o.Toolsets = []string{"builtin"} }, nil)); !slices.Equal(got, some) {
		t.Errorf("with the option they are %q", got)
	}
}

// A tool that is switched off is offered no more, and a client that has the old list
// is told.
func TestChangesAreSeen(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	changed := make(chan struct{}, 8)
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- mcp.New(mcp.Options{Engine: h.eng}).Serve(context.Background(), in, out)
		_ = out.Close()
	}()
	c := sdk.NewClient(&sdk.Implementation{Name: "tester"}, &sdk.ClientOptions{ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { changed <- struct{}{} }})
	cs, err := c.Connect(t.Context(), &sdk.IOTransport{Reader: fromServer, Writer: toServer}, &sdk.ClientSessionOptions{ProtocolVersion: legacy})
	must(t, err)
	u := &user{ClientSession: cs}
	if !slices.Contains(namesOf(t, u), "write_file") {
		t.Error("it isn't there to begin with")
	}
	_, err = h.eng.SwitchTool(t.Context(), "write_file", false)
	must(t, err)
	await(t, "the shorter list", func() bool { return !slices.Contains(namesOf(t, u), "write_file") })
	within(t, "word of it", changed)
	if _, err := u.CallTool(t.Context(), &sdk.CallToolParams{Name: "write_file"}); err == nil {
		t.Error("it can still be called")
	}
	must(t, cs.Close())
	_ = toServer.Close()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// Each legacy session has a folder of its own, and so has each name of a modern
// client.
func TestSessionsAreApart(t *testing.T) {
	t.Parallel()
	url := open(t, plan{}).serve(nil)
	dial := func(at, era string) *user {
		return connect(t, &sdk.StreamableClientTransport{Endpoint: at, HTTPClient: client(t)}, era, nil)
	}
	for name, pair := range map[string][2]*user{
		"legacy": {dial(url, legacy), dial(url, legacy)},
		"modern": {dial(url+"?session=a", modern), dial(url+"?session=b", modern)},
	} {
		pair[0].call(t, "write_file", `{"path":"a.txt","content":"hi"}`)
		if res := pair[1].call(t, "read_file", `{"path":"a.txt"}`); !res.IsError {
			t.Errorf("%s: the other one reads %q", name, textOf(res))
		}
		for i, want := range []int{1, 0} {
			list, err := pair[i].ListResources(t.Context(), nil)
			must(t, err)
			if len(list.Resources) != want {
				t.Errorf("%s: %d has %d files, want %d", name, i, len(list.Resources), want)
			}
		}
	}
}
