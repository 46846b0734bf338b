package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/toolset"
)

// CutWrites are what a call wrote that was cut off before it was applied to the folder: fettle
// was killed, or applying it failed.
type CutWrites struct {
	CallID string
	ChatID string
	// Workspace is the folder that the call worked in.
	Workspace string
	Started   time.Time
	// Suspect reports that the system was started again since then, so that files may be cut
	// off or empty.
	Suspect bool
	// ToolID and Args are those of the call, and empty if no turn has recorded it. CutWrites
	// does not read them; CutWritesOf and ReviewCut do.
	ToolID string
	Args   json.RawMessage
}

// CutWrites lists what calls wrote that is neither applied nor discarded, the oldest first.
func (w *Workspaces) CutWrites(ctx context.Context) ([]CutWrites, error) {
	entries, err := os.ReadDir(w.LayersDir())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, store.StoreFault("look for what cut calls wrote", err)
	}
	var out []CutWrites
	for _, entry := range entries {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		meta, err := cas.ReadLayerMeta(filepath.Join(w.LayersDir(), entry.Name()))
		if err != nil || meta.CallID != entry.Name() {
			continue // it belongs to a call that was cancelled, or is none of ours
		}
		release, free, err := w.TryLayer(meta.CallID)
		if err != nil || !free {
			continue // the call runs
		}
		release()
		if store.WroteNothing(filepath.Join(w.LayersDir(), entry.Name())) {
			continue // the next sweep removes it
		}
		out = append(out, CutWrites{CallID: meta.CallID, ChatID: meta.ChatID, Workspace: meta.Path, Started: meta.Started, Suspect: meta.Suspect()})
	}
	slices.SortFunc(out, func(a, b CutWrites) int { return a.Started.Compare(b.Started) })
	return out, nil
}

// HasLayers reports whether a data directory has layers: of calls that run, or that were cut
// off. It is a cheap check ahead of CutWrites.
func HasLayers(dataDir string) bool {
	entries, err := os.ReadDir(filepath.Join(dataDir, store.LayersDir))
	return err == nil && len(entries) > 0
}

// cutsAt lists what cut calls wrote in a chat, or in a folder.
func (w *Workspaces) cutsAt(ctx context.Context, chat, folder string) ([]CutWrites, error) {
	all, err := w.CutWrites(ctx)
	return slices.DeleteFunc(all, func(cut CutWrites) bool { return cut.ChatID != chat && cut.Workspace != folder }), err
}

// CutWritesOf lists what cut calls wrote in a chat, or in the user's folder that it works in,
// with their tools and arguments.
func (e *Engine) CutWritesOf(ctx context.Context, c chat.Chat) ([]CutWrites, error) {
	folder := c.Workspace
	if real, err := filepath.EvalSymlinks(folder); err == nil && folder != "" {
		folder = real
	}
	all, err := e.cutsAt(ctx, c.ID, folder)
	for i := range all {
		if err == nil {
			err = e.nameCut(ctx, &all[i])
		}
	}
	return all, err
}

// nameCut reads the tool and the arguments of a cut call from its record.
func (e *Engine) nameCut(ctx context.Context, w *CutWrites) error {
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
	CutWrites
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
	w, err := e.cutCall(ctx, call)
	if err != nil {
		return nil, err
	}
	out := &CutReview{CutWrites: w}
	_, err = e.withFolder(ctx, RestoreRequest{Chat: store.ChatRef{ID: w.ChatID}, OnWait: onWait}, func(c chat.Chat, ws *toolset.Workspace) (*Restored, error) {
		release, err := e.holdCut(w)
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
		plan, err := e.Snapshots.ReadLayer(ctx, casWorkspace(ws), dir, cas.LayerOptions{ChatID: c.ID, Parent: at, Limits: e.o.States})
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

// cutWarnings are warnings about what cut calls wrote in a chat, or in a folder.
func (w *Workspaces) cutWarnings(ctx context.Context, chat, folder string) (out []string) {
	all, err := w.cutsAt(ctx, chat, folder)
	if err != nil {
		return []string{fault.FirstLine(err)}
	}
	for _, cut := range all {
		text := fmt.Sprintf("the call %s, which was cut off, wrote files which are not in %s yet", cut.CallID, cas.EscapePath(cut.Workspace))
		if cut.Suspect {
			text += "; the system was started again since, so they may be damaged"
		}
		if advice := w.cutAdvice(cut.CallID); advice != "" {
			text += "; " + advice
		}
		out = append(out, text)
	}
	return out
}

// Applied is the result of applying what a cut call wrote.
type Applied struct {
	Chat      chat.Chat
	Writes    CutWrites
	Changes   []event.Change
	Conflicts []event.Conflict
	// Notes say what was not applied, and why.
	Notes []string
}

// ApplyCut applies what a cut call wrote to its folder, as a step that can be undone. What
// another program changed since the call began stays, and is listed as a conflict.
func (e *Engine) ApplyCut(ctx context.Context, call string, onWait func(string)) (*Applied, error) {
	w, err := e.cutCall(ctx, call)
	if err != nil {
		return nil, err
	}
	out := &Applied{Writes: w}
	_, err = e.withFolder(ctx, RestoreRequest{Chat: store.ChatRef{ID: w.ChatID}, OnWait: onWait}, func(chat chat.Chat, ws *toolset.Workspace) (*Restored, error) {
		release, err := e.holdCut(w)
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
			if err := e.setActive(ctx, chat.ID, done.After.ID); err != nil {
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

// DiscardCut removes what a cut call wrote.
func (w *Workspaces) DiscardCut(ctx context.Context, call string) (*CutWrites, error) {
	unshare, err := w.ShareData(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer unshare()
	cut, err := w.cutCall(ctx, call)
	if err != nil {
		return nil, err
	}
	release, err := w.holdCut(cut)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := cas.DropLayer(filepath.Join(w.LayersDir(), cut.CallID)); err != nil {
		return nil, store.StoreFault("discard what the call wrote", err)
	}
	return &cut, nil
}

// cutCall finds what a cut call wrote by the last letters of the call's id; "" is the only one.
func (w *Workspaces) cutCall(ctx context.Context, call string) (CutWrites, error) {
	all, err := w.CutWrites(ctx)
	if err != nil {
		return CutWrites{}, err
	}
	fits := slices.DeleteFunc(slices.Clone(all), func(cut CutWrites) bool { return !strings.HasSuffix(cut.CallID, strings.ToUpper(call)) })
	switch {
	case len(fits) == 1:
		return fits[0], nil
	case len(all) == 0:
		return CutWrites{}, fault.New(fault.NotFound, "no call that was cut off has left files to apply or discard")
	}
	f := fault.New(fault.NotFound, "no call that was cut off has the id "+call)
	if len(fits) > 1 {
		f = fault.New(fault.Usage, "several calls that were cut off fit; name one by its id")
	}
	f.List(len(all), func(i int) string { return all[i].CallID + "  " + cas.EscapePath(all[i].Workspace) })
	return CutWrites{}, f
}

// holdCut keeps other processes from what a cut call wrote.
func (w *Workspaces) holdCut(cut CutWrites) (release func(), err error) {
	release, free, err := w.TryLayer(cut.CallID)
	if err == nil && !free {
		err = errors.New("another process uses it")
	}
	if err != nil {
		return nil, fault.Wrap(fault.Failed, "take what the call "+cut.CallID+" wrote", err)
	}
	return release, nil
}
