package engine

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/toolset"
)

// RestoreRequest says how files are brought back.
type RestoreRequest struct {
	Chat ChatRef
	// Steps is how many steps Undo and Redo go; 0 is 1.
	Steps int
	// Paths limits it to these and what is below them; nil is all.
	Paths []string
	// Keep leaves these and what is below them as they are. One that is neither in
	// the folder nor in any state of the chat was mistyped: nothing is done.
	Keep []string
	// Overwrite brings back also what somebody else has changed since. What is
	// replaced stays in the store.
	Overwrite bool
	// Plan does nothing but say what would be done.
	Plan bool
	// OnWait is told whom it waits for. It may be nil.
	OnWait func(string)
	// Writing is called with what is going to be written, and Written as it is;
	// both may be nil.
	Writing func(files int, bytes int64)
	Written func(files int, bytes int64)
	// Begin is told what has to be read of the folder first, where there is
	// anything, and Progress of what was read. Both may be nil; Progress is
	// called by several goroutines.
	Begin    func(cas.Estimate) error
	Progress func(files int, bytes int64)

	doing string   // the operation, for the report of one that is cut short
	read  *reading // set where the folder stays as it is
}

// planned marks a request that only plans as one that leaves the folder as it is.
func (r *RestoreRequest) planned() {
	if r.Plan {
		r.read = new(reading)
	}
}

// watch are the functions that are told how a snapshot comes along.
func (r RestoreRequest) watch() watch { return watch{r.Begin, r.Progress} }

// Restored is what was, or would be, brought back.
type Restored struct {
	Chat Chat
	// Steps are those that it went, in the order of time.
	Steps []StateInfo
	// Before and After are the states on both sides. They are the same where
	// nothing had to be changed.
	Before, After *cas.Manifest
	Changes       []cas.Change
	// Untold is why Changes, or the names of Steps, couldn't be told, though all was
	// done; nil where they are. Changes are nil then, unless they were known before.
	Untold error
	// Left are differing paths that were left alone, and why.
	Left []cas.Left
	// Blocked are the paths that keep a Plan from being carried out.
	Blocked []cas.Blocked
}

// Undo takes back what the last steps have done to the chat's files: a step is
// a tool call that changed something, an upload, an edit or a restore. Only
// paths that these steps changed are touched. Where somebody else has changed
// one of them since, nothing is done and the fault lists them, unless Overwrite
// is set. What Undo takes back, Redo brings again until something new is done.
func (e *Engine) Undo(ctx context.Context, req RestoreRequest) (*Restored, error) {
	req.doing = "undo"
	return e.step(ctx, req, (*history).undo, nothingToUndo)
}

// Redo brings back what Undo has taken away.
func (e *Engine) Redo(ctx context.Context, req RestoreRequest) (*Restored, error) {
	req.doing = "redo"
	return e.step(ctx, req, (*history).redo, nothingToRedo)
}

// nothingToUndo is the fault of a chat without a step that is done.
func nothingToUndo(ctx context.Context, h *history, chat int64) error {
	undone, err := h.undone(ctx)
	switch {
	case err != nil:
		return err
	case len(undone) > 0:
		return fault.New(fault.NotFound, "there is nothing more to undo in this chat", fmt.Sprintf("fettle redo --chat %d", chat))
	}
	return fault.New(fault.NotFound, "there is nothing to undo in this chat: no tool has changed a file", logOf(chat))
}

func nothingToRedo(_ context.Context, _ *history, chat int64) error {
	return fault.New(fault.NotFound, "there is nothing to redo in this chat", logOf(chat))
}

func logOf(chat int64) string { return fmt.Sprintf("fettle workspace log %d", chat) }

