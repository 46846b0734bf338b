package server

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/engine/workspace"
)

// maxListed bounds the paths of one answer; a state has them all.
const maxListed = 100_000

// fileJSON is a path of a state.
type fileJSON struct {
	Path   string `json:"path"`
	Kind   string `json:"kind"`           // file, executable, link, folder, special, failed or omitted
	Mode   string `json:"mode,omitempty"` // permission bits, as four octal digits
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256,omitempty"`
	Target string `json:"target,omitempty"` // of a link
	Reason string `json:"reason,omitempty"` // of what isn't kept
}

func toFile(path string, e cas.Entry) fileJSON {
	f := fileJSON{Path: path, Kind: e.Kind.String(), Mode: e.Perm.String(), Size: e.Size}
	switch {
	case isFile(e):
		f.SHA256 = e.Digest.String()
	case f.Kind == "link":
		f.Target = e.Text
	default:
		f.Reason = e.Text
	}
	return f
}

func isFile(e cas.Entry) bool {
	kind := e.Kind.String()
	return kind == "file" || kind == "executable"
}

// filesJSON lists a state.
type filesJSON struct {
	ChatID    string        `json:"chat_id"`
	Manifest  *cas.Manifest `json:"manifest"` // null where the chat has no files yet
	Files     []fileJSON    `json:"files"`
	Truncated bool          `json:"truncated,omitempty"`
}

// stateOfChat is the chat of a path, and a state of it: that of a name such as @-1,
// of a manifest, of a message or of a tool call. nil is a chat without any.
func (s *Server) stateOfChat(r *http.Request, name string) (chat.Chat, *cas.Manifest, error) {
	ref, err := chatOf(r)
	if err != nil {
		return chat.Chat{}, nil, err
	}
	c, err := s.eng.FindChat(r.Context(), ref)
	if err != nil {
		return chat.Chat{}, nil, err
	}
	if name == "" && c.ActiveManifest == "" {
		return c, nil, nil
	}
	if name == "" {
		name = "@"
	}
	m, err := s.eng.State(r.Context(), c, name)
	return c, m, err
}

// stateName is the state that a query names.
func stateName(r *http.Request) (string, error) {
	name := ""
	for _, key := range []string{"manifest", "message_id", "tool_call_id"} {
		value := r.URL.Query().Get(key)
		if value != "" && name != "" {
			return "", fault.New(fault.Usage, "the query names a state twice")
		}
		if value != "" {
			name = value
		}
	}
	return name, nil
}

