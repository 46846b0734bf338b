package server

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
)

// maxAppAsks bounds the calls of apps that wait for a person; the oldest give way.
const maxAppAsks = 128

// appApprovalJSON is a call of an app that a person is to be asked about.
type appApprovalJSON struct {
	Nonce string `json:"nonce"`
	engine.AppAsk
	Input     json.RawMessage `json:"input"`
	ExpiresAt time.Time       `json:"expires_at"`
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

// callApp calls for an app, and tells at once where somebody else is at the chat.
func (s *Server) callApp(r *http.Request, id string, call engine.AppCall) (answer *engine.AppAnswer, err error) {
	err = atOnce(r.Context(), func(ctx context.Context, onWait func(string)) (err error) {
		call.OnWait = onWait
		answer, err = s.apps.CallApp(ctx, id, call)
		return err
	})
	return answer, err
}
