package script

import (
	"encoding/json"
	"fmt"
	"time"

	"pgregory.net/rapid"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
)

// A text of a model holds whatever a model can write; JSON of a provider is
// valid, with any white space between its tokens.
func anyText() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.String(),
		rapid.SampledFrom([]string{"", " ", "\u2028\u2029\u0085", "\x00\x1b[2J\x7f", "<script>&", "\ufeff", "\n\r\n", `"\u0061`, "\u202e", "🙂 e\u0301"}),
	)
}

func anyJSON() *rapid.Generator[json.RawMessage] {
	return rapid.Custom(func(t *rapid.T) json.RawMessage {
		text, _ := json.Marshal(anyText().Draw(t, "text"))
		return json.RawMessage(rapid.SampledFrom([]string{
			"{}", "null", "[1, 2.50,\t3e-7]", `{"a": 1, "a": 2}`, `{"s":` + string(text) + "}",
			"{\n \"deep\": [[[{\"x\": " + string(text) + "}]]]}", `"\ud800\u2028 ` + "\u2028" + `"`,
		}).Draw(t, "json"))
	})
}

func anyDelta() *rapid.Generator[provider.Delta] {
	return rapid.Custom(func(t *rapid.T) provider.Delta {
		d := provider.Delta{Kind: rapid.SampledFrom([]provider.DeltaKind{
			provider.Content, provider.Content, provider.Reasoning, provider.Footnote,
			provider.ReasoningDetails, provider.Annotations,
		}).Draw(t, "kind")}
		switch d.Kind {
		case provider.ReasoningDetails:
			d.Details = anyJSON().Draw(t, "details")
		case provider.Annotations:
			d.Annotations = rapid.SliceOfN(anyJSON(), 1, 3).Draw(t, "annotations")
		default:
			d.Text = anyText().Draw(t, "text")
		}
		return d
	})
}

func anyCall() *rapid.Generator[provider.Delta] {
	return rapid.Custom(func(t *rapid.T) provider.Delta {
		args, _ := json.Marshal(map[string]string{anyText().Draw(t, "key"): anyText().Draw(t, "value")})
		return provider.Delta{Kind: provider.CallDelta, Call: &provider.ToolCall{
			ID: anyText().Draw(t, "id"), Name: anyText().Draw(t, "name"), Args: args,
		}}
	})
}

func anyMeta() *rapid.Generator[provider.Delta] {
	return rapid.Custom(func(t *rapid.T) provider.Delta {
		m := event.Meta{
			Model: anyText().Draw(t, "model"), StopReason: anyText().Draw(t, "stop"),
			ContextLength: int(rapid.Int32().Draw(t, "context")),
		}
		if rapid.Bool().Draw(t, "used") {
			n := rapid.Int64()
			m.Usage = &event.Usage{
				InputTokens: n.Draw(t, "in"), OutputTokens: n.Draw(t, "out"),
				CachedTokens: n.Draw(t, "cached"), ReasoningTokens: n.Draw(t, "thought"),
			}
		}
		return provider.Delta{Kind: provider.Meta, Meta: &m}
	})
}

func anyError() *rapid.Generator[error] {
	return rapid.Custom(func(t *rapid.T) error {
		e := &provider.Error{
			Kind:   provider.Kind(rapid.IntRange(int(provider.Broken), int(provider.Undecodable)).Draw(t, "kind")),
			Status: rapid.SampledFrom([]int{0, 100, 429, 599}).Draw(t, "status"),
			// at least one word, since a message that is missing gets one
			Message:    clean("m" + anyText().Draw(t, "message")),
			RetryAfter: time.Duration(rapid.IntRange(0, int(longestWait/time.Microsecond)).Draw(t, "after")) * time.Microsecond,
		}
		if e.Kind == provider.Unsupported {
			e.Feature = provider.Feature(rapid.SampledFrom(features()).Draw(t, "feature"))
		}
		if rapid.Bool().Draw(t, "cut") {
			return &provider.Error{Kind: provider.Broken, Err: fmt.Errorf("read: %w", provider.ErrCut)}
		}
		return e
	})
}

// anyModel makes a response as the contract of Provider has it.
func anyModel() *rapid.Generator[*model] {
	return rapid.Custom(func(t *rapid.T) *model {
		m := &model{}
		add := func(deltas []provider.Delta) {
			wait := rapid.SampledFrom([]time.Duration{0, time.Microsecond, 7 * time.Millisecond, 90 * time.Second}).Draw(t, "wait")
			m.batches = append(m.batches, batch{wait: wait, deltas: deltas})
		}
		for range rapid.IntRange(0, 4).Draw(t, "batches") {
			add(rapid.SliceOfN(anyDelta(), 1, 4).Draw(t, "batch"))
		}
		if rapid.Bool().Draw(t, "breaks") {
			m.err = anyError().Draw(t, "error")
			return m
		}
		end := rapid.SliceOfN(anyCall(), 0, 2).Draw(t, "calls")
		add(append(end, anyMeta().Draw(t, "meta")))
		return m
	})
}
