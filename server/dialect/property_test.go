package dialect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fettle-cli/fettle/engine/event"
)

// anyTurn draws the log of a turn as an engine may write it: agents that hand
// over, calls side by side, approvals, every kind of event, and any end.
func anyTurn(t *rapid.T) []event.Event {
	d := &drawn{t: t, running: map[string]string{}}
	agents := rapid.Bool().Draw(t, "agents")
	if agents {
		d.add(event.AgentStart{Agent: d.agent()})
	}
	for range rapid.IntRange(0, 30).Draw(t, "events") {
		d.step(agents)
	}
	for len(d.running) > 0 {
		d.complete()
	}
	switch rapid.IntRange(0, 3).Draw(t, "end") {
	case 0:
		d.add(event.Complete{Payload: event.ResponsePayload{Message: "m", Model: "a/b", StopReason: d.word("stop")}})
	case 1:
		d.add(event.Error{Message: d.word("error"), Code: "failed"})
	case 2:
		d.add(event.Cancelled{})
	}
	return d.events
}

type drawn struct {
	t       *rapid.T
	events  []event.Event
	calls   int
	running map[string]string // tool ids by tool_use_id
}

func (d *drawn) add(b event.Body) {
	n := len(d.events) + 1
	d.events = append(d.events, event.Event{
		TurnID: "01T", Seq: event.Seq(n), Body: b,
		Time: time.Date(2026, 11, 28, 10, 0, n, 0, time.UTC),
	})
}

func (d *drawn) word(label string) string {
	return rapid.SampledFrom([]string{"", "stop", "length", "refusal", "a\nb", "\"é\u2028\\", "event: x\n\ndata: y"}).Draw(d.t, label)
}

func (d *drawn) agent() string {
	return rapid.SampledFrom([]string{"interface", "scavenger", "synthesizer"}).Draw(d.t, "agent")
}

func (d *drawn) step(agents bool) {
	switch rapid.IntRange(0, 10).Draw(d.t, "kind") {
	case 0, 1:
		d.add(event.TextDelta{Text: d.word("text")})
	case 2:
		d.add(event.Reasoning{Text: d.word("thought"), Said: rapid.Bool().Draw(d.t, "said")})
	case 3:
		d.call()
	case 4:
		if len(d.running) > 0 {
			d.complete()
		}
	case 5:
		for use := range d.running {
			d.add(event.ToolProgress{Tool: "t", Stage: d.word("stage"), ToolUseID: use, Data: d.raw()})
			break
		}
	case 6:
		if agents {
			to := d.agent()
			d.add(event.Handoff{From: d.agent(), To: to})
			d.add(event.AgentStart{Agent: to})
		}
	case 7:
		d.add(event.Meta{Model: "a/b", Usage: &event.Usage{InputTokens: 3, OutputTokens: 2}, StopReason: d.word("stop")})
	case 8:
		d.add(event.Annotations{Annotations: []json.RawMessage{[]byte(`{"url":"https://example.com/a"}`), []byte(`{"url":"javascript:x","title":"t"}`), []byte(`[]`)}})
	case 9:
		d.add(event.Status{Message: d.word("status")})
		d.add(event.Footnote{Text: d.word("note")})
	case 10:
		d.add(event.Payload{PayloadID: "p", Kind: "draft", Data: d.raw(), Source: "tool"})
		d.add(event.Unknown{Name: "later", Raw: []byte(`{"type":"later"}`)})
	}
}

// raw is what a tool may give: also no JSON at all, and more than one line.
func (d *drawn) raw() json.RawMessage {
	return json.RawMessage(rapid.SampledFrom([]string{"", "{}", "{\n\"a\":1}", "no json", "[1,2]", "null"}).Draw(d.t, "raw"))
}

