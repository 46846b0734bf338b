package engine

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/toolset/manifest"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// hostileServer lists hundreds of tools in pages, with the longest descriptions there can
// be, of characters that JSON makes longer. Its results are long, too.
func hostileServer(t *testing.T, letter *atomic.Value) *httptest.Server {
	t.Helper()
	const pages, perPage = 5, 50
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Cursor string `json:"cursor"`
			} `json:"params"`
		}
		if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&m) != nil {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		if m.Method == "notifications/initialized" {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		var result any
		switch m.Method {
		case "initialize":
			result = map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{"tools": map[string]any{}}, "serverInfo": map[string]any{"name": "hostile", "version": "1"}}
		case "tools/list":
			page := 0
			_, _ = fmt.Sscan(m.Params.Cursor, &page) // the first page has no cursor
			var tools []any
			for i := range perPage {
				tools = append(tools, map[string]any{
					"name": fmt.Sprintf("t%d", page*perPage+i), "description": strings.Repeat(letter.Load().(string), 16<<10),
					"inputSchema": map[string]any{"type": "object"},
				})
			}
			list := map[string]any{"tools": tools}
			if page+1 < pages {
				list["nextCursor"] = fmt.Sprint(page + 1)
			}
			result = list
		case "tools/call":
			result = map[string]any{"isError": true, "content": []any{map[string]any{"type": "text", "text": strings.Repeat("<", 3<<20)}}}
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": result}) // the client may have gone
	}))
	t.Cleanup(s.Close)
	return s
}

// A server that lists more than a record can have is recorded with the tools that fit,
// before and after all of them change, and other servers, turns and chats work.
func TestAHostileServerStopsNothingElse(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	b := serving(t, `{responses: [{when: "find", step: 0, calls: [{name: find}]}, {when: "hostile", step: 0, calls: [{name: t1}]}, {when: "", text: There.}]}`)
	var letter atomic.Value
	letter.Store(`"`)
	hostile, good := hostileServer(t, &letter), newRemote(t)
	for id, url := range map[string]string{"hostile": hostile.URL, "docs": good.URL} {
		if err := b.AddMCPServer(ctx, manifest.MCPServer{ID: id, URL: url}, registry.ServerSettings{}); err != nil {
			t.Fatal(err)
		}
	}
	looked, err := b.LookAtMCPServer(ctx, "hostile", false)
	if err != nil || len(looked.Report.Tools) < 100 || !slices.ContainsFunc(looked.Report.Notes, func(n string) bool { return strings.Contains(n, "is left out") }) {
		t.Fatalf("the first look: %.300v", err)
	}
	letter.Store(`\`)
	b.o.MCP.Forget("hostile") // all are other tools now, and both lists are in the record
	if looked, err = b.LookAtMCPServer(ctx, "hostile", false); err != nil || !looked.Waiting {
		t.Fatalf("the second look: %.300v", err)
	}
	if _, err := b.ApproveSeen(ctx, "hostile", looked.Approve); err != nil {
		t.Fatalf("approve: %.300v", err)
	}
	if _, err := b.LookAtMCPServer(ctx, "docs", true); err != nil {
		t.Fatal(err)
	}
	b.o.MCP.Forget("hostile")
	for question, result := range map[string]string{"hostile": "hostile:t1: ", "find": "docs:find: found it"} {
		req := ask(question)
		req.Policy = permission.Policy{Allow: []string{"hostile:t1", "docs:*"}}
		if results, _ := resultsOf(b.follow(b.start(req))); len(results) != 1 || !strings.HasPrefix(results[0], result) {
			t.Errorf("%s: %.200q", question, results)
		}
	}
	if _, err := b.Fold(ctx, store.FoldAll); err != nil {
		t.Fatal(err)
	}
	if page, err := b.Chats(ctx, store.ListChats{}); err != nil || len(page.Chats) != 2 {
		t.Errorf("%d chats, %v", len(page.Chats), err)
	}
	if state, err := b.Journals.State(); err != nil || len(state.Turns)+len(state.Damaged) != 0 {
		t.Errorf("journals: %+v, %v", state, err)
	}
}

// A configuration that is too large for a server's record is refused with the server's
// name and both sizes, and the others stay as they are.
func TestAServerConfigurationThatIsTooLargeIsRefusedByName(t *testing.T) {
	t.Parallel()
	b := serving(t, yes)
	ctx := t.Context()
	for _, size := range []int{2 << 20, kv.MaxValue + 1} {
		config := manifest.MCPServer{ID: "large", Command: "node", Args: []string{strings.Repeat("<", size)}}
		err := b.AddMCPServer(ctx, config, registry.ServerSettings{})
		var f *fault.Fault
		if f, _ = err.(*fault.Fault); f == nil || f.Code != fault.Failed || len(f.Remedies) == 0 {
			t.Fatalf("%d bytes: %.300v", size, err)
		}
		for _, want := range []string{"large", "the limit is 1.0 MB"} {
			if !strings.Contains(f.Msg, want) || len(f.Msg) > 400 {
				t.Errorf("%.400q lacks %s", f.Msg, want)
			}
		}
	}
	if err := b.AddMCPServer(ctx, manifest.MCPServer{ID: "docs", Command: "node"}, registry.ServerSettings{}); err != nil {
		t.Error(err)
	}
	if servers, err := b.MCPServers(ctx); err != nil || len(servers) != 1 {
		t.Errorf("%d servers, %v", len(servers), err)
	}
}
