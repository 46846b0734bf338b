package engine

import (
	"cmp"
	"slices"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/toolset"
)

// Content from outside can ask a model to send away data of the conversation: in an
// address, a search, a form. So once a conversation has such content, remembered approvals
// no longer count for calls that reach out: each asks, unless this command allowed it or
// the user did within this turn. Calls that reach nothing are decided as before.
//
// What a conversation has is derived from what the model is sent: results of calls that
// reach out, attached files and images, documents and resources, results of a client's
// tools, and the summaries of such messages. It is stored with the messages and with
// workflow instances, so it holds in later turns, on every branch and fork that has the
// messages, after summaries, and for each agent of the chat.

// broughtBy names what a call that ran brought in from outside; empty for nothing.
func (t *turn) broughtBy(c *call) string {
	switch {
	case t.box.ReachOf(c.entry.Tool).SendsOut():
		return chat.BareID(c.toolID())
	case t.eng.o.FoldersFromOutside && t.ws != nil && t.ws.Bound:
		return chat.BareID(c.toolID()) + " in " + t.ws.Path
	}
	return ""
}

// taint notes that a call that runs brings something in from outside.
func (t *turn) taint(c *call) { t.tainted = cmp.Or(t.tainted, t.broughtBy(c)) }

// inherit notes what the conversation, the question and the workflow have from outside.
func (t *turn) inherit(conv *store.OpenChat) {
	t.tainted = cmp.Or(conv.Outside(), store.OutsideIn(t.req.Parts))
	if t.req.workflow != nil {
		t.tainted = cmp.Or(t.tainted, t.req.workflow.instance.Outside)
	}
}

// compileRules parses the turn's rules. It is called whenever these have changed, so that
// a call pays only for the rules that name its tool.
func (t *turn) compileRules() (err error) {
	t.verdicts, err = t.policy.Compile()
	t.ownVerdicts = t.verdicts.Allowing(slices.Concat(t.req.Policy.Allow, t.allowed))
	return err
}

// decide returns the policy's verdict on a call of this turn.
func (t *turn) decide(c *call, ws *toolset.Workspace) (permission.Verdict, string) {
	c.judged = permission.Resolve(c.entry.Tool, c.use.Args, ws).Look()
	v, why := t.verdicts.Decide(c.judged)
	if t.plan && v != permission.Refuse && !permission.InPlan(t.box.ReachOf(c.entry.Tool)) {
		return permission.Refuse, permission.PlanReason
	}
	if t.inTerminal(c) && v != permission.Refuse {
		return permission.Ask, "it runs in the editor's terminal, outside of fettle's sandbox"
	}
	if v != permission.Run || t.tainted == "" || !t.box.ReachOf(c.entry.Tool).SendsOut() {
		return v, why
	}
	if v, _ = t.ownVerdicts.Decide(c.judged); v == permission.Run {
		return permission.Run, ""
	}
	return v, "what was allowed before doesn't count here: the conversation has content from outside (" + t.tainted + "), and this call reaches out"
}
