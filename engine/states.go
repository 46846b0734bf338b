package engine

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/engine/workspace"
	"github.com/fettle-cli/fettle/internal/sanitize"
	"github.com/fettle-cli/fettle/toolset"
)

const (
	// stateNews is how often a long snapshot says how far it is.
	stateNews = 500 * time.Millisecond
	// manyFiles and manyBytes are from what size on a first snapshot is
	// announced with its numbers.
	manyFiles = 20_000
	manyBytes = 2 << 30
)

// states is what a turn knows of its workspace: the state that the chat is at,
// as a manifest of the store.
type states struct {
	// at is the last manifest; nil where the chat has none.
	at *cas.Manifest
	// suspect tells that the folder may hold what a call has done after which no
	// state is known: it was cut off, or the state couldn't be kept.
	suspect bool
	// first is true until the turn has taken a snapshot.
	first bool
	// was is the state that moveFolder found, if it has brought back another;
	// noted tells that the store has a record of that.
	was   *cas.Manifest
	noted bool
	// left is the state in which another branch was left.
	left string
}

// known reports whether the state of the folder is known, but for what other programs changed.
func (s *states) known() bool { return s.at != nil && !s.suspect }

// keepsStates tells whether the turn's calls can be undone: an ephemeral turn
// keeps nothing.
func (t *turn) keepsStates() bool { return !t.req.Ephemeral }

// stateBefore takes the state in which a call finds the workspace. What differs
// from the chat's last state was changed by somebody else, and becomes a
// manifest of its own.
func (t *turn) stateBefore(ws *toolset.Workspace) error {
	if !t.keepsStates() {
		return nil
	}
	source := cas.External
	if t.states.suspect {
		source = cas.Interrupted
	}
	snap, err := t.snapshot(t.ctx, ws, cas.About{Source: source})
	if err != nil {
		return err
	}
	return t.remark(snap)
}

// stateAfter takes the state that a call leaves, and tells what it changed. It
// is taken also of a call that failed, and in a turn that was cancelled.
func (t *turn) stateAfter(c *call, ws *toolset.Workspace) ([]event.Change, error) {
	return t.stateAfterFrom(c, ws, t.states.at)
}

// stateAfterFrom is stateAfter with the changes since an earlier state.
func (t *turn) stateAfterFrom(c *call, ws *toolset.Workspace, before *cas.Manifest) ([]event.Change, error) {
	ctx, cancel := t.afterCall()
	defer cancel()
	snap, err := t.snapshot(ctx, ws, cas.About{Source: cas.ToolRun, SourceRef: c.id, Shared: true})
	if err != nil {
		t.states.suspect = true
		return nil, err
	}
	if !snap.New {
		return nil, nil
	}
	changes, err := t.eng.Changes(ctx, before, snap.Manifest)
	return changes, errors.Join(err, t.remark(snap))
}

// snapshot takes the workspace's state as one of the chat's, and says how far
// it is where that takes long. The turn's goroutine alone calls it.
func (t *turn) snapshot(ctx context.Context, ws *toolset.Workspace, about cas.About) (*cas.Snapshot, error) {
	about.ChatID = t.accept.Chat.ID
	endSpan := t.spanOfSnapshot(about)
	var files, bytes atomic.Int64
	begun := make(chan cas.Estimate, 1)
	type result struct {
		snap *cas.Snapshot
		err  error
	}
	done := make(chan result, 1)
	go func() {
		snap, err := t.eng.TakeState(ctx, ws, cas.SnapshotOptions{
			About: about, Parent: t.states.at, Limits: t.eng.o.States,
			Begin:    func(e cas.Estimate) error { begun <- e; return nil },
			Progress: func(n int, size int64) { files.Add(int64(n)); bytes.Add(size) },
		})
		done <- result{snap, err}
	}()
	news := time.NewTicker(stateNews)
	defer news.Stop()
	var whole cas.Estimate
	for {
		select {
		case whole = <-begun:
			if IsMuch(whole) {
				t.notice("keeping the first state of " + ws.Path + ": " + numbersOf(whole))
			}
		case <-news.C:
			if whole.Files > 0 {
				t.notice(fmt.Sprintf("keeping the state of %s: %d of %s", ws.Path, files.Load(), numbersOf(whole)))
			}
		case r := <-done:
			endSpan(r.snap, r.err)
			if r.err != nil {
				return nil, r.err
			}
			t.states.at, t.states.suspect = r.snap.Manifest, false
			if IsMuch(whole) { // the status line has gone, and a pipe has none
				return r.snap, t.emit(event.Footnote{Text: "kept the first state of " + ws.Path + ": " + numbersOf(whole)})
			}
			return r.snap, nil
		}
	}
}

// numbersOf says how much a snapshot has to read.
func numbersOf(e cas.Estimate) string {
	return fault.Plural(e.Files, "file") + ", " + strconv.FormatInt(e.Bytes>>20, 10) + " MB"
}

// IsMuch tells whether a first snapshot is announced with its numbers before it
// is taken.
func IsMuch(e cas.Estimate) bool {
	return e.First && (e.Files > manyFiles || e.Bytes > manyBytes)
}