func (d *drawn) call() {
	d.calls++
	use := fmt.Sprintf("call_%d", d.calls)
	id := rapid.SampledFrom([]string{"weather:get_weather", "client:get_weather"}).Draw(d.t, "tool")
	input := d.raw()
	if id[0] == 'w' && rapid.Bool().Draw(d.t, "asks") {
		d.add(event.ConfirmRequest{Tool: "get_weather", ToolID: id, Input: input, ToolUseID: use, Reason: d.word("why")})
		decision := rapid.SampledFrom([]event.Decision{event.Allow, event.Deny}).Draw(d.t, "decision")
		d.add(event.ConfirmResult{ToolUseID: use, Decision: decision})
	}
	d.add(event.ToolStart{Tool: "get_weather", ToolID: id, Input: input, ToolUseID: use, Index: d.calls - 1})
	if id[0] == 'w' {
		d.running[use] = id
	}
}

func (d *drawn) complete() {
	for use, id := range d.running {
		delete(d.running, use)
		status := rapid.SampledFrom([]event.CallStatus{event.CallSuccess, event.CallError}).Draw(d.t, "status")
		d.add(event.ToolComplete{Tool: "get_weather", ToolID: id, ToolUseID: use, Status: status, Result: d.word("result"), Data: d.raw()})
		return
	}
}

// TestAnyTurn holds what each format's clients insist on, for any turn, cut
// anywhere, with and without pauses.
func TestAnyTurn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		events := anyTurn(rt)
		events = events[:rapid.IntRange(0, len(events)).Draw(rt, "cut")]
		o := options()
		o.AskByPause = rapid.Bool().Draw(rt, "pause")
		o.Settled = event.Seq(rapid.IntRange(0, len(events)).Draw(rt, "settled"))
		for _, n := range Names() {
			for _, list := range streams(t, n, o, events) {
				if problem := judgeStream(n, list); problem != "" {
					rt.Fatalf("%s: %s\n%s", n, problem, shown(list))
				}
			}
		}
	})
}

// streams are the frames that a client gets, a list for each request: a pause
// ends one.
func streams(t *testing.T, n Name, o Options, events []event.Event) [][]frame {
	t.Helper()
	enc := NewEncoder(n, o)
	var out [][]frame
	var stream []byte
	for _, e := range events {
		var err error
		if stream, err = enc.Append(stream, e); err != nil {
			continue // an event that holds no JSON where it should
		}
		if !json.Valid(enc.KeepAlive(nil)) && string(enc.KeepAlive(nil)) != ping && n != Anthropic {
			t.Fatalf("%s keeps alive with %q", n, enc.KeepAlive(nil))
		}
		if enc.Paused() {
			out, stream = append(out, frames(t, n, stream)), nil
		}
	}
	if stream = enc.End(stream); len(stream) > 0 {
		out = append(out, frames(t, n, stream))
	}
	return out
}

func shown(list []frame) string {
	var s strings.Builder
	for _, f := range list {
		fmt.Fprintf(&s, "%s %s\n", f.name, f.data)
	}
	return s.String()
}

// judgeStream says what is wrong with one stream.
func judgeStream(n Name, list []frame) string {
	for i, f := range list {
		if string(f.data) != "[DONE]" && !json.Valid(f.data) {
			return fmt.Sprintf("frame %d is no JSON", i)
		}
	}
	switch n {
	case AGUI:
		return judgeAGUI(list)
	case AISDK:
		return judgeAISDK(list)
	case Responses:
		return judgeResponses(list)
	case OpenAI:
		return judgeOpenAI(list)
	case Anthropic:
		return judgeAnthropic(list)
	}
	return ""
}

