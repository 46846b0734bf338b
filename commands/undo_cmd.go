package commands

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/fault"
)

// restoredJSON is what undo, redo and `workspace restore` print with --output
// json.
type restoredJSON struct {
	SchemaVersion int          `json:"schema_version"`
	Chat          int64        `json:"chat"`
	Steps         []stateJSON  `json:"steps"`
	Before        string       `json:"before"` // manifest ids
	After         string       `json:"after"`
	Changes       []changeJSON `json:"changes"`
	Left          []leftJSON   `json:"left"`
	Blocked       []leftJSON   `json:"blocked"`
	DryRun        bool         `json:"dry_run"`
}

// leftJSON is a path that was left alone, and why.
type leftJSON struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

func newUndo(rt *runtime) *cli.Command {
	return newSteps(rt, stepCommand{"undo", "take back what the last tool calls did to files", `Takes back the last N changes of the chat that was used last: calls of tools,
files that were put there, and restores. Only files that these changed are
touched. The conversation stays as it is. fettle redo takes it back.`,
		"fettle undo\nfettle undo --dry-run\nfettle undo --keep notes", (*engine.Engine).Undo})
}

func newRedo(rt *runtime) *cli.Command {
	return newSteps(rt, stepCommand{"redo", "bring back what undo has taken away", `Goes the next N changes forward again, as long as nothing new was done since
fettle undo.`, "fettle redo\nfettle redo 2", (*engine.Engine).Redo})
}

type stepFunc func(*engine.Engine, context.Context, engine.RestoreRequest) (*engine.Restored, error)

// stepCommand is what undo and redo differ in.
type stepCommand struct {
	name, usage, description, examples string
	do                                 stepFunc
}

func newSteps(rt *runtime, s stepCommand) *cli.Command {
	path := "fettle " + s.name
	return &cli.Command{
		Name: s.name, Usage: s.usage, ArgsUsage: "[N]", Description: s.description, UsageText: s.examples,
		Flags: append([]cli.Flag{&cli.Int64Flag{Name: "chat", Usage: "in chat `N` instead of the last one"}}, restoreFlags()...),
		Action: func(c *cli.Context) error {
			o := workspaceOptions{chat: engine.ChatRef{Last: true}, steps: 1}
			if c.IsSet("chat") {
				if o.chat = (engine.ChatRef{Number: c.Int64("chat")}); o.chat.Number <= 0 {
					return usagef("fettle chats list", "--chat wants the number of a chat, such as 12")
				}
			}
			switch c.NArg() {
			case 0:
			case 1:
				n, err := strconv.Atoi(c.Args().First())
				if err != nil || n <= 0 {
					return usagef(path+" 2", "%s is no number of steps", strconv.Quote(c.Args().First()))
				}
				o.steps = n
			default:
				return usagef(path+" 2", "%s takes one number of steps; --chat names a chat", s.name)
			}
			if err := readRestore(c, &o, path); err != nil {
				return err
			}
			return runSteps(c.Context, rt, o, s)
		},
	}
}

func (o workspaceOptions) restoreRequest(rt *runtime) engine.RestoreRequest {
	return engine.RestoreRequest{
		Chat: o.chat, Steps: o.steps, Keep: o.keep, Overwrite: o.overwrite, Plan: o.plan, OnWait: rt.waiting,
	}
}

func runSteps(ctx context.Context, rt *runtime, o workspaceOptions, s stepCommand) error {
	verb := s.name
	eng, err := rt.storeEngine()
	if err != nil {
		return err
	}
	req := o.restoreRequest(rt)
	w := rt.work(verb)
	w.watch(&req)
	done, err := s.do(eng, ctx, req)
	w.stop()
	if err != nil {
		return withWays(err, "fettle "+verb+stepsArg(o)+chatFlag(o.chat))
	}
	if o.output == "json" {
		return rt.restoredAsJSON(done, o)
	}
	back := "fettle redo"
	past := "undid"
	if verb == "redo" {
		back, past = "fettle undo", "redid"
	}
	if o.plan {
		past = "would " + verb
	}
	out := rt.streams.Out
	out.Printf("%s %s in chat %d%s: %s\n", past, stepsText(done.Steps), done.Chat.Number, stepsAge(done.Steps), changesText(done.Changes))
	rt.tellLeft(done)
	switch {
	case rt.lent != nil && !o.plan:
		rt.streams.Err.Printf("  %s\n", rt.streams.Err.Style().Dim(strings.Replace(back, "fettle ", "/", 1)+stepsArg(o)+" takes this back · /diff shows it"))
	case !o.plan && rt.streams.Err.IsTerminal():
		rt.streams.Err.Printf("  %s\n", rt.streams.Err.Style().Dim(fmt.Sprintf(
			"%s%s%s takes this back · fettle workspace diff %d @-1 shows it", back, stepsArg(o), chatFlag(o.chat), done.Chat.Number)))
	}
	return nil
}

func stepsArg(o workspaceOptions) string {
	if o.steps <= 1 {
		return ""
	}
	return " " + strconv.Itoa(o.steps)
}

func chatFlag(ref engine.ChatRef) string {
	if ref.Number == 0 {
		return ""
	}
	return fmt.Sprintf(" --chat %d", ref.Number)
}