func (e *Engine) step(
	ctx context.Context, req RestoreRequest,
	choose func(*history, context.Context, int) (*move, error), nothing func(context.Context, *history, int64) error,
) (*Restored, error) {
	req.planned()
	return e.withFolder(ctx, req, func(chat Chat, ws *toolset.Workspace) (*Restored, error) {
		if chat.ActiveManifest == "" {
			return nil, noFiles(chat)
		}
		if _, err := e.takeInOwn(ctx, &chat, ws, req); err != nil {
			return nil, err
		}
		h, err := e.history(ctx, chat)
		if err != nil {
			return nil, err
		}
		m, err := choose(h, ctx, max(req.Steps, 1))
		if errors.Is(err, errNoStep) {
			return nil, nothing(ctx, h, chat.Number)
		}
		if err == nil {
			err = e.knowKept(ctx, chat, ws, m.to, req.Keep)
		}
		if err != nil {
			return nil, err
		}
		paths, foreign, err := e.movePaths(ctx, m, h.active)
		if err != nil {
			return nil, err
		}
		if req.Paths != nil {
			paths = slices.DeleteFunc(paths, func(p string) bool { return !covered(p, req.Paths) })
		}
		foreign = outside(within(foreign, req.Paths), req.Keep)
		if len(foreign) > 0 && !req.Overwrite && !req.Plan {
			return nil, conflictFault(ws, foreign)
		}
		req.Paths = paths
		out, err := e.restore(ctx, restoring{chat: chat, ws: ws, to: m.to, active: h.active, mark: m.mark, moves: true}, req)
		if err != nil {
			return nil, err
		}
		for _, s := range m.steps {
			out.Steps = append(out.Steps, StateInfo{Manifest: s.after})
		}
		if req.Plan {
			out.Blocked = joinBlocked(out.Blocked, foreign)
		}
		if err := e.nameTools(ctx, out.Steps); err != nil { // the files are back all the same
			out.Untold = storeFault("tell what made the states", err)
		}
		return out, nil
	})
}

// RestoreState brings a state of the chat back, or the paths of it. It is a
// step itself, so Undo takes it back.
func (e *Engine) RestoreState(ctx context.Context, manifest string, req RestoreRequest) (*Restored, error) {
	req.doing = "restore"
	req.planned()
	return e.withFolder(ctx, req, func(chat Chat, ws *toolset.Workspace) (*Restored, error) {
		to, err := e.state(ctx, chat, manifest)
		if err != nil {
			return nil, err
		}
		active, err := e.takeInOwn(ctx, &chat, ws, req)
		if err != nil {
			return nil, err
		}
		if err := e.knowKept(ctx, chat, ws, to, req.Keep); err != nil {
			return nil, err
		}
		foreign, err := e.editedSince(ctx, active, to)
		if err != nil {
			return nil, err
		}
		if ws.Bound { // also what calls have seen since
			lost, err := e.wouldLose(ctx, chat.ID, active, to)
			if err != nil {
				return nil, err
			}
			foreign = joinBlocked(foreign, lost)
		}
		foreign = outside(within(foreign, req.Paths), req.Keep)
		if len(foreign) > 0 && !req.Overwrite && !req.Plan {
			return nil, conflictFault(ws, foreign)
		}
		out, err := e.restore(ctx, restoring{chat: chat, ws: ws, to: to, active: active, mark: to.ID}, req)
		if err == nil && req.Plan {
			out.Blocked = joinBlocked(out.Blocked, foreign)
		}
		return out, err
	})
}

// takeInOwn takes a chat's own folder in as it is now, before something is
// brought back, so that what a person has changed there since the last call is
// seen. In the user's folder [cas.Store.Materialize] itself looks for that. It
// gives the active state.
func (e *Engine) takeInOwn(ctx context.Context, chat *Chat, ws *toolset.Workspace, req RestoreRequest) (*cas.Manifest, error) {
	if ws.Bound || req.read.found() != nil {
		return e.manifest(ctx, chat.ActiveManifest)
	}
	return e.takeIn(ctx, chat, ws, taking{About: cas.About{Source: cas.External}, watch: req.watch()})
}

// editedSince are the paths that somebody else has changed since a tool or a
// command last gave the folder a state, and that another state would change
// again.
func (e *Engine) editedSince(ctx context.Context, now, to *cas.Manifest) ([]cas.Blocked, error) {
	was := now
	for was != nil && (was.Source == cas.External || was.Source == cas.Interrupted) {
		before, err := e.manifest(ctx, was.ParentID)
		if err != nil {
			return nil, err
		}
		if before == nil {
			break // the ground: how the folder was found
		}
		was = before
	}
	if now == nil || was.Root == now.Root {
		return nil, nil
	}
	edited := map[string]bool{}
	if err := e.eachChange(ctx, was, now, func(path string) { edited[path] = true }); err != nil {
		return nil, err
	}
	var out []cas.Blocked
	err := e.eachChange(ctx, now, to, func(path string) {
		if edited[path] {
			out = append(out, cas.Blocked{Path: path, Reason: "someone else changed it since"})
		}
	})
	return out, err
}

