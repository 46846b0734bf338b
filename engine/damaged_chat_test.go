package engine

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/search"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/kv"
)

// oneDamagedChat makes two chats that have a record of most kinds, a fork of the first,
// and a third that is deleted; then it damages the records of chat 1 in a table.
func oneDamagedChat(t *testing.T, table string) (b *bench, spoiled int) {
	t.Helper()
	ctx := t.Context()
	b = changer(t, t.TempDir())
	for range 2 {
		b.did(store.ChatRef{}, `{"put":{"a.txt":"1"}}`)
	}
	for n := range int64(2) {
		long := ask("words " + strings.Repeat("long question ", store.InlineParts/10))
		long.Chat.Number = n + 1
		b.run(long)
		c := b.chat(n + 1).Chat
		err := errors.Join(b.NameThread(ctx, fmt.Sprint("thread", n), c.ID), b.Grant(ctx, event.AllowChat, c.ID, "report"),
			b.SaveWorkflow(ctx, &store.WorkflowInstance{ID: fmt.Sprint("w", n), ChatID: c.ID, State: store.WorkflowComplete, TurnID: "none"}),
			b.KV.UpdateSync(ctx, func(tx *kv.Tx) error {
				return errors.Join(b.Tables.Payloads.Put(tx, &chat.PayloadDecision{ChatID: c.ID, PayloadID: "p"}),
					b.Tables.Apps.Put(tx, &store.AppLink{ChatID: c.ID, Of: "none", CallID: fmt.Sprint(n)}),
					b.Tables.Agents.Put(tx, &store.OwnAgent{Agent: store.Agent{ID: fmt.Sprint("agent", n), Purpose: "Helps", Prompt: "Help."}}))
			}))
		_, added := b.AddDocuments(ctx, store.NewDocument{Name: fmt.Sprintf("doc%d.txt", n+1), MIME: store.TextMIME, Data: []byte("text")})
		err = errors.Join(err, added)
		if err != nil {
			t.Fatal(err)
		}
	}
	fork := ask("forked")
	fork.Chat = store.ChatRef{Number: 1, Fork: true}
	b.run(fork)
	b.did(store.ChatRef{}, `{"put":{"a.txt":"1"}}`) // chat 4
	one := b.chat(1).Chat
	if err := b.DeleteChats(ctx, b.chat(4).Chat); err != nil {
		t.Fatal(err)
	}
	if table == "deleted_chats" {
		if err := b.DeleteChats(ctx, one); err != nil {
			t.Fatal(err)
		}
	}
	text := one.ID
	switch table {
	case "events":
		text = b.recordTurn(t, one.ID)
	case "own_agents":
		text = "agent0"
	case "documents":
		text = "doc1"
	case "branches", "branch_marks":
		branches := store.BranchesOf(one, chat.LinksOf(b.chat(1).Messages))
		mark := store.BranchMark{ChatID: one.ID, ID: one.ActiveLeaf, Branch: 1, At: 1}
		if err := b.KV.UpdateSync(ctx, func(tx *kv.Tx) error {
			for _, r := range branches.List {
				if err := b.Tables.Branches.Put(tx, &r); err != nil {
					return err
				}
			}
			return b.Tables.Marks.Put(tx, &mark)
		}); err != nil {
			t.Fatal(err)
		}
	case "artifacts":
		kept, err := b.StoreArtifacts(ctx, one.ID, [][]byte{[]byte("<p>page</p>")})
		if err == nil {
			err = b.KV.UpdateSync(ctx, func(tx *kv.Tx) error { return b.PutArtifacts(tx, one.ID, kept) })
		}
		if err != nil {
			t.Fatal(err)
		}
	case "branch_moves":
		if _, err := b.NoteMove(ctx, one, ""); err != nil {
			t.Fatal(err)
		}
	case "workspace_restores":
		rubbish, cut := "", kv.NewTable(table, func(*string) kv.Key { return kv.Str("folder-of-one") })
		if err := b.KV.UpdateSync(ctx, func(tx *kv.Tx) error { return cut.Put(tx, &rubbish) }); err != nil {
			t.Fatal(err)
		}
		text = "folder-of-one"
	case "upkeep", "usage_days", "usage_state", "stat_cache": // which are about all chats
		_, err := b.CollectStates(ctx, false)
		_, counted := b.UsageByDay(ctx, time.Time{})
		if err := errors.Join(err, counted); err != nil {
			t.Fatal(err)
		}
		text = ""
	case "search_chats", "search_state", "search_words_2", "search_pairs_2":
		if _, err := b.SearchChats(ctx, store.SearchChats{Query: search.Query{}}); err != nil { // which makes the index
			t.Fatal(err)
		}
		text = ""
	}
	return b, b.spoil(table, text)
}

// recordTurn is the id of one of a chat's turns.
func (b *bench) recordTurn(t *testing.T, chatID string) (id string) {
	err := b.KV.View(t.Context(), func(tx *kv.Tx) error {
		for turn, err := range b.Tables.Turns.Scan(tx, kv.Range{}) {
			if err == nil && turn.ChatID == chatID {
				id = turn.ID
			}
		}
		return nil
	})
	if err != nil || id == "" {
		t.Fatalf("no turn of chat %s: %v", chatID, err)
	}
	return id
}
