package workspace

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
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
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
func (w *Folders) CutWrites(ctx context.Context) ([]CutWrites, error) {
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

// CutsAt lists what cut calls wrote in a chat, or in a folder.
func (w *Folders) CutsAt(ctx context.Context, chat, folder string) ([]CutWrites, error) {
	all, err := w.CutWrites(ctx)
	return slices.DeleteFunc(all, func(cut CutWrites) bool { return cut.ChatID != chat && cut.Workspace != folder }), err
}

// CutWarnings are warnings about what cut calls wrote in a chat, or in a folder.
func (w *Folders) CutWarnings(ctx context.Context, chat, folder string) (out []string) {
	all, err := w.CutsAt(ctx, chat, folder)
	if err != nil {
		return []string{fault.FirstLine(err)}
	}
	for _, cut := range all {
		text := fmt.Sprintf("the call %s, which was cut off, wrote files which are not in %s yet", cut.CallID, cas.EscapePath(cut.Workspace))
		if cut.Suspect {
			text += "; the system was started again since, so they may be damaged"
		}
		if advice := w.CutAdvice(cut.CallID); advice != "" {
			text += "; " + advice
		}
		out = append(out, text)
	}
	return out
}

// DiscardCut removes what a cut call wrote.
func (w *Folders) DiscardCut(ctx context.Context, call string) (*CutWrites, error) {
	unshare, err := w.ShareData(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer unshare()
	cut, err := w.CutCall(ctx, call)
	if err != nil {
		return nil, err
	}
	release, err := w.HoldCut(cut)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := cas.DropLayer(filepath.Join(w.LayersDir(), cut.CallID)); err != nil {
		return nil, store.StoreFault("discard what the call wrote", err)
	}
	return &cut, nil
}

// CutCall finds what a cut call wrote by the last letters of the call's id; "" is the only one.
func (w *Folders) CutCall(ctx context.Context, call string) (CutWrites, error) {
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

// HoldCut keeps other processes from what a cut call wrote.
func (w *Folders) HoldCut(cut CutWrites) (release func(), err error) {
	release, free, err := w.TryLayer(cut.CallID)
	if err == nil && !free {
		err = errors.New("another process uses it")
	}
	if err != nil {
		return nil, fault.Wrap(fault.Failed, "take what the call "+cut.CallID+" wrote", err)
	}
	return release, nil
}
