package workspace

import (
	"context"
	"errors"
	"fmt"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/toolset"
)

// RestoreRequest says how files are brought back.
type RestoreRequest struct {
	Chat store.ChatRef
	// Steps is how many steps Undo and Redo go; 0 is 1.
	Steps int
	// Call names the one step that Undo is to revert, in place of the last ones: by the
	// name of a state as [Engine.State] takes it, such as the id of a tool call.
	Call string
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
	Chat chat.Chat
	// Steps are those that it went, in the order of time.
	Steps []store.StateInfo
	// Before and After are the states on both sides. They are the same where
	// nothing had to be changed.
	Before, After *cas.Manifest
	Changes       []cas.Change
	// Inverse is the operation that reverts this one: "undo" or "redo".
	Inverse string
	// One reports that one step was reverted wherever it is in the history: by Undo with
	// Call, or by a Redo that brought back what such an Undo had reverted.
	One bool
	// Untold is why Changes, or the names of Steps, couldn't be told, though all was
	// done; nil where they are. Changes are nil then, unless they were known before.
	Untold error
	// Left are differing paths that were left alone, and why.
	Left []cas.Left
	// Blocked are the paths that keep a Plan from being carried out.
	Blocked []cas.Blocked
}

// Undo reverts what the last steps have done to the chat's files: a step is a tool call
// that changed something, an upload, an edit or a restore. With Call it reverts that step
// alone, and leaves what was done after it. Only paths that these steps changed are touched.
// Where somebody else has changed one of them since, or with Call a later step has, nothing
// is done and the fault lists them, unless Overwrite is set. Redo restores what Undo
// reverted and what it replaced, until something new is done. An Undo with Call of a step
// that is not the last one is a step itself: Redo restores what it reverted, and so does
// Undo, as of any last step. See [Restored.Inverse].
func (w *Folders) Undo(ctx context.Context, req RestoreRequest) (*Restored, error) {
	req.doing = "undo"
	if req.Call != "" {
		return w.step(ctx, req, w.undoAlone)
	}
	return w.step(ctx, req, undoLast)
}

// Redo restores what Undo has reverted, and what that replaced. What an Undo left as it was,
// by Keep or since it was as the Undo would have it, Redo leaves, too. If nothing is undone
// and the last change is an Undo with Call, Redo brings back what that reverted, one such
// Undo at a time; Undo reverts this.
func (w *Folders) Redo(ctx context.Context, req RestoreRequest) (*Restored, error) {
	req.doing = "redo"
	return w.step(ctx, req, redoNext)
}

// chooser chooses the move that a request asks for.
type chooser func(ctx context.Context, chat chat.Chat, h *store.History, req RestoreRequest) (*store.Move, error)

func undoLast(ctx context.Context, chat chat.Chat, h *store.History, req RestoreRequest) (*store.Move, error) {
	m, err := h.Undo(ctx, max(req.Steps, 1))
	if !errors.Is(err, store.ErrNoStep) {
		return m, err
	}
	undone, err := h.Undone(ctx)
	switch {
	case err != nil:
		return nil, err
	case len(undone) > 0:
		return nil, fault.New(fault.NotFound, "there is nothing more to undo in this chat", fault.Try(fault.Redo, fmt.Sprint(chat.Number)))
	}
	return nil, fault.New(fault.NotFound, "there is nothing to undo in this chat: no call has changed a file that undo can restore", logOf(chat.Number))
}

func redoNext(ctx context.Context, chat chat.Chat, h *store.History, req RestoreRequest) (*store.Move, error) {
	m, err := h.Redo(ctx, max(req.Steps, 1))
	if errors.Is(err, store.ErrNoStep) {
		m, err = h.RedoAlone(ctx)
	}
	if errors.Is(err, store.ErrNoStep) {
		return nil, fault.New(fault.NotFound, "there is nothing to redo in this chat", logOf(chat.Number))
	}
	return m, err
}

func logOf(chat int64) fault.Remedy { return fault.Try(fault.ListSnapshots, fmt.Sprint(chat)) }

