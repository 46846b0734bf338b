package engine

import (
	"context"
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
		out = append(out, CutWrites{meta.CallID, meta.ChatID, meta.Path, meta.Started, meta.Suspect()})
	}
	slices.SortFunc(out, func(a, b CutWrites) int { return a.Started.Compare(b.Started) })
	return out, nil
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

// cutWarnings are warnings about what cut calls wrote in a chat, or in a folder.
func (e *Engine) cutWarnings(ctx context.Context, chat, folder string) (out []string) {
	all, err := e.CutWrites(ctx)
	if err != nil {
		return []string{fault.FirstLine(err)}
	}
	for _, w := range all {
		if w.ChatID != chat && w.Workspace != folder {
			continue
		}
		text := fmt.Sprintf("a call that was cut off wrote files which are not in %s yet", cas.EscapePath(w.Workspace))
		if w.Suspect {
			text += "; the system was started again since, so they may be damaged"
		}
		out = append(out, text+fmt.Sprintf("; fettle workspace apply %s applies them, fettle workspace discard %[1]s removes them", w.CallID))
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
		var aside []string
		if ws.Bound && !e.o.CommandsWriteGit {
			if aside, err = asideIn(ctx, dir, ws); err != nil {
				return nil, stateFault("apply what the call wrote", err)
			}
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
