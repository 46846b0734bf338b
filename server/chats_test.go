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
