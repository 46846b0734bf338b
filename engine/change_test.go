package engine

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/models"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/toolset"
)

// twoModels makes an engine with the models rogue/first and other/second.
func twoModels(t *testing.T, first, second streamFunc, other provider.Model, tools ...toolset.Entry) (*bench, *rogue, *rogue) {
	t.Helper()
	b, a := newRogue(t, first, tools...)
	z := &rogue{name: "other", stream: second, model: other}
	if err := b.o.Models.(*models.Catalog).Registry.Add("other", func() (provider.Provider, error) { return z, nil }); err != nil {
		t.Fatal(err)
	}
	return b, a, z
}

// A model that takes over in the middle of a turn gets what it can take: not
// the first one's reasoning, no tools and images where it knows none, and what
// was called so far in words then.
func TestAModelThatCanDoLessTakesOver(t *testing.T) {
	t.Parallel()
	busy := &provider.Error{Kind: provider.Overloaded, Provider: "rogue", Message: "busy"}
	first := func(_ context.Context, step int, yield func([]provider.Delta, error) bool) {
		if step > 0 {
			yield(nil, busy)
			return
		}
		yield([]provider.Delta{
			{Kind: provider.Reasoning, Text: "Hm."}, {Kind: provider.ReasoningDetails, Details: []byte(`{"signed":1}`)},
			says("I look."), calls("1", "echo", `{"a":1}`), stops("tool_use"),
		}, nil)
	}
	second := func(_ context.Context, _ int, yield func([]provider.Delta, error) bool) {
		yield([]provider.Delta{says("I stand in."), stops("stop")}, nil)
	}
	b, _, z := twoModels(t, first, second, provider.Model{Tools: provider.No, Images: provider.No}, echo())
	req := ask("go")
	req.Parts = append([]provider.Part{{Kind: provider.ImagePart, Name: "i.png", MIME: "image/png", Data: []byte{1}}}, req.Parts...)
	req.Fallback = []string{"other/second"}
	events := b.run(req)
	last[event.Complete](t, events)
	sent := z.requests()[0]
	var said []string
	for _, m := range sent.Messages {
		for _, p := range m.Parts {
			if p.Kind != provider.TextPart {
				t.Errorf("it was sent a %s: %+v", p.Kind, p)
			}
			said = append(said, string(m.Role)+": "+p.Text)
		}
	}
	wantSaid := []string{"user: go", "assistant: I look.", `assistant: [called echo with {"a":1}]`, "user: [echo gave]\n{\"a\":1}"}
	if !slices.Equal(said, wantSaid) || len(sent.Tools) > 0 {
		t.Errorf("it was sent %q and %d tools", said, len(sent.Tools))
	}
	var notes []string
	for _, e := range events {
		if n, ok := e.Body.(event.Footnote); ok {
			notes = append(notes, n.Text)
		}
	}
	if len(notes) != 2 || !strings.Contains(notes[0], "other/second takes over") || !strings.HasPrefix(notes[1], "images were left out: other/second") {
		t.Errorf("notes %q", notes)
	}
}

// Once a response has begun to show, nothing takes over: not after reasoning
// details either, which belong to the model that made them.
func TestNothingTakesOverInTheMiddle(t *testing.T) {
	t.Parallel()
	for name, shown := range map[string]provider.Delta{
		"text": says("Half"), "reasoning": {Kind: provider.Reasoning, Text: "Hm."},
		"details":     {Kind: provider.ReasoningDetails, Details: []byte(`{}`)},
		"annotations": {Kind: provider.Annotations, Annotations: []json.RawMessage{[]byte(`{}`)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := func(_ context.Context, _ int, yield func([]provider.Delta, error) bool) {
				if yield([]provider.Delta{shown}, nil) {
					yield(nil, &provider.Error{Kind: provider.Overloaded, Provider: "rogue", Message: "busy"})
				}
			}
			b, _, z := twoModels(t, first, first, provider.Model{})
			req := ask("go")
			req.Fallback = []string{"other/second"}
			if e := last[event.Error](t, b.run(req)); e.Code != string(fault.Overloaded) || len(z.requests()) > 0 {
				t.Errorf("ended with %+v after %d requests to the other", e, len(z.requests()))
			}
		})
	}
}

// A refusal that names nothing that could be left out is not repeated.
func TestARefusalOfNothing(t *testing.T) {
	t.Parallel()
	b, r := newRogue(t, func(_ context.Context, _ int, yield func([]provider.Delta, error) bool) {
		yield(nil, &provider.Error{Kind: provider.Unsupported, Provider: "rogue", Message: "no"})
	})
	want(t, b.run(ask("go")), "error failed")
	if n := len(r.requests()); n != 1 {
		t.Errorf("%d requests", n)
	}
}

