package anthropic

import (
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// End closes a response that has ended: what was held back, the calls, meta.
func (d *decoder) End(dst []provider.Delta) ([]provider.Delta, error) {
	before := len(dst)
	d.blocks.closeAll()
	dst = d.blocks.release(dst)
	calls, answer := d.answer()
	if answer != "" {
		dst = append(dst, provider.Delta{Kind: provider.Content, Text: answer})
	}
	dst = wire.Footnotes(dst, d.o.notes)
	reason := wire.StopReason(d.stop)
	dst = wire.FinishCalls(dst, calls, wire.FinishOptions{
		Names: d.o.names, NewID: d.o.newID, Cut: reason == provider.StopLength,
	})
	out, err := wire.Ending{Finish: d.stop, Why: d.refusal(), Usage: d.total()}.Close(dst[before:], d.o.source, d.any)
	return append(dst[:before], out...), err
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

// refusal returns why an answer was refused, as far as the API says.
func (d *decoder) refusal() string {
	if d.details == nil {
		return ""
	}
	category := strings.ReplaceAll(string(d.details.Category), "_", " ")
	if category != "" && d.details.Explanation != "" {
		category += ": "
	}
	return category + string(d.details.Explanation)
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
	u.ReasoningTokens = d.usage.OutputParts.V.Thinking.N
	return u
}
