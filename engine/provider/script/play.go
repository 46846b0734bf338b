package script

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
)

// player plays one response to one request.
type player struct {
	*response
	ctx     context.Context
	model   string
	instant bool
	answers int // so far, for the ids of calls
	calls   int // that were given
	buf     []provider.Delta
}

// play yields the response until it ends, the caller breaks out, or the
// context ends.
func (p *player) play(yield func([]provider.Delta, error) bool) {
	for i := range p.batches {
		b := &p.batches[i]
		if !p.wait(b.wait) {
			yield(nil, p.stopped())
			return
		}
		if !yield(p.fresh(b.deltas), nil) {
			return
		}
	}
	switch p.ending {
	case cut:
		yield(nil, p.error(provider.Error{Kind: provider.Broken, Err: provider.ErrCut}))
	case fail:
		yield(nil, p.error(p.fails))
	case hang:
		p.hang()
		if p.ctx.Err() != nil {
			yield(nil, p.stopped())
			return
		}
		yield(nil, p.error(provider.Error{
			Kind: provider.SlowStart, Message: fmt.Sprintf("nothing came for %s", longestWait),
		}))
	}
}

// wait waits for d, and reports whether the response may go on.
func (p *player) wait(d time.Duration) bool {
	if d <= 0 || p.instant {
		return p.ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-p.ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// hang waits until the context ends or longestWait is over.
func (p *player) hang() {
	t := time.NewTimer(longestWait)
	defer t.Stop()
	select {
	case <-p.ctx.Done():
	case <-t.C:
	}
}

// fresh copies deltas, since a consumer may change the batch that it was given
// and the script is shared. The copy is good until the next one.
func (p *player) fresh(deltas []provider.Delta) []provider.Delta {
	p.buf = append(p.buf[:0], deltas...)
	for i := range p.buf {
		d := &p.buf[i]
		d.Details = bytes.Clone(d.Details)
		if d.Call != nil {
			call := *d.Call
			call.Args = bytes.Clone(call.Args)
			if call.ID == "" && p.makeIDs {
				call.ID = fmt.Sprintf("call_%d_%d", p.answers, p.calls)
			}
			p.calls++
			d.Call = &call
		}
		if d.Meta != nil {
			meta := *d.Meta
			meta.Usage = (*event.Usage)(nil).Add(meta.Usage)
			d.Meta = &meta
		}
		if d.Annotations != nil {
			all := make([]json.RawMessage, len(d.Annotations))
			for j, a := range d.Annotations {
				all[j] = bytes.Clone(a)
			}
			d.Annotations = all
		}
	}
	return p.buf
}

// stopped is the error of a response that its own caller ended.
func (p *player) stopped() error {
	return p.error(provider.Error{Kind: provider.Broken, Err: context.Cause(p.ctx)})
}

// error makes an error of this request of what is known of it.
func (p *player) error(e provider.Error) error {
	e.Provider, e.Model = providerName, p.model
	return &e
}
