package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/toolset"
)

// knowKept refuses paths to be kept that nothing ever had, since what was meant would
// not be kept. to is what is going to be brought back.
func (w *Folders) knowKept(ctx context.Context, chat chat.Chat, ws *toolset.Workspace, to *cas.Manifest, keep []string) error {
	for _, named := range keep {
		name := strings.Trim(named, "/")
		if name == "" {
			continue
		}
		if _, err := ws.Root.Lstat(filepath.FromSlash(name)); err == nil {
			continue
		}
		known, err := w.inState(ctx, to, name)
		if err == nil && !known {
			known, err = w.everHad(ctx, chat, name)
		}
		switch {
		case err != nil:
			return err
		case !known:
			return fault.New(fault.NotFound,
				fmt.Sprintf("there is no %s to keep, in the folder or in a state of chat %d; nothing was changed", cas.EscapePath(name), chat.Number),
				fault.Try(fault.ListFiles).That("lists what there is"))
		}
	}
	return nil
}

// HasPath reports whether a chat's folder, or any state of it, has a path.
func (w *Folders) HasPath(ctx context.Context, ref store.ChatRef, name string) (bool, error) {
	chat, err := w.FindChat(ctx, ref)
	if err != nil {
		return false, err
	}
	name = path.Clean(name)
	if local := filepath.FromSlash(name); filepath.IsLocal(local) {
		if _, err := os.Lstat(filepath.Join(w.WorkspacePath(chat), local)); err == nil {
			return true, nil
		}
	}
	return w.everHad(ctx, chat, name)
}

// everHad tells whether any state of a chat has a path.
func (w *Folders) everHad(ctx context.Context, chat chat.Chat, name string) (bool, error) {
	all, err := w.Snapshots.Manifests(ctx, chat.ID)
	if err != nil {
		return false, store.StateFault("list the states", err)
	}
	for _, m := range all {
		if has, err := w.inState(ctx, m, name); has || err != nil {
			return has, err
		}
	}
	return false, nil
}

func (w *Folders) inState(ctx context.Context, m *cas.Manifest, name string) (bool, error) {
	_, err := w.Snapshots.Lookup(ctx, m.Root, name)
	if errors.Is(err, cas.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, store.StateFault("look for "+cas.EscapePath(name), err)
	}
	return true, nil
}
