package script

import (
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
)

// deltaKeys are the kinds of delta, which are document 002's strings.
const deltaKeys = "reasoning reasoning-details content tool-call annotations meta footnote"

// batches reads the exact list of a response.
func (d *decoder) batches(r *draft, n *node) {
	d.list(n, "deltas", "a list of deltas", func(item *node) {
		b := batch{wait: noWait}
		var delta provider.Delta
		var inner *node
		before := len(d.problems)
		d.mapping(item, "a delta", deltaKeys+" wait batch", func(k, v *node) bool {
			switch k.text {
			case "wait":
				b.wait = d.wait(v, k.text)
			case "batch":
				inner = v
			default:
				return d.delta(&delta, k, v)
			}
			return true
		})
		switch {
		case inner != nil && delta.Kind != "":
			d.at(inner, "batch can't stand beside %s: put it into the batch", delta.Kind)
		case inner != nil:
			b.deltas = d.batch(inner)
		case delta.Kind != "":
			b.deltas = []provider.Delta{delta}
		case len(d.problems) == before:
			d.at(item, "a delta has one of %s", strings.ReplaceAll(deltaKeys, " ", ", "))
		}
		d.append(r, item, b)
	})
	for i := range r.batches {
		if r.batches[i].wait == noWait {
			r.batches[i].wait = 0
			if r.pace > 0 && !onlyMeta(r.batches[i].deltas) {
				r.batches[i].wait = r.pace
			}
		}
	}
}

// noWait is the wait of a batch that says none of its own.
const noWait = -1

func onlyMeta(deltas []provider.Delta) bool {
	return !slices.ContainsFunc(deltas, func(d provider.Delta) bool { return d.Kind != provider.Meta })
}

// append adds a batch and counts what is in it.
func (d *decoder) append(r *draft, n *node, b batch) {
	for _, delta := range b.deltas {
		r.endsOnly = r.endsOnly || endsOnly(delta)
		if r.metas > 0 && delta.Kind != provider.Meta && !d.recorded {
			d.at(n, "%s can't stand behind meta, which is the last delta", delta.Kind)
		}
		if delta.Kind != provider.Meta {
			if !d.counted(n, 1) {
				return
			}
			continue
		}
		if r.metas++; r.metas > 1 {
			d.at(n, "a second meta; a response has one")
		}
	}
	if len(b.deltas) > 0 {
		r.batches = append(r.batches, b)
	}
}

// batch reads the deltas that come together.
func (d *decoder) batch(n *node) []provider.Delta {
	var deltas []provider.Delta
	d.list(n, "batch", "a list of deltas", func(item *node) {
		var delta provider.Delta
		before := len(d.problems)
		d.mapping(item, "a delta of a batch", deltaKeys, func(k, v *node) bool { return d.delta(&delta, k, v) })
		if delta.Kind == "" && len(d.problems) == before {
			d.at(item, "a delta has one of %s", strings.ReplaceAll(deltaKeys, " ", ", "))
		}
		deltas = append(deltas, delta)
	})
	if n.kind == listNode && len(deltas) == 0 {
		d.at(n, "batch: expected at least one delta")
	}
	return deltas
}

// delta reads one delta, whose key is its kind.
func (d *decoder) delta(into *provider.Delta, k, v *node) bool {
	kind := provider.DeltaKind(k.text)
	one := provider.Delta{Kind: kind}
	switch kind {
	case provider.Reasoning, provider.Content, provider.Footnote:
		one.Text = d.text(v, k.text)
	case provider.ReasoningDetails:
		one.Details = d.json(v)
	case provider.CallDelta:
		one.Call = d.call(v)
	case provider.Annotations:
		d.list(v, k.text, "a list", func(item *node) { one.Annotations = append(one.Annotations, d.json(item)) })
	case provider.Meta:
		one.Meta = d.meta(v)
	default:
		return false
	}
	if into.Kind != "" {
		d.at(k, "a delta is of one kind; this one has %s and %s", into.Kind, kind)
		return true
	}
	*into = one
	return true
}

