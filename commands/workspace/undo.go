package workspace

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/engine/workspace"
)

// restoredJSON is what undo, redo and `workspace restore` print with --output
// json.
type restoredJSON struct {
	SchemaVersion int          `json:"schema_version"`
	Chat          int64        `json:"chat"`
	Steps         []stateJSON  `json:"steps"`
	Before        string       `json:"before"` // manifest ids
	After         string       `json:"after"`
	Changes       []ChangeJSON `json:"changes"`
	// Summary names the first files, and counts all.
	Summary workspace.FilesSummary `json:"summary"`
	// Inverse is the command that reverts this: undo or redo.
	Inverse string     `json:"inverse"`
	Left    []LeftJSON `json:"left"`
	Blocked []LeftJSON `json:"blocked"`
	DryRun  bool       `json:"dry_run"`
	Warning string     `json:"warning,omitempty"`
}

// LeftJSON is a path that was left alone, and why.
type LeftJSON struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// StepFunc is the engine's undo or redo.
type StepFunc func(*engine.Engine, context.Context, workspace.RestoreRequest) (*workspace.Restored, error)

// Step is a command that goes back or forward in the history of a chat's folder.
type Step struct {
	Name, Usage, Description, Examples string
	// ByCall adds a flag that names one change.
	ByCall bool
	Do     StepFunc
}

// NewStep makes the command of a step.
func NewStep(rt *workbench.Runtime, s Step) *cli.Command {
	path := "fettle " + s.Name
	return &cli.Command{
		Name: s.Name, Usage: s.Usage, ArgsUsage: "[N]", Description: s.Description, UsageText: s.Examples,
		Flags: s.flags(),
		Action: func(c *cli.Context) error {
			o := options{chat: store.ChatRef{Last: true}, steps: 1, call: c.String("call")}
			if c.IsSet("chat") {
				if o.chat = (store.ChatRef{Number: c.Int64("chat")}); o.chat.Number <= 0 {
					return cmdline.Usagef("fettle chats list", "--chat wants the number of a chat, such as 12")
				}
			}
			switch c.NArg() {
			case 0:
			case 1:
				n, err := strconv.Atoi(c.Args().First())
				if err != nil || n <= 0 {
					return cmdline.Usagef(path+" 2", "%s is no number of steps", strconv.Quote(c.Args().First()))
				}
				if o.steps = n; o.call != "" {
					return cmdline.Usagef(path+" --call "+cmdline.ShellWord(o.call), "--call names one change; a number of steps does not go with it")
				}
			default:
				return cmdline.Usagef(path+" 2", "%s takes one number of steps; --chat names a chat", s.Name)
			}
			if err := readRestore(c, &o); err != nil {
				return err
			}
			return runSteps(c.Context, rt, o, s)
		},
	}
}

func (s Step) flags() []cli.Flag {
	flags := []cli.Flag{&cli.Int64Flag{Name: "chat", Usage: "in chat `N` instead of the last one"}}
	if s.ByCall {
		flags = append(flags, &cli.StringFlag{Name: "call", Usage: "only the change of the tool call or state `ID`, of which workspace log lists the ends"})
	}
	return append(flags, restoreFlags()...)
}

func (o options) restoreRequest(rt *workbench.Runtime) workspace.RestoreRequest {
	return workspace.RestoreRequest{
		Chat: o.chat, Steps: o.steps, Call: o.call, Overwrite: o.overwrite, Plan: o.plan, OnWait: rt.Waiting,
	}
}

func runSteps(ctx context.Context, rt *workbench.Runtime, o options, s Step) error {
	verb := s.Name
	eng, err := rt.StoreEngine()
	if err != nil {
		return err
	}
	req := o.restoreRequest(rt)
	if req.Keep, err = statePaths(ctx, eng, o.chat, o.keep); err != nil {
		return err
	}
	w := rt.Work(verb)
	w.Watch(&req)
	done, err := s.Do(eng, ctx, req)
	w.Stop()
	if err != nil {
		return withWays(err, "fettle "+verb+stepsArg(o)+callFlag(o)+chatFlag(o.chat))
	}
	if o.output == "json" {
		return restoredAsJSON(rt, done, o)
	}
	past := "undid"
	if verb == "redo" {
		past = "redid"
	}
	if o.plan {
		past = "would " + verb
	}
	rt.Streams.Out.Printf("%s %s in chat %d%s: %s\n", past, StepsText(done.Steps), done.Chat.Number, stepsAge(done.Steps), done.Summary().Counts())
	printSummary(rt, done, o)
	switch {
	case len(done.Steps) >= o.steps:
	case done.One:
		rt.Notice("an undo of one call is redone alone; " + verb + " again for the next one")
	default:
		rt.Notice("there was nothing more to " + verb)
	}
	TellLeft(rt, done)
	dim := func(text string) {
		rt.Streams.Err.Printf("  %s\n", rt.Streams.Err.Style().Dim(text))
	}
	switch {
	case rt.Lent != nil && !o.plan:
		dim("/" + done.Inverse + stepsArg(o) + " reverts this · /diff shows it")
	case !o.plan && rt.Streams.Err.IsTerminal():
		dim(fmt.Sprintf("fettle %s%s%s reverts this · fettle workspace diff %d @-1 shows it", done.Inverse, stepsArg(o), chatFlag(o.chat), done.Chat.Number))
	}
	return nil
}

