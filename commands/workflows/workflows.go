package workflows

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
)

// listJSON is what `workflows list --output json` prints.
type listJSON struct {
	SchemaVersion int                       `json:"schema_version"`
	Workflows     *[]store.Workflow         `json:"workflows,omitempty"`
	Instances     *[]store.WorkflowInstance `json:"instances,omitempty"`
}

// oneJSON is what the other commands print of one.
type oneJSON struct {
	SchemaVersion int                     `json:"schema_version"`
	Workflow      *store.Workflow         `json:"workflow,omitempty"`
	Instance      *store.WorkflowInstance `json:"instance,omitempty"`
}

// New is the command workflows.
func New(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:  "workflows",
		Usage: "run the workflows that toolsets bring",
		Description: `A workflow is a fixed order of steps, each a tool or an agent. What is started is
an instance, with a chat of its own: its steps run there as in any turn, with the
same approvals, sandbox and undo. It stops behind a step that is a checkpoint,
until you let it go on, and can go on after a failure, a cancel or a crash; what
was done stays done.`,
		UsageText: `fettle workflows list
fettle workflows start vendor_finder -a category=movers -a location=Portland
fettle workflows act last continue`,
		Subcommands: []*cli.Command{
			newList(rt), newStart(rt), newShow(rt), newAct(rt), newCancel(rt),
		},
	}
}

func newList(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:  "list",
		Usage: "list workflows, or those that were started",
		Description: `In a pipe each workflow is a line of id, steps, name and description, and each
instance a line of id, workflow, state, steps that are done, chat and when it went
on last, with tabs between.`,
		UsageText: "fettle workflows list\nfettle workflows list --instances\nfettle workflows list -o json",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "instances", Aliases: []string{"i"}, Usage: "list those that were started"}, cmdline.OutputFlag(),
		},
		Before: cmdline.NoArguments,
		Action: func(c *cli.Context) error {
			if c.Bool("instances") {
				return runInstancesList(c.Context, rt, c.String("output"))
			}
			return runList(c.Context, rt, c.String("output"))
		},
	}
}

func runList(ctx context.Context, rt *workbench.Runtime, output string) error {
	eng, err := rt.StoreEngine()
	if err != nil {
		return err
	}
	all, err := eng.AllWorkflows(ctx)
	if err != nil {
		return err
	}
	if output == "json" {
		if all == nil {
			all = []store.Workflow{}
		}
		return workbench.PrintJSON(rt, listJSON{SchemaVersion: workbench.OutputVersion, Workflows: &all})
	}
	if len(all) == 0 {
		rt.Notice("no workflows; toolsets bring them: fettle toolset import FILE")
		return nil
	}
	out := rt.Streams.Out
	table := term.NewTable(out, term.Column{Title: "workflow"}, term.Column{Title: "steps", Right: true},
		term.Column{Title: "name"}, term.Column{Title: "about", Cut: true, Prose: true, Style: out.Style().Dim})
	for _, w := range all {
		table.Row(w.ID, fmt.Sprint(len(w.Steps)), show.OneLine(w.Name), term.Clean(w.Description))
	}
	return table.Flush()
}

func runInstancesList(ctx context.Context, rt *workbench.Runtime, output string) error {
	eng, err := rt.StoreEngine()
	if err != nil {
		return err
	}
	all, err := eng.WorkflowInstances(ctx)
	if err != nil {
		return err
	}
	if output == "json" {
		if all == nil {
			all = []store.WorkflowInstance{}
		}
		return workbench.PrintJSON(rt, listJSON{SchemaVersion: workbench.OutputVersion, Instances: &all})
	}
	if len(all) == 0 {
		rt.Notice("no workflow was started yet; fettle workflows list says which there are")
		return nil
	}
	out := rt.Streams.Out
	table := term.NewTable(out, term.Column{Title: "instance"}, term.Column{Title: "workflow", Cut: true}, term.Column{Title: "state"},
		term.Column{Title: "steps"}, term.Column{Title: "chat", Right: true}, term.Column{Title: "went on", Style: out.Style().Dim})
	for _, i := range all {
		when := i.UpdatedAt.UTC().Format(time.RFC3339)
		if out.IsTerminal() {
			when = term.Ago(time.Now(), i.UpdatedAt)
		}
		table.Row(i.ID, i.Workflow.ID, string(i.State), stepsDone(i), fmt.Sprint(i.Chat), when)
	}
	return table.Flush()
}

// stepsDone is how many of the steps are done: "2 of 3".
func stepsDone(i store.WorkflowInstance) string {
	return fmt.Sprintf("%d of %d", countDone(i), len(i.Steps))
}

// stepsSaid is stepsDone in a sentence: "2 of 3 steps".
func stepsSaid(i store.WorkflowInstance) string {
	return fmt.Sprintf("%d of %s", countDone(i), term.Count(len(i.Steps), "step", "steps"))
}

