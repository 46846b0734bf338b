package acp

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

// endWorkflow is the word that ends a workflow for good, beside the engine's two that
// let one go on. A workflow of such a name is started by its whole id.
const endWorkflow = "cancel"

// workflowCommand lists workflows, runs one, whose steps are the prompt's plan, or
// goes on with the one that the session's chat has.
func (a *agent) workflowCommand(r *request, s *session, args string) (string, error) {
	name, more, _ := strings.Cut(args, " ")
	more = strings.TrimSpace(more)
	switch name {
	case "":
		return a.showWorkflows(r, s)
	case store.ActContinue, store.ActRetry, endWorkflow:
		if more != "" {
			return a.reply(r, s, "/workflow "+name+" takes nothing behind it.")
		}
		return a.actWorkflow(r, s, name)
	}
	return a.startWorkflow(r, s, name, more)
}

// showWorkflows lists what can be started, and says where the session's stands.
func (a *agent) showWorkflows(r *request, s *session) (string, error) {
	all, err := a.eng.AllWorkflows(r.ctx)
	if err != nil {
		return "", err
	}
	text := workflowsText(all)
	i, err := a.lastWorkflow(r.ctx, s)
	if err != nil {
		return "", err
	}
	if i != nil {
		if stands := workflowStands(i); stands != "" {
			text += "\n\n" + stands
		}
	}
	return a.reply(r, s, text)
}

// lastWorkflow is the workflow that was begun last in the session; nil is none.
func (a *agent) lastWorkflow(ctx context.Context, s *session) (*store.WorkflowInstance, error) {
	if s.chat().New != "" {
		return nil, nil
	}
	return a.eng.ChatWorkflow(ctx, s.id)
}

func (a *agent) startWorkflow(r *request, s *session, name, input string) (string, error) {
	all, err := a.eng.AllWorkflows(r.ctx)
	if err != nil {
		return "", err
	}
	var found *store.Workflow
	for i := range all {
		if all[i].ID == name || bareTool(all[i].ID) == name {
			found = &all[i]
		}
	}
	if found == nil {
		return a.reply(r, s, "There is no workflow "+sanitize.Cut(sanitize.Line(name), maxShownName)+".\n"+workflowsText(all))
	}
	if input != "" && !json.Valid([]byte(input)) {
		return a.reply(r, s, "What follows the workflow's name has to be JSON, such as {\"topic\": \"tea\"}.")
	}
	var steps []planStep
	for _, st := range found.Steps {
		steps = append(steps, planStep{id: st.ID, name: stepName(st.ID, st.Name)})
	}
	return a.runSteps(r, s, steps, func(ctx context.Context, req engine.TurnRequest) (store.TurnID, error) {
		_, id, err := a.eng.StartWorkflow(ctx, found.ID, json.RawMessage(input), req)
		return id, err
	})
}

// actWorkflow goes on with the session's workflow, or ends it.
func (a *agent) actWorkflow(r *request, s *session, action string) (string, error) {
	i, err := a.lastWorkflow(r.ctx, s)
	if err != nil {
		return "", err
	}
	switch {
	case i == nil:
		return a.reply(r, s, "No workflow was started in this session. /workflow lists those that there are.")
	case action == endWorkflow && (i.State == store.WorkflowComplete || i.State == store.WorkflowCancelled),
		action == store.ActContinue && i.State != store.WorkflowWaiting,
		action == store.ActRetry && i.State != store.WorkflowFailed && i.State != store.WorkflowInterrupted:
		text := "The workflow " + workflowName(i) + " is " + string(i.State) + ": there is nothing to " + action + "."
		if stands := workflowStands(i); stands != "" {
			text = "There is nothing to " + action + ".\n" + stands
		}
		return a.reply(r, s, text)
	case action == endWorkflow:
		if _, err := a.eng.CancelWorkflow(r.ctx, i.ID); err != nil {
			return a.refused(r, s, "workflow "+action, err)
		}
		return a.reply(r, s, "The workflow "+workflowName(i)+" is ended. What its steps have done stays; /undo takes back changes of files.")
	}
	var steps []planStep
	for _, st := range i.Steps {
		steps = append(steps, planStep{id: st.ID, name: stepName(st.ID, st.Name), done: st.State == store.StepDone})
	}
	return a.runSteps(r, s, steps, func(ctx context.Context, req engine.TurnRequest) (store.TurnID, error) {
		return a.eng.ActWorkflow(ctx, i.ID, action, req)
	})
}

// runSteps runs a turn of a workflow, and says how to go on where it has not come to
// its end.
func (a *agent) runSteps(
	r *request, s *session, steps []planStep, start func(context.Context, engine.TurnRequest) (store.TurnID, error),
) (string, error) {
	begun := false
	stop, err := a.run(r, s, func(ctx context.Context) (store.TurnID, error) {
		req := engine.TurnRequest{OnWait: a.waits(s)}
		a.complete(s, &req)
		id, err := start(ctx, req)
		begun = err == nil
		return id, err
	}, steps...)
	if !begun {
		return stop, err
	}
	i, known := a.lastWorkflow(context.WithoutCancel(r.ctx), s) // also where a cancel has stopped it
	switch {
	case known != nil:
		a.log.Warn("where a workflow stands can't be read", "error", sanitize.Line(known.Error()))
	case i != nil:
		if text := workflowStands(i); text != "" {
			a.say(s, a.ownID(r), text)
		}
	}
	return stop, err
}

// workflowStands says where a workflow stands that can be gone on with, what it waits
// for, and what to type; empty for any other.
func workflowStands(i *store.WorkflowInstance) string {
	done, behind, next, why := 0, "", "", ""
	for _, st := range i.Steps {
		switch name := stepName(st.ID, st.Name); {
		case st.State == store.StepDone:
			done++
			behind = name
		case next == "":
			next, why = name, sanitize.Cut(sanitize.Line(st.Error), maxNotice)
		}
	}
	count := strconv.Itoa(done) + " of " + count(len(i.Steps), "step", "steps")
	var text, action, what string
	switch i.State {
	case store.WorkflowWaiting:
		text = "The workflow " + workflowName(i) + " waits behind " + behind + ", " + count + ", for you to look at it. Next is " + next + "."
		action, what = store.ActContinue, "goes on with "+next
	case store.WorkflowFailed, store.WorkflowInterrupted:
		text = "The workflow " + workflowName(i) + " " + string(i.State) + " at " + next + ", " + count + "."
		if i.State == store.WorkflowInterrupted {
			text = "The workflow " + workflowName(i) + " was interrupted at " + next + ", " + count + "."
		}
		if why != "" {
			text += " It says: " + why
		}
		action, what = store.ActRetry, "does "+next+" again"
	default:
		return ""
	}
	return text + "\n- `/workflow " + action + "`  " + what + "\n- `/workflow " + endWorkflow + "`  ends it; what was done stays"
}

func workflowName(i *store.WorkflowInstance) string {
	return sanitize.Cut(stepName(i.Workflow.ID, i.Workflow.Name), maxShownName)
}

// stepName is what people call something that may have no name.
func stepName(id, name string) string {
	if name = sanitize.Line(name); name != "" {
		return name
	}
	return sanitize.Line(id)
}

func workflowsText(all []store.Workflow) string {
	if len(all) == 0 {
		return "No installed toolset brings a workflow."
	}
	text := "The workflows are:"
	for _, w := range all {
		text += "\n- `/workflow " + sanitize.Line(w.ID) + "`  " + sanitize.Cut(sanitize.Line(w.Description), maxShownName)
	}
	return text
}