// printSummary names the files that were changed; of a plan it lists them, so that the user
// sees what of them is theirs.
func printSummary(rt *workbench.Runtime, done *workspace.Restored, o options) {
	out := rt.Streams.Out
	if o.plan && out.IsTerminal() {
		listChanged(rt, done.Changes)
		return
	}
	if names := done.Summary().Names(); names != "" {
		out.Printf("  %s\n", out.Style().Dim(names))
	}
}

func stepsArg(o options) string {
	if o.steps <= 1 {
		return ""
	}
	return " " + strconv.Itoa(o.steps)
}

func callFlag(o options) string {
	if o.call == "" {
		return ""
	}
	return " --call " + cmdline.ShellWord(o.call)
}

func chatFlag(ref store.ChatRef) string {
	if ref.Number == 0 {
		return ""
	}
	return fmt.Sprintf(" --chat %d", ref.Number)
}

// StepsText names one step, or counts several.
func StepsText(steps []store.StateInfo) string {
	if len(steps) != 1 {
		return strconv.Itoa(len(steps)) + " changes"
	}
	s := steps[0]
	switch {
	case s.Source == cas.Restored:
		return "a restore"
	case s.Source == cas.UserUpload:
		return "an upload"
	case s.Source == cas.Interrupted:
		return "what was found after a call without a known end"
	case s.Source != cas.ToolRun || s.Tool == "":
		return madeBy(s)
	}
	text := s.Tool
	if args := show.ArgLine(s.Args); args != "" {
		text += " " + strconv.Quote(term.CutEnd(args, 60))
	}
	return text + strings.TrimPrefix(byPage(s.By), " ")
}

func stepsAge(steps []store.StateInfo) string {
	if len(steps) != 1 {
		return ""
	}
	return ", " + term.Ago(time.Now(), steps[0].CreatedAt)
}

// TellLeft lists what was left alone, or would be in the way: the first of it, where
// it is much.
func TellLeft(rt *workbench.Runtime, done *workspace.Restored) {
	if done.Untold != nil {
		rt.Notice("it is done, but not all can be told: " + done.Untold.Error())
	}
	for _, s := range done.Steps {
		if s.Shared {
			rt.Notice("what other programs changed while " + s.Tool + " ran counts as its change")
			break
		}
	}
	var lost, left []cas.Left
	for _, l := range done.Left {
		if l.Lost {
			lost = append(lost, l)
		} else {
			left = append(left, l)
		}
	}
	tellPaths(rt, lost, "can't be brought back: ") // what matters most comes first
	tellPaths(rt, left, "left alone: ")
	for _, b := range firstOf(done.Blocked) {
		rt.Notice("in the way: " + cas.EscapePath(b.Path) + ", " + b.Reason)
	}
	tellMore(rt, len(done.Blocked), "in the way: ")
}

func tellPaths(rt *workbench.Runtime, list []cas.Left, what string) {
	for _, l := range firstOf(list) {
		rt.Notice(what + cas.EscapePath(l.Path) + ", " + l.Reason)
	}
	tellMore(rt, len(list), what)
}

// firstOf is what a person is told of a list, as of a fault's.
func firstOf[T any](list []T) []T { return list[:min(len(list), fault.Listed)] }

// tellMore says how many of a list weren't told, and what tells them.
func tellMore(rt *workbench.Runtime, n int, what string) {
	if more := n - fault.Listed; more > 0 {
		rt.Notice(what + term.Number(int64(more)) + " more; --output json lists them all")
	}
}

// listChanged lists the first of the files that would be changed, with what would become
// of each.
func listChanged(rt *workbench.Runtime, changes []cas.Change) {
	out := rt.Streams.Out
	files := slices.DeleteFunc(slices.Clone(changes), cas.Change.FoldersOnly)
	printNames(out, ChangesOf(firstOf(files)))
	if more := len(files) - fault.Listed; more > 0 {
		out.Printf("%s\n", out.Style().Dim("and "+term.Number(int64(more))+" more; --output json lists them all"))
	}
}

