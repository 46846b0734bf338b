package engine

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
)

// sevenKinds streams all of document 002's chunks over two responses.
func sevenKinds(_ context.Context, step int, yield func([]provider.Delta, error) bool) {
	cite := func(n string) provider.Delta {
		return provider.Delta{Kind: provider.Annotations, Annotations: []json.RawMessage{json.RawMessage(`{"cites":` + n + `}`)}}
	}
	meta := func(reason string) provider.Delta {
		return provider.Delta{Kind: provider.Meta, Meta: &event.Meta{StopReason: reason, Usage: &event.Usage{InputTokens: 10, OutputTokens: 2}}}
	}
	if step == 0 {
		yield([]provider.Delta{
			{Kind: provider.Reasoning, Text: "I should "}, {Kind: provider.Reasoning, Text: "look."},
			{Kind: provider.ReasoningDetails, Details: []byte(`{"signed":"x"}`)},
			says("Let me "), says("look."), cite("1"),
			{Kind: provider.Footnote, Text: "images were made smaller"},
			calls("c1", "echo", `{"a":1}`), calls("c2", "echo", `{"a":2}`), meta("tool_use"),
		}, nil)
		return
	}
	if !yield([]provider.Delta{says("It is "), cite("2")}, nil) {
		return
	}
	yield([]provider.Delta{says("blue."), cite("3"), meta("length")}, nil)
}

// The message that is kept merges content, parts, tool calls, annotations and
// the stop reason of all responses (document 002), and follows from the events
// alone.
func TestTheFinalMessageMergesAll(t *testing.T) {
	t.Parallel()
	b, _ := newRogue(t, sevenKinds, echo())
	events := b.run(ask("what colour?"))
	m := b.chat(1).Messages[1]
	if got := m.Text(); got != "Let me look.It is blue." {
		t.Errorf("content %q", got)
	}
	type part struct {
		Kind provider.PartKind
		Step int
		What string
	}
	var parts []part
	for _, p := range m.Parts {
		what := p.Text + string(p.Details)
		if p.Call != nil {
			what = p.Call.ID + " " + p.Call.Name + " " + string(p.Call.Args)
		}
		if p.Result != nil {
			what = p.Result.ID + " " + p.Result.Text
		}
		parts = append(parts, part{p.Kind, p.Step, what})
	}
	wantParts := []part{
		{provider.ReasoningPart, 0, "I should look."}, {provider.ReasoningPart, 0, `{"signed":"x"}`}, {provider.TextPart, 0, "Let me look."},
		{provider.ToolCallPart, 0, `c1 echo {"a":1}`}, {provider.ToolResultPart, 0, `c1 {"a":1}`},
		{provider.ToolCallPart, 0, `c2 echo {"a":2}`}, {provider.ToolResultPart, 0, `c2 {"a":2}`},
		{provider.TextPart, 1, "It is blue."},
	}
	if diff := cmp.Diff(wantParts, parts); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
	var cites []string
	for _, c := range m.Citations {
		cites = append(cites, string(c))
	}
	if diff := cmp.Diff([]string{`{"cites":1}`, `{"cites":2}`, `{"cites":3}`}, cites); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
	if m.StopReason != provider.StopLength || m.Status != chat.Answered || m.Model != "rogue/m" {
		t.Errorf("it stopped with %s, is %s, by %s", m.StopReason, m.Status, m.Model)
	}
	if diff := cmp.Diff(&event.Usage{InputTokens: 20, OutputTokens: 4}, m.Usage); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"images were made smaller", "the answer stops at the model's limit of output"}, m.Notes); diff != "" {
		t.Errorf("footnotes (-want +got):\n%s", diff)
	}
	end := last[event.Complete](t, events).Payload
	if end.StopReason != m.StopReason || end.MessageID != m.ID || end.Model != m.Model {
		t.Errorf("the end says %+v", end)
	}
	fromEvents := chat.NewReducer(&chat.Acceptance{Chat: chat.Chat{ID: m.ChatID}, MessageID: m.ID, UserMessageID: m.ParentID, TurnID: m.TurnID, Model: m.Model, Time: m.CreatedAt})
	for _, e := range events {
		fromEvents.Add(e)
	}
	again := fromEvents.Message()
	again.ManifestID, again.CreatedAt = m.ManifestID, m.CreatedAt // the acceptance has these
	if diff := cmp.Diff(asJSON(t, m), asJSON(t, again)); diff != "" {
		t.Errorf("what the events make (-kept +made):\n%s", diff)
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
