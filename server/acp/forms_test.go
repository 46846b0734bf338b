package acp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/toolset"
)

// asking is a tool that asks, as those of MCP servers do, and gives what it hears.
func asking(q toolset.Question) toolset.Entry {
	return toolset.Entry{
		Tool: toolset.Tool{ID: "asks", Name: "Asks", Category: "test", Enabled: true, InputSchema: json.RawMessage(`{"type":"object"}`), Annotations: toolset.Annotations{ReadOnly: true}},
		Runner: toolset.RunnerFunc(func(ctx context.Context, c toolset.Call) (toolset.Result, error) {
			got, err := c.Asker.AskPerson(ctx, q)
			return toolset.Result{Text: fmt.Sprintf("heard %s %v %v.", got.Action, got.Values, err)}, nil
		}),
	}
}

const asksOnce = `responses: [{when: "", step: 0, calls: [{name: asks}]}, {when: "", text: Done.}]`

// What a running tool asks is a form in the editor, where it has forms; what comes
// back has to fit it.
func TestToolsAskByFormsOfTheEditor(t *testing.T) {
	t.Parallel()
	seat := toolset.Question{Server: "travel", Message: "Which \x1b[31mseat?", Schema: json.RawMessage(
		`{"type":"object","required":["seat"],"properties":{"seat":{"type":"string"},"bags":{"type":"integer","maximum":3,"default":1}}}`)}
	pay := toolset.Question{Server: "travel", Message: "Pay there.", URL: "https://pay.example.com/a?b=c"}
	agree := toolset.Question{Server: "travel", Message: "Go on?", Schema: json.RawMessage(`{"type":"object","properties":{}}`)}
	forms, urls := obj{"form": obj{}}, obj{"form": obj{}, "url": obj{}}
	accepted := func(content obj) obj { return obj{"action": "accept", "content": content} }
	for _, c := range []struct {
		name     string
		question toolset.Question
		can      obj
		answer   any // of elicitation/create; nil fails it
		heard    string
		shown    []string // of the request, which is a form's or a permission's
	}{
		{"filled in", seat, forms, accepted(obj{"seat": "12A"}), "accept map[bags:1 seat:12A] <nil>", []string{`"mode":"form"`, "The MCP server travel asks: Which [31mseat?", `"requestedSchema":{`, `"maximum":3`}},
		{"declined", seat, forms, obj{"action": "decline"}, "decline map[] <nil>", []string{`"mode":"form"`}},
		{"dismissed", seat, forms, obj{"action": "cancel"}, "decline map[] <nil>", []string{`"mode":"form"`}},
		{"what doesn't fit", seat, forms, accepted(obj{"seat": "12A", "bags": 9}), "decline map[] <nil>", []string{`"mode":"form"`}},
		{"an editor that fails", seat, forms, nil, "decline map[] <nil>", []string{`"mode":"form"`}},
		{"an editor without forms", seat, nil, nil, "decline map[] <nil>", nil},
		{"a page to visit", pay, urls, obj{"action": "accept"}, "accept map[] <nil>", []string{`"mode":"url"`, `"url":"https://pay.example.com/a?b=c"`, `"elicitationId":"`}},
		{"a page in an editor that has forms alone", pay, forms, nil, "accept map[] <nil>", []string{"session/request_permission", "https://pay.example.com/a?b=c", "travel asks: Pay there."}},
		{"a yes or no in an editor without forms", agree, nil, nil, "accept map[] <nil>", []string{"session/request_permission", "travel asks: Go on?"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := open(t, asksOnce, asking(c.question))
			e := h.connect()
			e.answer = func(method string, _ json.RawMessage) (any, *wireError) {
				switch {
				case method == "session/request_permission":
					return obj{"outcome": obj{"outcome": "selected", "optionId": "allow"}}, nil
				case method == "elicitation/create" && c.answer != nil:
					return c.answer, nil
				}
				return nil, &wireError{-32603, "the window is gone", nil}
			}
			capabilities := obj{}
			if c.can != nil {
				capabilities["elicitation"] = c.can
			}
			e.call("initialize", obj{"protocolVersion": 1, "clientCapabilities": capabilities}, nil)
			s := e.newSession(h.project)
			if stop := e.prompt(s, "go"); stop != "end_turn" {
				t.Errorf("it stops for %s", stop)
			}
			if all := string(mustJSON(t, e.updates("tool_call_update"))); !strings.Contains(all, "heard "+strings.ReplaceAll(strings.ReplaceAll(c.heard, "<", `\u003c`), ">", `\u003e`)) {
				t.Errorf("the tool did not hear %q: %s", c.heard, all)
			}
			e.mu.Lock()
			defer e.mu.Unlock()
			asked := ""
			for _, m := range e.got {
				if m.Method == "session/request_permission" || m.Method == "elicitation/create" {
					asked += m.line
				}
			}
			if (asked == "") != (c.shown == nil) {
				t.Errorf("asked %q", asked)
			}
			for _, want := range c.shown {
				if !strings.Contains(asked, want) {
					t.Errorf("asked %s, which lacks %s", asked, want)
				}
			}
		})
	}
}
