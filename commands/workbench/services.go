package workbench

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/render"
)

// serviceTime bounds what it takes at the end of a command to say where services are.
const serviceTime = 2 * time.Second

// framed notes the calls of a server's turn that have a frame: their tools may live on
// there.
func (t *through) framed(e event.Event) {
	done, ok := e.Body.(event.ToolComplete)
	var plan render.Plan
	if !ok || done.CallID == "" || json.Unmarshal(done.RenderPlan, &plan) != nil || plan.Renderer != toolset.RenderFrame || plan.Error != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.frames = append(t.frames, frameCall{done.CallID, done.ToolID})
}

// frameCall is a call whose page is a frame.
type frameCall struct{ call, tool string }

// sayServices says what becomes of the services that a command's calls have begun:
// they end with the process that ran them, which is this one or a server.
func (rt *Runtime) sayServices() {
	if rt.Hold || rt.Quiet {
		return // a server says it to the page
	}
	if rt.toolbox != nil {
		var ended []string
		for _, s := range rt.toolbox.python.Services() {
			ended = append(ended, s.ToolID)
		}
		slices.Sort(ended)
		if ended = slices.Compact(ended); len(ended) > 0 {
			rt.Notice("the service of " + strings.Join(ended, ", ") + " ends with this command; one that fettle serve runs stays, and its page is shown")
		}
	}
	t, ok := rt.Turns.(*through)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), serviceTime)
	defer cancel()
	t.mu.Lock()
	frames := t.frames
	t.mu.Unlock()
	told := map[string]bool{}
	for _, f := range slices.Backward(frames) { // the last call of a tool is the one that counts
		if told[f.tool] {
			continue
		}
		told[f.tool] = true
		switch address, problem, err := t.local.ServiceAt(ctx, f.call); {
		case err != nil: // the server has gone, or doesn't know: nothing to say
		case address != "":
			rt.Notice(f.tool + " runs in fettle serve, at " + address)
		case problem != "":
			rt.Notice(f.tool + ": " + problem)
		}
	}
}