// remark says what a state can't bring back: once for what a first snapshot
// has left out, and whenever content could not be kept.
func (t *turn) remark(snap *cas.Snapshot) error {
	first := t.states.first
	t.states.first = false
	var failed, omitted []string
	for _, l := range snap.Left {
		switch l.Kind {
		case cas.Failed:
			failed = append(failed, cas.EscapePath(l.Path)+" ("+l.Reason+")")
		case cas.Omitted:
			omitted = append(omitted, cas.EscapePath(l.Path))
		}
	}
	var notes []event.Body
	if snap.New && len(failed) > 0 {
		notes = append(notes, event.Footnote{Text: "these can't be brought back by undo: " + store.SomeOf(failed)})
	}
	if first && snap.New && snap.Manifest.ParentID == "" && len(omitted) > 0 {
		notes = append(notes, event.Footnote{Text: "left out of what undo can bring back: " + store.SomeOf(omitted)})
	}
	return t.emit(notes...)
}

// moveFolder brings the workspace to the state of the message that the turn
// goes on from, where that isn't the one the folder is at: in another branch of
// the chat, and in a fork whose own folder isn't filled yet.
func (t *turn) moveFolder(ctx context.Context, conv *store.OpenChat) error {
	t.states = states{first: true, suspect: conv.Suspect()}
	if conv.State == "" || !t.keepsStates() {
		return nil
	}
	if !conv.IsNew {
		was := conv.Chat.ActiveManifest
		if err := t.eng.TakeBackCut(ctx, conv.Chat, func() (*toolset.Workspace, func(), error) { return t.lockedFolder(ctx) }); err != nil {
			if ctx.Err() != nil {
				return err
			}
			t.eng.o.Notice(sanitize.Line(err.Error())) // a question may need no folder; a call fails by it
		}
		if err := t.eng.SettleIn(ctx, &conv.Chat, func() (*toolset.Workspace, func(), error) { return t.lockedFolder(ctx) }); err != nil {
			return err
		}
		if conv.State == was {
			conv.State = conv.Chat.ActiveManifest
		}
	}
	m, err := t.eng.Manifest(ctx, conv.State)
	if err != nil {
		return err
	}
	t.states.at = m
	moved := !conv.IsNew && conv.Parent != conv.Chat.ActiveLeaf
	if m == nil || !moved && !workspace.Unfilled(conv.Chat, m) {
		return nil
	}
	ws, release, err := t.lockedFolder(ctx)
	if err != nil {
		return err
	}
	defer release()
	b := workspace.Branching{Chat: t.accept.Chat.ID, Message: conv.Origin(), Ws: ws, To: m}
	if moved {
		if err := t.eng.TakeInLeft(ctx, conv, ws); err != nil {
			return err
		}
		if b.Active, err = t.eng.Manifest(ctx, conv.Chat.ActiveManifest); err != nil {
			return err
		}
		if b.Move, err = t.eng.NoteMove(ctx, conv.Chat, t.accept.MessageID); err != nil {
			return err
		}
		t.states.noted = true
	}
	done, err := t.eng.BranchTo(ctx, b)
	if err != nil {
		return besideFault(conv, err)
	}
	t.eng.Pause("move:done")
	t.states.at, t.states.suspect = done.After, false
	if moved {
		t.states.left = done.Before.ID
	}
	if moved && done.After.ID != done.Before.ID {
		t.states.was = done.Before
	}
	return nil
}

// lockedFolder opens the chat's folder and keeps other chats out of it.
func (t *turn) lockedFolder(ctx context.Context) (*toolset.Workspace, func(), error) {
	ws, err := t.workspace()
	if err != nil {
		return nil, nil, err
	}
	release, err := t.eng.LockWorkspace(ctx, ws, func(string) {})
	return ws, release, err
}

// besideFault adds to a conflict what can be done instead of a branch in the same
// folder.
func besideFault(conv *store.OpenChat, err error) error {
	var f *fault.Fault
	var conflict *cas.ConflictError
	if !errors.As(err, &f) || !errors.As(err, &conflict) {
		return err
	}
	out := *f
	out.Remedies = nil
	if n := len(conv.Path); n > 0 && conv.Summed == nil {
		out.Remedies = append(out.Remedies, fault.Try(fault.ForkChat, fmt.Sprint(conv.Chat.Number), fmt.Sprint(n)).That("goes on from there in a new chat, with the folder as it is"))
	}
	out.Remedies = append(out.Remedies, fault.Try(fault.UndoOverwriting, fmt.Sprint(conv.Chat.Number)).That("takes back a call with what was changed since; redo brings both"))
	return &out
}

// moveFolderBack gives the folder back the state that a turn has found which was
// not accepted.
func (t *turn) moveFolderBack(ctx context.Context) error {
	was, noted := t.states.was, t.states.noted
	t.states.was, t.states.noted = nil, false // whoever comes second finds it done
	if was != nil && t.ws != nil {
		if err := t.putFolderBack(ctx, was); err != nil {
			return err
		}
	}
	if !noted {
		return nil
	}
	return t.eng.EndMove(context.WithoutCancel(ctx), t.accept.Chat.ID)
}

func (t *turn) putFolderBack(ctx context.Context, was *cas.Manifest) error {
	release, err := t.eng.LockWorkspace(ctx, t.ws, func(string) {})
	if err != nil {
		return err
	}
	defer release()
	_, err = t.eng.Snapshots.Materialize(ctx, workspace.CASWorkspace(t.ws), was, cas.RestoreOptions{
		About:  cas.About{ChatID: t.accept.Chat.ID, Source: cas.Restored, SourceRef: was.ID},
		Active: t.states.at, Limits: t.eng.o.States, Doing: workspace.DoingBranch,
	})
	return err
}
