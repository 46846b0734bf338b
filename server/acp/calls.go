package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/internal/consent"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

// toolFacts are what is known of a tool besides its name.
type toolFacts struct {
	category string
	readOnly bool
	open     bool // it connects to other systems
}

// toolFacts gathers what is known of all tools, by their ids.
func (a *agent) toolFacts(ctx context.Context) map[string]toolFacts {
	out := map[string]toolFacts{}
	groups, err := a.eng.ToolGroups(ctx)
	if err != nil {
		a.log.Info("calls are shown by their names alone", "error", sanitize.Line(err.Error()))
		return out
	}
	for _, g := range groups {
		for _, t := range g.Tools {
			out[t.ID] = toolFacts{t.Category, !t.Reach.Writes, t.Reach.Outside()}
		}
	}
	return out
}

// kind is what sort of thing a tool does, as editors choose an icon by it.
func (f toolFacts) kind(id string) string {
	switch id {
	case "read_file", "list_files":
		return "read"
	case "write_file", "edit_file":
		return "edit"
	case "search_files", "web_search":
		return "search"
	case "run_command":
		return "execute"
	case "web_fetch", "youtube_transcript":
		return "fetch"
	}
	switch {
	case f.category == "shell":
		return "execute"
	case f.category == "search":
		return "search"
	case f.category == "web":
		return "fetch"
	case f.readOnly && f.open:
		return "fetch"
	case f.readOnly:
		return "read"
	}
	return "other"
}

// maxTitle bounds the title of a call: what an editor shows on a line.
const maxTitle = 160

// callTitle is a call on one line: its tool and the argument that matters.
func callTitle(tool string, input json.RawMessage) string {
	out := sanitize.Cut(consent.Line(tool), maxShownName)
	if main := consent.Line(consent.Read(input).Summary(4 * maxTitle).Main); main != "" {
		return sanitize.Cut(out+" "+main, maxTitle)
	}
	return out
}

// maxAsked bounds what an editor is sent of the arguments of a call that it asks about,
// in bytes. A call that is larger can be allowed once and not for ever.
const maxAsked = 256 << 10

// asked returns what an editor shows of a call that waits for approval: why it needs
// approval, all of its arguments, and the changes that it would make. whole reports
// that nothing was cut.
func (s *session) asked(c event.ConfirmRequest) (out []toolContent, whole bool) {
	if reason := consent.Line(c.Reason); reason != "" {
		out = append(out, shown("Needs your approval: "+reason))
	}
	if reach := consent.Line(c.Reach); reach != "" {
		out = append(out, shown("It may "+reach))
	}
	whole = true
	call, changes := consent.Read(c.Input), s.preview(c.ToolID, c.Input)
	if changes == nil || !call.Plain("path", "content", "old_text", "new_text") {
		text, missing := consent.Head(call.Details(), maxAsked)
		if missing > 0 {
			text += fmt.Sprintf("\n… %d bytes more are not shown: the call is too large", missing)
			whole = false
		}
		if text != "" {
			out = append(out, shown(text))
		}
	}
	return append(out, changes...), whole
}

