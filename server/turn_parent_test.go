package server_test

import (
	"fmt"
	"slices"
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
		Question     *struct {
			ID    string
			Parts []struct{ Text string }
		}
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
	if q := now.Question; q == nil || len(q.Parts) != 1 || q.Parts[0].Text != "twice" {
		t.Errorf("its question is %+v", q)
	}
	asked := list("").Messages
	if end := asked[2]; end.ID != now.Question.ID {
		t.Errorf("its question is in the chat as %s, and was told as %s", end.ID, now.Question.ID)
	}
	now, way = running("/retry", doc{"message_id": asked[3].ID})
	if now.TurnParentID != asked[2].ID || len(way.Messages) != 3 || now.Question != nil {
		t.Errorf("while it is asked again: %+v, and the way there %+v", now, way)
	}
	now, _ = running("/edit", doc{"message_id": asked[0].ID, "message": "twice"})
	if now.TurnID == "" || now.TurnParentID != "" {
		t.Errorf("while the first question is edited: %+v", now)
	}
}

// A chat whose first answer is being made is found by others, with its question.
func TestAChatIsListedWhileItsFirstTurnRuns(t *testing.T) {
	t.Parallel()
	h := open(t, plan{script: askScript, tools: removeTool()})
	var turn struct {
		Events string
		ChatID string `json:"chat_id"`
	}
	h.call("POST", "/api/turns", doc{"message": "twice", "confirm": true}).is(202, &turn)
	s := h.follow("GET", turn.Events, nil)
	a := s.until("approval")
	type listed struct {
		ID, Preview string
		TurnID      string `json:"turn_id"`
	}
	list := func() []listed {
		t.Helper()
		var page struct{ Chats []listed }
		h.call("GET", "/api/chats", nil).is(200, &page)
		return page.Chats
	}
	now := list()
	if len(now) != 1 || now[0].ID != turn.ChatID || now[0].Preview != "twice" || now[0].TurnID == "" {
		t.Fatalf("while its first turn runs: %+v", now)
	}
	var page struct {
		Question *struct{ Parts []struct{ Text string } }
	}
	h.call("GET", "/api/chats/"+turn.ChatID+"/messages", nil).is(200, &page)
	if page.Question == nil || page.Question.Parts[0].Text != "twice" {
		t.Errorf("its question is %+v", page.Question)
	}
	h.call("POST", "/api/turns/"+now[0].TurnID+"/confirm", doc{"tool_use_id": a["tool_use_id"], "nonce": a["nonce"], "decision": "deny"}).is(204, nil)
	s.until("complete")
	if after := list(); len(after) != 1 || after[0].ID != turn.ChatID {
		t.Errorf("after it: %+v", after)
	}
}

// A fork has the messages that it begins with, and their calls, while its first turn
// runs as well as after it.
func TestAForkListsItsMessagesWhileItsFirstTurnRuns(t *testing.T) {
	t.Parallel()
	h := open(t, plan{script: askScript, tools: removeTool()})
	type page struct {
		Messages []struct {
			ID     string
			ChatID string `json:"chat_id"`
		}
		Before       string
		TurnID       string `json:"turn_id"`
		TurnParentID string `json:"turn_parent_id"`
		Question     *struct{ ID string }
		Calls        []struct {
			MessageID string `json:"message_id"`
		}
	}
	list := func(chat, query string) (p page) {
		t.Helper()
		h.call("GET", "/api/chats/"+chat+"/messages"+query, nil).is(200, &p)
		return p
	}
	// denied has a turn's call denied, and looks at its chat before.
	denied := func(body doc, meanwhile func(chat string)) string {
		t.Helper()
		var turn struct {
			Events string
			ChatID string `json:"chat_id"`
			TurnID string `json:"turn_id"`
		}
		body["confirm"] = true
		h.call("POST", "/api/turns", body).is(202, &turn)
		s := h.follow("GET", turn.Events, nil)
		a := s.until("approval")
		meanwhile(turn.ChatID)
		h.call("POST", "/api/turns/"+turn.TurnID+"/confirm", doc{"tool_use_id": a["tool_use_id"], "nonce": a["nonce"], "decision": "deny"}).is(204, nil)
		s.until("complete")
		return turn.ChatID
	}
	from := denied(doc{"message": "twice"}, func(string) {})
	was := list(from, "")
	ids := func(p page) (out []string) {
		for _, m := range p.Messages {
			out = append(out, m.ID)
		}
		return out
	}
	fork := denied(doc{"message": "twice", "chat_id": from, "fork": true}, func(chat string) {
		now := list(chat, "")
		if !slices.Equal(ids(now), ids(was)) || now.Messages[0].ChatID != chat || len(now.Calls) != len(was.Calls) || len(now.Calls) == 0 {
			t.Errorf("the fork lists %+v while its first turn runs; it comes from %+v", now, was)
		}
		last := was.Messages[len(was.Messages)-1].ID
		if now.TurnID == "" || now.TurnParentID != last || now.Question == nil {
			t.Errorf("its turn is %s behind %s with the question %+v; it goes on from %s", now.TurnID, now.TurnParentID, now.Question, last)
		}
		if p := list(chat, "?limit=1"); len(p.Messages) != 1 || p.Messages[0].ID != last || p.Before != last {
			t.Errorf("a page of one is %+v", p)
		}
		if p := list(chat, "?leaf="+was.Messages[0].ID); !slices.Equal(ids(p), ids(was)[:1]) {
			t.Errorf("the way to the first message is %+v", p)
		}
		h.call("GET", "/api/chats/"+chat+"/messages?leaf=01ARZ3NDEKTSV4RRFFQ69G5FAV", nil).is(404, nil)
		if p := list(from, ""); p.TurnID != "" || p.Messages[0].ChatID != from {
			t.Errorf("the chat that it comes from lists %+v", p)
		}
	})
	if after := list(fork, ""); len(after.Messages) != len(was.Messages)+2 || !slices.Equal(ids(after)[:len(was.Messages)], ids(was)) {
		t.Errorf("after its turn it lists %+v", after)
	}
}
