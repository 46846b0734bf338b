package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fettle-cli/fettle/toolset"
)

// asker is a tool that asks, as those of MCP servers do, and gives what it hears.
func asker(id string, q toolset.Question) toolset.Entry {
	return toolset.Entry{
		Tool: toolset.Tool{ID: id, Name: id, Category: "test", Enabled: true, InputSchema: json.RawMessage(`{"type":"object"}`), Annotations: toolset.Annotations{ReadOnly: true}},
		Runner: toolset.RunnerFunc(func(ctx context.Context, c toolset.Call) (toolset.Result, error) {
			got, err := c.Asker.AskPerson(ctx, q)
			return toolset.Result{Text: fmt.Sprintf("heard %s %v %v.", got.Action, got.Values, err)}, nil
		}),
	}
}

// askers ask for a seat, and for a page to be visited.
func askers() []toolset.Entry {
	return []toolset.Entry{
		asker("seat", toolset.Question{Server: "travel", Message: "Which \x1b[31mseat?", Schema: json.RawMessage(
			`{"type":"object","required":["seat"],"properties":{"seat":{"type":"string"},"bags":{"type":"integer","maximum":3,"default":1}}}`)}),
		asker("pay", toolset.Question{Server: "travel", Message: "Pay there.", URL: "https://pay.example.com/a?b=c"}),
	}
}

func fills(action string, content map[string]any) answers {
	return func(string) *sdk.ElicitResult { return &sdk.ElicitResult{Action: action, Content: content} }
}

// What a running tool asks goes on to the client, by each transport and in each era,
// in the name of who asks; what comes back has to fit.
func TestToolsAskTheClientsUser(t *testing.T) {
	t.Parallel()
	h := open(t, plan{tools: askers()})
	h.ways(t, nil, func(t *testing.T, dial func(answers) *user) {
		for _, c := range []struct {
			name  string
			say   answers
			tool  string
			heard string
			asks  int
		}{
			{"filled in", fills("accept", map[string]any{"seat": "12A"}), "seat", "heard accept map[bags:1 seat:12A] <nil>.", 1},
			{"declined", fills("decline", nil), "seat", "heard decline map[] <nil>.", 1},
			{"dismissed", fills("cancel", nil), "seat", "heard decline map[] <nil>.", 1},
			{"nobody to ask", nil, "seat", "heard cancel map[] <nil>.", 0},
			{"a page where the client shows forms alone", fills("accept", nil), "pay", "heard decline map[] <nil>.", 0},
		} {
			u := dial(c.say)
			if res := u.call(t, c.tool, `{}`); textOf(res) != c.heard {
				t.Errorf("%s: %q, want %q", c.name, textOf(res), c.heard)
			}
			u.mu.Lock()
			asked := strings.Join(u.asked, "\n")
			u.mu.Unlock()
			if c.asks == 0 && asked != "" || c.asks > 0 && asked != "The MCP server travel asks: Which [31mseat?" {
				t.Errorf("%s: it asked %q", c.name, asked)
			}
		}
	})
}

// A page to be visited is named to clients that can show one, with its address.
func TestToolsNameAPageToVisit(t *testing.T) {
	t.Parallel()
	h := open(t, plan{tools: askers()})
	url := h.serve(nil)
	for _, era := range []string{legacy, modern} {
		var seen *sdk.ElicitParams
		o := &sdk.ClientOptions{
			Capabilities: &sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}, URL: &sdk.URLElicitationCapabilities{}}},
			ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
				seen = r.Params
				return &sdk.ElicitResult{Action: "accept"}, nil
			},
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		s, err := sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "1"}, o).Connect(ctx,
			&sdk.StreamableClientTransport{Endpoint: url, HTTPClient: client(t)}, &sdk.ClientSessionOptions{ProtocolVersion: era})
		must(t, err)
		res, err := s.CallTool(ctx, &sdk.CallToolParams{Name: "pay", Arguments: json.RawMessage(`{}`)})
		must(t, err)
		if textOf(res) != "heard accept map[] <nil>." {
			t.Errorf("%s: %q", era, textOf(res))
		}
		if seen == nil || seen.Mode != "url" || seen.URL != "https://pay.example.com/a?b=c" || seen.Message != "The MCP server travel asks: Pay there." || seen.RequestedSchema != nil {
			t.Errorf("%s: it was asked %+v", era, seen)
		}
		must(t, s.Close())
		cancel()
	}
}