// withFolder finds the chat, waits for its live turn, and holds its lock and its
// folder's while it does something.
func (e *Engine) withFolder(
	ctx context.Context, req RestoreRequest, do func(Chat, *toolset.Workspace) (*Restored, error),
) (out *Restored, err error) {
	e.noticeCutOff(ctx)
	conv, unlock, err := e.heldChat(ctx, &req)
	if err != nil {
		return nil, err
	}
	defer unlock()
	ws, err := e.openWorkspace(conv.chat)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, ws.Close()) }()
	if req.doing != "" { // applying it is no reason to mention it
		for _, w := range e.cutWarnings(ctx, conv.chat.ID, ws.Path) {
			e.o.Notice(w)
		}
	}
	release, err := e.lockWorkspace(ctx, ws, req.OnWait)
	if err != nil {
		return nil, err
	}
	defer release()
	if req.read != nil {
		if err := e.readOnly(ctx, conv, req.read); err != nil {
			return nil, err
		}
		if req.read.pending != nil {
			return do(conv.chat, ws)
		}
	} else {
		sweepPuts(ws.Root, ".")
	}
	here := func() (*toolset.Workspace, func(), error) { return ws, func() {}, nil }
	if err := e.takeBackCut(ctx, conv.chat, here); err != nil {
		return nil, err
	}
	if err := e.settleIn(ctx, &conv.chat, here); err != nil {
		return nil, err
	}
	if err := e.fill(ctx, &conv.chat, ws); err != nil {
		return nil, err
	}
	if err := e.takeInCut(ctx, conv, ws, req.watch()); err != nil {
		return nil, err
	}
	return do(conv.chat, ws)
}

// heldChat finds the chat, waits for its live turn, and holds its lock until unlock
// is called. From then on req.OnWait is not nil.
func (e *Engine) heldChat(ctx context.Context, req *RestoreRequest) (conv *conversation, unlock func(), err error) {
	if req.OnWait == nil {
		req.OnWait = func(string) {}
	}
	chat, err := e.find(ctx, req.Chat, req.OnWait)
	if err != nil {
		return nil, nil, err
	}
	unlock, err = e.lockChat(ctx, chat.ID, func(owner string) { req.OnWait(fmt.Sprintf("chat %d is busy, %s", chat.Number, owner)) })
	if err != nil {
		return nil, nil, err
	}
	if conv, err = e.loadBy(ctx, chat.ID, "", leafOnly); err != nil { // anew, now that nobody changes it
		unlock()
		return nil, nil, err
	}
	return conv, unlock, nil
}

// fill gives the folder of a fork its files, if it has none of its own yet.
func (e *Engine) fill(ctx context.Context, chat *Chat, ws *toolset.Workspace) error {
	m, err := e.manifest(ctx, chat.ActiveManifest)
	if err != nil || m == nil || !unfilled(*chat, m) {
		return err
	}
	done, err := e.branchTo(ctx, branching{chat: chat.ID, message: chat.ActiveLeaf, ws: ws, to: m})
	if err != nil || done.After.ChatID != chat.ID {
		return err
	}
	chat.ActiveManifest = done.After.ID
	return e.setActive(ctx, chat.ID, done.After.ID)
}

// noFiles is the fault of a chat whose tools have never run.
func noFiles(chat Chat) error {
	return fault.New(fault.NotFound, fmt.Sprintf("chat %d has no files yet: none of its tools has run", chat.Number))
}

// openWorkspace opens the chat's folder; the caller closes it.
func (e *Engine) openWorkspace(chat Chat) (*toolset.Workspace, error) {
	var ws *toolset.Workspace
	var err error
	if chat.Workspace != "" {
		ws, err = toolset.OpenBound(chat.Workspace, e.places())
	} else {
		ws, err = toolset.OpenManaged(e.managedDir(chat.ID))
	}
	if err != nil {
		return nil, fault.Wrap(fault.Failed, "open the chat's workspace", err)
	}
	e.equip(ws)
	return ws, nil
}

// restoring is what is brought back where, and the source_ref of what comes of
// it.
type restoring struct {
	chat       Chat
	ws         *toolset.Workspace
	to, active *cas.Manifest
	mark       string
	// moves is set for undo and redo: of what lies below a path they touch nothing
	// that their steps didn't, and they are noted also where every file is as it
	// should be already, or the next one would go over the same steps.
	moves bool
}

