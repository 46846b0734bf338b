package script

import (
	"bytes"
	"context"
	"iter"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
)

const cast = `
responses:
  - {system: ^Scribe, seen: a draft, text: the scribe again}
  - {system: ^Scribe, when: (?i)letter, text: the scribe}
  - {system: ^Judge, step: 1, text: the judge decides}
  - {system: ^Judge, text: the judge}
  - {text: somebody}
`

// One file plays several agents: each is known by its prompt, and its first
// request from a later one by what the messages say.
func TestAgentsAreToldApart(t *testing.T) {
	t.Parallel()
	p := holding(map[string]string{"cast.yaml": cast})
	for name, c := range map[string]struct {
		system string
		said   []string
		want   string
	}{
		"by the prompt and the question":         {"Scribe: write", []string{"u:a letter"}, "the scribe"},
		"by what was said before the question":   {"Scribe: write", []string{"u:Judge said: a draft", "u:a letter"}, "the scribe again"},
		"by what a tool gave":                    {"Scribe: write", []string{"u:a letter", "a:", "t:a draft"}, "the scribe again"},
		"another prompt":                         {"Judge: judge", []string{"u:a letter"}, "the judge"},
		"the step counts too":                    {"Judge: judge", []string{"u:a letter", "a:x"}, "the judge decides"},
		"a prompt that nobody has":               {"Clerk: file", []string{"u:a letter"}, "somebody"},
		"all of a condition has to hold":         {"Scribe: write", []string{"u:a poem"}, "somebody"},
		"in order counts only those without any": {"", []string{"u:hi"}, "somebody"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			deltas, err := gather(t, p, &provider.Request{Model: ":cast", System: c.system, Messages: said(c.said...)})
			if got := joined(deltas, provider.Content); got != c.want || err != nil {
				t.Errorf("got %q, %v; want %q", got, err, c.want)
			}
		})
	}
}

// echo answers with the prompt and with what it was told last, as a model would
// that remembers nothing.
type echo struct{ model }

func (*echo) Stream(_ context.Context, req *provider.Request) iter.Seq2[[]provider.Delta, error] {
	return func(yield func([]provider.Delta, error) bool) {
		text := req.System + "|" + textOf(&req.Messages[0])
		yield([]provider.Delta{
			{Kind: provider.Content, Text: text}, {Kind: provider.Meta, Meta: &event.Meta{StopReason: provider.StopEnd}},
		}, nil)
	}
}

// A recording of agents that answered one question together plays each of them.
func TestARecordingTellsAgentsApart(t *testing.T) {
	t.Parallel()
	requests := []*provider.Request{
		{System: "interface", Messages: said("u:which one?")},
		{System: "scavenger", Messages: said("u:which one?")},
		{System: "synthesizer", Messages: said("u:scavenger found two", "u:which one?")},
		{System: "interface", Messages: said("u:synthesizer chose", "u:which one?")},
	}
	var tape bytes.Buffer
	rec := Record(&echo{}, &tape)
	for _, req := range requests {
		if _, err := gather(t, rec, req); err != nil {
			t.Fatal(err)
		}
	}
	p := replaying(tape.Bytes())
	for _, req := range requests {
		again := *req
		again.Model = ":tape"
		deltas, err := gather(t, p, &again)
		if want := req.System + "|" + textOf(&req.Messages[0]); joined(deltas, provider.Content) != want || err != nil {
			t.Errorf("got %q, %v; want %q", joined(deltas, provider.Content), err, want)
		}
	}
	// What a tool gave may differ at the replay; then the prompt decides.
	other := &provider.Request{Model: ":tape", System: "synthesizer", Messages: said("u:scavenger found three", "u:which one?")}
	deltas, err := gather(t, p, other)
	if got := joined(deltas, provider.Content); !strings.HasPrefix(got, "synthesizer|") || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}