// Tools that the conversation has used and that aren't offered now, or never
// were, keep a name: providers refuse a call without one.
func TestToolsOfTheHistoryKeepTheirNames(t *testing.T) {
	t.Parallel()
	b, r := newRogue(t, func(_ context.Context, step int, yield func([]provider.Delta, error) bool) {
		if step > 0 {
			yield([]provider.Delta{says("Done."), stops("stop")}, nil)
			return
		}
		yield([]provider.Delta{calls("1", "echo", `{}`), calls("2", "ehco", `{}`), stops("tool_use")}, nil)
	}, echo())
	b.run(ask("go"))
	req := ask("on")
	req.Chat.Last, req.Tools = true, []string{}
	b.run(req)
	for i, sent := range r.requests() {
		checkRequest(t, sent)
		var names []string
		for _, m := range sent.Messages {
			for _, p := range m.Parts {
				if p.Call != nil {
					names = append(names, p.Call.Name)
				}
			}
		}
		if got := strings.Join(names, " "); i > 0 && got != "echo ehco" {
			t.Errorf("request %d calls %s", i, got)
		}
	}
}

func TestAQuestionOfAnImageAlone(t *testing.T) {
	t.Parallel()
	b, r := newRogue(t, func(_ context.Context, _ int, yield func([]provider.Delta, error) bool) {
		yield([]provider.Delta{says("I see nothing."), stops("stop")}, nil)
	})
	r.model.Images = provider.No
	req := TurnRequest{Parts: []provider.Part{{Kind: provider.ImagePart, Name: "i.png", Data: []byte{1}}}}
	last[event.Complete](t, b.run(req))
	if got := r.requests()[0].Messages; len(got) != 1 || got[0].Parts[0].Kind != provider.TextPart {
		t.Errorf("sent %+v", got)
	}
}