// restore brings a state back and makes the result the chat's active one.
func (e *Engine) restore(ctx context.Context, r restoring, req RestoreRequest) (*Restored, error) {
	if !req.Plan {
		e.endServicesIn(r.ws, "files of its workspace were brought back")
	}
	done, err := e.states.Materialize(ctx, casWorkspace(r.ws), r.to, cas.RestoreOptions{
		About:  cas.About{ChatID: r.chat.ID, Source: cas.Restored, SourceRef: r.mark},
		Active: r.active, Paths: req.Paths, Exact: r.moves, Keep: req.Keep, Overwrite: req.Overwrite, Plan: req.Plan,
		Found: req.read.found(), Doing: req.doing,
		Limits: e.o.States, Writing: req.Writing, Written: req.Written, Begin: req.Begin, Progress: req.Progress,
	})
	var conflict *cas.ConflictError
	if errors.As(err, &conflict) {
		return nil, conflictFault(r.ws, conflict.Paths)
	}
	if err != nil {
		return nil, stateFault("bring the files back", err)
	}
	out := &Restored{
		Chat: r.chat, Before: done.Before, After: done.After,
		Changes: done.Changes, Left: done.Left, Blocked: done.Blocked,
	}
	if req.Plan {
		return out, nil
	}
	if r.moves && done.After.ID == done.Before.ID {
		snap, err := e.states.Snapshot(ctx, casWorkspace(r.ws), cas.SnapshotOptions{
			About:  cas.About{ChatID: r.chat.ID, ParentID: done.Before.ID, Source: cas.Restored, SourceRef: r.mark},
			Limits: e.o.States,
		})
		if err != nil {
			return nil, stateFault("note what was undone", err)
		}
		out.After = snap.Manifest
	}
	e.pause("restore:done")
	out.Chat.ActiveManifest = out.After.ID
	return out, e.setActive(ctx, r.chat.ID, out.After.ID)
}

// setActive makes a manifest the chat's active one. Who calls it holds the
// chat's lock.
func (e *Engine) setActive(ctx context.Context, chatID, manifest string) error {
	err := e.store.UpdateSync(ctx, func(tx *kv.Tx) error {
		chat, err := e.tables.chats.Get(tx, kv.Str(chatID))
		if err != nil {
			return err
		}
		chat.ActiveManifest, chat.CutShort = manifest, chat.CutShort && chat.ActiveManifest == manifest
		return putBounded(e, tx, e.tables.chats, chat, chat.called())
	})
	if err != nil {
		return storeFault("note the state of the workspace", err)
	}
	return nil
}

// State finds a state of a chat by the name that a person gives it: @ is the
// active one, @-1 the one before it and so on; else the id of a manifest, of a
// message (the state after it) or of a tool call (the state after it), or the
// beginning of one that is the only one to begin so.
func (e *Engine) State(ctx context.Context, chat Chat, name string) (*cas.Manifest, error) {
	if _, err := e.Fold(ctx, FoldAll); err != nil {
		return nil, err
	}
	chat, err := e.asSettled(ctx, chat)
	if err != nil {
		return nil, err
	}
	return e.state(ctx, chat, name)
}

// outside are the paths that aren't kept as they are.
func outside(paths []cas.Blocked, keep []string) []cas.Blocked {
	return slices.DeleteFunc(paths, func(p cas.Blocked) bool { return covered(p.Path, keep) })
}

// within are those of paths that are some of these or below them; all where
// these are nil.
func within(paths []cas.Blocked, these []string) []cas.Blocked {
	if these == nil {
		return paths
	}
	return slices.DeleteFunc(paths, func(p cas.Blocked) bool { return !covered(p.Path, these) })
}

// covered tells whether a path is one of these or below one; "/" is the whole folder.
func covered(path string, these []string) bool {
	return slices.ContainsFunc(these, func(k string) bool {
		k = strings.Trim(k, "/")
		return k == "" || path == k || strings.HasPrefix(path, k+"/")
	})
}

// joinBlocked adds to a list what it hasn't.
func joinBlocked(list, more []cas.Blocked) []cas.Blocked {
	has := make(map[string]bool, len(list))
	for _, b := range list {
		has[b.Path] = true
	}
	for _, b := range more {
		if !has[b.Path] {
			list = append(list, b)
		}
	}
	return list
}

// conflictFault lists what somebody else has changed, and when: the first of it,
// where it is much.
func conflictFault(ws *toolset.Workspace, paths []cas.Blocked) error {
	conflict := &cas.ConflictError{Paths: paths}
	f := fault.New(fault.Failed, plural(len(paths), "file")+" can't be brought back as they were; nothing was changed")
	if len(paths) == 1 {
		f.Msg = "1 file can't be brought back as it was; nothing was changed"
	}
	f.Err = conflict
	f.List(len(paths), func(i int) string {
		p := paths[i]
		line := cas.EscapePath(p.Path) + "  " + p.Reason
		if info, err := ws.Root.Lstat(filepath.FromSlash(p.Path)); err == nil && info.Mode().IsRegular() {
			line += ", last written " + info.ModTime().Local().Format("2006-01-02 15:04:05")
		}
		return line
	})
	return f
}
