package server_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/server"
)

// countingEngine counts how often a toolset is looked up.
type countingEngine struct {
	server.Engine
	lookups *atomic.Int64
}

func (c countingEngine) InstalledToolset(ctx context.Context, id string) (*engine.InstalledSet, error) {
	c.lookups.Add(1)
	return c.Engine.InstalledToolset(ctx, id)
}

// However many follow a turn, before it asks or later, the version that an approval
// is for is looked up once, and all see the same approval.
func TestAnApprovalIsMadeOnce(t *testing.T) {
	t.Parallel()
	var lookups atomic.Int64
	h := open(t, plan{
		script: "responses:\n  - {when: twice, step: 0, calls: [{name: page, args: {}}]}\n  - {when: \"\", text: Done.}\n",
		change: func(o *server.Options) { o.Engine = countingEngine{o.Engine, &lookups} },
	})
	text, zipped := bundleOf(t, "1.0.0", "    requires_confirmation: true\n"), []string{"Content-Type", "application/zip"}
	var looked struct{ Approve string }
	h.call("POST", "/api/toolsets", text, zipped...).is(200, &looked)
	h.call("POST", "/api/toolsets?approve="+looked.Approve, text, zipped...).is(201, nil)
	lookups.Store(0)
	turn, _ := h.start(doc{"message": "twice", "confirm": true})
	nonces := map[any]int{}
	for range 10 {
		s := h.follow("GET", "/api/turns/"+turn+"/events", nil)
		approval := s.until("approval")
		nonces[approval["nonce"]]++
		if got := approval["reach"]; got != "read and write the chat's workspace only" {
			t.Errorf("the approval says that the call may %v", got)
		}
	}
	if n := lookups.Load(); n != 1 || len(nonces) != 1 {
		t.Errorf("%d lookups, nonces %v", n, nonces)
	}
	h.call("POST", "/api/turns/"+turn+"/cancel", nil).is(204, nil)
}
