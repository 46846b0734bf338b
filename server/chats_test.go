package server_test

import (
	"encoding/json"
	"fmt"
	"testing"
)

// A message without parts has an empty list of them: clients iterate.
func TestAFailedAnswerHasAListOfParts(t *testing.T) {
	t.Parallel()
	h := open(t, plan{script: "responses: [{when: \"\", error: {kind: broken, message: no}}]\n"})
	turn, number := h.start(doc{"message": "hello"})
	h.follow("GET", "/api/turns/"+turn+"/events", nil).until("error")
	var page struct {
		Messages []struct {
			Status string
			Parts  json.RawMessage
		}
	}
	eventually(t, "the turn is kept", func() bool {
		a := h.call("GET", fmt.Sprintf("/api/chats/%d/messages", number), nil)
		return a.status == 200 && json.Unmarshal(a.body, &page) == nil && len(page.Messages) == 2
	})
	if m := page.Messages[1]; m.Status != "error" || string(m.Parts) != "[]" {
		t.Errorf("the answer is %s with parts %s", m.Status, m.Parts)
	}
}