func getWorkspaceFiles(s *Server, w http.ResponseWriter, r *http.Request) error {
	name, err := stateName(r)
	if err != nil {
		return err
	}
	chat, m, err := s.stateOfChat(r, name)
	if err != nil {
		return err
	}
	out := filesJSON{ChatID: chat.ID, Manifest: m, Files: []fileJSON{}}
	if m == nil {
		writeJSON(w, http.StatusOK, out)
		return nil
	}
	for f, err := range s.eng.Files(r.Context(), m) {
		if err != nil {
			return err
		}
		if len(out.Files) == maxListed {
			out.Truncated = true
			break
		}
		out.Files = append(out.Files, toFile(f.Path, f.Entry))
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}

// manifestJSON is a state as document 004 has it: {path: sha256}.
type manifestJSON struct {
	*cas.Manifest
	Files json.RawMessage `json:"files"`
	// Entries are what isn't a regular file.
	Entries []fileJSON `json:"entries"`
}

func getWorkspaceManifest(s *Server, w http.ResponseWriter, r *http.Request) error {
	name, err := stateName(r)
	if err != nil {
		return err
	}
	_, m, err := s.stateOfChat(r, name)
	if err != nil {
		return err
	}
	if m == nil {
		return fault.New(fault.NotFound, "the chat has no files yet: none of its calls has written one")
	}
	var files bytes.Buffer
	if err := s.eng.WriteManifest(r.Context(), &files, m); err != nil {
		return err
	}
	out := manifestJSON{Manifest: m, Files: bytes.TrimSpace(files.Bytes()), Entries: []fileJSON{}}
	for f, err := range s.eng.Files(r.Context(), m) {
		if err != nil {
			return err
		}
		if !isFile(f.Entry) && len(out.Entries) < maxListed {
			out.Entries = append(out.Entries, toFile(f.Path, f.Entry))
		}
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}

// stateJSON is a state with what made it.
type workspaceStateJSON struct {
	*cas.Manifest
	Tool   string          `json:"tool,omitempty"`
	Args   json.RawMessage `json:"args,omitempty"`
	By     string          `json:"by,omitempty"` // the tool whose page made the call
	Active bool            `json:"active,omitempty"`
	Undone bool            `json:"undone,omitempty"`
	// Reverted is set for a step that is undone and that redo does not restore: it was undone
	// alone, or something new was done since.
	Reverted bool `json:"reverted,omitempty"`
	// Changes are what it changed of the state before it, where that is asked for.
	Changes *stateChangesJSON `json:"changes,omitempty"`
}

// stateChangesJSON are the first paths that a state changed, and how many in all.
type stateChangesJSON struct {
	Changed int            `json:"changed"`
	Paths   []event.Change `json:"paths"`
}

// statePaths is how many paths of a state a timeline tells.
const statePaths = 20

func toState(i store.StateInfo) workspaceStateJSON {
	return workspaceStateJSON{Manifest: i.Manifest, Tool: i.Tool, Args: i.Args, By: i.By, Active: i.Active, Undone: i.Undone, Reverted: i.Reverted}
}

// statesJSON are the states of a chat, the latest first.
type statesJSON struct {
	ChatID string               `json:"chat_id"`
	States []workspaceStateJSON `json:"states"`
	More   bool                 `json:"more,omitempty"`
	// Pending describes the operation that a killed process has left unfinished in the
	// folder.
	Pending string `json:"pending,omitempty"`
}

// pending describes the operation that a killed process has left unfinished in a chat's
// folder. It is empty if there is none.
func (s *Server) pending(ctx context.Context, chat chat.Chat) (string, error) {
	p, err := s.eng.Pending(ctx, chat)
	if p == nil || err != nil {
		return "", err
	}
	return p.String(), nil
}

func listStates(s *Server, w http.ResponseWriter, r *http.Request, ref store.ChatRef) error {
	limit, err := pageParam(r)
	if err != nil {
		return err
	}
	changes, err := boolParam(r, "changes")
	if err != nil {
		return err
	}
	all, err := boolParam(r, "all")
	if err != nil {
		return err
	}
	list := s.eng.States
	if all {
		list = s.eng.StateTree
	}
	chat, states, more, err := list(r.Context(), ref, int(limit))
	if err != nil {
		return err
	}
	out := statesJSON{ChatID: chat.ID, States: []workspaceStateJSON{}, More: more}
	for _, st := range states {
		one := toState(st)
		if changes {
			one.Changes = &stateChangesJSON{}
			if one.Changes.Paths, one.Changes.Changed, err = s.eng.StateChanges(r.Context(), st.Manifest, statePaths); err != nil {
				return err
			}
		}
		out.States = append(out.States, one)
	}
	if out.Pending, err = s.pending(r.Context(), chat); err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}

// diffJSON is what differs between two states.
type diffJSON struct {
	From      string           `json:"from,omitempty"` // manifest ids
	To        string           `json:"to"`
	Changes   []fileChangeJSON `json:"changes"`
	Truncated bool             `json:"truncated,omitempty"`
}

type fileChangeJSON struct {
	Path   string    `json:"path"`
	Change string    `json:"change"` // added, modified or removed
	Old    *fileJSON `json:"old,omitempty"`
	New    *fileJSON `json:"new,omitempty"`
}

func toChange(c cas.Change) fileChangeJSON {
	out := fileChangeJSON{Path: c.Path, Change: "modified"}
	if c.Old != nil {
		f := toFile(c.Path, *c.Old)
		out.Old = &f
	} else {
		out.Change = "added"
	}
	if c.New != nil {
		f := toFile(c.Path, *c.New)
		out.New = &f
	} else {
		out.Change = "removed"
	}
	return out
}

// diffWorkspace compares two states; without `from` a state is compared with the
// one that it came after.
func diffWorkspace(s *Server, w http.ResponseWriter, r *http.Request) error {
	chat, to, err := s.stateOfChat(r, r.URL.Query().Get("to"))
	if err != nil {
		return err
	}
	if to == nil {
		return fault.New(fault.NotFound, "the chat has no files yet: none of its calls has written one")
	}
	var from *cas.Manifest
	if name := r.URL.Query().Get("from"); name != "" {
		from, err = s.eng.State(r.Context(), chat, name)
	} else {
		from, err = s.eng.StateBefore(r.Context(), to)
	}
	if err != nil {
		return err
	}
	out := diffJSON{To: to.ID, Changes: []fileChangeJSON{}}
	if from != nil {
		out.From = from.ID
	}
	for c, err := range s.eng.DiffStates(r.Context(), from, to) {
		if err != nil {
			return err
		}
		if len(out.Changes) == maxListed {
			out.Truncated = true
			break
		}
		out.Changes = append(out.Changes, toChange(c))
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}

// restoreBody says how files are brought back.
type restoreBody struct {
	// Manifest is the state to bring back, by any of its names; undo and redo
	// take Steps instead.
	Manifest string `json:"manifest,omitempty"`
	Steps    int    `json:"steps,omitempty"`
	// Call names the one step that undo reverts, in place of the last ones: a tool call, or
	// a state by any of its names.
	Call      string   `json:"call,omitempty"`
	Paths     []string `json:"paths,omitempty"`
	Keep      []string `json:"keep,omitempty"`
	Overwrite bool     `json:"overwrite,omitempty"`
	DryRun    bool     `json:"dry_run,omitempty"`
}

// restoredJSON is what was, or would be, brought back.
type restoredJSON struct {
	Chat    chat.Chat            `json:"chat"`
	Steps   []workspaceStateJSON `json:"steps"`
	Before  string               `json:"before,omitempty"` // manifest ids
	After   string               `json:"after,omitempty"`
	Changes []fileChangeJSON     `json:"changes"`
	// Summary names the first of the files, and counts all.
	Summary workspace.FilesSummary `json:"summary"`
	// Inverse is the operation that reverts this one: undo or redo.
	Inverse string           `json:"inverse,omitempty"`
	Left    []pathReasonJSON `json:"left"`
	Blocked []pathReasonJSON `json:"blocked"`
	// Truncated is set where a list has only its first paths.
	Truncated bool `json:"truncated,omitempty"`
	// Warning is why the changes couldn't be told, though all was done.
	Warning string `json:"warning,omitempty"`
}

type pathReasonJSON struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// restoring runs what writes into a workspace, and tells at once where somebody
// else is at it. It goes on when the client goes away: half of it helps nobody.
func (s *Server) restoring(w http.ResponseWriter, r *http.Request, do func(context.Context, workspace.RestoreRequest) (*workspace.Restored, error)) error {
	if s.draining.Load() {
		return errDraining
	}
	var done *workspace.Restored
	err := atOnce(context.WithoutCancel(r.Context()), func(ctx context.Context, onWait func(string)) (err error) {
		done, err = do(ctx, workspace.RestoreRequest{OnWait: onWait})
		return err
	})
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, toRestored(done))
	return nil
}

func toRestored(d *workspace.Restored) restoredJSON {
	out := restoredJSON{
		Chat: d.Chat, Summary: d.Summary(), Inverse: d.Inverse, Steps: []workspaceStateJSON{}, Changes: []fileChangeJSON{}, Left: []pathReasonJSON{}, Blocked: []pathReasonJSON{},
	}
	if d.Untold != nil {
		_, body := explain(d.Untold)
		out.Warning = "it is done, but not told: " + body.Message
	}
	for _, st := range d.Steps {
		out.Steps = append(out.Steps, toState(st))
	}
	if d.Before != nil {
		out.Before = d.Before.ID
	}
	if d.After != nil {
		out.After = d.After.ID
	}
	out.Truncated = max(len(d.Changes), len(d.Left), len(d.Blocked)) > maxListed
	for _, c := range d.Changes[:min(len(d.Changes), maxListed)] {
		out.Changes = append(out.Changes, toChange(c))
	}
	for _, l := range d.Left[:min(len(d.Left), maxListed)] {
		out.Left = append(out.Left, pathReasonJSON{l.Path, l.Reason})
	}
	for _, b := range d.Blocked[:min(len(d.Blocked), maxListed)] {
		out.Blocked = append(out.Blocked, pathReasonJSON{b.Path, b.Reason})
	}
	return out
}

// howRestore reads a body and the chat.
func (s *Server) howRestore(w http.ResponseWriter, r *http.Request, do func(context.Context, workspace.RestoreRequest, restoreBody) (*workspace.Restored, error)) error {
	ref, err := chatOf(r)
	if err != nil {
		return err
	}
	var body restoreBody
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	if body.Steps < 0 {
		return fault.New(fault.Usage, "steps count from 1")
	}
	if slices.Contains(body.Paths, "") || slices.Contains(body.Keep, "") {
		return fault.New(fault.Usage, "a path is empty")
	}
	return s.restoring(w, r, func(ctx context.Context, q workspace.RestoreRequest) (*workspace.Restored, error) {
		q.Chat, q.Steps, q.Keep = ref, body.Steps, body.Keep
		if len(body.Paths) > 0 { // an empty list is as none
			q.Paths = body.Paths
		}
		q.Overwrite, q.Plan = body.Overwrite, body.DryRun
		return do(ctx, q, body)
	})
}

// errCallOfUndo refuses call where it has no meaning.
func errCallOfUndo() error { return fault.New(fault.Usage, "call is a field of undo alone") }

func restoreWorkspace(s *Server, w http.ResponseWriter, r *http.Request) error {
	return s.howRestore(w, r, func(ctx context.Context, q workspace.RestoreRequest, body restoreBody) (*workspace.Restored, error) {
		if body.Call != "" {
			return nil, errCallOfUndo()
		}
		if body.Manifest == "" {
			return nil, fault.New(fault.Usage, "manifest names the state to bring back")
		}
		return s.eng.RestoreState(ctx, body.Manifest, q)
	})
}

func undoWorkspace(s *Server, w http.ResponseWriter, r *http.Request) error {
	return s.howRestore(w, r, func(ctx context.Context, q workspace.RestoreRequest, body restoreBody) (*workspace.Restored, error) {
		if body.Call != "" && body.Steps > 0 {
			return nil, fault.New(fault.Usage, "call names one step; steps does not go with it")
		}
		q.Call = body.Call
		return s.eng.Undo(ctx, q)
	})
}

func redoWorkspace(s *Server, w http.ResponseWriter, r *http.Request) error {
	return s.howRestore(w, r, func(ctx context.Context, q workspace.RestoreRequest, body restoreBody) (*workspace.Restored, error) {
		if body.Call != "" {
			return nil, errCallOfUndo()
		}
		return s.eng.Redo(ctx, q)
	})
}