// judgeAnthropic checks what Anthropic's clients rely on: blocks are numbered, one is open
// at a time, deltas are of the kind of the open block, and the reason to stop fits the
// calls.
func judgeAnthropic(list []frame) string {
	index, kind, calls, started, over := 0, "", 0, false, false
	for _, f := range list {
		var e struct {
			Type  string
			Index int
			Block struct{ Type string } `json:"content_block"`
			Delta struct {
				Type   string
				Reason string `json:"stop_reason"`
			}
		}
		_ = json.Unmarshal(f.data, &e)
		if e.Type != f.name {
			return "the event " + f.name + " has the type " + e.Type
		}
		switch {
		case over:
			return e.Type + " comes after the end"
		case !started && e.Type != "message_start" && e.Type != "error":
			return "the stream begins with " + e.Type
		case started && e.Type == "message_start":
			return "there are two messages"
		}
		started = true
		switch e.Type {
		case "content_block_start":
			if kind != "" || e.Index != index {
				return "a block begins inside of another, or has a wrong number"
			}
			if kind = e.Block.Type; kind == "tool_use" {
				calls++
			}
		case "content_block_delta":
			kinds := map[string][]string{
				"text": {"text_delta", "citations_delta"}, "thinking": {"thinking_delta", "signature_delta"}, "tool_use": {"input_json_delta"},
			}
			if e.Index != index || !slices.Contains(kinds[kind], e.Delta.Type) {
				return e.Delta.Type + " in a block of type " + kind
			}
		case "content_block_stop":
			if kind == "" || e.Index != index {
				return "a block ends that is not open"
			}
			kind = ""
			index++
		case "message_delta":
			if kind != "" || (e.Delta.Reason == "tool_use") != (calls > 0) {
				return fmt.Sprintf("the message stops with %s after %d calls", e.Delta.Reason, calls)
			}
		case "message_stop", "error":
			over = true
		}
	}
	return ""
}

// fields are a frame's, of any dialect.
type fields struct {
	Type          string
	MessageID     string
	ToolCallID    string
	StepName      string
	SubagentRunID string
	ID            string
	Seq           *int `json:"sequence_number"`
	Output        *int `json:"output_index"`
}

// judgeAGUI is what @ag-ui/client's verify checks: what is opened is closed,
// once, before the run ends, and nothing comes after.
func judgeAGUI(list []frame) string {
	open := map[string]bool{}
	over := false
	for i, f := range list {
		var e fields
		_ = json.Unmarshal(f.data, &e)
		if over {
			return e.Type + " comes after the end"
		}
		if i == 0 && e.Type != "RUN_STARTED" && e.Type != "RUN_ERROR" {
			return "it begins with " + e.Type
		}
		kind, id := e.Type, e.MessageID+e.ToolCallID+e.StepName
		if strings.HasPrefix(kind, "SUBAGENT") {
			id = e.SubagentRunID
		}
		switch {
		case kind == "RUN_FINISHED":
			for what := range open {
				return what + " is open at the end"
			}
			over = true
		case kind == "RUN_ERROR":
			over = true
		case strings.HasSuffix(kind, "_STARTED") && kind != "RUN_STARTED", strings.HasSuffix(kind, "_START"):
			key := family(kind) + id
			if open[key] {
				return kind + " " + id + " is open already"
			}
			open[key] = true
		case strings.HasSuffix(kind, "_FINISHED"), strings.HasSuffix(kind, "_END"):
			if !open[family(kind)+id] {
				return kind + " " + id + " was not open"
			}
			delete(open, family(kind)+id)
		case strings.HasSuffix(kind, "_CONTENT"), strings.HasSuffix(kind, "_ARGS"):
			if !open[family(kind)+id] {
				return kind + " " + id + " is not open"
			}
		}
	}
	if !over {
		return "it has no end"
	}
	return ""
}

func family(kind string) string { return kind[:strings.LastIndexByte(kind, '_')+1] }

// judgeAISDK is what processUIMessageStream raises on.
func judgeAISDK(list []frame) string {
	open := map[string]bool{}
	for i, f := range list {
		if string(f.data) == "[DONE]" {
			if i != len(list)-1 {
				return "frames after [DONE]"
			}
			continue
		}
		if i == len(list)-1 {
			return "it has no [DONE]"
		}
		var e fields
		_ = json.Unmarshal(f.data, &e)
		kind, what, _ := strings.Cut(e.Type, "-")
		if kind != "text" && kind != "reasoning" {
			continue
		}
		if (what == "start") == open[kind+e.ID] {
			return e.Type + " " + e.ID + ": opened twice, or not open"
		}
		open[kind+e.ID] = what != "end"
		for other, is := range open {
			if is && other != kind+e.ID {
				return other + " is still open at " + e.Type
			}
		}
	}
	return ""
}

