package script

import (
	"context"
	"fmt"
	"io"
	"iter"
	"sync"
	"time"

	"github.com/fettle-cli/fettle/engine/provider"
)

// Record passes everything of p through and appends each response to w as one
// line of the recorded form, with one Write once the response has ended. What
// is written is the deltas and their times, the kind, status, message and
// feature of an error, and of the request its place in the conversation, the
// model's name and 32 bits of a hash of the question. No prompt, header,
// address or key comes near it. A response that the caller broke off is
// recorded as cut.
//
// The header goes out with the first response. Several recorders may append to
// one w if its Write is safe for concurrent use, as that of a file is that was
// opened to append.
//
// A response that can't be recorded is passed on all the same, and a footnote
// behind it says why. What p can do beyond Provider stays reachable through
// Unwrap; a Lister stays one.
func Record(p provider.Provider, w io.Writer) provider.Provider {
	r := &recorder{Provider: p, limits: bounds(), w: w}
	if l, ok := p.(provider.Lister); ok {
		return &recordingLister{recorder: r, Lister: l}
	}
	return r
}

type recorder struct {
	provider.Provider
	limits limits
	mu     sync.Mutex // guards what follows, and keeps lines whole
	w      io.Writer
	begun  bool // the header is written
}

type recordingLister struct {
	*recorder
	provider.Lister
}

var (
	_ provider.Provider = (*recorder)(nil)
	_ provider.Lister   = (*recordingLister)(nil)
)

// Unwrap gives the provider that is recorded.
func (r *recorder) Unwrap() provider.Provider { return r.Provider }

// Stream streams from the provider and records; see Record.
func (r *recorder) Stream(ctx context.Context, req *provider.Request) iter.Seq2[[]provider.Delta, error] {
	return func(yield func([]provider.Delta, error) bool) {
		t := newTake(r.Provider.Name(), req, r.limits)
		for batch, err := range r.Provider.Stream(ctx, req) {
			if err != nil {
				t.fail(err, ctx.Err() != nil)
				if r.note(t, yield) {
					yield(nil, err)
				}
				return
			}
			t.add(batch) // first, since whoever is behind us may change it
			if !yield(batch, nil) {
				t.stop()
				_ = r.save(t) // the caller has gone; nobody could be told
				return
			}
			t.since = time.Now()
		}
		t.end()
		r.note(t, yield)
	}
}

// note saves a response and tells of a failure to by a footnote. It reports
// whether the caller is still there.
func (r *recorder) note(t *take, yield func([]provider.Delta, error) bool) bool {
	err := r.save(t)
	if err == nil {
		return true
	}
	return yield([]provider.Delta{{
		Kind: provider.Footnote, Text: "this response was not recorded: " + clean(err.Error()),
	}}, nil)
}

// save writes a response that has ended.
func (r *recorder) save(t *take) error {
	line, err := t.line()
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.begun {
		line = append([]byte(fmt.Sprintf("{\"fettle_script\":%d}\n", formVersion)), line...)
	}
	n, err := r.w.Write(line)
	if err == nil && n < len(line) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return err
	}
	r.begun = true
	return nil
}
