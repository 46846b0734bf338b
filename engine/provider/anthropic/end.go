package anthropic

import (
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// end closes a response that has ended: what was held back, the calls, meta.
func (d *decoder) end(dst []provider.Delta) ([]provider.Delta, error) {
	d.blocks.closeAll()
	dst = d.blocks.release(dst)
	reason := stopReason(d.stop)
	calls, answer := d.answer()
	before := len(dst)
	if answer != "" {
		dst = append(dst, provider.Delta{Kind: provider.Content, Text: answer})
	}
	for _, note := range d.o.notes {
		dst = append(dst, provider.Delta{Kind: provider.Footnote, Text: note})
	}
	dst, err := wire.FinishCalls(dst, calls, wire.FinishOptions{
		Names: d.o.names, NewID: d.o.newID, Cut: reason == provider.StopLength,
	})
	if err != nil {
		return dst[:before], err
	}
	called := slices.ContainsFunc(dst[before:], func(d provider.Delta) bool { return d.Kind == provider.CallDelta })
	switch {
	case called:
		reason = provider.StopToolUse
	case reason == provider.StopToolUse:
		reason = provider.StopEnd
	case reason == provider.StopRefusal:
		dst = append(dst, provider.Delta{Kind: provider.Footnote, Text: d.refusal()})
	}
	return append(dst, provider.Delta{Kind: provider.Meta, Meta: &event.Meta{Usage: d.total(), StopReason: reason}}), nil
}

// answer tells the call that holds the answer, where there is one, from the
// others. Calls of other tools come first: the answer is due when they have
// been answered.
func (d *decoder) answer() (calls []wire.Call, text string) {
	calls = d.blocks.list()
	a := d.o.answer
	if a == nil {
		return calls, ""
	}
	text = d.said.String()
	for _, c := range calls {
		if c.Name == a.name {
			args, ok := wire.Args(c.Args)
			text = a.content(args)
			if !ok {
				text = string(c.Args) // which the engine will find fault with
			}
			break
		}
	}
	calls = slices.DeleteFunc(calls, func(c wire.Call) bool { return c.Name == a.name })
	if len(calls) > 0 {
		text = d.said.String()
	}
	return calls, text
}

// refusal says why an answer was refused, as far as that is told.
func (d *decoder) refusal() string {
	note := "the provider declined to answer"
	if d.details == nil {
		return note
	}
	if c := wire.Clean(string(d.details.Category), d.o.source.Secrets...); c != "" {
		note += " (" + strings.ReplaceAll(c, "_", " ") + ")"
	}
	if why := wire.Clean(string(d.details.Explanation), d.o.source.Secrets...); why != "" {
		note += ": " + why
	}
	return note
}

// total is what the response cost; nil where nothing was counted. The API
// counts tokens from and into the cache apart, and fettle within the input.
func (d *decoder) total() *event.Usage {
	if !d.counted {
		return nil
	}
	u := &event.Usage{
		InputTokens:  d.usage.Input.N + d.usage.CacheWrite.N + d.usage.CacheRead.N,
		OutputTokens: d.usage.Output.N, CachedTokens: d.usage.CacheRead.N, CacheWriteTokens: d.usage.CacheWrite.N,
	}
	if d.usage.OutputParts != nil {
		u.ReasoningTokens = d.usage.OutputParts.Thinking.N
	}
	return u
}

// stopReason maps the API's reasons, and those of addresses that only speak it.
func stopReason(reason string) string {
	switch strings.ToLower(reason) {
	case "", "end_turn", "stop_sequence", "stop":
		return provider.StopEnd
	case "tool_use", "tool_calls":
		return provider.StopToolUse
	case "max_tokens", "model_context_window_exceeded", "length":
		return provider.StopLength
	case "refusal", "content_filter", "sensitive":
		return provider.StopRefusal
	}
	return provider.StopOther
}
