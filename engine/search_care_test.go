package engine

import (
	"encoding/json"
	"testing"

	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/kv"
)

// What is done with chats as a whole is seen by the search at once.
func TestSearchFollowsTheCareOfChats(t *testing.T) {
	t.Parallel()
	b := newBench(t, echoScript)
	b.askIn(0, "the heron stands")
	b.askIn(0, "the wren sings")
	b.wantFound("wren", 2)
	empty := b.terms()

	if _, err := b.RenameChat(t.Context(), store.ChatRef{Number: 1}, "Of waders"); err != nil {
		t.Fatal(err)
	}
	b.wantFound("waders", 1)
	b.wantFound("heron", 1)

	fork, err := b.ForkChat(t.Context(), store.ChatRef{Number: 1}, 0)
	if err != nil {
		t.Fatal(err)
	}
	b.wantFound("heron", fork.Number, 1)

	doc, _, err := b.ExportChat(t.Context(), store.ChatRef{Number: 2})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	docs, _, err := decodeChats(text)
	if err != nil {
		t.Fatal(err)
	}
	in, err := b.importChats(t.Context(), docs, store.CopyExisting)
	if err != nil {
		t.Fatal(err)
	}
	b.wantFound("wren", in[0].Chat.Number, 2)

	b.del(fork.Number, in[0].Chat.Number)
	b.wantFound("heron", 1)
	b.wantFound("wren", 2)
	if _, _, err := b.RestoreChat(t.Context(), fork.Number); err != nil {
		t.Fatal(err)
	}
	b.wantFound("heron", fork.Number, 1)

	b.del(fork.Number, 1)
	if _, err := b.PurgeChats(t.Context(), store.Purge{}); err != nil {
		t.Fatal(err)
	}
	b.wantFound("heron")
	b.wantFound("waders")
	b.wantFound("wren", 2)
	if n := b.terms(); n >= empty {
		t.Errorf("%d bytes are left of the index, %d were of two chats", n, empty)
	}
}

// A chat that can't be read any more can still be removed.
func TestADamagedChatIsPurgedFromTheSearch(t *testing.T) {
	t.Parallel()
	b := newBench(t, echoScript)
	b.askIn(0, "the heron stands")
	chat := b.chat(1)
	b.del(1)
	err := b.KV.Update(t.Context(), func(tx *kv.Tx) error {
		m, err := b.Tables.Messages.Get(tx, kv.Str(chat.Chat.ID).Str(chat.Messages[0].ID))
		if err != nil {
			return err
		}
		m.Pieces, m.Parts = 3, nil
		return b.Tables.Messages.Put(tx, m)
	})
	if err != nil {
		t.Fatal(err)
	}
	out, err := b.PurgeChats(t.Context(), store.Purge{})
	if err != nil || out.Chats != 1 {
		t.Fatalf("purged %+v, %v", out, err)
	}
	b.wantFound("heron")
}
