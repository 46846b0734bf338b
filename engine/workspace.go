package engine

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/engine/workspace"
	"github.com/fettle-cli/fettle/toolset"
)

// workspace opens the chat's folder at the first tool call: its own one below
// the data directory, which is made then, or the bound one.
func (t *turn) workspace() (*toolset.Workspace, error) {
	if t.ws != nil {
		return t.ws, nil
	}
	var err error
	if dir := t.accept.Chat.Workspace; dir != "" {
		t.ws, err = toolset.OpenBound(dir, t.eng.Places())
	} else {
		t.ws, err = t.openManaged()
	}
	if err != nil {
		return nil, fault.Wrap(fault.Failed, "open the chat's workspace", err,
			fault.Try(fault.ForkInFolder).That("goes on in another folder"))
	}
	t.eng.Equip(t.ws)
	t.ws.Editor, t.ws.Terminal = t.req.Editor, t.req.Terminal
	return t.ws, nil
}

func (t *turn) openManaged() (*toolset.Workspace, error) {
	dir := t.eng.ManagedDir(t.accept.Chat.ID)
	t.made = filepath.Dir(dir)
	return toolset.OpenManaged(dir)
}

// upload puts the request's files into the workspace.
func (t *turn) upload(ctx context.Context) error {
	if len(t.req.Uploads) == 0 {
		return nil
	}
	for _, up := range t.req.Uploads {
		if _, err := workspace.Changeable(up.Name); err != nil {
			return err
		}
	}
	ws, err := t.workspace()
	if err != nil {
		return err
	}
	release, err := t.eng.LockWorkspace(ctx, ws, func(string) {})
	if err != nil {
		return err
	}
	defer release()
	if err := t.stateBeforeUpload(ctx, ws); err != nil {
		return err
	}
	for _, up := range t.req.Uploads {
		if err := t.putNew(ws.Root, up); err != nil {
			return fault.Wrap(fault.Failed, "put "+up.Name+" into the workspace", err)
		}
	}
	t.req.Uploads = nil // they are on the disk now, and may be large
	if !t.keepsStates() {
		return nil
	}
	about := cas.About{ChatID: t.accept.Chat.ID, Source: cas.UserUpload, SourceRef: t.accept.UserMessageID}
	endSpan := t.spanOfSnapshot(about)
	snap, err := t.eng.TakeState(ctx, ws, cas.SnapshotOptions{
		About: about, Parent: t.states.at, Limits: t.eng.o.States,
	})
	endSpan(snap, err)
	if err != nil {
		return store.StateFault("keep the files", err)
	}
	t.states.at = snap.Manifest
	return nil
}

// stateBeforeUpload takes what somebody else has changed since the last state
// into one of its own: to undo the upload must not take that back.
func (t *turn) stateBeforeUpload(ctx context.Context, ws *toolset.Workspace) error {
	if !t.keepsStates() {
		return nil
	}
	source := cas.External
	if t.states.suspect {
		source = cas.Interrupted
	}
	about := cas.About{ChatID: t.accept.Chat.ID, Source: source}
	endSpan := t.spanOfSnapshot(about)
	snap, err := t.eng.TakeState(ctx, ws, cas.SnapshotOptions{
		About: about, Parent: t.states.at, Limits: t.eng.o.States,
	})
	endSpan(snap, err)
	if err != nil {
		return store.StateFault("look at "+ws.Path, err)
	}
	t.states.at, t.states.suspect = snap.Manifest, false
	return nil
}

func (t *turn) putNew(root *os.Root, up Upload) error {
	name := filepath.FromSlash(up.Name)
	if err := workspace.UnderNoLink(root, filepath.Clean(name)); err != nil {
		return err
	}
	if dir := filepath.Dir(name); dir != "." {
		if err := root.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	t.put = append(t.put, name)
	_, err = f.Write(up.Data)
	return errors.Join(err, f.Sync(), f.Close())
}

// takeBack removes what a turn that leaves nothing behind has brought into the
// workspace, and closes it: the folder itself if the chat is new, else the
// uploads. What tools did in a chat's folder stays.
func (t *turn) takeBack() error {
	var errs []error
	if t.ws != nil {
		for _, name := range t.put {
			if err := t.ws.Root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
			}
		}
		errs = append(errs, t.ws.Close())
		t.ws = nil
	}
	if t.made != "" && t.accept.NewChat {
		errs = append(errs, os.RemoveAll(t.made))
	}
	return errors.Join(errs...)
}
