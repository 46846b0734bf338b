package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/toolset"
)

// generalDoc is what list_messages has of document 000's GeneralChatMessage.
type generalDoc struct {
	Messages []struct {
		ID, Role, Content, Timestamp string
		Workspace                    *struct{ Type, Title, Content string } `json:"workspace_payload"`
		Custom                       *struct {
			Type string
			Data json.RawMessage
		} `json:"custom_payload"`
		History []struct {
			Tool string `json:"tool_name"`
		} `json:"tool_history"`
		Values []struct{ Label string } `json:"suggested_values"`
	}
	Calls []struct {
		ID        string
		Workspace *struct{ Type string } `json:"workspace_payload"`
		PayloadID string                 `json:"payload_id"`
	}
	Before string
}

const resultsScript = `
responses:
  - {when: review, step: 0, text: I look., calls: [{name: "reviews:analyze_reviews", args: {business_name: Blue Door}}]}
  - {when: review, step: 1, text: Done.}
  - {when: "", text: Hello there.}
`

// reviewed is a server whose tool analyze_reviews gives a payload for the panel.
func reviewed(t testing.TB, given string) *house {
	t.Helper()
	h := open(t, plan{script: resultsScript, runs: map[string]toolset.RunnerFunc{
		"reviews:analyze_reviews": func(context.Context, toolset.Call) (toolset.Result, error) {
			return toolset.Result{Text: "Analyzed.", WorkspacePayload: json.RawMessage(given)}, nil
		},
	}})
	h.install("reviews")
	return h
}

// A message of the list is document 000's GeneralChatMessage, in a fork too, and after any
// number of further answers.
func TestMessagesAreGeneralChatMessages(t *testing.T) {
	t.Parallel()
	h := reviewed(t, `{"type":"draft","title":"Blue Door","content":"Good.","suggested_values":[{"label":"More","value":"more"}]}`)
	ended, number := h.finish(doc{"message": "review", "allow": []string{"*"}})
	for range 50 {
		h.finish(doc{"message": "hello", "conversation_id": number})
	}
	path := fmt.Sprintf("/api/chats/%d", number)
	var fork struct{ Chat struct{ Number int } }
	h.call("POST", path+"/fork", doc{}).is(201, &fork)
	complete := ended[len(ended)-1]["payload"].(doc)
	for _, of := range []string{path, fmt.Sprintf("/api/chats/%d", fork.Chat.Number)} {
		var m generalDoc
		h.call("GET", of+"/messages?limit=1000", nil).is(200, &m)
		if len(m.Messages) != 102 || len(m.Calls) != 1 {
			t.Fatalf("%s has %d messages and %d calls", of, len(m.Messages), len(m.Calls))
		}
		q, a := m.Messages[0], m.Messages[1]
		if q.Role != "user" || q.Content != "review" || q.Timestamp == "" || q.Custom != nil {
			t.Errorf("%s: the question is %+v", of, q)
		}
		if a.Role != "assistant" || a.Content != complete["message"] || !strings.Contains(a.Content, "[[tool:0]]") {
			t.Errorf("%s: the answer's content is %q; the turn's was %q", of, a.Content, complete["message"])
		}
		if a.Workspace == nil || a.Workspace.Type != "draft" || a.Workspace.Title != "Blue Door" || a.Workspace.Content != "Good." {
			t.Errorf("%s: workspace_payload %+v", of, a.Workspace)
		}
		if a.Custom == nil || a.Custom.Type != "tool_history" || !strings.Contains(string(a.Custom.Data), `"output":"Analyzed."`) || len(a.Values) != 1 {
			t.Errorf("%s: custom_payload %+v, suggestions %+v", of, a.Custom, a.Values)
		}
		if c := m.Calls[0]; c.Workspace == nil || c.Workspace.Type != "draft" || !strings.HasPrefix(c.PayloadID, a.ID+".") {
			t.Errorf("%s: the call is %+v", of, c)
		}
		m = generalDoc{}
		h.call("GET", of+"/messages?limit=1000&tool_history=false", nil).is(200, &m)
		if a := m.Messages[1]; a.Custom != nil || a.Workspace == nil {
			t.Errorf("%s without the history: %+v", of, a)
		}
	}
	h.call("GET", path+"/messages?tool_history=maybe", nil).is(400, nil)
}

// Where the payloads of a page of messages are many megabytes, the page has fewer
// messages, and the others come with the next one.
func TestLongPayloadsComeInPages(t *testing.T) {
	t.Parallel()
	h := reviewed(t, `{"type":"draft","title":"Long","content":"`+strings.Repeat("x", 1000_000)+`"}`)
	number := 0
	for range 12 {
		body := doc{"message": "review", "allow": []string{"*"}}
		if number != 0 {
			body["conversation_id"] = number
		}
		_, number = h.finish(body)
	}
	seen, before, pages := 0, "", 0
	for more := true; more; pages++ {
		var m generalDoc
		h.call("GET", fmt.Sprintf("/api/chats/%d/messages?tool_history=false%s", number, before), nil).is(200, &m)
		seen += len(m.Messages)
		for _, a := range m.Messages {
			if a.Role == "assistant" && (a.Workspace == nil || len(a.Workspace.Content) != 1000_000) {
				t.Fatalf("message %s has no whole payload", a.ID)
			}
		}
		if more = m.Before != ""; more {
			before = "&before=" + m.Before
		}
	}
	if seen != 24 || pages < 2 {
		t.Errorf("%d messages in %d pages", seen, pages)
	}
}

// An edit of a draft is stored with the payload, and the next question tells the model.
func TestADraftIsEditedOverHTTP(t *testing.T) {
	t.Parallel()
	h := reviewed(t, `{"type":"draft","title":"Blue Door","content":"Good."}`)
	_, number := h.finish(doc{"message": "review", "allow": []string{"*"}})
	path := fmt.Sprintf("/api/chats/%d/payloads", number)
	var list struct {
		Payloads []struct {
			ID       string
			Edit     *struct{ Text string }
			Decision *struct{}
		}
	}
	h.call("GET", path, nil).is(200, &list)
	if len(list.Payloads) != 1 || list.Payloads[0].Edit != nil {
		t.Fatalf("payloads %+v", list)
	}
	at := path + "/" + list.Payloads[0].ID + "/text"
	h.call("PUT", at, doc{"text": "Better."}).is(200, nil)
	h.call("PUT", path+"/"+list.Payloads[0].ID+"x/text", doc{"text": "y"}).is(404, nil)
	h.call("GET", path, nil).is(200, &list)
	if p := list.Payloads[0]; p.Edit == nil || p.Edit.Text != "Better." || p.Decision != nil {
		t.Errorf("after the edit: %+v", p)
	}
}
