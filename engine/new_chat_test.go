package engine

import (
	"testing"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/store"
)

// A chat without messages is in the list at once, and the first question of it
// is its root.
func TestAChatCanBeMadeBeforeAnythingIsAsked(t *testing.T) {
	t.Parallel()
	b := newBench(t, toolScript)
	c, err := b.NewChat(t.Context(), " \n")
	if err != nil || c.Number != 1 || c.Title != store.NewTitle {
		t.Fatalf("%+v, %v", c, err)
	}
	if conv := b.chat(1); len(conv.Messages) != 0 || conv.Chat.ID != c.ID {
		t.Errorf("%+v", conv)
	}
	page, err := b.Chats(t.Context(), store.ListChats{})
	if err != nil || len(page.Chats) != 1 {
		t.Errorf("%+v, %v", page, err)
	}
	req := ask("write")
	req.Chat.ID, req.Model = c.ID, "script/m.yaml"
	id := b.start(req)
	if !b.Live(id) && b.turn(id) == nil {
		t.Error("the turn isn't known")
	}
	events := b.follow(id)
	if events[len(events)-1].Type() != event.TypeComplete || b.Live(id) {
		t.Errorf("ended with %+v, live %v", events[len(events)-1], b.Live(id))
	}
	if conv := b.reopen().chat(1); len(conv.Messages) != 2 || conv.Messages[0].ParentID != "" || conv.Chat.Title != store.NewTitle {
		t.Errorf("%+v", conv)
	}
}
