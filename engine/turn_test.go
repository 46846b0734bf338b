package engine

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/toolset"
)

func TestAPlainAnswer(t *testing.T) {
	t.Parallel()
	b := newBench(t, `
responses:
  - reasoning: Let me think.
    text: Hello there.
    usage: {input_tokens: 5, output_tokens: 2}
`)
	events := b.run(ask("Say hello\nand more"))
	if !strings.HasSuffix(outline(events), "\"Hello there.\"\nmeta stop\ncomplete") {
		t.Errorf("events:\n%s", outline(events))
	}
	p := last[event.Complete](t, events).Payload
	if p.Message != "Hello there." || p.ConversationID != 1 || p.Model != "script/m.yaml" || p.Usage.InputTokens != 5 {
		t.Errorf("payload %+v", p)
	}
	// A plain question opens no store.
	if _, err := os.Stat(filepath.Join(b.dir, "data", "store")); err == nil {
		t.Error("the store was opened")
	}
	conv := b.chat(1)
	if conv.Chat.Title != "Say hello" || conv.Chat.ActiveLeaf != p.MessageID || conv.Chat.Messages != 2 {
		t.Errorf("chat %+v", conv.Chat)
	}
	if len(conv.Messages) != 2 || conv.Messages[1].Text() != "Hello there." || conv.Messages[1].Status != chat.Answered {
		t.Errorf("messages %+v", conv.Messages)
	}
	if got := conv.Messages[1].Parts[0]; got.Kind != provider.ReasoningPart || got.Text != "Let me think." {
		t.Errorf("reasoning %+v", got)
	}
	if left := files(t, filepath.Join(b.dir, "data", "journal")); len(left) > 0 {
		t.Errorf("journals left after the fold: %v", left)
	}
	// The same stream, now from the store.
	again := b.reopen().follow(store.TurnID(events[0].TurnID))
	if outline(again) != outline(events) || len(again) != len(events) {
		t.Errorf("from the store:\n%s", outline(again))
	}
}

// reopen gives another engine on the same folders, as another process would
// have.
func (b *bench) reopen() *bench { return openBench(b.t, b.dir) }

const toolScript = `
responses:
  - text: I write it down.
    calls: [{name: write_file, args: {path: notes/a.txt, content: "one\n"}}]
  - expect: {tools: [write_file]}
    text: Done.
`

func TestAToolCall(t *testing.T) {
	t.Parallel()
	b := newBench(t, toolScript)
	events := b.run(ask("write"))
	want(t, events, `"I write it down."`, "meta tool_use", "tool_start write_file",
		"tool_complete write_file success", `"Done."`, "meta stop", "complete")
	p := last[event.Complete](t, events).Payload
	if p.Message != "I write it down.[[tool:0]]Done." || p.CustomPayload == nil || p.CustomPayload.Type != "tool_history" {
		t.Errorf("payload %+v", p)
	}
	var history []event.ToolHistory
	if err := json.Unmarshal(p.CustomPayload.Data, &history); err != nil || len(history) != 1 ||
		history[0].ToolName != "write_file" || history[0].Output == "" {
		t.Errorf("history %+v, %v", history, err)
	}
	conv := b.chat(1)
	data, err := os.ReadFile(filepath.Join(b.WorkspacePath(conv.Chat), "notes", "a.txt"))
	if err != nil || string(data) != "one\n" {
		t.Errorf("the file holds %q, %v", data, err)
	}
	kinds := ""
	for _, part := range conv.Messages[1].Parts {
		kinds += string(part.Kind) + " "
	}
	if kinds != "text tool_call tool_result text " {
		t.Errorf("parts: %s", kinds)
	}
}

func TestTheNextTurnSeesTheLast(t *testing.T) {
	t.Parallel()
	b := newBench(t, `
responses:
  - text: I am one.
  - expect: {last: [again]}
    text: I am two.
`)
	b.run(ask("first"))
	req := ask("again")
	req.Chat.Last = true
	events := b.run(req)
	want(t, events, `"I am two."`, "meta stop", "complete")
	if n := last[event.Complete](t, events).Payload.ConversationID; n != 1 {
		t.Errorf("the second turn is in chat %d", n)
	}
	conv := b.chat(1)
	if len(conv.Messages) != 4 || conv.Messages[2].ParentID != conv.Messages[1].ID {
		t.Errorf("messages %+v", conv.Messages)
	}
}