func (w *Folders) step(ctx context.Context, req RestoreRequest, choose chooser) (*Restored, error) {
	req.planned()
	return w.WithFolder(ctx, req, func(chat chat.Chat, ws *toolset.Workspace) (*Restored, error) {
		if chat.ActiveManifest == "" {
			return nil, noFiles(chat)
		}
		if _, err := w.takeInOwn(ctx, &chat, ws, req); err != nil {
			return nil, err
		}
		h, err := w.History(ctx, chat)
		if err != nil {
			return nil, err
		}
		m, err := choose(ctx, chat, h, req)
		if err == nil {
			err = w.knowKept(ctx, chat, ws, m.To, req.Keep)
		}
		if err != nil {
			return nil, err
		}
		way, err := w.route(ctx, m, h.Active)
		if err != nil {
			return nil, err
		}
		way.only(req.Paths, req.Keep)
		req.Paths = way.paths
		r := restoring{chat: chat, ws: ws, to: m.To, from: way.from, active: h.Active, mark: m.Mark, steps: m.Over(), since: m.Since, moves: true, alone: m.Alone}
		if len(way.foreign) > 0 && !req.Overwrite && !req.Plan {
			return nil, w.conflicts(ctx, r, req, way.foreign)
		}
		out, err := w.restore(ctx, r, req)
		if err != nil {
			return nil, err
		}
		for _, s := range m.Steps {
			out.Steps = append(out.Steps, store.StateInfo{Manifest: s.After})
		}
		if out.Inverse = "undo"; m.Back && !m.Again {
			out.Inverse = "redo"
		}
		out.One = m.Alone
		if req.Plan {
			out.Blocked = joinBlocked(way.foreign, out.Blocked)
		}
		if err := w.nameTools(ctx, out.Steps); err != nil { // the files are back all the same
			out.Untold = store.StoreFault("tell what made the states", err)
		}
		return out, nil
	})
}

// RestoreState brings a state of the chat back, or the paths of it. It is a
// step itself, so Undo takes it back.
func (w *Folders) RestoreState(ctx context.Context, manifest string, req RestoreRequest) (*Restored, error) {
	req.doing = "restore"
	req.planned()
	return w.WithFolder(ctx, req, func(chat chat.Chat, ws *toolset.Workspace) (*Restored, error) {
		to, err := w.state(ctx, chat, manifest)
		if err != nil {
			return nil, err
		}
		active, err := w.takeInOwn(ctx, &chat, ws, req)
		if err != nil {
			return nil, err
		}
		if err := w.knowKept(ctx, chat, ws, to, req.Keep); err != nil {
			return nil, err
		}
		foreign, err := w.editedSince(ctx, active, to)
		if err != nil {
			return nil, err
		}
		lost, err := w.wouldLose(ctx, chat.ID, active, to) // also what calls have seen since
		if err != nil {
			return nil, err
		}
		foreign = joinBlocked(foreign, lost)
		foreign = outside(within(foreign, req.Paths), req.Keep)
		r := restoring{chat: chat, ws: ws, to: to, active: active, mark: to.ID}
		if len(foreign) > 0 && !req.Overwrite && !req.Plan {
			return nil, w.conflicts(ctx, r, req, foreign)
		}
		out, err := w.restore(ctx, r, req)
		if err != nil {
			return nil, err
		}
		if out.Inverse = "undo"; req.Plan {
			out.Blocked = joinBlocked(out.Blocked, foreign)
		}
		return out, nil
	})
}

// takeInOwn takes a chat's own folder in as it is now, before something is
// brought back, so that what a person has changed there since the last call is
// seen. In the user's folder [cas.Store.Materialize] itself looks for that. It
// gives the active state.
func (w *Folders) takeInOwn(ctx context.Context, chat *chat.Chat, ws *toolset.Workspace, req RestoreRequest) (*cas.Manifest, error) {
	if ws.Bound || req.read.found() != nil {
		return w.Manifest(ctx, chat.ActiveManifest)
	}
	return w.takeIn(ctx, chat, ws, taking{About: cas.About{Source: cas.External}, watch: req.watch()})
}