func countDone(i store.WorkflowInstance) int {
	done := 0
	for _, s := range i.Steps {
		if s.State == store.StepDone {
			done++
		}
	}
	return done
}

func newShow(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:        "show",
		Usage:       "show a workflow, or how far one is that was started",
		ArgsUsage:   "WORKFLOW|INSTANCE",
		Description: "An instance is named by its id, by the number of its chat, or by last: the one that\nwas begun last.",
		UsageText:   "fettle workflows show vendor_finder\nfettle workflows start vendor_finder -a category=movers -a location=Portland\nfettle workflows show last",
		Flags:       []cli.Flag{cmdline.OutputFlag()},
		Before:      cmdline.OneArgument("fettle workflows list", "workflows show wants one workflow or instance"),
		Action: rt.WithStore(func(c *cli.Context, eng *engine.Engine) error {
			return runShow(c.Context, rt, eng, c.Args().First(), c.String("output"))
		}),
	}
}

func runShow(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, name, output string) error {
	w, err := eng.FindWorkflow(ctx, name)
	switch {
	case err == nil && output == "json":
		return workbench.PrintJSON(rt, oneJSON{SchemaVersion: workbench.OutputVersion, Workflow: &w})
	case err == nil:
		showWorkflow(rt.Streams.Out, w)
		return nil
	case fault.CodeOf(err) != fault.NotFound:
		return err
	}
	i, instanceErr := eng.WorkflowInstance(ctx, name)
	if fault.CodeOf(instanceErr) == fault.NotFound && name != store.LastWorkflow {
		return err // as a workflow it may be near to one
	}
	if instanceErr != nil {
		return instanceErr
	}
	if output == "json" {
		return workbench.PrintJSON(rt, oneJSON{SchemaVersion: workbench.OutputVersion, Instance: &i})
	}
	showInstance(rt, i)
	return nil
}

func showWorkflow(out *term.Output, w store.Workflow) {
	out.Printf("%s\n", out.Style().Bold(w.ID))
	for _, text := range []string{w.Name, w.Description} {
		if text != "" {
			out.Printf("%s\n", term.Clean(text))
		}
	}
	out.WriteString("\n")
	table := term.NewTable(out, term.Column{Title: "step"}, term.Column{Title: "does"}, term.Column{Title: "name", Cut: true}, term.Column{})
	for _, s := range w.Steps {
		does, then := "tool "+s.Tool, ""
		if s.Agent != "" {
			does = "agent " + s.Agent
		}
		if s.Checkpoint {
			then = "then waits"
		}
		table.Row(s.ID, does, show.OneLine(s.Name), then)
	}
	_ = table.Flush() // Main looks at what went wrong with writing
	if len(w.InputSchema) > 0 {
		out.Printf("\ninput %s\n", w.InputSchema)
	}
}

func showInstance(rt *workbench.Runtime, i store.WorkflowInstance) {
	out := rt.Streams.Out
	out.Printf("%s\n%s, %s, chat %d\n", out.Style().Bold(i.ID), i.Workflow.ID, i.State, i.Chat)
	out.Printf("input %s\n", term.Clean(string(i.Input)))
	for _, s := range i.Steps {
		mark := map[string]string{store.StepDone: "✓", store.StepFailed: "✗", store.StepInterrupted: "✗", store.StepRunning: "→"}[s.State]
		if mark == "" {
			mark = "·"
		}
		out.Printf("\n%s %s  %s\n", mark, out.Style().Bold(s.ID), s.State)
		if s.Error != "" {
			out.Printf("%s\n", term.Clean(s.Error))
		}
		if len(s.Result) > 0 {
			show.ShowText(out, resultText(s.Result), provider.Assistant)
		}
	}
	nextStep(rt, i)
}

// nextStep says what can be done with an instance.
func nextStep(rt *workbench.Runtime, i store.WorkflowInstance) {
	switch i.State {
	case store.WorkflowWaiting:
		rt.Hint("fettle workflows act " + i.ID + " continue   goes on")
		rt.Hint("fettle workflows cancel " + i.ID + "   ends it")
	case store.WorkflowFailed, store.WorkflowInterrupted:
		rt.Hint("fettle workflows act " + i.ID + " retry   does the step again")
		rt.Hint("fettle workflows cancel " + i.ID + "   ends it")
	case store.WorkflowRunning:
		rt.Hint("fettle workflows show " + i.ID + "   says how far it is")
	}
}

// waitsBehind names the step that an instance waits behind.
func waitsBehind(i store.WorkflowInstance) string {
	name := ""
	for _, s := range i.Steps {
		if s.State == store.StepDone {
			name = s.ID
			if s.Name != "" {
				name = s.Name
			}
		}
	}
	return strings.TrimSpace(term.Clean(name))
}
