package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"sync"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/internal/lockfile"
	"github.com/fettle-cli/fettle/toolset"
)

// Folders are the folders that chats work in, with the snapshots of them that a Store
// has: history, undo, redo, branches. Several goroutines may use it at once.
type Folders struct {
	*store.Store
	// Seals reports whether sandboxes keep tools from changing the repositories that exist
	// in the user's folders.
	Seals func(context.Context) bool

	// CutAdvice returns a clause that says how to apply or discard what a cut call wrote; ""
	// for none.
	CutAdvice func(call string) string

	guardsMu sync.Mutex
	guards   map[string]*Guard // of the user's folders that tools write to, by their path
}

// New returns the folders of the chats in s.
func New(s *store.Store) *Folders {
	w := &Folders{Store: s, guards: map[string]*Guard{}}
	w.Seals = func(context.Context) bool { return false }
	w.CutAdvice = func(string) string { return "" }
	s.TakeFolder = w.takeFolder
	return w
}

// takeFolder returns the state that has all of a chat's folder, or "" if no state can
// have it.
func (w *Folders) takeFolder(ctx context.Context, id string) (string, error) {
	unlock, ok, err := lockfile.Try(filepath.Join(w.Options.DataDir, "locks", "chat-"+id))
	if err != nil || !ok {
		return "", err // a turn works in it
	}
	defer unlock()
	var of chat.Chat
	err = w.View(ctx, func(tx *kv.Tx) error {
		c, err := w.Tables.Chats.Get(tx, kv.Str(id))
		if err == nil {
			of = *c
		}
		return err
	})
	if err != nil {
		return "", err
	}
	dir := w.ManagedDir(id)
	if of.ActiveManifest == "" {
		return "", nil // no tool has run
	}
	if _, err := os.Stat(dir); err != nil || of.Workspace != "" {
		return "", err
	}
	ws, err := toolset.OpenManaged(dir)
	if err != nil {
		return "", err
	}
	defer func() { _ = ws.Close() }() // it was only read
	here := func() (*toolset.Workspace, func(), error) { return ws, func() {}, nil }
	if err := w.SettleIn(ctx, &of, here); err != nil {
		return "", err
	}
	active, err := w.Manifest(ctx, of.ActiveManifest)
	if err != nil || active != nil && Unfilled(of, active) {
		return "", err // its files are not part of a state of the chat yet
	}
	m, err := w.takeIn(ctx, &of, ws, taking{About: cas.About{Source: cas.External}})
	if err != nil || !m.Complete {
		return "", err
	}
	return m.ID, nil
}

// Equip sets what tools and their processes need of a workspace beyond its folder.
func (w *Folders) Equip(ws *toolset.Workspace) {
	ws.Temporaries = w.Temporaries
	if ws.Bound {
		ws.Outlive = w.outlive(ws.Path)
	}
}

// WorkspacePath is the folder that the chat's tools work in. A managed one
// exists once a tool has run.
func (w *Folders) WorkspacePath(c chat.Chat) string {
	if c.Workspace != "" {
		return c.Workspace
	}
	return w.ManagedDir(c.ID)
}

// LockWorkspace keeps two chats that bind one folder from running tools in it
// at once. A managed folder has only its chat, whose lock is held.
func (w *Folders) LockWorkspace(ctx context.Context, ws *toolset.Workspace, notice func(string)) (func(), error) {
	if !ws.Bound {
		return func() {}, nil
	}
	sum := sha256.Sum256([]byte(ws.Path))
	return w.Lock(ctx, "ws-"+hex.EncodeToString(sum[:8]), func(owner string) {
		notice("waiting for " + ws.Path + ", " + owner + " runs tools in it")
	})
}

// endServicesIn ends those that work in a folder, which is about to get other files:
// what they have read and opened would not be what is there.
func (w *Folders) endServicesIn(ws *toolset.Workspace, why string) {
	w.Services.EndServices(why, func(service toolset.Service) bool { return service.Workspace == ws.Path })
}

// TakeState takes a state of a folder. The services that work in it write nothing
// meanwhile, so that no file of the state is half of one.
func (w *Folders) TakeState(ctx context.Context, ws *toolset.Workspace, o cas.SnapshotOptions) (*cas.Snapshot, error) {
	defer w.Services.HoldServices(ctx, func(service toolset.Service) bool { return service.Workspace == ws.Path })()
	return w.Snapshots.Snapshot(ctx, CASWorkspace(ws), o)
}
