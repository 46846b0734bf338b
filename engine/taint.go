package engine

import (
	"slices"

	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/toolset"
)

// What the web says can ask a model to carry things out: into an address, a
// search, a form. So once something from beyond this machine is in a turn, what
// was allowed for always, or for the chat, says nothing any more about calls
// that reach out: each is asked about, unless this very command allowed it, or
// a person has within this turn. Calls that reach nothing are as before.

// reaches tells whether a tool reaches beyond this machine, so that content
// comes in by it and could go out. A builtin tool's word is believed; of others
// only the sandbox is.
func (b *toolbox) reaches(t toolset.Tool) bool {
	if t.ToolsetID == "" {
		return t.Annotations.OpenWorld
	}
	return !b.sealed[t.ID]
}

// taint notes that a call that runs brings something in from outside.
func (t *turn) taint(c *call) {
	if t.tainted == "" && t.box.reaches(c.entry.Tool) {
		t.tainted = bareID(c.toolID())
	}
}

// decide gives the policy's verdict on a call of this turn.
func (t *turn) decide(c *call, ws *toolset.Workspace) (permission.Verdict, string) {
	v, why := t.policy.Decide(c.entry.Tool, c.use.Args, ws)
	if v != permission.Run || t.tainted == "" || !t.box.reaches(c.entry.Tool) {
		return v, why
	}
	now := t.policy
	now.Allow = slices.Concat(t.req.Policy.Allow, t.allowed)
	if v, _ = now.Decide(c.entry.Tool, c.use.Args, ws); v == permission.Run {
		return permission.Run, ""
	}
	return v, "what was allowed before doesn't count here: the turn holds what " + t.tainted + " brought from outside, and this call reaches out"
}