// editedSince are the paths that somebody else has changed since a tool or a
// command last gave the folder a state, and that another state would change
// again.
func (w *Folders) editedSince(ctx context.Context, now, to *cas.Manifest) ([]cas.Blocked, error) {
	was := now
	for was != nil && (was.Source == cas.External || was.Source == cas.Interrupted) {
		before, err := w.Manifest(ctx, was.ParentID)
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
	if err := w.EachChange(ctx, was, now, func(path string) { edited[path] = true }); err != nil {
		return nil, err
	}
	var out []cas.Blocked
	err := w.EachChange(ctx, now, to, func(path string) {
		if edited[path] {
			out = append(out, cas.Blocked{Path: path, Reason: "someone else changed it since"})
		}
	})
	return out, err
}

// WithFolder finds the chat, waits for its live turn, and holds its lock and its
// folder's while it does something.
func (w *Folders) WithFolder(
	ctx context.Context, req RestoreRequest, do func(chat.Chat, *toolset.Workspace) (*Restored, error),
) (out *Restored, err error) {
	w.NoticeCutOff(ctx)
	conv, unlock, err := w.heldChat(ctx, &req)
	if err != nil {
		return nil, err
	}
	defer unlock()
	ws, err := w.OpenWorkspace(conv.Chat)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, ws.Close()) }()
	if req.doing != "" { // a command that applies it does not mention it
		for _, text := range w.CutWarnings(ctx, conv.Chat.ID, ws.Path) {
			w.Options.Notice(text)
		}
	}
	release, err := w.LockWorkspace(ctx, ws, req.OnWait)
	if err != nil {
		return nil, err
	}
	defer release()
	if req.read != nil {
		if err := w.readOnly(ctx, conv, req.read); err != nil {
			return nil, err
		}
		if req.read.pending != nil {
			return do(conv.Chat, ws)
		}
	} else {
		sweepPuts(ws.Root, ".")
	}
	here := func() (*toolset.Workspace, func(), error) { return ws, func() {}, nil }
	if err := w.TakeBackCut(ctx, conv.Chat, here); err != nil {
		return nil, err
	}
	if err := w.SettleIn(ctx, &conv.Chat, here); err != nil {
		return nil, err
	}
	if err := w.fill(ctx, &conv.Chat, ws); err != nil {
		return nil, err
	}
	if err := w.takeInCut(ctx, conv, ws, req.watch()); err != nil {
		return nil, err
	}
	return do(conv.Chat, ws)
}

// heldChat finds the chat, waits for its live turn, and holds its lock until unlock
// is called. From then on req.OnWait is not nil.
func (w *Folders) heldChat(ctx context.Context, req *RestoreRequest) (conv *store.OpenChat, unlock func(), err error) {
	if req.OnWait == nil {
		req.OnWait = func(string) {}
	}
	chat, err := w.Find(ctx, req.Chat, req.OnWait)
	if err != nil {
		return nil, nil, err
	}
	unlock, err = w.LockChat(ctx, chat.ID, func(owner string) { req.OnWait(fmt.Sprintf("chat %d is busy, %s", chat.Number, owner)) })
	if err != nil {
		return nil, nil, err
	}
	if conv, err = w.LoadBy(ctx, chat.ID, "", LeafOnly()); err != nil { // anew, now that nobody changes it
		unlock()
		return nil, nil, err
	}
	return conv, unlock, nil
}

// fill gives the folder of a fork its files, if it has none of its own yet.
func (w *Folders) fill(ctx context.Context, chat *chat.Chat, ws *toolset.Workspace) error {
	m, err := w.Manifest(ctx, chat.ActiveManifest)
	if err != nil || m == nil || !Unfilled(*chat, m) {
		return err
	}
	done, err := w.BranchTo(ctx, Branching{Chat: chat.ID, Message: chat.ActiveLeaf, Ws: ws, To: m})
	if err != nil || done.After.ChatID != chat.ID {
		return err
	}
	chat.ActiveManifest = done.After.ID
	return w.SetActive(ctx, chat.ID, done.After.ID)
}

// noFiles is the fault of a chat of whose folder there is no state.
func noFiles(chat chat.Chat) error {
	return fault.New(fault.NotFound, fmt.Sprintf("chat %d has no files yet: none of its calls has written one", chat.Number))
}

