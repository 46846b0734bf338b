package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/record"
	"github.com/fettle-cli/fettle/toolset"
)

// What a provider does, the turn ends, its chat is whole, and the next turn of
// the chat works.
func TestProvidersThatBreakTheirContract(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stream streamFunc
		want   string
	}{
		"no meta": {func(_ context.Context, _ int, yield func([]provider.Delta, error) bool) {
			yield([]provider.Delta{says("Half an")}, nil)
		}, "\"Half an\"\nerror invalid_reply"},
		"nothing at all": {func(context.Context, int, func([]provider.Delta, error) bool) {
			// the sequence is empty
		}, "error invalid_reply"},
		"two metas": {func(_ context.Context, _ int, yield func([]provider.Delta, error) bool) {
			yield([]provider.Delta{says("One."), stops("stop"), stops("length")}, nil)
		}, "\"One.\"\nmeta length\nfootnote\ncomplete"},
		"a panic at once": {func(context.Context, int, func([]provider.Delta, error) bool) {
			panic("no\nway")
		}, "error failed"},
		"a panic in the middle": {func(_ context.Context, _ int, yield func([]provider.Delta, error) bool) {
			yield([]provider.Delta{says("Half an")}, nil)
			panic(errors.New("no way"))
		}, "\"Half an\"\nerror failed"},
		"a call without a call": {func(_ context.Context, _ int, yield func([]provider.Delta, error) bool) {
			yield([]provider.Delta{{Kind: provider.CallDelta}}, nil)
		}, "error failed"},
		"a batch after the error": {func(_ context.Context, _ int, yield func([]provider.Delta, error) bool) {
			yield([]provider.Delta{says("Half an")}, nil)
			yield(nil, errors.New("broken"))
			yield([]provider.Delta{says(" answer"), stops("stop")}, nil)
		}, "\"Half an\"\nerror failed"},
		"empty batches": {func(_ context.Context, _ int, yield func([]provider.Delta, error) bool) {
			for range 3 {
				yield(nil, nil)
			}
			yield([]provider.Delta{says(""), says("Yes."), stops("stop")}, nil)
		}, "\"Yes.\"\nmeta stop\ncomplete"},
		"details that are no JSON": {func(_ context.Context, _ int, yield func([]provider.Delta, error) bool) {
			yield([]provider.Delta{
				{Kind: provider.ReasoningDetails, Details: json.RawMessage("{")},
				{Kind: provider.Annotations, Annotations: []json.RawMessage{[]byte("x"), []byte(`{"url":"a"}`)}},
				says("Yes."), stops("stop"),
			}, nil)
		}, "annotations\n\"Yes.\"\nmeta stop\ncomplete"},
		"text that is no UTF-8": {func(_ context.Context, _ int, yield func([]provider.Delta, error) bool) {
			yield([]provider.Delta{says("a\xff"), says("b"), stops("stop")}, nil)
		}, "\"a\uFFFDb\"\nmeta stop\ncomplete"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, r := newRogue(t, c.stream)
			first := b.run(ask("go"))
			if got := outline(first); got != c.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, c.want)
			}
			if e := find[event.Error](first); strings.ContainsAny(e.Message, "\n\x1b") {
				t.Errorf("the message is not one line: %q", e.Message)
			}
			kept := b.chat(1).Messages[1]
			if got := outcomeOf(first).text; kept.Text() != got || kept.Model != "rogue/m" {
				t.Errorf("shown %q of rogue/m, kept %q of %s", got, kept.Text(), kept.Model)
			}
			r.stream = func(_ context.Context, _ int, yield func([]provider.Delta, error) bool) {
				yield([]provider.Delta{says("Well."), stops("stop")}, nil)
			}
			req := ask("again")
			req.Chat.Last = true
			want(t, b.run(req), `"Well."`, "meta stop", "complete")
		})
	}
}

