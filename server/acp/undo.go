package acp

import (
	"context"
	"strconv"
	"strings"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/engine/workspace"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

func (a *agent) undo(r *request, s *session, args string) (string, error) {
	if args == "list" {
		return a.listSteps(r, s)
	}
	return a.steps(r, s, args, "undo", a.eng.Undo)
}

func (a *agent) redo(r *request, s *session, args string) (string, error) {
	return a.steps(r, s, args, "redo", a.eng.Redo)
}

// maxSteps bounds the steps that one undo goes.
const maxSteps = 1000

// stepsOf reads what follows /undo or /redo. It returns the word that it does not take, or
// "" if it takes them all, and the command as it is given again with another word.
func stepsOf(verb, args string, req *workspace.RestoreRequest) (again, bad string) {
	again = verb
	words := strings.Fields(args)
	for i := 0; i < len(words); i++ {
		word := words[i]
		n, err := strconv.Atoi(word)
		switch {
		case err == nil && n > 0 && n <= maxSteps && req.Call == "":
			req.Steps = n
			again += " " + word
		case word == "overwrite":
			req.Overwrite = true
		case word == "call" && verb == "undo" && i+1 < len(words) && req.Steps == 0:
			i++
			req.Call = words[i]
			again += " call " + sanitize.Line(words[i])
		default:
			return again, word
		}
	}
	return again, ""
}

// steps reverts changes or restores them, and shows them as a call.
func (a *agent) steps(
	r *request, s *session, args, verb string, do func(context.Context, workspace.RestoreRequest) (*workspace.Restored, error),
) (string, error) {
	req := workspace.RestoreRequest{Chat: store.ChatRef{ID: s.id}, OnWait: a.waits(s)}
	again, bad := stepsOf(verb, args, &req)
	if bad != "" {
		takes := "/" + verb + " takes a number of steps, or the word overwrite, not "
		if verb == "undo" {
			takes = "/undo takes a number of steps or the words call ID, and the word overwrite, not "
		}
		return a.reply(r, s, takes+sanitize.Cut(sanitize.Line(bad), maxShownName))
	}
	if s.chat().New != "" {
		return a.reply(r, s, "Nothing was asked in this session yet, so there is nothing to "+verb+".")
	}
	done, err := do(r.ctx, req)
	if err != nil {
		return a.refused(r, s, again, err)
	}
	d := differ{agent: a, s: s, room: maxDiffBytes, outputs: []toolContent{}}
	for _, c := range done.Changes {
		if !d.add(r.ctx, c) {
			break
		}
	}
	a.update(s, update{
		Kind: "tool_call", ToolCallID: a.ownID(r), Title: verb, ToolKind: "edit", Status: "completed", Outputs: d.outputs, Locations: d.places,
	})
	return a.reply(r, s, stepsText(verb, done))
}

// stepsText describes what undo or redo changed.
func stepsText(verb string, done *workspace.Restored) string {
	past := "Undid "
	if verb == "redo" {
		past = "Redid "
	}
	what := count(len(done.Steps), "change", "changes")
	if len(done.Steps) == 1 {
		what = stepTitle(done.Steps[0], what)
	}
	sum := done.Summary()
	text := past + what + ": " + sum.Counts() + ". /" + done.Inverse + " reverts this."
	if names := sum.Names(); names != "" {
		text += "\nFiles: " + names
	}
	for _, l := range done.Left[:min(len(done.Left), fault.Listed)] {
		text += "\nLeft alone: " + sanitize.Line(l.Path) + ", " + sanitize.Line(l.Reason)
	}
	if more := len(done.Left) - fault.Listed; more > 0 {
		text += "\nLeft alone: " + strconv.Itoa(more) + " more"
	}
	return text
}

// stepTitle names the call that made a state; other is for a state that no call made.
func stepTitle(s store.StateInfo, other string) string {
	if s.Tool == "" {
		return other
	}
	return callTitle(bareTool(s.Tool), s.Args)
}

// listedSteps is how many states /undo list shows.
const listedSteps = 20

// listSteps lists the last changes of files with the ids by which /undo takes them.
func (a *agent) listSteps(r *request, s *session) (string, error) {
	if s.chat().New != "" {
		return a.reply(r, s, "Nothing was asked in this session yet, so there is nothing to undo.")
	}
	_, states, more, err := a.eng.States(r.ctx, store.ChatRef{ID: s.id}, listedSteps)
	if err != nil {
		return a.refused(r, s, "undo list", err)
	}
	text := "The last changes of files:"
	for _, st := range states {
		if st.ParentID == "" || st.Tool == "" {
			continue
		}
		text += "\n- `/undo call " + st.ID[max(0, len(st.ID)-shownID):] + "`  " + stepTitle(st, "")
		if st.Undone || st.Reverted {
			text += " (undone)"
		}
	}
	if more {
		text += "\n- and earlier ones"
	}
	return a.reply(r, s, text)
}

// shownID is how many letters of an id are shown: enough to name a state of a chat.
const shownID = 8
