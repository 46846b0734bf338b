package engine

import (
	"testing"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
)

// An id that is given before there is a chat is the chat's, once.
func TestAChatCanHaveItsIDBeforeItIsThere(t *testing.T) {
	t.Parallel()
	b := newBench(t, toolScript)
	id, dir := b.NewChatID(), t.TempDir()
	if _, err := b.FindChat(t.Context(), store.ChatRef{ID: id}); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("there is a chat already: %v", err)
	}
	req := ask("hello")
	req.Chat.New, req.Workspace, req.Model = id, dir, "script/m.yaml"
	b.run(req)
	if c, err := b.FindChat(t.Context(), store.ChatRef{ID: id}); err != nil || c.ID != id || c.Workspace != dir {
		t.Fatalf("%+v, %v", c, err)
	}
	dropped := b.NewChatID()
	b.DropChatID(dropped)
	for _, other := range []string{id, dropped, "made up"} {
		req.Chat.New = other
		if _, err := b.Start(t.Context(), req); fault.CodeOf(err) != fault.Usage {
			t.Errorf("%s begins a chat: %v", other, err)
		}
	}
	req.Chat = store.ChatRef{ID: id, New: b.NewChatID()}
	if _, err := b.Start(t.Context(), req); fault.CodeOf(err) != fault.Usage {
		t.Errorf("a chat that is there begins: %v", err)
	}

	b.run(ask("hello"))
	for _, c := range []struct {
		q    store.ListChats
		want int
	}{{store.ListChats{}, 2}, {store.ListChats{Bound: true}, 1}, {store.ListChats{Workspace: dir}, 1}, {store.ListChats{Workspace: dir + "x"}, 0}} {
		if page, err := b.Chats(t.Context(), c.q); err != nil || len(page.Chats) != c.want {
			t.Errorf("%+v lists %v, %v", c.q, page.Chats, err)
		}
	}
}

// The records of calls say which states they were between, and those can be had.
func TestToolCallsAndTheirStates(t *testing.T) {
	t.Parallel()
	b := newBench(t, toolScript)
	b.run(ask("write"))
	chat := b.chat(1).Chat
	calls, err := b.ToolCalls(t.Context(), chat.ID)
	if err != nil || len(calls) == 0 {
		t.Fatalf("%v, %v", calls, err)
	}
	for _, c := range calls {
		if c.PostManifestID == "" {
			continue
		}
		if m, err := b.StateByID(t.Context(), c.PostManifestID); err != nil || m == nil || m.ID != c.PostManifestID {
			t.Errorf("the state after %s is %v, %v", c.ToolID, m, err)
		}
	}
	if m, err := b.StateByID(t.Context(), "01ARZ3NDEKTSV4RRFFQ69G5FAV"); err != nil || m != nil {
		t.Errorf("a state that isn't there is %v, %v", m, err)
	}
	if err := b.CheckWorkspace(b.o.DataDir); err == nil {
		t.Error("the data directory may be a workspace")
	}
}