// judgeResponses: numbers without gaps, and each item is done once and is in
// the last event's output.
func judgeResponses(list []frame) string {
	items := map[int]string{}
	for i, f := range list {
		var e fields
		_ = json.Unmarshal(f.data, &e)
		if e.Seq == nil || *e.Seq != i {
			return fmt.Sprintf("event %d has another number", i)
		}
		switch e.Type {
		case "response.output_item.added":
			if items[*e.Output] != "" || *e.Output != len(items) {
				return "an item's index is taken, or leaves a gap"
			}
			items[*e.Output] = "open"
		case "response.output_item.done":
			if items[*e.Output] != "open" {
				return "an item is done that isn't open"
			}
			items[*e.Output] = "done"
		default:
			if e.Output != nil && items[*e.Output] != "open" {
				return e.Type + " is about an item that isn't open"
			}
		}
	}
	var last struct {
		Response struct{ Output []any }
	}
	_ = json.Unmarshal(list[len(list)-1].data, &last)
	done := 0
	for _, state := range items {
		if state == "done" {
			done++
		}
	}
	if len(last.Response.Output) != done {
		return fmt.Sprintf("the last event has %d items of %d", len(last.Response.Output), done)
	}
	return ""
}

// judgeOpenAI: tool calls are numbered, and the reason to stop fits them.
func judgeOpenAI(list []frame) string {
	calls, reason := 0, ""
	for _, f := range list {
		var c struct {
			Choices []struct {
				Delta struct {
					Calls []struct{ Index int } `json:"tool_calls"`
				}
				Reason string `json:"finish_reason"`
			}
		}
		_ = json.Unmarshal(f.data, &c)
		for _, choice := range c.Choices {
			if reason != "" {
				return "a choice comes after its end"
			}
			reason = choice.Reason
			for _, call := range choice.Delta.Calls {
				if call.Index != calls {
					return "the calls are not numbered"
				}
				calls++
			}
		}
	}
	if reason != "" && (reason == "tool_calls") != (calls > 0) {
		return fmt.Sprintf("it stops with %s after %d calls", reason, calls)
	}
	return ""
}

// Frames never hold a line break that isn't theirs, whatever a model says.
func TestTextCantForgeFrames(t *testing.T) {
	t.Parallel()
	evil := "a\n\ndata: {\"type\":\"finish\"}\n\nevent: done\rid: 7\x00\u2028"
	events := []event.Event{
		{TurnID: "t", Seq: 1, Body: event.AgentStart{Agent: evil}},
		{TurnID: "t", Seq: 2, Body: event.TextDelta{Text: evil}},
		{TurnID: "t", Seq: 3, Body: event.ToolStart{Tool: evil, ToolID: evil, ToolUseID: evil, Input: []byte("{\"a\":\n1}")}},
		{TurnID: "t", Seq: 4, Body: event.ToolComplete{Tool: evil, ToolUseID: evil, Result: evil, Status: event.CallSuccess}},
		{TurnID: "t", Seq: 5, Body: event.Error{Message: evil, Code: evil}},
	}
	for _, n := range Names() {
		stream := encode(t, NewEncoder(n, Options{Model: evil, ThreadID: evil, RunID: evil}), events)
		if bytes.ContainsAny(stream, "\r\x00\u2028") {
			t.Errorf("%s: a control character is in %q", n, stream)
		}
		for _, f := range frames(t, n, stream) {
			if string(f.data) != "[DONE]" && !json.Valid(f.data) || f.name == "done" {
				t.Errorf("%s: forged %s %s", n, f.name, f.data)
			}
		}
	}
}

func BenchmarkTextDelta(b *testing.B) {
	e := event.Event{TurnID: "01T", Seq: 2, Time: time.Unix(1795816640, 0), Body: event.TextDelta{Text: "Hello, "}}
	for _, n := range Names() {
		b.Run(string(n), func(b *testing.B) {
			enc := NewEncoder(n, Options{Model: "m"})
			var buf []byte
			b.ReportAllocs()
			for b.Loop() {
				buf, _ = enc.Append(buf[:0], e)
				if r, ok := enc.(*responsesEncoder); ok {
					r.size = 0
					r.open.text.Reset()
				}
			}
		})
	}
}