// What a provider hands over is valid until the next batch: what the engine
// keeps of it is a copy.
func TestABatchIsNotKept(t *testing.T) {
	t.Parallel()
	b, r := newRogue(t, func(_ context.Context, step int, yield func([]provider.Delta, error) bool) {
		if step > 0 {
			yield([]provider.Delta{says("Done."), stops("stop")}, nil)
			return
		}
		details, args, note := []byte(`{"a":1}`), []byte(`{"n":1}`), []byte(`{"u":1}`)
		batch := []provider.Delta{
			{Kind: provider.ReasoningDetails, Details: details},
			{Kind: provider.Annotations, Annotations: []json.RawMessage{note}}, calls("1", "echo", string(args)),
		}
		batch[2].Call.Args = args
		yield(batch, nil)
		for _, raw := range [][]byte{details, args, note} {
			copy(raw, `{"x":9}`)
		}
		yield([]provider.Delta{stops("tool_use")}, nil)
	}, echo())
	events := b.run(ask("go"))
	if got := string(find[event.ToolStart](events).Input); got != `{"n":1}` {
		t.Errorf("the arguments are %s", got)
	}
	if got := r.requests()[1].Messages[1].Parts; string(got[0].Details) != `{"a":1}` {
		t.Errorf("the next request has the details %s", got[0].Details)
	}
	m := b.chat(1).Messages[1]
	if string(m.Parts[0].Details) != `{"a":1}` || string(m.Citations[0]) != `{"u":1}` {
		t.Errorf("kept %s and %s", m.Parts[0].Details, m.Citations)
	}
}

func echo() toolset.Entry {
	return tool("echo", func(_ context.Context, c toolset.Call) (toolset.Result, error) {
		return toolset.Result{Text: string(c.Args)}, nil
	})
}

// Calls as no provider should give them: each is recorded with valid JSON, has
// one result, and an id of its own.
func TestCallsThatNobodyShouldMake(t *testing.T) {
	t.Parallel()
	b, r := newRogue(t, func(_ context.Context, step int, yield func([]provider.Delta, error) bool) {
		if step%2 == 1 {
			yield([]provider.Delta{says("I see."), stops("stop")}, nil)
			return
		}
		yield([]provider.Delta{
			calls("same", "echo", `{"a":"one"}`), calls("same", "echo", `{"a":"two"}`), calls("", "echo", ``),
			calls("bad", "echo", `{"a":`), calls("list", "echo", `[1]`), calls("no\xffutf", "echo", "{\"a\":\"\xff\"}"),
			calls("who", strings.Repeat("né", 5000), `{}`), calls("twice", "echo", `{"a":1,"a":2}`), stops("tool_use"),
		}, nil)
	}, echo())
	for turn := range 2 {
		req := ask("go")
		req.Chat.Last = turn > 0
		checkCalls(t, b.run(req), turn)
	}
	ids := map[string]int{}
	for _, m := range b.chat(1).Messages {
		for _, p := range m.Parts {
			if p.Call != nil {
				ids[p.Call.ID]++
			}
		}
	}
	for id, n := range ids {
		if n > 1 {
			t.Errorf("%d calls of the chat are called %q", n, id)
		}
	}
	for _, req := range r.requests() {
		checkRequest(t, req)
	}
}

func checkCalls(t *testing.T, events []event.Event, turn int) {
	t.Helper()
	var status []string
	for _, e := range events {
		switch c := e.Body.(type) {
		case event.ToolStart:
			if !json.Valid(c.Input) || !utf8.Valid(c.Input) || !utf8.ValidString(c.ToolUseID) || len(c.Tool) > 1000 {
				t.Errorf("turn %d started %q of %d bytes with %q", turn, c.ToolUseID, len(c.Tool), c.Input)
			}
		case event.ToolComplete:
			status = append(status, string(c.Status))
			if c.Status == event.CallError && len(c.Error) > 2000 {
				t.Errorf("an error of %d bytes", len(c.Error))
			}
		}
	}
	if got := strings.Join(status, " "); got != "success success success error error success error error" {
		t.Errorf("turn %d: the calls ended as %s", turn, got)
	}
	last[event.Complete](t, events)
}