// withWays adds to a conflict what can be done about it.
func withWays(err error, command string) error {
	var f *fault.Fault
	var conflict *cas.ConflictError
	if !errors.As(err, &f) || !errors.As(err, &conflict) {
		return err
	}
	out := *f
	out.Remedies = nil
	const named = 4 // more flags than that nobody types
	if len(conflict.Paths) <= named {
		keep := command
		for _, p := range conflict.Paths {
			keep += " --keep " + cmdline.ShellWords([]string{cas.EscapePath(p.Path)})[0]
		}
		out.Remedies = append(out.Remedies, fault.Run(keep))
	}
	if !slices.ContainsFunc(conflict.Paths, func(p cas.Blocked) bool { return p.Firm }) {
		out.Remedies = append(out.Remedies, fault.Run(command+" --overwrite   (what it replaces can be restored)"))
	}
	return &out
}

// WithOverwrite adds to a conflict the command that goes on all the same.
func WithOverwrite(err error, command string) error {
	var f *fault.Fault
	var conflict *cas.ConflictError
	if !errors.As(err, &f) || !errors.As(err, &conflict) {
		return err
	}
	out := *f
	out.Remedies = []fault.Remedy{fault.Run(command + "   (what is there is kept as a state)")}
	return &out
}

func restoredAsJSON(rt *workbench.Runtime, done *workspace.Restored, o options) error {
	out := restoredJSON{
		SchemaVersion: workbench.OutputVersion, Chat: done.Chat.Number, Steps: []stateJSON{}, Before: done.Before.ID, After: done.After.ID,
		Changes: ChangesOf(done.Changes), Summary: done.Summary(), Inverse: done.Inverse, Left: LeftOf(done.Left), Blocked: []LeftJSON{}, DryRun: o.plan,
	}
	if done.Untold != nil {
		out.Warning = done.Untold.Error()
	}
	for _, s := range done.Steps {
		out.Steps = append(out.Steps, toStateJSON(s))
	}
	for _, b := range done.Blocked {
		out.Blocked = append(out.Blocked, LeftJSON{cas.EscapePath(b.Path), b.Reason})
	}
	return workbench.PrintJSON(rt, out)
}

// ChangesOf are changes as JSON shows them.
func ChangesOf(changes []cas.Change) []ChangeJSON {
	out := []ChangeJSON{}
	for _, c := range changes {
		out = append(out, ChangeJSON{Path: cas.EscapePath(c.Path), Change: ChangeWord(c), Old: toSide(c.Old), New: toSide(c.New)})
	}
	return out
}

// LeftOf is what was left, as JSON shows it.
func LeftOf(left []cas.Left) []LeftJSON {
	out := []LeftJSON{}
	for _, l := range left {
		out = append(out, LeftJSON{cas.EscapePath(l.Path), l.Reason})
	}
	return out
}

// knownIn refuses paths of which none was ever there, so that a slip isn't told as done.
func knownIn(ctx context.Context, eng *engine.Engine, done *workspace.Restored, paths []string) error {
	_, states, _, err := eng.StateTree(ctx, store.ChatRef{ID: done.Chat.ID}, 0)
	if err != nil {
		return err
	}
	for _, s := range states {
		for _, p := range paths {
			if _, err := eng.FileEntry(ctx, s.Manifest, strings.Trim(p, "/")); fault.CodeOf(err) != fault.NotFound {
				return err
			}
		}
	}
	return fault.New(fault.NotFound, "no state of chat "+strconv.FormatInt(done.Chat.Number, 10)+" has "+cas.EscapePath(paths[0])+"; nothing was changed",
		fault.Run("fettle workspace files   lists what there is"))
}

func runRestore(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, o options) error {
	req := o.restoreRequest(rt)
	var err error
	if req.Paths, err = statePaths(ctx, eng, o.chat, o.paths); err != nil {
		return err
	}
	if req.Keep, err = statePaths(ctx, eng, o.chat, o.keep); err != nil {
		return err
	}
	w := rt.Work("workspace restore")
	w.Watch(&req)
	done, err := eng.RestoreState(ctx, o.states[0], req)
	w.Stop()
	if err != nil {
		words := []string{o.states[0]}
		for _, p := range req.Paths {
			words = append(words, cas.EscapePath(p))
		}
		command := "fettle workspace restore "
		if o.chat.Number > 0 {
			command += strconv.FormatInt(o.chat.Number, 10) + " "
		}
		return withWays(err, command+strings.Join(cmdline.ShellWords(words), " "))
	}
	if len(done.Changes) == 0 && len(req.Paths) > 0 {
		if err := knownIn(ctx, eng, done, req.Paths); err != nil {
			return err
		}
	}
	if o.output == "json" {
		return restoredAsJSON(rt, done, o)
	}
	past := "restored"
	if o.plan {
		past = "would restore"
	}
	rt.Streams.Out.Printf("%s %s of chat %d: %s\n", past, o.states[0], done.Chat.Number, done.Summary().Counts())
	printSummary(rt, done, o)
	TellLeft(rt, done)
	if !o.plan && rt.Streams.Err.IsTerminal() {
		rt.Streams.Err.Printf("  %s\n", rt.Streams.Err.Style().Dim("fettle undo"+chatFlag(o.chat)+" reverts this"))
	}
	return nil
}
