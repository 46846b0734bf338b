package engine

import (
	"context"
	"os"
	"path/filepath"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/engine/workspace"
	"github.com/fettle-cli/fettle/toolset"
)

// HasLayers reports whether a data directory has layers: of calls that run, or that were cut
// off. It is a cheap check ahead of CutWrites.
func HasLayers(dataDir string) bool {
	entries, err := os.ReadDir(filepath.Join(dataDir, store.LayersDir))
	return err == nil && len(entries) > 0
}

// CutWritesOf lists what cut calls wrote in a chat, or in the user's folder that it works in,
// with their tools and arguments.
func (e *Engine) CutWritesOf(ctx context.Context, c chat.Chat) ([]workspace.CutWrites, error) {
	folder := c.Workspace
	if real, err := filepath.EvalSymlinks(folder); err == nil && folder != "" {
		folder = real
	}
	all, err := e.CutsAt(ctx, c.ID, folder)
	for i := range all {
		if err == nil {
			err = e.nameCut(ctx, &all[i])
		}
	}
	return all, err
}

// nameCut reads the tool and the arguments of a cut call from its record.
func (e *Engine) nameCut(ctx context.Context, w *workspace.CutWrites) error {
	c, err := e.toolCall(ctx, w.CallID)
	switch {
	case fault.CodeOf(err) == fault.NotFound:
		return nil
	case err != nil:
		return err
	}
	w.ToolID, w.Args = c.ToolID, c.Args
	return nil
}

// CutReview is what ApplyCut would change.
type CutReview struct {
	workspace.CutWrites
	Review *event.Review
	// Notes state which repositories of the call got other names.
	Notes []string
}

// asideInCut gives other names to the repositories that a cut call has added.
func (e *Engine) asideInCut(ctx context.Context, layer string, ws *toolset.Workspace) ([]string, error) {
	if !ws.Bound || e.o.CommandsWriteGit {
		return nil, nil
	}
	notes, err := asideIn(ctx, layer, ws)
	if err != nil {
		return nil, store.StateFault("look for repositories in what the call wrote", err)
	}
	return notes, nil
}

// ReviewCut lists what a cut call wrote, as ApplyCut would apply it. The folder stays as it is.
func (e *Engine) ReviewCut(ctx context.Context, call string, onWait func(string)) (*CutReview, error) {
	w, err := e.CutCall(ctx, call)
	if err != nil {
		return nil, err
	}
	out := &CutReview{CutWrites: w}
	_, err = e.WithFolder(ctx, workspace.RestoreRequest{Chat: store.ChatRef{ID: w.ChatID}, OnWait: onWait}, func(c chat.Chat, ws *toolset.Workspace) (*workspace.Restored, error) {
		release, err := e.HoldCut(w)
		if err != nil {
			return nil, err
		}
		defer release()
		at, err := e.Manifest(ctx, c.ActiveManifest)
		if err != nil {
			return nil, err
		}
		dir := filepath.Join(e.LayersDir(), w.CallID)
		if out.Notes, err = e.asideInCut(ctx, dir, ws); err != nil {
			return nil, err
		}
		plan, err := e.Snapshots.ReadLayer(ctx, workspace.CASWorkspace(ws), dir, cas.LayerOptions{ChatID: c.ID, Parent: at, Limits: e.o.States})
		if err != nil {
			return nil, store.StateFault("read what the call wrote", err)
		}
		defer plan.Close()
		r, err := e.reviewPlan(ctx, plan)
		if err == nil {
			out.Review = r.shown
		}
		return nil, err
	})
	if err == nil {
		err = e.nameCut(ctx, &out.CutWrites)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Applied is the result of applying what a cut call wrote.
type Applied struct {
	Chat      chat.Chat
	Writes    workspace.CutWrites
	Changes   []event.Change
	Conflicts []event.Conflict
	// Notes say what was not applied, and why.
	Notes []string
}

// ApplyCut applies what a cut call wrote to its folder, as a step that can be undone. What
// another program changed since the call began stays, and is listed as a conflict.
func (e *Engine) ApplyCut(ctx context.Context, call string, onWait func(string)) (*Applied, error) {
	w, err := e.CutCall(ctx, call)
	if err != nil {
		return nil, err
	}
	out := &Applied{Writes: w}
	_, err = e.WithFolder(ctx, workspace.RestoreRequest{Chat: store.ChatRef{ID: w.ChatID}, OnWait: onWait}, func(chat chat.Chat, ws *toolset.Workspace) (*workspace.Restored, error) {
		release, err := e.HoldCut(w)
		if err != nil {
			return nil, err
		}
		defer release()
		at, err := e.Manifest(ctx, chat.ActiveManifest)
		if err != nil {
			return nil, err
		}
		dir := filepath.Join(e.LayersDir(), w.CallID)
		aside, err := e.asideInCut(ctx, dir, ws)
		if err != nil {
			return nil, err
		}
		done, err := e.landLayer(ctx, landing{
			dir: dir, ws: ws, at: at, about: cas.About{ChatID: chat.ID, Source: cas.ToolRun, SourceRef: w.CallID},
		})
		if err != nil {
			return nil, store.StateFault("apply what the call wrote", err)
		}
		out.Chat, out.Changes, out.Conflicts, out.Notes = chat, done.changes, done.conflicts(), append(aside, done.notes()...)
		if done.After != nil && done.After.ID != chat.ActiveManifest {
			out.Chat.ActiveManifest = done.After.ID
			if err := e.SetActive(ctx, chat.ID, done.After.ID); err != nil {
				return nil, err
			}
		}
		return nil, cas.DropLayer(dir)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
