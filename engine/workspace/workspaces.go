package workspace

import (
	"context"
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
	// seals reports whether sandboxes keep tools from changing the repositories that exist
	// in the user's folders.
	Seals func(context.Context) bool

	// cutAdvice returns a clause that says how to apply or discard what a cut call wrote; ""
	// for none.
	CutAdvice func(call string) string

	guardsMu sync.Mutex
	guards   map[string]*Guard // of the user's folders that tools write to, by their path
}

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
