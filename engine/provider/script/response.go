package script

import (
	"iter"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
)

// maxPattern bounds a `when`; a longer one is no pattern that somebody wrote.
const maxPattern = 4 << 10

// The places of a response that none was given for.
const (
	anyStep  = -1
	noPlace  = -1
	mostPast = math.MaxInt32 // how many answers a request may have
)

// response is one response of a script.
type response struct {
	line int
	// the condition; see the package's page
	when, system, seen *regexp.Regexp

	step  int // anyStep where none is asked for
	order int // among those without a condition of their own, else noPlace
	// at, asked, told and given are the recorder's; at is noPlace where it
	// wasn't recorded.
	at                 int
	asked, told, given string

	expect  expectation
	batches []batch
	// makeIDs tells that calls without an id get one; a recording is exact.
	makeIDs bool
	ending  ending
	fails   provider.Error // how an ending of kind fail looks
}

// ending is how a response ends.
type ending uint8

const (
	whole ending = iota
	cut
	fail
	hang
)

// batch is what one read gives, and the wait before it.
type batch struct {
	wait   time.Duration
	deltas []provider.Delta
}

// draft is a response while it is read: what its keys say, before it is known
// which of them are there.
type draft struct {
	response
	keys      map[string]*node // the keys that are there and not false
	reasoning string
	text      string
	calls     []provider.Delta
	usage     *event.Usage
	stop      string
	pace      time.Duration
	metas     int
	endsOnly  bool // deltas has what only a whole response has
}

const (
	responseKeys = "when system seen step expect reasoning text calls deltas usage stop_reason pace error cut hang"
	recorderKeys = " at asked told given from"
)

// response reads one response and adds it to the script.
func (d *decoder) response(s *script, pace time.Duration, n *node) {
	r := &draft{keys: map[string]*node{}, pace: pace}
	r.line, r.step, r.order, r.at = int(n.line), anyStep, noPlace, noPlace
	known := responseKeys
	if d.recorded {
		known += recorderKeys
	}
	before := len(d.problems)
	d.mapping(n, "a response", known, func(k, v *node) bool {
		r.keys[k.text] = k
		return d.condition(r, k, v) || d.content(r, k, v) || d.ending(r, k, v)
	})
	if len(d.problems) > before || !d.agrees(r, n) {
		return
	}
	if r.keys["deltas"] == nil && !d.compose(r, n) {
		return
	}
	switch {
	case r.ending != whole:
		r.breakOff()
	case r.metas == 0:
		r.close(s.context)
	}
	r.makeIDs = r.at == noPlace
	if r.at == noPlace {
		s.written = append(s.written, &r.response)
	} else {
		s.recorded = append(s.recorded, &r.response)
	}
}

// condition reads what says when a response answers.
func (d *decoder) condition(r *draft, k, v *node) bool {
	switch k.text {
	case "when":
		r.when = d.pattern(v, k.text)
	case "system":
		r.system = d.pattern(v, k.text)
	case "seen":
		r.seen = d.pattern(v, k.text)
	case "step":
		r.step = int(d.count(v, k.text, 0, mostPast))
	case "expect":
		r.expect = d.expectation(v)
	case "at":
		r.at = int(d.count(v, k.text, 0, mostPast))
		return d.recorded
	case "asked":
		r.asked = d.text(v, k.text)
		return d.recorded
	case "told":
		r.told = d.text(v, k.text)
		return d.recorded
	case "given":
		r.given = d.text(v, k.text)
		return d.recorded
	case "from":
		d.text(v, k.text)
		return d.recorded
	default:
		return false
	}
	return true
}

func (d *decoder) pattern(n *node, key string) *regexp.Regexp {
	expr := d.text(n, key)
	if len(expr) > maxPattern {
		d.at(n, "%s: the pattern is longer than %d bytes", key, maxPattern)
		return nil
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		d.at(n, "%s: %s", key, clean(shorten(strings.TrimPrefix(err.Error(), "error parsing regexp: "), maxSaid)))
		return nil
	}
	return re
}

func (d *decoder) expectation(n *node) (e expectation) {
	d.mapping(n, "expect", "system last tools must_call effort temperature max_tokens params", func(k, v *node) bool {
		switch k.text {
		case "system":
			e.system = d.texts(v, k.text)
		case "last":
			e.last = d.texts(v, k.text)
		case "tools":
			e.tools = d.texts(v, k.text)
		case "must_call":
			e.must = d.text(v, k.text)
		case provider.EffortParam, provider.TemperatureParam, provider.MaxTokensParam:
			if err := e.params.Set(k.text, v.text); err != nil {
				d.at(v, "%s: %s", k.text, err)
			}
		case "params":
			e.further = d.further(v)
		default:
			return false
		}
		return true
	})
	return e
}

// content reads what a response gives.
func (d *decoder) content(r *draft, k, v *node) bool {
	switch k.text {
	case "reasoning":
		r.reasoning = d.text(v, k.text)
	case "text":
		r.text = d.text(v, k.text)
	case "calls":
		d.list(v, k.text, "a list of calls", func(n *node) {
			r.calls = append(r.calls, provider.Delta{Kind: provider.CallDelta, Call: d.call(n)})
		})
	case "deltas":
		d.batches(r, v)
	case "usage":
		r.usage = d.usage(v)
	case "stop_reason":
		r.stop = d.word(v, k.text, stopReasons())
	case "pace":
		r.pace = d.wait(v, k.text)
	default:
		return false
	}
	return true
}