// stepsText names one step, or counts several.
func stepsText(steps []engine.StateInfo) string {
	if len(steps) != 1 {
		return strconv.Itoa(len(steps)) + " changes"
	}
	s := steps[0]
	switch {
	case s.Source == cas.Restored:
		return "a restore"
	case s.Source == cas.UserUpload:
		return "an upload"
	case s.Source != cas.ToolRun || s.Tool == "":
		return madeBy(s)
	}
	text := s.Tool
	if args := argLine(s.Args); args != "" {
		text += " " + strconv.Quote(term.CutEnd(args, 60))
	}
	return text + strings.TrimPrefix(byPage(s.By), " ")
}

func stepsAge(steps []engine.StateInfo) string {
	if len(steps) != 1 {
		return ""
	}
	return ", " + term.Ago(time.Now(), steps[0].CreatedAt)
}

// changesText counts what became of files.
func changesText(changes []cas.Change) string {
	back, removed := 0, 0
	for _, c := range changes {
		switch {
		case c.New == nil || isFolder(c.New):
			if c.Old != nil && !isFolder(c.Old) {
				removed++
			}
		case !isFolder(c.New):
			back++
		}
	}
	if back+removed == 0 {
		return "no file had to be changed"
	}
	var parts []string
	if back > 0 {
		parts = append(parts, term.Count(back, "file", "files")+" back")
	}
	if removed > 0 && back > 0 {
		parts = append(parts, strconv.Itoa(removed)+" removed")
	} else if removed > 0 {
		parts = append(parts, term.Count(removed, "file", "files")+" removed")
	}
	return strings.Join(parts, ", ")
}

// tellLeft lists what was left alone, or would be in the way.
func (rt *runtime) tellLeft(done *engine.Restored) {
	for _, l := range done.Left {
		rt.notice("left alone: " + cas.EscapePath(l.Path) + ", " + l.Reason)
	}
	for _, b := range done.Blocked {
		rt.notice("in the way: " + cas.EscapePath(b.Path) + ", " + b.Reason)
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
	out.Hints = nil
	const named = 4 // more flags than that nobody types
	if len(conflict.Paths) <= named {
		keep := command
		for _, p := range conflict.Paths {
			keep += " --keep " + shellWords([]string{cas.EscapePath(p.Path)})[0]
		}
		out.Hints = append(out.Hints, keep)
	}
	out.Hints = append(out.Hints, command+" --overwrite   (can be undone too)")
	return &out
}

// withOverwrite adds to a conflict the command that goes on all the same.
func withOverwrite(err error, command string) error {
	var f *fault.Fault
	var conflict *cas.ConflictError
	if !errors.As(err, &f) || !errors.As(err, &conflict) {
		return err
	}
	out := *f
	out.Hints = []string{command + "   (what is there is kept as a state)"}
	return &out
}

func (rt *runtime) restoredAsJSON(done *engine.Restored, o workspaceOptions) error {
	out := restoredJSON{
		SchemaVersion: outputVersion, Chat: done.Chat.Number, Steps: []stateJSON{}, Before: done.Before.ID, After: done.After.ID,
		Changes: changesOf(done.Changes), Left: leftOf(done.Left), Blocked: []leftJSON{}, DryRun: o.plan,
	}
	for _, s := range done.Steps {
		out.Steps = append(out.Steps, toStateJSON(s))
	}
	for _, b := range done.Blocked {
		out.Blocked = append(out.Blocked, leftJSON{cas.EscapePath(b.Path), b.Reason})
	}
	return printJSON(rt, out)
}

func changesOf(changes []cas.Change) []changeJSON {
	out := []changeJSON{}
	for _, c := range changes {
		out = append(out, changeJSON{Path: cas.EscapePath(c.Path), Change: changeWord(c), Old: toSide(c.Old), New: toSide(c.New)})
	}
	return out
}

func leftOf(left []cas.Left) []leftJSON {
	out := []leftJSON{}
	for _, l := range left {
		out = append(out, leftJSON{cas.EscapePath(l.Path), l.Reason})
	}
	return out
}

func runRestore(ctx context.Context, rt *runtime, o workspaceOptions) error {
	eng, err := rt.storeEngine()
	if err != nil {
		return err
	}
	req := o.restoreRequest(rt)
	for _, p := range o.paths {
		name, err := cas.UnescapePath(p)
		if err != nil {
			return usagef("fettle workspace files", "%s", err)
		}
		req.Paths = append(req.Paths, name)
	}
	w := rt.work("workspace restore")
	w.watch(&req)
	done, err := eng.RestoreState(ctx, o.states[0], req)
	w.stop()
	if err != nil {
		words := append([]string{o.states[0]}, o.paths...)
		command := "fettle workspace restore "
		if o.chat.Number > 0 {
			command += strconv.FormatInt(o.chat.Number, 10) + " "
		}
		return withWays(err, command+strings.Join(shellWords(words), " "))
	}
	if o.output == "json" {
		return rt.restoredAsJSON(done, o)
	}
	past := "brought back"
	if o.plan {
		past = "would bring back"
	}
	rt.streams.Out.Printf("%s %s of chat %d: %s\n", past, o.states[0], done.Chat.Number, changesText(done.Changes))
	rt.tellLeft(done)
	if !o.plan && rt.streams.Err.IsTerminal() {
		rt.streams.Err.Printf("  %s\n", rt.streams.Err.Style().Dim("fettle undo"+chatFlag(o.chat)+" takes this back"))
	}
	return nil
}
