package engine

import (
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/kv"
)

// A client's name means a chat until that is deleted, or the name means another
// one; of a chat that is purged no name is left.
func TestNamesOfThreads(t *testing.T) {
	t.Parallel()
	b := newBench(t, toolScript)
	ctx := t.Context()
	means := func(name string) string {
		t.Helper()
		id, ok, err := b.ThreadChat(ctx, name)
		if err != nil || ok != (id != "") {
			t.Fatalf("%q, %v, %v", id, ok, err)
		}
		return id
	}
	var ids []string
	for range 2 {
		chat, err := b.NewChat(ctx, "")
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, chat.ID)
	}
	if got := means("agents:one"); got != "" {
		t.Errorf("a new name means %q", got)
	}
	for _, id := range ids {
		if err := b.NameThread(ctx, "agents:one", id); err != nil {
			t.Fatal(err)
		}
		if got := means("agents:one"); got != id {
			t.Errorf("the name means %q, not %q", got, id)
		}
	}
	chat, err := b.FindChat(ctx, store.ChatRef{ID: ids[1]})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.DeleteChats(ctx, chat); err != nil {
		t.Fatal(err)
	}
	if got := means("agents:one"); got != "" {
		t.Errorf("the name of a deleted chat means %q", got)
	}
	if _, err := b.PurgeChats(ctx, store.Purge{Chats: []string{ids[1]}}); err != nil {
		t.Fatal(err)
	}
	left := 0
	err = b.KV.View(ctx, func(tx *kv.Tx) (err error) {
		left, err = b.Tables.Threads.Count(tx, kv.Range{})
		return err
	})
	if err != nil || left != 0 {
		t.Errorf("%d names are left of a purged chat, %v", left, err)
	}
	for _, name := range []string{"", strings.Repeat("x", store.MaxThreadName+1)} {
		if _, _, err := b.ThreadChat(ctx, name); fault.CodeOf(err) != fault.Usage {
			t.Errorf("a name of %d bytes: %v", len(name), err)
		}
	}
}

// A chat whose first turn is just ending is found: the turn has released its journal, which
// no fold of its process takes yet.
func TestAChatWhoseFirstTurnIsEnding(t *testing.T) {
	t.Parallel()
	b := newBench(t, yes)
	id := b.NewChatID()
	if err := b.NameThread(t.Context(), "agents:new", id); err != nil {
		t.Fatal(err)
	}
	req := ask("hi")
	req.Chat.New = id
	turn := b.start(req)
	b.follow(turn)
	if err := b.Journals.Wait(t.Context(), string(turn), nil); err != nil {
		t.Fatal(err)
	}
	b.Writes = func(store.TurnID) bool { return true }
	if _, err := b.FindChat(t.Context(), store.ChatRef{ID: id}); fault.CodeOf(err) != fault.Busy {
		t.Errorf("while the turn ends: %v", err)
	}
	if got, ok, err := b.ThreadChat(t.Context(), "agents:new"); got != id || !ok || err != nil {
		t.Errorf("the name means %q, %v, %v", got, ok, err)
	}
	b.Writes = func(store.TurnID) bool { return false }
	if _, err := b.FindChat(t.Context(), store.ChatRef{ID: id}); err != nil {
		t.Errorf("after its end: %v", err)
	}
}