// locations are the files that a call's arguments name.
func (s *session) locations(input json.RawMessage) []location {
	var args struct {
		Path, File, Filename string
		Offset               json.Number
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(input, &all) != nil {
		return nil
	}
	for name, into := range map[string]*string{"path": &args.Path, "file": &args.File, "filename": &args.Filename} {
		if raw, ok := all[name]; ok {
			_ = json.Unmarshal(raw, into) // what is no text names no file
		}
	}
	if raw, ok := all["offset"]; ok {
		_ = json.Unmarshal(raw, &args.Offset)
	}
	for _, name := range []string{args.Path, args.File, args.Filename} {
		path, ok := s.absolute(name)
		if !ok {
			continue
		}
		at := location{Path: path}
		if n, err := args.Offset.Int64(); err == nil && n > 0 && n < maxLineNumber {
			at.Line = int(n)
		}
		return []location{at}
	}
	return nil
}

// maxLineNumber bounds the line that a call names.
const maxLineNumber = 1 << 30

// absolute is the whole path of a file in the session's folder.
func (s *session) absolute(name string) (string, bool) {
	if name == "" || len(name) > 4096 || strings.ContainsRune(name, 0) {
		return "", false
	}
	local := filepath.FromSlash(name)
	if filepath.IsAbs(local) {
		rel, inside := s.relative(local)
		if !inside {
			return "", false
		}
		local = filepath.FromSlash(rel)
	}
	if !filepath.IsLocal(local) {
		return "", false
	}
	return filepath.Join(s.cwd, local), true
}

// The bounds of the diffs that a call shows.
const (
	maxDiffs     = 30
	maxDiffFile  = 256 << 10
	maxDiffBytes = 2 << 20
)

// diffs shows what changed between two states: text as diffs, anything else as
// places alone.
func (a *agent) diffs(ctx context.Context, s *session, pre, post string) ([]toolContent, []location) {
	from, err := a.eng.StateByID(ctx, pre)
	if err != nil {
		return a.noDiffs(err)
	}
	to, err := a.eng.StateByID(ctx, post)
	if err != nil || to == nil {
		return a.noDiffs(err)
	}
	d := differ{agent: a, s: s, room: maxDiffBytes, outputs: []toolContent{}}
	for c, err := range a.eng.DiffStates(ctx, from, to) {
		if err != nil {
			return a.noDiffs(err)
		}
		if !d.add(ctx, c) {
			break
		}
	}
	return d.outputs, d.places
}

func (a *agent) noDiffs(err error) ([]toolContent, []location) {
	if err != nil {
		a.log.Warn("a call's changes can't be shown", "error", err.Error())
	}
	return []toolContent{}, nil
}

// differ makes diffs of changes, as far as there is room.
type differ struct {
	agent   *agent
	s       *session
	room    int
	outputs []toolContent
	places  []location
}

// add takes one change; false is enough.
func (d *differ) add(ctx context.Context, c cas.Change) bool {
	was, now := isFile(c.Old), isFile(c.New)
	if !was && !now {
		return true // folders, links and the like
	}
	path, ok := d.s.absolute(c.Path)
	if !ok || sanitize.Line(path) != path {
		return true
	}
	d.places = append(d.places, location{Path: path})
	if len(d.places) >= maxDiffs {
		return false
	}
	var before, after string
	if was {
		if before, ok = d.read(ctx, c.Old); !ok {
			return true
		}
	}
	if now {
		if after, ok = d.read(ctx, c.New); !ok {
			return true
		}
	}
	if before == after && was && now || d.room < len(before)+len(after) {
		return true
	}
	d.room -= len(before) + len(after)
	out := toolContent{Type: "diff", Path: path, NewText: &after}
	if was {
		out.OldText = &before
	}
	d.outputs = append(d.outputs, out)
	return true
}

func (d *differ) read(ctx context.Context, e *cas.Entry) (string, bool) {
	if e.Size > maxDiffFile {
		return "", false
	}
	into := &limited{most: maxDiffFile}
	if err := d.agent.eng.ReadFile(ctx, into, *e); err != nil {
		d.agent.log.Warn("a changed file can't be shown", "error", err.Error())
		return "", false
	}
	text := into.b.String()
	return text, isText([]byte(text))
}

// isFile tells whether a state has a file there.
func isFile(e *cas.Entry) bool {
	if e == nil {
		return false
	}
	kind := e.Kind.String()
	return kind == "file" || kind == "executable"
}

// preview shows what a call would change, before it is allowed: for the builtin
// tools that write files.
func (s *session) preview(toolID string, input json.RawMessage) []toolContent {
	if len(input) > maxDiffBytes || toolID != "write_file" && toolID != "edit_file" {
		return nil
	}
	type edit struct {
		Old string `json:"old_text"`
		New string `json:"new_text"`
	}
	var args struct {
		edit
		Path    string `json:"path"`
		Content string `json:"content"`
		Edits   []edit `json:"edits"`
	}
	if json.Unmarshal(input, &args) != nil {
		return nil
	}
	path, ok := s.absolute(args.Path)
	if !ok || sanitize.Line(path) != path {
		return nil
	}
	if toolID == "write_file" {
		out := toolContent{Type: "diff", Path: path, NewText: &args.Content}
		if rel, ok := s.relative(path); ok {
			if was, ok := readBeneath(s.cwd, rel, maxDiffFile); ok {
				out.OldText = &was
			}
		}
		return []toolContent{out}
	}
	edits := args.Edits
	if args.Old != "" {
		edits = append([]edit{args.edit}, edits...)
	}
	var out []toolContent
	for _, e := range edits[:min(len(edits), maxDiffs)] {
		out = append(out, toolContent{Type: "diff", Path: path, OldText: &e.Old, NewText: &e.New})
	}
	return out
}