func TestABranchIsAMessageWithAnotherParent(t *testing.T) {
	t.Parallel()
	b := newBench(t, `{responses: [{when: "", text: Yes.}]}`)
	b.run(ask("one"))
	first := b.chat(1)
	req := ask("two")
	req.Chat.Number = 1
	b.run(req)
	req = ask("other two")
	req.Chat = store.ChatRef{Number: 1, Parent: first.Chat.ActiveLeaf}
	b.run(req)
	conv := b.chat(1)
	if conv.Chat.Messages != 6 {
		t.Errorf("%d messages in all", conv.Chat.Messages)
	}
	// The folder has the branch's files now, so the chat goes on there.
	if got := conv.Messages[2].Text(); got != "other two" || len(conv.Messages) != 4 {
		t.Errorf("the leaf stayed in another branch than the folder: %q", got)
	}
}

func TestAForkIsAChatOfItsOwn(t *testing.T) {
	t.Parallel()
	b := newBench(t, `{responses: [{text: One.}, {text: Two.}]}`)
	b.run(ask("first"))
	req := ask("second")
	req.Chat = store.ChatRef{Number: 1, Fork: true}
	events := b.run(req)
	want(t, events, `"Two."`, "meta stop", "complete")
	if n := last[event.Complete](t, events).Payload.ConversationID; n != 2 {
		t.Errorf("the fork is chat %d", n)
	}
	if fork := b.chat(2); len(fork.Messages) != 4 || fork.Chat.ForkedFrom.Number != 1 {
		t.Errorf("fork %+v", fork)
	}
	if old := b.chat(1); len(old.Messages) != 2 {
		t.Errorf("the old chat has %d messages", len(old.Messages))
	}
}

func TestCancelKeepsWhatCame(t *testing.T) {
	t.Parallel()
	b := newBench(t, `
responses:
  - {deltas: [{content: "Half an"}], hang: true}
  - text: Whole.
`)
	id := b.start(ask("go"))
	next := b.firstText(id)
	if err := b.Cancel(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	want(t, b.follow(id), `"Half an"`, "cancelled")
	if next != "Half an" {
		t.Errorf("first text %q", next)
	}
	conv := b.chat(1)
	if m := conv.Messages[1]; m.Status != chat.Stopped || m.Text() != "Half an" {
		t.Errorf("kept %+v", m)
	}
	req := ask("again")
	req.Chat.Last = true
	want(t, b.run(req), `"Whole."`, "meta stop", "complete")
}

// firstText waits for a turn's first piece of answer.
func (b *bench) firstText(id store.TurnID) string {
	b.t.Helper()
	for e, err := range b.Follow(context.Background(), id, 0) {
		if err != nil {
			b.t.Fatal(err)
		}
		if d, ok := e.Body.(event.TextDelta); ok {
			return d.Text
		}
	}
	b.t.Fatal("no text came")
	return ""
}

// slow is a tool that waits until its context ends; stubborn never looks.
func slow(stubborn <-chan struct{}) toolset.Entry {
	return toolset.Entry{
		Tool: toolset.Tool{
			ID: "slow", Name: "Slow", Description: "Waits.", Category: "test", Enabled: true,
			InputSchema: json.RawMessage(`{"type":"object"}`),
		},
		Runner: toolset.RunnerFunc(func(ctx context.Context, c toolset.Call) (toolset.Result, error) {
			c.Report(toolset.Progress{Stage: "wait", Message: "waiting"})
			if stubborn != nil {
				<-stubborn
			} else {
				<-ctx.Done()
			}
			return toolset.Result{}, ctx.Err()
		}),
	}
}

func TestCancelDuringATool(t *testing.T) {
	t.Parallel()
	script := `
responses:
  - calls: [{name: slow, args: {}}, {name: write_file, args: {path: a, content: b}}]
  - text: Go on.
`
	t.Run("that listens", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, script, slow(nil))
		id := b.start(ask("go"))
		b.waitFor(id, event.TypeToolProgress)
		b.Cancel(t.Context(), id)
		want(t, b.follow(id), "meta tool_use", "tool_start slow", "tool_progress",
			"tool_complete slow error", "tool_start write_file", "tool_complete write_file error", "cancelled")
		req := ask("more")
		req.Chat.Last = true
		want(t, b.run(req), `"Go on."`, "meta stop", "complete")
	})
	t.Run("that doesn't, cancelled twice", func(t *testing.T) {
		t.Parallel()
		stop := make(chan struct{})
		defer close(stop)
		b := newBench(t, script, slow(stop))
		id := b.start(ask("go"))
		b.waitFor(id, event.TypeToolProgress)
		b.Cancel(t.Context(), id)
		b.Cancel(t.Context(), id)
		want(t, b.follow(id), "meta tool_use", "tool_start slow", "tool_progress",
			"tool_complete slow error", "tool_start write_file", "tool_complete write_file error", "cancelled")
	})
}

