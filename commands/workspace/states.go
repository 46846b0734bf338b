package workspace

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/store"
)

// logJSON is what `workspace log --output json` prints.
type logJSON struct {
	SchemaVersion int         `json:"schema_version"`
	Chat          int64       `json:"chat"`
	States        []stateJSON `json:"states"`
	// Pending describes the operation that a killed command has left unfinished in the
	// folder.
	Pending string `json:"pending,omitempty"`
}

// tellPending prints which operation a killed command has left unfinished in a chat's
// folder. It returns that description, or "" if there is none.
func tellPending(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, chat chat.Chat) (string, error) {
	pending, err := eng.Pending(ctx, chat)
	if pending == nil || err != nil {
		return "", err
	}
	rt.Notice(fmt.Sprintf("chat %d: %s", chat.Number, pending))
	return pending.String(), nil
}

// stateShowJSON is what `workspace show --output json` prints.
type stateShowJSON struct {
	SchemaVersion int          `json:"schema_version"`
	Chat          int64        `json:"chat"`
	State         stateJSON    `json:"state"`
	Changes       []ChangeJSON `json:"changes"`
}

func toStateJSON(s store.StateInfo) stateJSON {
	return stateJSON{Manifest: s.Manifest, Tool: s.Tool, Args: s.Args, By: s.By, Active: s.Active, Undone: s.Undone, Reverted: s.Reverted}
}

func runWorkspaceLog(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, o options) error {
	list := eng.States
	if o.all {
		list = eng.StateTree
	}
	chat, states, more, err := list(ctx, o.chat, o.limit)
	if err != nil {
		return err
	}
	pending, err := tellPending(ctx, rt, eng, chat)
	if err != nil {
		return err
	}
	if o.output == "json" {
		out := logJSON{SchemaVersion: workbench.OutputVersion, Chat: chat.Number, States: []stateJSON{}, Pending: pending}
		for _, s := range states {
			out.States = append(out.States, toStateJSON(s))
		}
		return workbench.PrintJSON(rt, out)
	}
	if len(states) == 0 {
		rt.Notice(fmt.Sprintf("chat %d has no files yet: none of its calls has written one", chat.Number))
		return nil
	}
	names, err := stateNames(ctx, eng, chat, states, o)
	if err != nil {
		return err
	}
	if err := listStates(ctx, rt, eng, states, names); err != nil {
		return err
	}
	if more && rt.Streams.Err.IsTerminal() {
		rt.Streams.Err.Printf("  %s\n", rt.Streams.Err.Style().Dim("there are more: -n 0 lists all"))
	}
	return nil
}

// idShown is how many letters of an id a person is shown: enough to name a
// state of a chat.
const idShown = 8

// stateNames are the names by which a person can call states, by id: those on the
// way to the active one have any.
func stateNames(ctx context.Context, eng *engine.Engine, chat chat.Chat, states []store.StateInfo, o options) (map[string]string, error) {
	if o.all {
		var err error
		if _, states, _, err = eng.States(ctx, store.ChatRef{ID: chat.ID}, 0); err != nil {
			return nil, err
		}
	}
	names, byID, at := make(map[string]string, len(states)), make(map[string]store.StateInfo, len(states)), ""
	for _, s := range states {
		byID[s.ID] = s
		if s.Active {
			at = s.ID
		}
	}
	for back := 0; ; back++ { // those that are undone are on the way, too
		s, ok := byID[at]
		if !ok {
			return names, nil
		}
		switch {
		case s.Undone:
			names[at] = "undone"
		case back == 0:
			names[at] = "@"
		default:
			names[at] = "@-" + strconv.Itoa(back)
		}
		at = s.ParentID
	}
}

// listStates prints a table for a person, and every column for a program.
func listStates(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, states []store.StateInfo, names map[string]string) error {
	out, now := rt.Streams.Out, time.Now()
	style := out.Style()
	table := term.NewTable(out, term.Column{Title: "state"}, term.Column{Title: "id", Style: style.Dim},
		term.Column{Title: "what made it", Cut: true}, term.Column{Title: "paths", Right: true},
		term.Column{Title: "when", Style: style.Dim})
	known := make(map[string]*cas.Manifest, len(states))
	for _, s := range states {
		known[s.ID] = s.Manifest
	}
	for _, s := range states {
		name := cmp.Or(names[s.ID], "-")
		changed, err := countChanges(ctx, eng, s.Manifest, known)
		if err != nil {
			return err
		}
		id, when := s.ID, s.CreatedAt.UTC().Format(time.RFC3339)
		if out.IsTerminal() {
			id, when = s.ID[max(0, len(s.ID)-idShown):], term.Ago(now, s.CreatedAt)
		}
		made := madeBy(s)
		if s.Reverted {
			made = "undone: " + made
		}
		table.Row(name, id, made, changed, when)
	}
	_ = table.Flush() // Main looks at what went wrong with writing
	return nil
}