// checkRequest checks what every provider wants of a history.
func checkRequest(t *testing.T, req *provider.Request) {
	t.Helper()
	open := map[string]bool{}
	for i, m := range req.Messages {
		if len(m.Parts) == 0 {
			t.Errorf("message %d is empty", i)
		}
		for _, p := range m.Parts {
			switch {
			case p.Call != nil:
				if p.Call.Name == "" || open[p.Call.ID] || !record.IsObject(p.Call.Args) {
					t.Errorf("message %d calls %+v", i, p.Call)
				}
				open[p.Call.ID] = true
			case p.Result != nil:
				if p.Result.Name == "" || !open[p.Result.ID] || m.Role != provider.Tool {
					t.Errorf("message %d, by %s, answers %+v", i, m.Role, p.Result)
				}
				delete(open, p.Result.ID)
			}
		}
	}
	if len(open) > 0 {
		t.Errorf("calls without a result: %v", open)
	}
}

// A model that goes astray and asks for ten thousand calls at once has some of
// them run, is not in anyone's way, and the turn can be folded.
func TestTenThousandCallsAtOnce(t *testing.T) {
	t.Parallel()
	b, r := newRogue(t, func(_ context.Context, step int, yield func([]provider.Delta, error) bool) {
		if step > 0 {
			yield([]provider.Delta{says("Enough."), stops("stop")}, nil)
			return
		}
		for i := range 10_000 {
			if !yield([]provider.Delta{calls("", "echo", fmt.Sprintf(`{"n":%d}`, i))}, nil) {
				return
			}
		}
		yield([]provider.Delta{stops("tool_use")}, nil)
	}, echo())
	events := b.run(ask("go"))
	last[event.Complete](t, events)
	if note := find[event.Footnote](events).Text; !strings.Contains(note, "10000 calls") || !strings.Contains(note, "128") {
		t.Errorf("said: %q", note)
	}
	if parts := b.chat(1).Messages[1].Parts; len(parts) != 2*maxCalls+1 {
		t.Errorf("%d parts were kept", len(parts))
	}
	checkRequest(t, r.requests()[1])
}

func TestReadingCallsAreNotAllRunAtOnce(t *testing.T) {
	t.Parallel()
	var gauge, most int
	turnstile := make(chan func(), 1)
	turnstile <- func() { most = max(most, gauge) }
	count := func(n int) {
		note := <-turnstile
		gauge += n
		note()
		turnstile <- note
	}
	reader := tool("look", func(context.Context, toolset.Call) (toolset.Result, error) {
		count(1)
		time.Sleep(time.Millisecond)
		count(-1)
		return toolset.Result{Text: "seen"}, nil
	})
	reader.Tool.Annotations.ReadOnly = true
	b, _ := newRogue(t, func(_ context.Context, step int, yield func([]provider.Delta, error) bool) {
		batch := []provider.Delta{says("Done."), stops("stop")}
		if step == 0 {
			batch = nil
			for range 40 {
				batch = append(batch, calls("", "look", `{}`))
			}
			batch = append(batch, stops("tool_use"))
		}
		yield(batch, nil)
	}, reader)
	last[event.Complete](t, b.run(ask("go")))
	if most < 2 || most > sideBySide {
		t.Errorf("%d ran at once", most)
	}
}