func (b *bench) waitFor(id store.TurnID, typ event.Type) event.Event {
	b.t.Helper()
	for e, err := range b.Follow(context.Background(), id, 0) {
		if err != nil {
			b.t.Fatal(err)
		}
		if e.Type() == typ {
			return e
		}
	}
	b.t.Fatalf("no %s came", typ)
	return event.Event{}
}

func TestTheTimeLimit(t *testing.T) {
	t.Parallel()
	b := newBench(t, `{responses: [{deltas: [{content: Half}], hang: true}]}`)
	req := ask("go")
	req.Timeout = 50 * time.Millisecond
	events := b.run(req)
	if e := last[event.Error](t, events); e.Code != string(fault.Timeout) || !e.Retryable {
		t.Errorf("ended with %+v", e)
	}
	if m := b.chat(1).Messages[1]; m.Status != chat.Failed || m.Text() != "Half" {
		t.Errorf("kept %+v", m)
	}
}

func TestTheTurnLimit(t *testing.T) {
	t.Parallel()
	b := newBench(t, `{responses: [{when: "", calls: [{name: list_files, args: {}}]}]}`)
	req := ask("go")
	req.MaxSteps = 2
	events := b.run(req)
	want(t, events, "meta tool_use", "tool_start list_files", "tool_complete list_files success",
		"meta tool_use", "tool_start list_files", "tool_complete list_files error", "error turn_limit")
}

func TestBadCallsAreToldToTheModel(t *testing.T) {
	t.Parallel()
	b := newBench(t, `
responses:
  - calls: [{name: raed_file, args: {path: x}}, {name: read_file, args: {paht: x}}, {name: read_file, args: {path: ../x}}]
  - text: I see.
`)
	var said []string
	for _, e := range b.run(ask("go")) {
		if c, ok := e.Body.(event.ToolComplete); ok {
			if c.Status != event.CallError {
				t.Errorf("%s is %s", c.Tool, c.Status)
			}
			said = append(said, c.Result)
		}
	}
	for i, part := range []string{"did you mean read_file?", "path", "workspace"} {
		if len(said) <= i || !strings.Contains(said[i], part) {
			t.Errorf("result %d doesn't name %q: %q", i, part, said)
		}
	}
}

func TestReadingCallsRunSideBySide(t *testing.T) {
	t.Parallel()
	both := make(chan struct{}, 2)
	wait := func(id string) toolset.Entry {
		return toolset.Entry{
			Tool: toolset.Tool{
				ID: id, Name: id, Description: "Meets the other.", Category: "test", Enabled: true,
				InputSchema: json.RawMessage(`{"type":"object"}`), Annotations: toolset.Annotations{ReadOnly: true},
			},
			Runner: toolset.RunnerFunc(func(ctx context.Context, c toolset.Call) (toolset.Result, error) {
				both <- struct{}{}
				for len(both) < 2 { // ends only if both run at once
					if ctx.Err() != nil {
						return toolset.Result{}, ctx.Err()
					}
					time.Sleep(time.Millisecond)
				}
				return toolset.Result{Text: id}, nil
			}),
		}
	}
	b := newBench(t, `{responses: [{calls: [{name: left, args: {}}, {name: right, args: {}}]}, {text: Met.}]}`,
		wait("left"), wait("right"))
	req := ask("go")
	req.Timeout = 10 * time.Second
	last[event.Complete](t, b.run(req))
}

func TestAToolThatPanicsFails(t *testing.T) {
	t.Parallel()
	bad := slow(nil)
	bad.Runner = toolset.RunnerFunc(func(context.Context, toolset.Call) (toolset.Result, error) { panic("no") })
	b := newBench(t, `{responses: [{calls: [{name: slow, args: {}}]}, {text: I see.}]}`, bad)
	want(t, b.run(ask("go")), "meta tool_use", "tool_start slow", "tool_complete slow error", `"I see."`, "meta stop", "complete")
}

func TestEphemeralLeavesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, toolScript)
	req := ask("write")
	req.Ephemeral = true
	last[event.Complete](t, b.run(req))
	if left := files(t, filepath.Join(b.dir, "data")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestAQuestionNobodyTookLeavesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, `{responses: [{error: {kind: unauthorised, status: 401, message: bad key}}]}`)
	req := ask("go")
	req.DiscardUnanswered = true
	events := b.run(req)
	if e := last[event.Error](t, events); e.Code != string(fault.Unauthorised) {
		t.Errorf("ended with %+v", e)
	}
	left := files(t, filepath.Join(b.dir, "data"))
	if got := strings.Join(left, " "); got != "counter.json" {
		t.Errorf("left behind: %s", got)
	}
}
