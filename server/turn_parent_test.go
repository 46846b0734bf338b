package server_test

import (
	"fmt"
	"testing"
)

// Who comes in while a question is asked in other words, or once more, is told where
// in the chat its answer will stand.
func TestTheMessagesTellWhatTheRunningTurnGoesOnFrom(t *testing.T) {
	t.Parallel()
	h := open(t, plan{script: askScript, tools: removeTool()})
	_, number := h.finish(doc{"message": "one"})
	path := fmt.Sprintf("/api/chats/%d", number)
	h.finish(doc{"message": "two", "conversation_id": number})
	type page struct {
		messagesDoc
		TurnID       string `json:"turn_id"`
		TurnParentID string `json:"turn_parent_id"`
	}
	list := func(query string) (p page) {
		t.Helper()
		h.call("GET", path+"/messages"+query, nil).is(200, &p)
		return p
	}
	first := list("")
	if len(first.Messages) != 4 || first.TurnID != "" || first.TurnParentID != "" {
		t.Fatalf("at rest the chat lists %+v", first)
	}
	// running begins a turn that waits for a person, looks at the list and ends it.
	running := func(op string, body doc) (page, page) {
		t.Helper()
		var turn struct{ Events string }
		body["confirm"] = true
		h.call("POST", path+op, body).is(202, &turn)
		s := h.follow("GET", turn.Events, nil)
		a := s.until("approval")
		now := list("")
		var way page
		if now.TurnParentID != "" {
			way = list("?leaf=" + now.TurnParentID)
		}
		h.call("POST", "/api/turns/"+now.TurnID+"/confirm", doc{"tool_use_id": a["tool_use_id"], "nonce": a["nonce"], "decision": "deny"}).is(204, nil)
		s.until("complete")
		return now, way
	}
	now, way := running("/edit", doc{"message_id": first.Messages[2].ID, "message": "twice"})
	if now.TurnParentID != first.Messages[1].ID || len(now.Messages) != 4 || len(way.Messages) != 2 || way.Messages[1].ID != first.Messages[1].ID {
		t.Errorf("while the second question is edited: %+v, and the way there %+v", now, way)
	}
	asked := list("").Messages
	now, way = running("/retry", doc{"message_id": asked[3].ID})
	if now.TurnParentID != asked[2].ID || len(way.Messages) != 3 {
		t.Errorf("while it is asked again: %+v, and the way there %+v", now, way)
	}
	now, _ = running("/edit", doc{"message_id": asked[0].ID, "message": "twice"})
	if now.TurnID == "" || now.TurnParentID != "" {
		t.Errorf("while the first question is edited: %+v", now)
	}
}
