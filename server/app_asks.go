package server

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/consent"
)

// maxAppAsks bounds the calls of apps that wait for a person; the oldest give way.
const maxAppAsks = 128

// appApprovalJSON is a call of an app that a person is to be asked about.
type appApprovalJSON struct {
	Nonce string `json:"nonce"`
	engine.AppAsk
	Input json.RawMessage `json:"input"`
	// Arguments are those of Input as a user has to see them.
	Arguments []consent.Argument `json:"arguments"`
	ExpiresAt time.Time          `json:"expires_at"`
}

// appAsks are the calls of apps that wait for a person. Each nonce answers once, and
// for just the call that it was given for.
type appAsks struct {
	mu    sync.Mutex
	now   func() time.Time
	open  map[string]appAsk
	order []string
}

type appAsk struct {
	key     [sha256.Size]byte
	shown   string // what the tool said of itself
	expires time.Time
}

func newAppAsks(now func() time.Time) *appAsks {
	return &appAsks{now: now, open: map[string]appAsk{}}
}

// ask notes that a call waits.
func (a *appAsks) ask(key [sha256.Size]byte, about *engine.AppAsk, args json.RawMessage) *appApprovalJSON {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := &appApprovalJSON{Nonce: rand.Text(), AppAsk: *about, Input: args, ExpiresAt: a.now().Add(approvalTime)}
	if len(out.Input) == 0 {
		out.Input = json.RawMessage("{}")
	}
	out.Arguments = argumentsOf(out.Input)
	a.open[out.Nonce] = appAsk{key, about.Shown, out.ExpiresAt}
	a.order = append(a.order, out.Nonce)
	for len(a.order) > maxAppAsks {
		delete(a.open, a.order[0])
		a.order = a.order[1:]
	}
	return out
}

// answer takes a decision, once, and gives what was shown of the tool of a call that
// it allows; empty for one that it denies.
func (a *appAsks) answer(nonce string, key [sha256.Size]byte, d event.Decision) (string, error) {
	if d != event.Allow && d != event.Deny {
		return "", fault.New(fault.Usage, "decision has to be allow or deny")
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	open, ok := a.open[nonce]
	delete(a.open, nonce)
	switch {
	case !ok, !a.now().Before(open.expires):
		return "", fault.New(fault.NotFound, "nobody is asked about this call any more")
	case open.key != key:
		return "", fault.New(fault.Busy, "the call is another one than the one that was shown")
	case d == event.Deny:
		return "", nil
	}
	return open.shown, nil
}

// appPatience is how long a call of an app waits for what else runs in its chat, an
// answer or another call of the app: less than the minute that apps themselves wait.
const appPatience = 45 * time.Second

// callApp calls for an app. It is the only one of these that waits for the chat: an
// app calls when it is shown, which may be amid the answer that shows it.
func (s *Server) callApp(r *http.Request, id string, call engine.AppCall) (*engine.AppAnswer, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	var patience *time.Timer
	call.OnWait = func(what string) {
		if patience == nil {
			patience = time.AfterFunc(appPatience, func() { cancel(fault.New(fault.Busy, clean(what), fault.Advise("try again when it has ended"))) })
		}
	}
	call.OnBegin = func() {
		if patience != nil {
			patience.Stop()
		}
	}
	answer, err := s.eng.CallApp(ctx, id, call)
	var busy *fault.Fault
	if err != nil && errors.As(context.Cause(ctx), &busy) { // rather than that its context ended
		return nil, busy
	}
	return answer, err
}
