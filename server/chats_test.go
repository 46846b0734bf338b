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

// A chat whose first turn runs is there for whoever opens it: without messages yet,
// and with the turn to follow.
func TestAChatIsThereWhileItsFirstTurnRuns(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	var begun struct {
		TurnID string `json:"turn_id"`
		ChatID string `json:"chat_id"`
		Number int    `json:"conversation_id"`
	}
	h.call("POST", "/api/turns", doc{"message": "slow"}).is(202, &begun)
	for _, name := range []string{begun.ChatID, fmt.Sprint(begun.Number)} {
		var chat struct {
			Chat   struct{ ID string }
			TurnID string `json:"turn_id"`
		}
		h.call("GET", "/api/chats/"+name, nil).is(200, &chat)
		if chat.Chat.ID != begun.ChatID || chat.TurnID != begun.TurnID {
			t.Errorf("%s is %+v", name, chat)
		}
		h.call("GET", "/api/chats/"+name+"/messages", nil).is(200, &chat)
		if chat.Chat.ID != begun.ChatID || chat.TurnID != begun.TurnID {
			t.Errorf("the messages of %s are %+v", name, chat)
		}
		var shown struct{ Payloads json.RawMessage }
		h.call("GET", "/api/chats/"+name+"/payloads", nil).is(200, &shown)
		if string(shown.Payloads) != "[]" {
			t.Errorf("the payloads of %s are %s", name, shown.Payloads)
		}
	}
	h.call("POST", "/api/turns/"+begun.TurnID+"/cancel", nil)
	var page struct{ Messages []doc }
	eventually(t, "the turn has ended", func() bool {
		a := h.call("GET", "/api/chats/"+begun.ChatID+"/messages", nil)
		return a.status == 200 && json.Unmarshal(a.body, &page) == nil && len(page.Messages) == 2
	})
}

// A client that comes back to a turn of a chat gets the rest of it, also where the
// chat has gone on in another branch; one of another chat's is not found.
func TestAChatIsFollowedWhereAClientWas(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	events, number := h.finish(doc{"message": "hello"})
	first := fmt.Sprint(events[0]["turn_id"])
	path := fmt.Sprintf("/api/chats/%d", number)
	var page messagesDoc
	h.call("GET", path+"/messages", nil).is(200, &page)
	var again struct {
		TurnID string `json:"turn_id"`
	}
	h.call("POST", path+"/retry", doc{"message_id": page.Messages[0].ID}).is(202, &again)
	h.follow("GET", "/api/turns/"+again.TurnID+"/events", nil).until("complete")
	for _, turn := range []string{first, again.TurnID} {
		rest := h.follow("GET", path+"/events", nil, "Last-Event-ID", turn+".1")
		if got := rest.all(); rest.res.StatusCode != 200 || len(got) != len(events)-1 || got[0]["turn_id"] != turn {
			t.Errorf("%s: status %d, %d events of %d", turn, rest.res.StatusCode, len(got), len(events)-1)
		}
	}
	_, other := h.finish(doc{"message": "hello"})
	live, _ := h.start(doc{"message": "slow", "conversation_id": other})
	for _, turn := range []string{live, "01ARZ3NDEKTSV4RRFFQ69G5FAV"} {
		h.call("GET", path+"/events", nil, "Last-Event-ID", turn+".1").is(404, nil)
	}
	h.call("GET", fmt.Sprintf("/api/chats/%d/events", other), nil, "Last-Event-ID", first+".1").is(404, nil)
	h.call("POST", "/api/turns/"+live+"/cancel", nil).is(204, nil)
}