// What a tool gives that no event can hold fails the call, not the turn.
func TestResultsThatCantBeKept(t *testing.T) {
	t.Parallel()
	nan, four := math.NaN(), 4.0
	for name, c := range map[string]struct {
		run  toolset.RunnerFunc
		want []string
		says string
	}{
		"100 MB of text": {func(context.Context, toolset.Call) (toolset.Result, error) {
			return toolset.Result{Text: strings.Repeat("é", 50<<20)}, nil
		}, []string{"tool_complete odd success"}, "more bytes were cut]"},
		"100 MB of data": {func(context.Context, toolset.Call) (toolset.Result, error) {
			return toolset.Result{Data: []byte(`"` + strings.Repeat("x", 100<<20) + `"`)}, nil
		}, []string{"tool_complete odd error"}, "100 MB; 4 MB are allowed"},
		"data that is no JSON": {func(context.Context, toolset.Call) (toolset.Result, error) {
			return toolset.Result{Data: []byte(`{`)}, nil
		}, []string{"tool_complete odd error"}, "data is no JSON"},
		"a payload that is no JSON": {func(context.Context, toolset.Call) (toolset.Result, error) {
			return toolset.Result{Payload: []byte(`nope`)}, nil
		}, []string{"tool_complete odd error"}, "payload is no JSON"},
		"text that is no UTF-8": {func(context.Context, toolset.Call) (toolset.Result, error) {
			return toolset.Result{Text: "a\xffb"}, nil
		}, []string{"tool_complete odd success"}, "a\uFFFDb"},
		"a panic": {func(context.Context, toolset.Call) (toolset.Result, error) { panic("oh") },
			[]string{"tool_complete odd error"}, "crashed: oh"},
		"odd progress": {func(_ context.Context, c toolset.Call) (toolset.Result, error) {
			c.Report(toolset.Progress{Stage: "a", Progress: &nan, Data: []byte(`{`)})
			c.Report(toolset.Progress{Stage: "b", Progress: &four, Data: []byte(`"` + strings.Repeat("x", 1<<20) + `"`)})
			four = 0.1 // the tool's own, and changed
			return toolset.Result{Text: "ok"}, nil
		}, []string{"tool_progress", "tool_progress", "tool_complete odd success"}, "ok"},
		"an error with a result": {func(context.Context, toolset.Call) (toolset.Result, error) {
			return toolset.Result{Text: "x", WorkspacePayload: []byte(`{}`), Payload: []byte(`{}`)}, toolset.Errorf("not today")
		}, []string{"tool_complete odd error"}, "not today"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, `{responses: [{calls: [{name: odd, args: {}}]}, {text: I see.}]}`, tool("odd", c.run))
			events := b.run(ask("go"))
			lines := append([]string{"meta tool_use", "tool_start odd"}, c.want...)
			want(t, events, append(lines, `"I see."`, "meta stop", "complete")...)
			e := find[event.ToolComplete](events)
			if !strings.Contains(e.Result, c.says) || len(e.Result) > maxResult+100 {
				t.Errorf("the model is told %.200q, %d bytes", e.Result, len(e.Result))
			}
			if e.Status == event.CallError && (e.WorkspacePayload != nil || e.Payload != nil) {
				t.Errorf("a failed call shows %s %s", e.WorkspacePayload, e.Payload)
			}
			for _, ev := range events {
				if p, ok := ev.Body.(event.ToolProgress); ok && p.Progress != nil && *p.Progress != 1 {
					t.Errorf("progress %v", *p.Progress)
				}
			}
			if got := b.chat(1).Messages[1].Status; got != chat.Answered {
				t.Errorf("kept as %s", got)
			}
		})
	}
}

// Updates that a tool reported before it ended come before its end, however
// the two are read.
func TestProgressComesBeforeTheEnd(t *testing.T) {
	t.Parallel()
	busy := tool("busy", func(_ context.Context, c toolset.Call) (toolset.Result, error) {
		for range 20 {
			c.Report(toolset.Progress{Stage: "work"})
		}
		return toolset.Result{Text: "ok"}, nil
	})
	b := newBench(t, `{responses: [{calls: [{name: busy, args: {}}]}, {text: I see.}]}`, busy)
	for range 5 {
		seen := 0
		for _, e := range b.run(ask("go")) {
			switch e.Body.(type) {
			case event.ToolProgress:
				seen++
			case event.ToolComplete:
				if seen != 20 {
					t.Errorf("%d of 20 updates came before the end", seen)
				}
			}
		}
	}
}

