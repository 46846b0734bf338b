package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/engine/workspace"
	"github.com/fettle-cli/fettle/internal/kv"
)

// A page of a chat reads the calls of its messages and none of those behind them: it
// doesn't even meet a record there that can't be read.
func TestAPageReadsItsOwnCalls(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	b.did(store.ChatRef{}, `{"put":{"a.txt":"1"}}`)
	b.did(lastChat, `{"put":{"b.txt":"2"}}`)
	conv := b.chat(1)
	later := "7ZZZZZZZZZ0000000000000000"
	odd := kv.NewTable("tool_calls", func(c *oddCall) kv.Key { return kv.Str(c.ID) },
		kv.On("chat", func(c *oddCall) kv.Key { return kv.Str(c.ChatID) }))
	err := b.KV.Update(t.Context(), func(tx *kv.Tx) error {
		return odd.Put(tx, &oddCall{ID: later, ChatID: conv.Chat.ID, Index: "no number"})
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range [][]chat.Message{conv.Messages[:2], conv.Messages} {
		calls, err := b.ViewCalls(t.Context(), conv.Chat.ID, page)
		if err != nil || len(calls) != len(page)/2 {
			t.Errorf("%d messages: %d calls, %v", len(page), len(calls), err)
		}
	}
}

// A fork has the calls of the messages that it has, under ids of its own.
func TestAForkHasItsCalls(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	b.did(store.ChatRef{}, `{"put":{"a.txt":"1"}}`)
	b.did(lastChat, `{"put":{"b.txt":"2"}}`)
	from := b.chat(1)
	fork, err := b.ForkChat(t.Context(), store.ChatRef{Number: 1}, 2)
	if err != nil {
		t.Fatal(err)
	}
	for chat, calls := range map[int64]int{1: 2, fork.Number: 1} {
		conv := b.chat(chat)
		got, err := b.ViewCalls(t.Context(), conv.Chat.ID, conv.Messages)
		if err != nil || len(got) != calls || got[0].MessageID != from.Messages[1].ID || got[0].Changed != 1 || got[0].ChatID != conv.Chat.ID {
			t.Errorf("chat %d has the calls %+v, %v", chat, got, err)
		}
	}
}

// So has a fork that begins with a question, however often it is folded.
func TestAForkThatAsksHasItsCalls(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	b.did(store.ChatRef{}, `{"put":{"a.txt":"1"}}`)
	from := b.chat(1)
	req := ask(`{"put":{"b.txt":"2"}}`)
	req.Chat, req.Policy.AllowAll = store.ChatRef{Number: 1, Fork: true}, true
	b.run(req)
	ctx, cut := context.WithCancel(t.Context())
	b.Pause = func(step string) { // as a crash would be before the turn's record
		if step == "fold:parts" {
			cut()
		}
	}
	if n, err := b.Fold(ctx, store.FoldAll); err == nil {
		t.Errorf("%d were folded", n)
	}
	b.Pause = func(string) {}
	conv := b.chat(2)
	got, err := b.ViewCalls(t.Context(), conv.Chat.ID, conv.Messages)
	if err != nil || len(got) != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	first, err := b.ViewCalls(t.Context(), from.Chat.ID, from.Messages)
	if err != nil || len(first) != 1 || got[0].ID == first[0].ID || got[0].MessageID != first[0].MessageID || got[0].Changed != 1 {
		t.Errorf("the copy is %+v of %+v, %v", got[0], first, err)
	}
	if all, err := b.ToolCalls(t.Context(), conv.Chat.ID); err != nil || len(all) != 2 {
		t.Errorf("%d records, %v", len(all), err)
	}
	if whole, err := b.ViewCall(t.Context(), got[0].ID); err != nil || len(whole.Result) == 0 {
		t.Errorf("its page has %+v, %v", whole, err)
	}
}

// oddCall is a call whose record this version can't read.
type oddCall struct {
	ID     string `json:"id"`
	ChatID string `json:"chat_id"`
	Index  string `json:"index"`
}

// All plans of a list together are bounded, too; what is left out is said.
func TestPlansOfAPageAreBounded(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	b.did(store.ChatRef{}, `{"put":{"a.txt":"1"}}`)
	conv := b.chat(1)
	plan := []byte(fmt.Sprintf(`{"renderer":"code","data":%q}`, strings.Repeat("x", workspace.ViewedPlan-1000)))
	last := conv.Messages[len(conv.Messages)-1]
	call := last.Parts[0]
	for i := range last.Parts {
		if last.Parts[i].Call != nil {
			call = last.Parts[i]
		}
	}
	const many = 2 * workspace.ViewedPlans / workspace.ViewedPlan
	err := b.KV.Update(t.Context(), func(tx *kv.Tx) error {
		for i := range many {
			use := *call.Call
			use.ID = fmt.Sprintf("more-%d", i)
			part := call
			part.Call = &use
			last.Parts = append(last.Parts, part)
			c := chat.ToolCall{ID: b.NewID(), ChatID: conv.Chat.ID, MessageID: last.ID, ToolUseID: use.ID, RenderPlan: plan, Index: i + 1}
			if err := b.Tables.Calls.Put(tx, &c); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	calls, err := b.ViewCalls(t.Context(), conv.Chat.ID, []chat.Message{last})
	if err != nil {
		t.Fatal(err)
	}
	size, omitted := 0, 0
	for _, c := range calls {
		size += len(c.RenderPlan)
		if c.PlanOmitted {
			omitted++
		}
	}
	if len(calls) != many+1 || size > workspace.ViewedPlans || size < workspace.ViewedPlans/2 || omitted == 0 {
		t.Errorf("%d calls with %d bytes of plans, %d left out", len(calls), size, omitted)
	}
}
