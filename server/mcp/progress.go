package mcp

import (
	"context"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fettle-cli/fettle/internal/harmless"
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
)

// progress tells a client how far its call is, where it asked for that. It belongs
// to one goroutine.
type progress struct {
	session *sdk.ServerSession
	token   any
	now     func() time.Time
	last    float64
	said    time.Time
}

// say tells a client what happens.
func (p *progress) say(ctx context.Context, message string) { p.send(ctx, nil, message) }

// rises tells a client what a tool says of its work, of which there may be more than
// anybody reads. part is from 0 to 1, where there is one.
func (p *progress) rises(ctx context.Context, part *float64, message string) {
	since := p.now().Sub(p.said)
	if !p.said.IsZero() && since >= 0 && since < progressEvery && (part == nil || *part < 1) {
		return
	}
	p.send(ctx, part, message)
}

func (p *progress) send(ctx context.Context, part *float64, message string) {
	if p.token == nil {
		return
	}
	at := p.last + progressStep
	if part != nil {
		at = max(at, min(*part, 1)*progressTotal)
	}
	p.last, p.said = at, p.now()
	_ = p.session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ // a client that is gone hears nothing
		ProgressToken: p.token, Progress: at, Total: max(progressTotal, at), Message: harmless.Cut(harmless.Line(message), maxShownText),
	})
}