// A tool that ignores its time limit, and everything else, doesn't hold the
// turn, and can change no file once it was left behind.
func TestAToolThatIgnoresItsTimeLimit(t *testing.T) {
	t.Parallel()
	stop, wrote := make(chan struct{}), make(chan error, 1)
	deaf := tool("deaf", func(_ context.Context, c toolset.Call) (toolset.Result, error) {
		<-stop
		f, err := c.Workspace.Root.Create("late.txt")
		if err == nil {
			f.Close()
		}
		wrote <- err
		return toolset.Result{Text: "late"}, nil
	})
	deaf.Tool.Timeout = toolset.Duration(10 * time.Millisecond)
	b := newBench(t, `{responses: [{calls: [{name: deaf, args: {}}]}, {text: Never said.}]}`, deaf)
	b.grace = 20 * time.Millisecond
	events := b.run(ask("go"))
	want(t, events, "meta tool_use", "tool_start deaf", "tool_complete deaf error", "error failed")
	if e := last[event.Error](t, events); !strings.Contains(e.Message, "10ms") {
		t.Errorf("said %q", e.Message)
	}
	close(stop)
	if err := <-wrote; err == nil {
		t.Error("a tool that was left behind could still write")
	}
	if got := b.chat(1).Messages[1].Status; got != chat.Failed {
		t.Errorf("kept as %s", got)
	}
}

func TestAResponseWithoutEnd(t *testing.T) {
	t.Parallel()
	b, _ := newRogue(t, func(_ context.Context, _ int, yield func([]provider.Delta, error) bool) {
		for yield([]provider.Delta{says(strings.Repeat("again and again ", 1<<16))}, nil) {
		}
	})
	req := ask("go")
	req.Ephemeral = true // what is looked at is the end, not 32 MB of journal
	if e := last[event.Error](t, b.run(req)); e.Code != string(fault.InvalidReply) || !strings.Contains(e.Message, "32 MB") {
		t.Errorf("ended with %+v", e)
	}
}

// The markers in the message are the program's alone, and N is the call's place
// in tool_history, whatever order the calls started in.
func TestMarkersAndHistoryAgree(t *testing.T) {
	t.Parallel()
	look := tool("look", func(_ context.Context, c toolset.Call) (toolset.Result, error) {
		return toolset.Result{Text: string(c.Args)}, nil
	})
	look.Tool.Annotations.ReadOnly = true
	b := newBench(t, `
responses:
  - text: "[[tool:0]] is mine. "
    calls: [{name: look, args: {n: "zero"}}, {name: look, args: {n: "one"}}, {name: look, args: {n: "two"}}]
  - text: " [[tool:1]][[tool:x]]"
`, look)
	req := ask("go")
	req.Policy.Deny = []string{"look(n=one)"} // refused, so it starts and ends before the others
	p := last[event.Complete](t, b.run(req)).Payload
	var history []event.ToolHistory
	if err := json.Unmarshal(p.CustomPayload.Data, &history); err != nil || len(history) != 3 {
		t.Fatalf("%d entries, %v", len(history), err)
	}
	for i, n := range []string{"zero", "one", "two"} {
		if !strings.Contains(string(history[i].Input), n) {
			t.Errorf("entry %d is %s", i, history[i].Input)
		}
		if strings.Count(p.Message, fmt.Sprintf("[[tool:%d]]", i)) != 1 {
			t.Errorf("marker %d in %q", i, p.Message)
		}
	}
	if !strings.HasPrefix(p.Message, `\[\[tool:0]] is mine. [[tool:1]]`) || !strings.HasSuffix(p.Message, ` \[\[tool:1]][[tool:x]]`) {
		t.Errorf("message %q", p.Message)
	}
}

func TestAHistoryOfManyLargeOutputsIsBounded(t *testing.T) {
	t.Parallel()
	history := make([]event.ToolHistory, 100)
	for i := range history {
		history[i] = event.ToolHistory{
			Output: strings.Repeat("x", maxResult), Input: []byte(`{}`), WorkspacePayload: []byte(`"` + strings.Repeat("y", maxResult) + `"`),
		}
	}
	chat.BoundHistory(history)
	data, err := json.Marshal(history)
	if err != nil || len(data) > chat.HistoryBytes {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	if !strings.HasPrefix(history[99].Output, "xxx") || !strings.Contains(history[99].Output, "were cut]") {
		t.Errorf("the last output is %.40q", history[99].Output)
	}
}
