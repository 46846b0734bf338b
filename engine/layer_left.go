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
	"github.com/fettle-cli/fettle/internal/lockfile"
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
func (e *Engine) CutWrites(ctx context.Context) ([]CutWrites, error) {
	entries, err := os.ReadDir(e.layersDir())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, storeFault("look for what cut calls wrote", err)
	}
	var out []CutWrites
	for _, entry := range entries {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		meta, err := cas.ReadLayerMeta(filepath.Join(e.layersDir(), entry.Name()))
		if err != nil || meta.CallID != entry.Name() {
			continue // it belongs to a call that was cancelled, or is none of ours
		}
		release, free, err := e.tryLayer(meta.CallID)
		if err != nil || !free {
			continue // the call runs
		}
		release()
		if wroteNothing(filepath.Join(e.layersDir(), entry.Name())) {
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
	entries, err := os.ReadDir(filepath.Join(dataDir, layersDir))
	return err == nil && len(entries) > 0
}

// wroteNothing reports whether a call left nothing in its layer but what the sandbox puts in
// the place of a repository. A layer that can't be read may have something.
func wroteNothing(layer string) bool {
	upper := filepath.Join(layer, "upper")
	entries, err := os.ReadDir(upper)
	if err != nil || len(entries) > 1 {
		return false
	}
	if len(entries) == 0 {
		return true
	}
	inside, err := os.ReadDir(filepath.Join(upper, entries[0].Name()))
	return err == nil && entries[0].Name() == ".git" && len(inside) == 0
}

// tryLayer takes the lock of a layer if no process uses it.
func (s *Store) tryLayer(call string) (release func(), free bool, err error) {
	path, err := s.lockPath(layerLock(call))
	if err != nil {
		return nil, false, err
	}
	return lockfile.Try(path)
}

// cutsAt lists what cut calls wrote in a chat, or in a folder.
func (e *Engine) cutsAt(ctx context.Context, chat, folder string) ([]CutWrites, error) {
	all, err := e.CutWrites(ctx)
	return slices.DeleteFunc(all, func(w CutWrites) bool { return w.ChatID != chat && w.Workspace != folder }), err
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
		return nil, stateFault("look for repositories in what the call wrote", err)
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
	_, err = e.withFolder(ctx, RestoreRequest{Chat: ChatRef{ID: w.ChatID}, OnWait: onWait}, func(c chat.Chat, ws *toolset.Workspace) (*Restored, error) {
		release, err := e.holdCut(w)
		if err != nil {
			return nil, err
		}
		defer release()
		at, err := e.manifest(ctx, c.ActiveManifest)
		if err != nil {
			return nil, err
		}
		dir := filepath.Join(e.layersDir(), w.CallID)
		if out.Notes, err = e.asideInCut(ctx, dir, ws); err != nil {
			return nil, err
		}
		plan, err := e.states.ReadLayer(ctx, casWorkspace(ws), dir, cas.LayerOptions{ChatID: c.ID, Parent: at, Limits: e.o.States})
		if err != nil {
			return nil, stateFault("read what the call wrote", err)
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
func (e *Engine) cutWarnings(ctx context.Context, chat, folder string) (out []string) {
	all, err := e.cutsAt(ctx, chat, folder)
	if err != nil {
		return []string{fault.FirstLine(err)}
	}
	for _, w := range all {
		text := fmt.Sprintf("the call %s, which was cut off, wrote files which are not in %s yet", w.CallID, cas.EscapePath(w.Workspace))
		if w.Suspect {
			text += "; the system was started again since, so they may be damaged"
		}
		if e.o.CutAdvice != nil {
			text += "; " + e.o.CutAdvice(w.CallID)
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
	_, err = e.withFolder(ctx, RestoreRequest{Chat: ChatRef{ID: w.ChatID}, OnWait: onWait}, func(chat chat.Chat, ws *toolset.Workspace) (*Restored, error) {
		release, err := e.holdCut(w)
		if err != nil {
			return nil, err
		}
		defer release()
		at, err := e.manifest(ctx, chat.ActiveManifest)
		if err != nil {
			return nil, err
		}
		dir := filepath.Join(e.layersDir(), w.CallID)
		aside, err := e.asideInCut(ctx, dir, ws)
		if err != nil {
			return nil, err
		}
		done, err := e.landLayer(ctx, landing{
			dir: dir, ws: ws, at: at, about: cas.About{ChatID: chat.ID, Source: cas.ToolRun, SourceRef: w.CallID},
		})
		if err != nil {
			return nil, stateFault("apply what the call wrote", err)
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
func (e *Engine) DiscardCut(ctx context.Context, call string) (*CutWrites, error) {
	unshare, err := e.shareData(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer unshare()
	w, err := e.cutCall(ctx, call)
	if err != nil {
		return nil, err
	}
	release, err := e.holdCut(w)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := cas.DropLayer(filepath.Join(e.layersDir(), w.CallID)); err != nil {
		return nil, storeFault("discard what the call wrote", err)
	}
	return &w, nil
}

// cutCall finds what a cut call wrote by the last letters of the call's id; "" is the only one.
func (e *Engine) cutCall(ctx context.Context, call string) (CutWrites, error) {
	all, err := e.CutWrites(ctx)
	if err != nil {
		return CutWrites{}, err
	}
	fits := slices.DeleteFunc(slices.Clone(all), func(w CutWrites) bool { return !strings.HasSuffix(w.CallID, strings.ToUpper(call)) })
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
func (e *Engine) holdCut(w CutWrites) (release func(), err error) {
	release, free, err := e.tryLayer(w.CallID)
	if err == nil && !free {
		err = errors.New("another process uses it")
	}
	if err != nil {
		return nil, fault.Wrap(fault.Failed, "take what the call "+w.CallID+" wrote", err)
	}
	return release, nil
}

// layers are the layers of calls that were cancelled, and what was never one.
func (s *sweep) layers(ctx context.Context) error {
	entries, err := os.ReadDir(s.e.layersDir())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	errs := []error{err}
	for _, entry := range entries {
		path := filepath.Join(s.e.layersDir(), entry.Name())
		if ctx.Err() != nil || strings.HasPrefix(entry.Name(), "probe-") {
			continue // a probe has a record of its own
		}
		release, free, err := s.e.tryLayer(entry.Name())
		if err != nil || !free {
			errs = append(errs, err)
			continue
		}
		_, metaErr := cas.ReadLayerMeta(path)
		if !errors.Is(metaErr, os.ErrNotExist) && !(metaErr == nil && wroteNothing(path)) {
			release()
			continue // the user decides about it
		}
		if s.remove {
			err = cas.DropLayer(path)
		}
		release()
		if errs = append(errs, err); err == nil {
			s.found = append(s.found, Leftover{path, LeftTemporary, 0})
		}
	}
	return errors.Join(errs...)
}