// maxCounted is how many paths are counted for a line of the log.
const maxCounted = 1000

// countChanges counts the paths that differ from the state before, which is
// looked up where it is not among the known ones.
func countChanges(ctx context.Context, eng *engine.Engine, m *cas.Manifest, known map[string]*cas.Manifest) (string, error) {
	if m.ParentID == "" {
		return strconv.Itoa(m.Files), nil
	}
	before := known[m.ParentID]
	if before == nil {
		var err error
		if before, err = eng.StateBefore(ctx, m); err != nil || before == nil {
			return "", err
		}
	}
	n := 0
	for c, err := range eng.DiffStates(ctx, before, m) {
		if err != nil {
			return "", err
		}
		if c.FoldersOnly() {
			continue
		}
		if n++; n > maxCounted {
			return strconv.Itoa(maxCounted) + "+", nil
		}
	}
	return strconv.Itoa(n), nil
}

func isFolder(e *cas.Entry) bool { return e != nil && e.Kind == cas.Folder }

// byPage says of a call that the page of a tool has made it.
func byPage(tool string) string {
	if tool == "" {
		return ""
	}
	return "  by the page of " + tool
}

// alsoOthers notes that other programs may have made some of a call's changes.
func alsoOthers(s store.StateInfo) string {
	if !s.Shared {
		return ""
	}
	return "  · other programs may have changed files, too"
}

// madeBy says what made a state, for a person.
func madeBy(s store.StateInfo) string {
	switch s.Source {
	case cas.ToolRun:
		if s.Tool == "" {
			return "a tool" // of a turn that still runs
		}
		return strings.TrimRight(s.Tool+"  "+show.ArgLine(s.Args), " ") + byPage(s.By) + alsoOthers(s)
	case cas.UserUpload:
		return "files that came with a message"
	case cas.Branch:
		return "another branch of the chat"
	case cas.Edit:
		return "workspace put"
	case cas.External:
		if s.ParentID == "" {
			return "as it was found"
		}
		return "changed by someone else"
	case cas.Interrupted:
		return "found after a call without a known end"
	case cas.Restored:
		if strings.HasPrefix(s.SourceRef, cas.UndoneAlone) {
			return "undo of one call"
		}
		return "restored"
	case cas.Imported:
		if s.SourceRef == "" {
			return "imported"
		}
		return "as it was found at the import"
	}
	return string(s.Source)
}

func runWorkspaceShow(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, o options) error {
	chat, m, err := findState(ctx, eng, o.chat, only(o.states))
	if err != nil {
		return err
	}
	if _, err := tellPending(ctx, rt, eng, chat); err != nil {
		return err
	}
	s, err := eng.DescribeState(ctx, chat, m)
	if err != nil {
		return err
	}
	before, err := eng.StateBefore(ctx, m)
	if err != nil {
		return err
	}
	d := &Differ{Rt: rt, Eng: eng, From: before, To: m}
	changes, err := d.list(ctx)
	if err != nil {
		return err
	}
	if o.output == "json" {
		return workbench.PrintJSON(rt, stateShowJSON{workbench.OutputVersion, chat.Number, toStateJSON(s), changes})
	}
	return rt.Streams.Page(func() error {
		showState(rt.Streams.Out, s, changes)
		return rt.Streams.Out.Err()
	})
}

// showState tells of a state, and of each path that it changed.
func showState(out *term.Output, s store.StateInfo, changes []ChangeJSON) {
	style, m := out.Style(), s.Manifest
	line := func(label, text string) {
		out.Printf("%s  %s\n", style.Dim(fmt.Sprintf("%-8s", label)), term.Clean(text))
	}
	line("state", m.ID)
	line("made by", madeBy(s))
	line("when", show.WhenText(out, m.CreatedAt))
	line("holds", term.Count(m.Files, "file", "files")+", "+term.Size(m.Bytes))
	if !m.Complete {
		line("lacks", term.Count(m.Failed, "path", "paths")+" that could not be kept; fettle workspace files lists them")
	}
	printNames(out, changes)
}
