package workspace

import (
	"context"
	"fmt"
	"strings"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/engine/workspace"
	"github.com/fettle-cli/fettle/internal/patch"
)

// diffJSON is what `workspace diff --output json` prints.
type diffJSON struct {
	SchemaVersion int          `json:"schema_version"`
	Chat          int64        `json:"chat"`
	From          string       `json:"from"` // manifest ids
	To            string       `json:"to"`
	Changes       []ChangeJSON `json:"changes"`
}

// ChangeJSON is one path that differs.
type ChangeJSON struct {
	Path   string    `json:"path"`
	Change string    `json:"change"` // added, modified, removed
	Old    *sideJSON `json:"old,omitempty"`
	New    *sideJSON `json:"new,omitempty"`
	// Added and Removed count lines of texts that were compared.
	Added   *int `json:"added,omitempty"`
	Removed *int `json:"removed,omitempty"`
	Binary  bool `json:"binary,omitempty"`
}

// sideJSON is what stands under a path in one state.
type sideJSON struct {
	Kind   string `json:"kind"`
	Mode   string `json:"mode,omitempty"` // four octal digits, such as 0644
	Size   int64  `json:"size,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
	Target string `json:"target,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// Differ compares two states of a chat; from may be nil for nothing at all.
type Differ struct {
	Rt       *workbench.Runtime
	Eng      *engine.Engine
	From, To *cas.Manifest
}

func runWorkspaceDiff(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, o options) error {
	d := &Differ{Rt: rt, Eng: eng}
	chat, err := d.choose(ctx, o)
	if err != nil {
		return err
	}
	if o.output == "json" {
		changes, err := d.list(ctx)
		if err != nil {
			return err
		}
		return workbench.PrintJSON(rt, diffJSON{workbench.OutputVersion, chat.Number, d.From.ID, d.To.ID, changes})
	}
	switch {
	case o.nameOnly:
		for c, err := range d.Changes(ctx) {
			if err != nil {
				return err
			}
			rt.Streams.Out.Printf("%s\n", cas.EscapePath(c.Path))
		}
		return nil
	case o.stat:
		return d.printStat(ctx)
	}
	return rt.Streams.Page(func() error {
		if err := d.print(ctx); err != nil {
			return err
		}
		return rt.Streams.Out.Err()
	})
}

// choose finds both states: the two that were named; or one and the folder as
// it is; or the state before the last change and the folder.
func (d *Differ) choose(ctx context.Context, o options) (chat.Chat, error) {
	if len(o.states) == 2 {
		chat, from, err := findState(ctx, d.Eng, o.chat, o.states[0])
		if err != nil {
			return chat, err
		}
		d.From = from
		d.To, err = d.Eng.State(ctx, chat, o.states[1])
		return chat, err
	}
	name := "@-1"
	if len(o.states) == 1 {
		name = o.states[0]
	}
	// The folder is taken in after the state was named, since that may move @.
	chat, from, err := findState(ctx, d.Eng, o.chat, name)
	if err != nil {
		return chat, err
	}
	d.From = from
	req := workspace.RestoreRequest{Chat: store.ChatRef{Number: chat.Number}, OnWait: d.Rt.Waiting}
	w := d.Rt.Work("workspace diff")
	defer w.Stop()
	w.Watch(&req)
	_, d.To, err = d.Eng.FolderState(ctx, req)
	return chat, err
}

// Changes are the differing paths without folders, which are in the others'.
func (d *Differ) Changes(ctx context.Context) func(func(cas.Change, error) bool) {
	return func(yield func(cas.Change, error) bool) {
		for c, err := range d.Eng.DiffStates(ctx, d.From, d.To) {
			if err == nil && c.FoldersOnly() {
				continue
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

// Compare makes the patch of one path. What is no file or link on a side is
// taken for not being there.
func (d *Differ) Compare(ctx context.Context, c cas.Change) (patch.Patch, error) {
	f, err := d.Eng.Compared(ctx, c)
	if err != nil {
		return patch.Patch{}, err
	}
	if f.OldMode == "" && f.NewMode == "" {
		return patch.Patch{Text: "# " + cas.EscapePath(c.Path) + ": " + sideText(c) + "\n"}, nil
	}
	return patch.Of(f), nil
}

// sideText says what can't be compared.
func sideText(c cas.Change) string {
	for _, e := range []*cas.Entry{c.New, c.Old} {
		if e != nil && e.Text != "" {
			return e.Kind.String() + ", " + term.Clean(e.Text)
		}
	}
	return "not kept"
}

func (d *Differ) print(ctx context.Context) error {
	out := d.Rt.Streams.Out
	style := out.Style()
	for c, err := range d.Changes(ctx) {
		if err != nil {
			return err
		}
		p, err := d.Compare(ctx, c)
		if err != nil {
			return err
		}
		if !out.IsTerminal() {
			out.WriteString(p.Text)
			continue
		}
		for line := range strings.Lines(p.Text) {
			out.WriteString(PatchLine(style, term.Clean(strings.TrimSuffix(line, "\n"))) + "\n")
		}
	}
	return nil
}

// PatchLine colours a line of a patch.
func PatchLine(style term.Style, line string) string {
	switch {
	case strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
		return style.Bold(line)
	case strings.HasPrefix(line, "@@"):
		return style.Cyan(line)
	case strings.HasPrefix(line, "+"):
		return style.Green(line)
	case strings.HasPrefix(line, "-"):
		return style.Red(line)
	}
	return line
}

// list compares all paths, for JSON.
func (d *Differ) list(ctx context.Context) ([]ChangeJSON, error) {
	out := []ChangeJSON{}
	for c, err := range d.Changes(ctx) {
		if err != nil {
			return nil, err
		}
		p, err := d.Compare(ctx, c)
		if err != nil {
			return nil, err
		}
		j := ChangeJSON{Path: cas.EscapePath(c.Path), Change: ChangeWord(c), Old: toSide(c.Old), New: toSide(c.New), Binary: p.Binary}
		if !p.Binary {
			j.Added, j.Removed = &p.Added, &p.Removed
		}
		out = append(out, j)
	}
	return out, nil
}

func toSide(e *cas.Entry) *sideJSON {
	if e == nil {
		return nil
	}
	s := &sideJSON{Kind: e.Kind.String(), Mode: e.Perm.String(), Size: e.Size}
	switch e.Kind {
	case cas.File, cas.Executable:
		s.SHA256 = e.Digest.String()
	case cas.Link:
		s.Target = cas.EscapePath(e.Text)
	case cas.Failed, cas.Omitted, cas.Special:
		s.Reason = e.Text
	}
	return s
}

// ChangeWord says what became of a file.
func ChangeWord(c cas.Change) string {
	switch {
	case c.PermsOnly():
		return "modified"
	case c.Old == nil || isFolder(c.Old):
		return "added"
	case c.New == nil || isFolder(c.New):
		return "removed"
	}
	return "modified"
}

// printNames lists changes with a letter each.
func printNames(out *term.Output, changes []ChangeJSON) {
	style := out.Style()
	for _, c := range changes {
		mark := style.Yellow("M")
		switch c.Change {
		case "added":
			mark = style.Green("A")
		case "removed":
			mark = style.Red("D")
		}
		path := c.Path
		if c.Old != nil && c.New != nil && c.Old.Mode != "" && c.New.Mode != "" && c.Old.Mode != c.New.Mode {
			path += "  (mode " + c.Old.Mode + " → " + c.New.Mode + ")"
		}
		if w := out.Width(); w > 0 {
			path = term.CutMiddle(path, w-4)
		}
		out.Printf("%s  %s\n", mark, path)
	}
}

// printStat prints a line for each path, and the sums.
func (d *Differ) printStat(ctx context.Context) error {
	changes, err := d.list(ctx)
	if err != nil {
		return err
	}
	out := d.Rt.Streams.Out
	style := out.Style()
	table := term.NewTable(out, term.Column{Title: "path", Cut: true}, term.Column{Title: "added", Right: true, Style: style.Green},
		term.Column{Title: "removed", Right: true, Style: style.Red})
	added, removed := 0, 0
	for _, c := range changes {
		if c.Binary {
			table.Row(c.Path, "binary", "binary")
			continue
		}
		added, removed = added+*c.Added, removed+*c.Removed
		table.Row(c.Path, fmt.Sprintf("+%d", *c.Added), fmt.Sprintf("-%d", *c.Removed))
	}
	_ = table.Flush() // Main looks at what went wrong with writing
	if out.IsTerminal() {
		out.Printf("%s, %s added, %s removed\n", term.Count(len(changes), "file", "files"),
			term.Count(added, "line", "lines"), term.Count(removed, "line", "lines"))
	}
	return nil
}
