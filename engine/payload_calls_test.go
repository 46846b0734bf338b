package engine

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/toolset"
)

// charted is a chat in which a tool gave a chart for the workspace panel.
func charted(t *testing.T, given string) (*bench, *rogue) {
	t.Helper()
	b, r := newRogue(t, func(_ context.Context, step int, yield func([]provider.Delta, error) bool) {
		if step == 0 {
			yield([]provider.Delta{calls("u1", "show", `{}`), stops("tool_use")}, nil)
			return
		}
		yield([]provider.Delta{says("There."), stops("stop")}, nil)
	}, tool("x:show", func(context.Context, toolset.Call) (toolset.Result, error) {
		return toolset.Result{Text: "drawn", WorkspacePayload: json.RawMessage(given)}, nil
	}))
	req := ask("draw it")
	req.Policy.AllowAll = true
	b.run(req)
	return b, r
}

// What a call gave for the workspace panel has no id of its own, and is decided about
// like any payload: once, told to the model, and known wherever its message is.
func TestACallsWorkspacePayloadCanBeAccepted(t *testing.T) {
	t.Parallel()
	b, r := charted(t, `{"type":"chart","title":"Sales","table_data":{"n":1}}`)
	_, all, err := b.Payloads(t.Context(), store.ChatRef{Number: 1})
	if err != nil || len(all) != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	last := b.chat(1).Messages[1]
	if p := all[0]; p.ID != last.ID+".u1" || p.Type != "chart" || p.Title != "Sales" || string(p.Data) != `{"n":1}` || p.Toolset != "x" || p.MessageID != last.ID || p.Decision != nil {
		t.Errorf("shown as %+v", p)
	}
	say := store.Deciding{Chat: store.ChatRef{Number: 1}, Payload: all[0].ID, Accept: true, Remark: "just so"}
	done, err := b.Decide(t.Context(), say)
	if err != nil || done.Again || done.Turn != "" || done.Payload.Decision == nil {
		t.Fatalf("%+v, %v", done, err)
	}
	if again, err := b.Decide(t.Context(), say); err != nil || !again.Again {
		t.Errorf("again: %+v, %v", again, err)
	}
	other := say
	other.Accept = false
	if _, err := b.Decide(t.Context(), other); fault.CodeOf(err) != fault.Usage {
		t.Errorf("the other decision: %v", err)
	}
	if d := b.chat(1).Decisions; len(d) != 1 || d[0].PayloadID != all[0].ID {
		t.Errorf("the chat's decisions: %+v", d)
	}
	for _, prompt := range []string{"go on", "and on"} {
		next := ask(prompt)
		next.Chat.Last = true
		b.run(next)
	}
	sent := r.requests()
	for i, want := range map[int]int{len(sent) - 2: 1, len(sent) - 1: 1} { // always at the same place
		told := 0
		for _, m := range sent[i].Messages {
			if text := partsText(m); strings.HasPrefix(text, "[the person accepted the chart") && strings.Contains(text, "just so") && strings.Contains(text, "go on") {
				told++
			}
		}
		if told != want {
			t.Errorf("request %d tells it %d times", i, told)
		}
	}
	fork, err := b.ForkChat(t.Context(), store.ChatRef{Number: 1}, 0)
	if err != nil {
		t.Fatal(err)
	}
	doc, _, err := b.ExportChat(t.Context(), store.ChatRef{Number: 1})
	if err != nil {
		t.Fatal(err)
	}
	in, err := b.importChats(t.Context(), []*chat.Document{doc}, store.CopyExisting)
	if err != nil || doc.CheckPayloads() != nil {
		t.Fatal(in, err, doc.CheckPayloads())
	}
	for what, number := range map[string]int64{"fork": fork.Number, "copy": in[0].Chat.Number} {
		_, all, err := b.Payloads(t.Context(), store.ChatRef{Number: number})
		if err != nil || len(all) != 1 || all[0].Decision == nil || all[0].Decision.Remark != "just so" {
			t.Errorf("in the %s: %+v, %v", what, all, err)
		}
	}
}

// What can't be shown can't be accepted either.
func TestAWorkspacePayloadOfNoTypeIsNone(t *testing.T) {
	t.Parallel()
	b, _ := charted(t, `{"type":"no type","data":1}`)
	if _, all, err := b.Payloads(t.Context(), store.ChatRef{Number: 1}); err != nil || len(all) != 0 {
		t.Errorf("%+v, %v", all, err)
	}
}
