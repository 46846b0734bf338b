package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/toolset"
)

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
