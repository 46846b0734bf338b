package client

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/fettle-cli/fettle/engine/fault"
)

// shareTime is how long a server shares its store after it was last asked to. A
// command's operations follow each other closely; one that comes later asks
// again, which costs a millisecond.
const shareTime = 2 * time.Second

// Sharing has the server of a data directory share its store with this process
// whenever it is taken. It is what engine.Options.StoreTaken wants.
type Sharing struct {
	o Options

	mu     sync.Mutex
	closed bool
	lease  *lease
	timer  *time.Timer
}

// NewSharing makes a Sharing; it looks for nothing yet.
func NewSharing(o Options) *Sharing { return &Sharing{o: o} }

// lease is one answer of share_store, which lasts until either side ends it.
type lease struct {
	local *Local
	stop  context.CancelFunc
	body  io.Closer
	gone  chan struct{} // closed when it has ended
}

// Taken asks the server that has the store to share it, and does nothing where
// none runs: then another command has it, and lets go by itself.
func (s *Sharing) Taken(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil
	case s.lease != nil && s.lease.lives():
		s.timer.Reset(shareTime)
		return nil
	}
	s.end()
	local, err := Find(ctx, s.o)
	if local == nil || err != nil {
		return ended(ctx, err)
	}
	if s.lease, err = local.share(ctx); s.lease == nil {
		local.Close()
		return ended(ctx, err)
	}
	s.timer = time.AfterFunc(shareTime, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.end()
	})
	return nil
}

// end ends the lease. The caller has s.mu.
func (s *Sharing) end() {
	if s.lease == nil {
		return
	}
	s.timer.Stop()
	s.lease.end()
	s.lease = nil
}

// Close ends the sharing for good.
func (s *Sharing) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.end()
}

// share asks for the store. It is shared once the first byte of the answer is here.
func (l *Local) share(ctx context.Context) (*lease, error) {
	held, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, cancel)
	limit := time.AfterFunc(helloTime, cancel)
	res, err := l.send(held, http.MethodGet, "/api/owner/store", nil)
	if err == nil {
		if _, err = io.ReadFull(res.Body, make([]byte, 1)); err != nil {
			res.Body.Close()
		}
	}
	stop()
	limit.Stop()
	if err != nil {
		cancel()
		var f *fault.Fault
		if errors.As(err, &f) { // it ends, and lets go of the store by that
			return nil, nil
		}
		return nil, other(l.note, "doesn't share it")
	}
	out := &lease{local: l, stop: cancel, body: res.Body, gone: make(chan struct{})}
	go func() {
		defer close(out.gone)
		_, _ = io.Copy(io.Discard, res.Body) // nothing more comes but the end
	}()
	return out, nil
}

func (e *lease) lives() bool {
	select {
	case <-e.gone:
		return false
	default:
		return true
	}
}

// end gives the store back, and waits for what it has started.
func (e *lease) end() {
	e.stop()
	e.body.Close()
	<-e.gone
	e.local.Close()
}
