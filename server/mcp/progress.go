package mcp

import (
	"context"
	"fmt"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fettle-cli/fettle/internal/sanitize"
)

const (
	// progressStep is what progress rises by where nobody says how far it is: it
	// has to rise.
	progressStep = 0.001
	// progressTotal is what progress is of.
	progressTotal = 100
	// progressEvery is the least time between two messages of a tool: they are looked
	// at by people.
	progressEvery = 50 * time.Millisecond
	// beatEvery is the time between two reports of a call that reports nothing itself. It
	// is well below the shortest timeout that clients use, which is a few seconds.
	beatEvery = time.Second
)

// progress reports to a client what its call does, where the client asked for that. The
// values only rise. It is safe for concurrent use.
type progress struct {
	session *sdk.ServerSession
	token   any
	now     func() time.Time

	mu    sync.Mutex
	last  float64
	sent  time.Time // of the last report
	since time.Time // when the call began
	what  string    // the last message
}

// say reports what happens.
func (p *progress) say(ctx context.Context, message string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.what = message
	p.send(ctx, nil, message)
}

// rises reports a tool's own progress. A tool may report more often than a user can read,
// so some of its reports are dropped. part is from 0 to 1; nil where the tool gave none.
func (p *progress) rises(ctx context.Context, part *float64, message string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.what = message
	if p.isWithin(progressEvery) && (part == nil || *part < 1) {
		return
	}
	p.send(ctx, part, message)
}

// isWithin reports whether the last report is less than d ago.
func (p *progress) isWithin(d time.Duration) bool {
	ago := p.now().Sub(p.sent)
	return !p.sent.IsZero() && ago >= 0 && ago < d
}

// beat reports at intervals that the call still runs, until stop is called. stop waits, so
// that nothing is reported after the call's result.
func (p *progress) beat(ctx context.Context) (stop func()) {
	if p.token == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	p.since = p.now()
	go func() {
		defer close(ended)
		tick := time.NewTicker(beatEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				p.stillRuns(ctx)
			}
		}
	}()
	return func() { cancel(); <-ended }
}

// stillRuns reports that the call runs, unless something was reported just now.
func (p *progress) stillRuns(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if ctx.Err() != nil || p.isWithin(beatEvery/2) {
		return
	}
	message := fmt.Sprintf("running for %.0f s", p.now().Sub(p.since).Seconds())
	if p.what != "" {
		message = p.what + " (" + message + ")"
	}
	p.send(ctx, nil, message)
}

// send writes one report. The caller holds p.mu.
func (p *progress) send(ctx context.Context, part *float64, message string) {
	if p.token == nil {
		return
	}
	at := p.last + progressStep
	if part != nil {
		at = max(at, min(*part, 1)*progressTotal)
	}
	p.last, p.sent = at, p.now()
	_ = p.session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ // a client that has disconnected receives nothing
		ProgressToken: p.token, Progress: at, Total: max(progressTotal, at), Message: sanitize.Cut(sanitize.Line(message), maxShownText),
	})
}
