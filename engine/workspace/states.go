package workspace

import (
	"context"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/toolset"
)

// StateTime bounds the snapshot after a call whose turn was cancelled: long
// enough for the folder that it was taken of before, which is not read
// again, and no reason to hang for ever on a dead network drive.
const StateTime = 5 * time.Minute

// MaxChanges bounds the changes that a call's end lists; its manifests
// have them all.
const MaxChanges = 200

// CASWorkspace is a workspace as the store of states sees it.
func CASWorkspace(ws *toolset.Workspace) *cas.Workspace {
	return &cas.Workspace{Path: ws.Path, Root: ws.Root, Bound: ws.Bound}
}

// Changes are the paths that differ between two states, the first MaxChanges
// of them.
func (w *Folders) Changes(ctx context.Context, from, to *cas.Manifest) ([]event.Change, error) {
	var a cas.Digest
	if from != nil {
		a = from.Root
	}
	var out []event.Change
	var folder *cas.Change // that is told only if nothing in it is
	for c, err := range w.Snapshots.Diff(ctx, a, to.Root) {
		if err != nil {
			return nil, err
		}
		if folder != nil && !strings.HasPrefix(c.Path, folder.Path+"/") {
			out = append(out, toChange(*folder))
		}
		if folder = nil; c.FoldersOnly() {
			folder = &c
			continue
		}
		if len(out) >= MaxChanges {
			break
		}
		out = append(out, toChange(c))
	}
	if folder != nil {
		out = append(out, toChange(*folder))
	}
	return out, nil
}

func toChange(c cas.Change) event.Change {
	return event.Change{Path: cas.EscapePath(c.Path), Kind: ChangeKind(c), Mode: strings.TrimPrefix(c.PermsText(), "mode ")}
}

// ChangeKind is the word of an event for a change.
func ChangeKind(c cas.Change) string {
	switch {
	case c.Old == nil:
		return "added"
	case c.New == nil:
		return "removed"
	}
	return "modified"
}

// ManifestID is the id of a manifest, or nothing.
func ManifestID(m *cas.Manifest) string {
	if m == nil {
		return ""
	}
	return m.ID
}

// Unfilled tells whether a chat has a folder of its own that hasn't the files of
// its state yet: that state is another chat's, which it was forked from. A fork
// in the user's folder takes it as it is, since the other chat goes on in it.
func Unfilled(chat chat.Chat, at *cas.Manifest) bool {
	return chat.Workspace == "" && at.ChatID != chat.ID
}

// Branching is a folder that is given the state of a message.
type Branching struct {
	Chat, Message string
	Ws            *toolset.Workspace
	To, Active    *cas.Manifest
	Move          *store.BranchMove // the ids of the states, where they are recorded
}

// BranchTo gives a folder the state of a message. The state that comes of it
// follows that one, whatever was there before.
func (w *Folders) BranchTo(ctx context.Context, b Branching) (*cas.Restoration, error) {
	o := cas.RestoreOptions{
		About:  cas.About{ChatID: b.Chat, ParentID: b.To.ID, Source: cas.Branch, SourceRef: b.Message},
		Active: b.Active, Limits: w.Options.States, Doing: DoingBranch,
	}
	if b.Move != nil {
		o.ID, o.FoundID = b.Move.Moved, b.Move.Found
	}
	w.endServicesIn(b.Ws, "the chat went on from another message")
	done, err := w.moveTo(ctx, b.Ws, b.To, o)
	if err != nil {
		return nil, store.StateFault("bring back the files of that message", err)
	}
	return done, nil
}

// LeafOnly is the last message alone.
func LeafOnly() store.Reach { return store.Reach{Least: 1, Most: 1} }
