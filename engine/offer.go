package engine

import (
	"slices"

	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/toolset"
)

// chooseTools sets what the model is offered, and checks the calls of the request.
func (t *turn) chooseTools() error {
	if t.req.app != nil {
		t.offer = t.req.app.offer
		t.names = t.offer.Names()
		return t.checkCalls()
	}
	t.leftOut = nil
	switch {
	case t.req.Tools == nil:
		t.offer = t.offered()
	case len(t.req.Tools) == 0:
		t.offer, _ = toolset.NewSet() // no entries, nothing to refuse
	default:
		var err error
		if t.offer, err = t.box.Tools.Offered().Select(t.req.Tools...); err != nil {
			return fault.Wrap(fault.Usage, "--tool", err, "fettle ask --tool 'read_*' …")
		}
	}
	if t.clients == nil {
		var err error
		if t.clients, err = clientEntries(t.req.ClientTools); err != nil {
			return err
		}
		t.strict, t.forms = strictTools(t.req.ClientTools), clientForms(t.req.ClientTools)
		t.req.ClientTools = nil
	}
	t.chosen = t.offer
	t.offer = t.withClients(t.offer)
	t.names = t.offer.Names()
	return t.checkCalls()
}

// offered are the tools that a model is offered where nobody chose any. Where a
// person can be asked these are all. Where nobody can, as in a pipe, builtins
// and tools of MCP servers that want an approval or reach beyond the workspace
// are left out, unless a rule allows them: the first would be denied at each
// call, and a script that never asked for the network shouldn't come to have it
// with a new release.
func (t *turn) offered() *toolset.Set {
	all := t.box.Tools.Offered()
	if len(t.req.Calls) > 0 || t.req.workflow != nil { // a user's own call is the user's own wish
		return all
	}
	kept := slices.Collect(all.All())
	if !t.req.CanConfirm {
		kept = t.withoutQuestions(kept)
	}
	if !t.unlimited {
		kept, t.leftOut = catalog.WithinLimit(kept, func(tool toolset.Tool) bool { return tool.ToolsetID == "" || t.box.Session[tool.ID] })
		for _, l := range t.box.Left {
			if t.req.CanConfirm || !l.Server { // without questions it would be left out anyway
				t.leftOut = append(t.leftOut, l)
			}
		}
	}
	set, err := toolset.NewSet(kept...)
	if err != nil { // can't be: each entry was in a set before
		return all
	}
	return set
}

// withoutQuestions leaves out the tools that only a user could allow.
func (t *turn) withoutQuestions(all []toolset.Entry) (kept []toolset.Entry) {
	rules := t.verdicts.Allowing(slices.Concat(t.policy.Allow, t.eng.Granted("").Allow))
	for _, e := range all {
		ours := e.Tool.ToolsetID == "" || t.box.Remote[e.Tool.ID]
		if ours && (e.Tool.RequiresConfirmation || t.box.ReachOf(e.Tool).Outside()) && !rules.Names(e.Tool.ID) {
			continue
		}
		kept = append(kept, e)
	}
	return kept
}
