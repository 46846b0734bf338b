package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/gitguard"
)

// guardRepositories finds the repositories of the user's folder before calls that may
// write to it: sandboxes seal these, and what is added to them is set aside after the
// call. Calls that only read add none, and run at the same time.
func (t *turn) guardRepositories(calls []*call, ws *toolset.Workspace) error {
	t.repositories, t.rules = nil, nil
	if !ws.Bound || !slices.ContainsFunc(calls, func(c *call) bool { return !c.readOnly() }) {
		return nil
	}
	t.rules = readIgnoreRules(ws.Root)
	found, err := gitguard.Scan(t.ctx, ws.Root)
	if err != nil {
		return err
	}
	t.repositories, ws.Repositories, ws.BareParts = found, found.Repositories(), found.BareParts()
	return nil
}

// withoutRepositories sets aside the repositories that a call has added to the user's folder, and
// adds to the call's end what was done, for the model and the user. Commands may write
// repositories where the user allows that.
func (t *turn) withoutRepositories(end ended, ws *toolset.Workspace) ended {
	if t.repositories == nil || t.eng.o.CommandsWriteGit && end.call.entry.Tool.ID == commandTool {
		return end
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), stateTime)
	defer cancel()
	moved, err := t.repositories.SetAside(ctx, ws.Root, gitguard.Options{Restore: !t.eng.sealsRepositories(ctx)})
	if len(moved) > 0 {
		note := asideNote(moved)
		end.result.Text = strings.TrimRight(end.result.Text, "\n") + "\n[" + note + "]"
		t.report(event.Footnote{Text: note})
	}
	if err != nil {
		t.report(event.Footnote{Text: "a repository that a call added may still be in the folder; don't run git there before you have looked: " + err.Error()})
	}
	return end
}

// commandTool is the builtin that runs commands.
const commandTool = "run_command"

// sealsRepositories reports whether sandboxes keep tools from existing repositories here.
func (e *Engine) sealsRepositories(ctx context.Context) bool {
	return e.o.SealsRepositories != nil && e.o.SealsRepositories(ctx)
}

// asideNote returns a note that names the first few of the moved repositories.
func asideNote(moved []gitguard.Moved) string {
	const shown = 5
	var added, restored []string
	for _, m := range moved {
		path := cas.EscapePath(m.Path)
		switch {
		case m.Restored && m.To == "":
			restored = append(restored, path)
		case m.Restored:
			restored = append(restored, path+" (the changed one is "+cas.EscapePath(m.To)+")")
		default:
			added = append(added, path+" is "+cas.EscapePath(m.To)+" now")
		}
	}
	some := func(list []string) string {
		if len(list) > shown {
			return fmt.Sprintf("%s and %d more", strings.Join(list[:shown], ", "), len(list)-shown)
		}
		return strings.Join(list, ", ")
	}
	var out []string
	if len(added) > 0 {
		out = append(out, "git runs programs that a repository names, so what the call added was given another name: "+some(added))
	}
	if len(restored) > 0 {
		out = append(out, "git runs programs that these files name, so they were restored after the call: "+some(restored))
	}
	return strings.Join(out, "; ")
}
