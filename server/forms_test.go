package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/fettle-cli/fettle/toolset"
)

// What a running tool asks comes to whoever follows the turn and says that it has
// forms; what comes back has to fit.
func TestToolsAskByHTTP(t *testing.T) {
	t.Parallel()
	asks := toolset.Entry{
		Tool: toolset.Tool{ID: "asks", Name: "Asks", Category: "test", Enabled: true, InputSchema: json.RawMessage(`{"type":"object"}`), Annotations: toolset.Annotations{ReadOnly: true}},
		Runner: toolset.RunnerFunc(func(ctx context.Context, c toolset.Call) (toolset.Result, error) {
			got, err := c.Asker.AskPerson(ctx, toolset.Question{Server: "travel", Message: "Which \x1b[31mseat?", Schema: json.RawMessage(
				`{"type":"object","required":["seat"],"properties":{"seat":{"type":"string"},"bags":{"type":"integer","maximum":3,"default":1}}}`)})
			return toolset.Result{Text: fmt.Sprintf("heard %s %v %v.", got.Action, got.Values, err)}, nil
		}),
	}
	h := open(t, plan{script: `responses: [{when: "", step: 0, calls: [{name: asks}]}, {when: "", text: Done.}]`, tools: []toolset.Entry{asks}})
	for _, c := range []struct {
		name   string
		answer doc
		heard  string
	}{
		{"filled in", doc{"decision": "allow", "content": doc{"seat": "12A"}}, "heard accept map[bags:1 seat:12A] <nil>."},
		{"declined", doc{"decision": "deny"}, "heard decline map[] <nil>."},
		{"nobody who has forms", nil, "heard cancel map[] <nil>."},
	} {
		turn, _ := h.start(doc{"message": "go", "confirm": true, "forms": c.answer != nil})
		s := h.follow("GET", "/api/turns/"+turn+"/events", nil)
		if c.answer != nil {
			form, _ := s.until("confirm_request")["form"].(map[string]any)
			if form["server"] != "travel" || form["message"] != "Which [31mseat?" || len(form["fields"].([]any)) != 2 {
				t.Errorf("%s: the form is %v", c.name, form)
			}
			approval := s.until("approval")
			path := "/api/turns/" + turn + "/confirm"
			body := doc{"tool_use_id": approval["tool_use_id"], "nonce": approval["nonce"], "decision": "allow", "content": doc{"bags": 9}}
			h.call("POST", path, body).is(400, nil)
			for name, value := range c.answer {
				body[name] = value
			}
			h.call("POST", path, body).is(204, nil)
		}
		if got := s.until("tool_complete")["result"]; got != c.heard {
			t.Errorf("%s: %v, want %q", c.name, got, c.heard)
		}
		s.all()
	}
}