// call reads a tool call.
func (d *decoder) call(n *node) *provider.ToolCall {
	c := &provider.ToolCall{Args: json.RawMessage("{}")}
	d.mapping(n, "a call", "id name args", func(k, v *node) bool {
		switch k.text {
		case "id":
			c.ID = d.text(v, k.text)
		case "name":
			c.Name = d.text(v, k.text)
		case "args":
			if v.kind != mapNode && !d.recorded {
				d.expected(v, k.text, "keys and values")
				return true
			}
			c.Args = d.json(v)
		default:
			return false
		}
		return true
	})
	if c.Name == "" && n.kind == mapNode && !d.recorded {
		d.at(n, "a call has a name")
	}
	return c
}

// meta reads what closes a response.
func (d *decoder) meta(n *node) *event.Meta {
	m := new(event.Meta)
	d.mapping(n, "meta", "model usage stop_reason context_length", func(k, v *node) bool {
		switch k.text {
		case "model":
			m.Model = d.text(v, k.text)
		case "usage":
			m.Usage = d.usage(v)
		case "stop_reason":
			m.StopReason = d.text(v, k.text)
		case "context_length":
			m.ContextLength = int(d.count(v, k.text, d.least(), math.MaxInt32))
		default:
			return false
		}
		return true
	})
	return m
}

// least is the least number of tokens. What a provider really said is recorded
// as it is, however odd.
func (d *decoder) least() int64 {
	if d.recorded {
		return math.MinInt64
	}
	return 0
}

func (d *decoder) usage(n *node) *event.Usage {
	u := new(event.Usage)
	d.mapping(n, "usage", "input_tokens output_tokens cached_tokens reasoning_tokens", func(k, v *node) bool {
		var into *int64
		switch k.text {
		case "input_tokens":
			into = &u.InputTokens
		case "output_tokens":
			into = &u.OutputTokens
		case "cached_tokens":
			into = &u.CachedTokens
		case "reasoning_tokens":
			into = &u.ReasoningTokens
		default:
			return false
		}
		*into = d.count(v, k.text, d.least(), math.MaxInt64)
		return true
	})
	return u
}

// An HTTP status is three digits.
const (
	leastStatus = 100
	mostStatus  = 599
)

// failure reads an error that a response ends in.
func (d *decoder) failure(n *node) provider.Error {
	var e provider.Error
	var row kindRow
	d.mapping(n, "error", "kind status message retry_after feature", func(k, v *node) bool {
		switch k.text {
		case "kind":
			row, _ = kindNamed(d.word(v, k.text, kindNames()))
		case "status":
			e.Status = int(d.count(v, k.text, leastStatus, mostStatus))
		case "message":
			e.Message = clean(d.text(v, k.text))
		case "retry_after":
			e.RetryAfter = d.wait(v, k.text)
		case "feature":
			e.Feature = provider.Feature(d.word(v, k.text, features()))
		default:
			return false
		}
		return true
	})
	if d.full() || n.kind != mapNode {
		return e
	}
	e.Kind = row.kind
	if e.Message == "" {
		e.Message = row.message
	}
	d.complete(n, &e)
	return e
}

// complete reports what an error lacks.
func (d *decoder) complete(n *node, e *provider.Error) {
	switch {
	case e.Kind == 0 && !hasKey(n, "kind"):
		d.at(n, "error: it has a kind: %s", oneOf(kindNames()))
	case e.Kind == provider.Unsupported && e.Feature == "" && !hasKey(n, "feature"):
		d.at(n, "error: what is unsupported has a feature: %s", oneOf(features()))
	case e.Kind != 0 && e.Kind != provider.Unsupported && e.Feature != "":
		d.at(n, "error: only what is unsupported has a feature")
	}
}

func hasKey(n *node, key string) bool {
	for i := 0; i < len(n.items); i += 2 {
		if n.items[i].text == key {
			return true
		}
	}
	return false
}
