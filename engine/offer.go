package engine

import (
	"slices"

	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/toolset"
)

// offered are the tools that a model is offered where nobody chose any. Where a
// person can be asked these are all. Where nobody can, as in a pipe, builtins
// and tools of MCP servers that want an approval or reach beyond the workspace
// are left out, unless a rule allows them: the first would be denied at each
// call, and a script that never asked for the network shouldn't come to have it
// with a new release.
func (t *turn) offered() *toolset.Set {
	all := t.box.tools.Offered()
	if t.req.CanConfirm || len(t.req.Calls) > 0 || t.req.workflow != nil { // a person's own call is its own wish
		return all
	}
	rules := slices.Concat(t.policy.Allow, t.eng.granted("").Allow)
	var kept []toolset.Entry
	for e := range all.All() {
		ours := e.Tool.ToolsetID == "" || t.box.remote[e.Tool.ID]
		if ours && (e.Tool.RequiresConfirmation || e.Tool.Annotations.OpenWorld) && !permission.Names(rules, e.Tool.ID) {
			continue
		}
		kept = append(kept, e)
	}
	set, err := toolset.NewSet(kept...)
	if err != nil { // can't be: each entry was in a set before
		return all
	}
	return set
}