// ending reads how a response ends.
func (d *decoder) ending(r *draft, k, v *node) bool {
	switch k.text {
	case "error":
		r.ending, r.fails = fail, d.failure(v)
		return true
	case "cut":
		return d.flag(r, k, v, cut)
	case "hang":
		return d.flag(r, k, v, hang)
	}
	return false
}

// flag reads an ending that is there or not; false is as if it weren't.
func (d *decoder) flag(r *draft, k, v *node, e ending) bool {
	if d.yes(v, k.text) {
		r.ending = e
	} else {
		delete(r.keys, k.text)
	}
	return true
}

// agrees reports what can't stand together, and a response that gives nothing.
func (d *decoder) agrees(r *draft, n *node) bool {
	good := true
	clash := func(key, why string, others ...string) {
		for _, other := range others {
			if r.keys[key] != nil && r.keys[other] != nil {
				d.at(r.keys[other], "%s can't stand beside %s: %s", other, key, why)
				good = false
			}
		}
	}
	clash("deltas", "deltas are the whole response", "reasoning", "text", "calls")
	for _, end := range []string{"error", "cut", "hang"} {
		clash(end, "a response that breaks off has none", "calls", "usage", "stop_reason")
	}
	clash("error", "a response ends once", "cut", "hang")
	clash("cut", "a response ends once", "hang")
	clash("at", "a recorded response has its place", "when", "system", "seen", "step")
	if r.ending != whole && r.endsOnly && !d.recorded {
		d.at(r.keys["deltas"], "a tool-call or a meta can't stand here: a response that breaks off has none")
		good = false
	}
	if r.metas > 0 {
		clash("deltas", "they have a meta of their own", "usage", "stop_reason")
	}
	for _, key := range strings.Fields("reasoning text calls deltas usage stop_reason error cut hang") {
		if r.keys[key] != nil {
			return good
		}
	}
	d.at(n, `the response gives nothing; an empty answer is text: ""`)
	return false
}

// compose makes the batches of a response that has no list of deltas; false
// where they are too many.
func (d *decoder) compose(r *draft, n *node) bool {
	give := func(deltas ...provider.Delta) bool {
		if !d.counted(n, len(deltas)) {
			return false
		}
		r.batches = append(r.batches, batch{wait: r.pace, deltas: deltas})
		return true
	}
	for word := range words(r.reasoning) {
		if !give(provider.Delta{Kind: provider.Reasoning, Text: word}) {
			return false
		}
	}
	for word := range words(r.text) {
		if !give(provider.Delta{Kind: provider.Content, Text: word}) {
			return false
		}
	}
	return len(r.calls) == 0 || give(r.calls...)
}

// counted counts deltas; false once there are too many, which is reported.
func (d *decoder) counted(n *node, more int) bool {
	had := d.deltas <= d.limits.deltas
	d.deltas += more
	if had && d.deltas > d.limits.deltas {
		d.at(n, "the script has more than %d deltas", d.limits.deltas)
	}
	return d.deltas <= d.limits.deltas
}

// close adds the meta delta that a whole response has: to its last batch where
// that has the calls, as most providers send them.
func (r *draft) close(context int) {
	stop := r.stop
	if stop == "" {
		stop = provider.StopEnd
		if r.callsOut() {
			stop = provider.StopToolUse
		}
	}
	meta := provider.Delta{Kind: provider.Meta, Meta: &event.Meta{
		Usage: r.usage, StopReason: stop, ContextLength: context,
	}}
	if last := len(r.batches) - 1; len(r.calls) > 0 {
		r.batches[last].deltas = append(r.batches[last].deltas, meta)
		return
	}
	r.batches = append(r.batches, batch{deltas: []provider.Delta{meta}})
}

// breakOff leaves out what only a whole response has. A written one has none
// of it; a recorded one may, where its caller broke off between the calls and
// the end.
func (r *draft) breakOff() {
	for i := range r.batches {
		r.batches[i].deltas = slices.DeleteFunc(r.batches[i].deltas, endsOnly)
	}
	r.batches = slices.DeleteFunc(r.batches, func(b batch) bool { return len(b.deltas) == 0 })
}

// endsOnly tells whether only a response that ends properly has such a delta.
func endsOnly(d provider.Delta) bool {
	return d.Kind == provider.CallDelta || d.Kind == provider.Meta
}

// callsOut tells whether the response calls a tool.
func (r *draft) callsOut() bool {
	for _, b := range r.batches {
		for _, delta := range b.deltas {
			if delta.Kind == provider.CallDelta {
				return true
			}
		}
	}
	return false
}

// words splits a text behind the white space that follows each word, so that
// the pieces joined are the text.
func words(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		start, space := 0, false
		for i, r := range s {
			if now := unicode.IsSpace(r); now != space {
				if space && i > start {
					if !yield(s[start:i]) {
						return
					}
					start = i
				}
				space = now
			}
		}
		if start < len(s) {
			yield(s[start:])
		}
	}
}