// Uploads of a turn that leaves nothing behind are taken back, in a chat that
// was there before too, so that the same can be asked again.
func TestUploadsAreTakenBack(t *testing.T) {
	t.Parallel()
	fail := true
	b, _ := newRogue(t, func(_ context.Context, _ int, yield func([]provider.Delta, error) bool) {
		if fail {
			yield(nil, &provider.Error{Kind: provider.Unauthorised, Provider: "rogue", Message: "bad key"})
			return
		}
		yield([]provider.Delta{says("Yes."), stops("stop")}, nil)
	})
	fail = false
	b.run(ask("first"))
	dir := b.WorkspacePath(b.chat(1).Chat)
	req := ask("second")
	req.Chat.Number = 1
	req.Uploads = []Upload{{Name: "in/a.csv", Data: []byte("1,2\n")}}
	for _, how := range []func(*TurnRequest){
		func(r *TurnRequest) { r.DiscardUnanswered, fail = true, true },
		func(r *TurnRequest) { r.DiscardUnanswered, r.Ephemeral, fail = false, true, false },
	} {
		how(&req)
		b.run(req)
		if left := files(t, dir); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
	twice := req
	twice.Uploads = slices.Concat(req.Uploads, []Upload{{Name: "../out.csv"}})
	if _, err := b.Start(t.Context(), twice); err == nil || !strings.Contains(err.Error(), "../out.csv") {
		t.Errorf("an upload out of the folder: %v", err)
	}
	if left := files(t, dir); len(left) > 0 {
		t.Errorf("left behind by a start that failed: %v", left)
	}
	req.Ephemeral = false
	last[event.Complete](t, b.run(req))
	if left := files(t, dir); strings.Join(left, " ") != "in/a.csv" {
		t.Errorf("in the end there is %v", left)
	}
	if conv := b.chat(1); len(conv.Messages) != 4 {
		t.Errorf("%d messages", len(conv.Messages))
	}
}

// A chat whose folder is gone still answers; what needs the folder says so.
func TestAChatWhoseWorkspaceIsGone(t *testing.T) {
	t.Parallel()
	b, r := newRogue(t, func(_ context.Context, _ int, yield func([]provider.Delta, error) bool) {
		yield([]provider.Delta{says("Yes."), stops("stop")}, nil)
	}, echo())
	req := bound(t, b)
	b.run(req)
	if err := os.Remove(req.Workspace); err != nil {
		t.Fatal(err)
	}
	again := ask("again")
	again.Chat.Number = 1
	want(t, b.run(again), `"Yes."`, "meta stop", "complete")
	answer := r.stream
	r.stream = func(_ context.Context, _ int, yield func([]provider.Delta, error) bool) {
		yield([]provider.Delta{calls("1", "echo", `{}`), calls("2", "nope", `{}`), stops("tool_use")}, nil)
	}
	events := b.run(again)
	want(t, events, "meta tool_use", "tool_start echo", "tool_complete echo error",
		"tool_start nope", "tool_complete nope error", "error failed")
	e := last[event.Error](t, events)
	if !strings.Contains(e.Message, req.Workspace) || len(e.Hints) == 0 {
		t.Errorf("ended with %+v", e)
	}
	if c := find[event.ToolComplete](events); strings.Contains(c.Error, "cancelled") {
		t.Errorf("the call ended with %q", c.Error)
	}
	r.stream = answer
	want(t, b.run(again), `"Yes."`, "meta stop", "complete")
	other := again
	other.Chat.Fork, other.Workspace = true, filepath.Join(b.dir, "new place")
	if err := os.Mkdir(other.Workspace, 0o700); err != nil {
		t.Fatal(err)
	}
	last[event.Complete](t, b.run(other))
	if got := b.chat(2).Chat.Workspace; got != other.Workspace {
		t.Errorf("the fork works in %q", got)
	}
}

// A cancel is not held up by a store that another process keeps, and a call
// that was approved meanwhile doesn't run.
func TestCancelWhileAnApprovalIsRemembered(t *testing.T) {
	t.Parallel()
	ran := make(chan struct{}, 1)
	careful := tool("careful", func(context.Context, toolset.Call) (toolset.Result, error) {
		ran <- struct{}{}
		return toolset.Result{Text: "done"}, nil
	})
	careful.Tool.RequiresConfirmation = true
	b := newBench(t, `{responses: [{calls: [{name: careful, args: {}}]}, {text: Done.}]}`, careful)
	b.run(TurnRequest{Parts: ask("one").Parts, Model: "script/m.yaml"})
	b.chat(1)
	holder := kv.Open(b.StoreDir(), kv.Options{Hold: true})
	defer holder.Close()
	if err := holder.View(t.Context(), func(*kv.Tx) error { return nil }); err != nil {
		t.Fatal(err)
	}
	req := ask("two")
	req.CanConfirm = true
	id := b.start(req)
	asked := b.waitFor(id, event.TypeConfirmRequest).Body.(event.ConfirmRequest)
	err := b.Confirm(t.Context(), id, Confirmation{ToolUseID: asked.ToolUseID, Decision: event.AllowAlways})
	if err != nil {
		t.Fatal(err)
	}
	waiting := filepath.Join(b.o.DataDir, "wait.lock")
	until(t, "the wait for the store", func() bool { _, err := os.Stat(waiting); return err == nil })
	if err := b.Cancel(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	events := b.follow(id) // while the store is still held
	if e := events[len(events)-1]; e.Type() != event.TypeCancelled {
		t.Errorf("ended with %+v", e.Body)
	}
	if c := find[event.ToolComplete](events); c.Status != event.CallError || len(ran) > 0 {
		t.Errorf("the call ran: %+v", c)
	}
}

// The time limit ends a turn wherever it is; its calls say why they ended.
func TestTheTimeLimitDuringAToolAndAnApproval(t *testing.T) {
	t.Parallel()
	for name, confirm := range map[string]bool{"tool": false, "approval": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			entry := slow(nil)
			entry.Tool.RequiresConfirmation = confirm
			b := newBench(t, `{responses: [{calls: [{name: slow, args: {}}]}]}`, entry)
			req := ask("go")
			req.CanConfirm, req.Timeout = true, 300_000_000
			events := b.run(req)
			if e := last[event.Error](t, events); e.Code != string(fault.Timeout) {
				t.Errorf("ended with %+v", e)
			}
			if c := find[event.ToolComplete](events); !strings.Contains(c.Error, "time limit") {
				t.Errorf("the call ended with %q", c.Error)
			}
		})
	}
}

// A wrong answer that calls a tool when it is asked to mend itself says so.
func TestARepairThatCallsATool(t *testing.T) {
	t.Parallel()
	b, _ := newRogue(t, func(_ context.Context, step int, yield func([]provider.Delta, error) bool) {
		if step == 0 {
			yield([]provider.Delta{says("A wren."), stops("stop")}, nil)
			return
		}
		yield([]provider.Delta{calls("1", "echo", `{}`), stops("tool_use")}, nil)
	}, echo())
	req := ask("a bird")
	req.Schema = json.RawMessage(birdSchema)
	if e := last[event.Error](t, b.run(req)); !strings.Contains(strings.Join(e.Detail, " "), "calls a tool") {
		t.Errorf("ended with %+v", e)
	}
}

// A closed engine says that it is closed, whatever is asked of it.
func TestAClosedEngine(t *testing.T) {
	t.Parallel()
	b := newBench(t, yes)
	id := b.start(ask("go"))
	b.follow(id)
	b.chat(1)
	b.run(ask("two")) // a journal to fold
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	_, chats := b.Chats(t.Context(), store.ListChats{})
	_, show := b.Chat(t.Context(), store.ChatRef{Number: 1})
	_, start := b.Start(t.Context(), ask("more"))
	_, fold := b.Fold(t.Context(), store.FoldAll)
	for what, err := range map[string]error{"chats": chats, "show": show, "start": start, "fold": fold} {
		if fault.CodeOf(err) != fault.Interrupted || !strings.Contains(err.Error(), "closed") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