// OpenWorkspace opens the chat's folder; the caller closes it.
func (w *Folders) OpenWorkspace(chat chat.Chat) (*toolset.Workspace, error) {
	var ws *toolset.Workspace
	var err error
	if chat.Workspace != "" {
		ws, err = toolset.OpenBound(chat.Workspace, w.Places())
	} else {
		ws, err = toolset.OpenManaged(w.ManagedDir(chat.ID))
	}
	if err != nil {
		return nil, fault.Wrap(fault.Failed, "open the chat's workspace", err)
	}
	w.Equip(ws)
	return ws, nil
}

// restoring is what is brought back where, and the source_ref of what comes of
// it.
type restoring struct {
	chat       chat.Chat
	ws         *toolset.Workspace
	to, active *cas.Manifest
	mark       string
	// from has paths that become what another state than to has, and steps is how many
	// steps of the history it goes over, negative for undo.
	from  map[string]*cas.Manifest
	steps int
	since string // the SinceID of what comes of it
	// moves is set for undo and redo: of what is below a path they touch nothing
	// that their steps didn't. Unless alone is set, too, they are recorded also where every
	// file is as it should be already, or the next one would go over the same steps.
	moves, alone bool
}

// restore brings a state back and makes the result the chat's active one.
func (w *Folders) restore(ctx context.Context, r restoring, req RestoreRequest) (*Restored, error) {
	about := cas.About{ChatID: r.chat.ID, Source: cas.Restored, SourceRef: r.mark, Steps: r.steps, SinceID: r.since}
	if !req.Plan {
		w.endServicesIn(r.ws, "files of its workspace were brought back")
	}
	done, err := w.Snapshots.Materialize(ctx, CASWorkspace(r.ws), r.to, cas.RestoreOptions{
		About:  about,
		Active: r.active, From: r.from, Paths: req.Paths, Exact: r.moves, Keep: req.Keep, Overwrite: req.Overwrite, Plan: req.Plan,
		Found: req.read.found(), Doing: req.doing,
		Limits: w.Options.States, Writing: req.Writing, Written: req.Written, Begin: req.Begin, Progress: req.Progress,
	})
	var conflict *cas.ConflictError
	if errors.As(err, &conflict) {
		return nil, conflictFault(r.ws, conflict.Paths)
	}
	if err != nil {
		return nil, store.StateFault("bring the files back", err)
	}
	out := &Restored{
		Chat: r.chat, Before: done.Before, After: done.After,
		Changes: done.Changes, Left: done.Left, Blocked: done.Blocked,
	}
	if req.Plan {
		return out, nil
	}
	if r.moves && !r.alone && done.After.ID == done.Before.ID {
		about.ParentID = done.Before.ID
		snap, err := w.Snapshots.Snapshot(ctx, CASWorkspace(r.ws), cas.SnapshotOptions{About: about, Limits: w.Options.States})
		if err != nil {
			return nil, store.StateFault("note what was undone", err)
		}
		out.After = snap.Manifest
	}
	w.Pause("restore:done")
	out.Chat.ActiveManifest = out.After.ID
	return out, w.SetActive(ctx, r.chat.ID, out.After.ID)
}

// SetActive makes a manifest the chat's active one. Who calls it holds the
// chat's lock.
func (w *Folders) SetActive(ctx context.Context, chatID, manifest string) error {
	err := w.KV.UpdateSync(ctx, func(tx *kv.Tx) error {
		chat, err := w.Tables.Chats.Get(tx, kv.Str(chatID))
		if err != nil {
			return err
		}
		chat.ActiveManifest, chat.CutShort = manifest, chat.CutShort && chat.ActiveManifest == manifest
		return store.PutBounded(w.In(tx), w.Tables.Chats, chat, chat.Called())
	})
	if err != nil {
		return store.StoreFault("note the state of the workspace", err)
	}
	return nil
}

// State finds a state of a chat by the name that a person gives it: @ is the
// active one, @-1 the one before it and so on; else the id of a manifest, of a
// message (the state after it) or of a tool call (the state after it), or the
// beginning of one that is the only one to begin so.
func (w *Folders) State(ctx context.Context, chat chat.Chat, name string) (*cas.Manifest, error) {
	if _, err := w.Fold(ctx, store.FoldAll); err != nil {
		return nil, err
	}
	chat, err := w.asSettled(ctx, chat)
	if err != nil {
		return nil, err
	}
	return w.state(ctx, chat, name)
}
