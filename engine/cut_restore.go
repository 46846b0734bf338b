package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/internal/lockfile"
	"github.com/fettle-cli/fettle/toolset"
)

// Pending is a change of a chat's files by fettle itself that a killed process has left
// unfinished. The next operation that changes something in the chat reverts it, or
// finishes it; one that only reads leaves the folder as it is.
type Pending struct {
	// Doing is the operation: "undo", "redo", "restore" or "change of branches".
	Doing string
	// Since is when it began; zero where that isn't known.
	Since time.Time
	// Path is the folder.
	Path string
	// Done reports that all files have been restored, so that it will be finished.
	Done bool

	found *cas.Manifest // the state that the folder will have then
}

// String returns a sentence for the user that describes what is pending.
func (p *Pending) String() string {
	then := "takes it back"
	if p.Done {
		then = "finishes it"
	}
	return fmt.Sprintf("%s %s in %s was cut short%s and is pending; the next command that changes something in this chat %s",
		article(p.Doing), p.Doing, p.Path, begunAt(p.Since), then)
}

func article(noun string) string {
	if strings.HasPrefix(noun, "u") {
		return "an"
	}
	return "a"
}

func begunAt(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return " (it began " + at.Local().Format("2006-01-02 15:04:05") + ")"
}

// Pending returns the change that a killed process has left unfinished in a chat's
// folder, or nil. It only reads the store. A change that is still running is not
// pending.
func (s *Store) Pending(ctx context.Context, chat chat.Chat) (*Pending, error) {
	p, err := s.pendingIn(ctx, chat)
	if p == nil || err != nil {
		return nil, err
	}
	path, err := s.lockPath("chat-" + chat.ID)
	if err != nil {
		return nil, err
	}
	release, free, err := lockfile.TryShared(path)
	if err != nil || !free {
		return nil, err // another process is at it
	}
	release()
	return p, nil
}

// pendingIn is Pending for a caller that holds the chat's lock.
func (s *Store) pendingIn(ctx context.Context, chat chat.Chat) (*Pending, error) {
	cut, err := s.cutIn(ctx, chat)
	if err != nil {
		return nil, err
	}
	active, err := s.manifest(ctx, chat.ActiveManifest)
	if err != nil {
		return nil, err
	}
	if cut != nil {
		p := &Pending{Doing: cmp.Or(cut.Doing, "restore"), Since: cut.Started, Path: cut.Path, Done: cut.Done, found: active}
		if active == nil || active.Root != cut.After {
			p.found = &cas.Manifest{ChatID: chat.ID, Root: cut.After}
		}
		return p, nil
	}
	m, over, err := s.readMove(ctx, chat)
	if err != nil || m == nil || over {
		return nil, err
	}
	moved, err := s.manifest(ctx, m.Moved)
	if err != nil || moved == nil { // it changed nothing
		return nil, err
	}
	found, err := s.manifest(ctx, m.Found)
	if err != nil {
		return nil, err
	}
	if found == nil {
		found = active
	}
	return &Pending{Doing: doingBranch, Since: moved.CreatedAt, Path: s.WorkspacePath(chat), found: found}, nil
}

// cutIn is the restore of a chat, or in its folder, that was started and has not ended.
func (s *Store) cutIn(ctx context.Context, chat chat.Chat) (*cas.Cut, error) {
	if !s.hasStore() {
		return nil, nil
	}
	cuts, err := s.states.Cuts(ctx)
	if err != nil {
		return nil, storeFault("look for restores that were cut short", err)
	}
	if len(cuts) == 0 {
		return nil, nil
	}
	path := s.WorkspacePath(chat)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	for i := range cuts {
		if cuts[i].ChatID == chat.ID || cuts[i].Path == path {
			return &cuts[i], nil
		}
	}
	return nil, nil
}

// readMove reads the record of a folder that was on its way to another branch; nil if
// there is none. over reports that the chat has arrived there, or has moved on.
func (s *Store) readMove(ctx context.Context, chat chat.Chat) (m *branchMove, over bool, err error) {
	arrived := false
	err = s.view(ctx, func(tx *kv.Tx) (err error) {
		if m, err = s.tables.moves.Get(tx, kv.Str(chat.ID)); err != nil || m.MessageID == "" {
			return err
		}
		arrived, err = s.tables.messages.Has(tx, messageKey(chat.ID, m.MessageID))
		return err
	})
	if errors.Is(err, kv.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, storeFault("read the way to another branch", err)
	}
	return m, arrived || chat.ActiveManifest != m.Active, nil
}

// takeBackCut reverts, or finishes, an operation that a killed process has left
// unfinished in the chat's folder. open is only called if there is one. The caller
// holds the chat's lock.
func (s *Store) takeBackCut(ctx context.Context, chat chat.Chat, open openFolder) error {
	cut, err := s.cutIn(ctx, chat)
	if err != nil || cut == nil {
		return err
	}
	ws, release, err := open()
	if err != nil {
		return err
	}
	defer release()
	s.endServicesIn(ws, "an operation on its workspace that was cut short was taken back")
	if err := s.states.Recover(ctx, casWorkspace(ws)); err != nil {
		return stateFault("take back what was cut short in "+ws.Path, err)
	}
	return nil
}

// recovered emits a notice of what was done about a restore that was cut short.
func (s *Store) recovered(ctx context.Context, r cas.Recovery) {
	s.o.Notice(s.chatName(ctx, r.ChatID) + recoveryText(r))
}

// chatName is the beginning of a notice about a chat.
func (s *Store) chatName(ctx context.Context, id string) string {
	var chat *chat.Chat
	err := s.view(ctx, func(tx *kv.Tx) (err error) {
		chat, err = s.tables.chats.Get(tx, kv.Str(id))
		return err
	})
	if err != nil {
		return "" // a failed notice must not fail the operation
	}
	return fmt.Sprintf("chat %d: ", chat.Number)
}

func recoveryText(r cas.Recovery) string {
	doing := cmp.Or(r.Doing, "restore")
	text := article(doing) + " " + doing + " in " + r.Path + " was cut short" + begunAt(r.Started)
	if r.Done {
		return text + "; all files had been brought back, and it is finished now"
	}
	var names []string
	for _, c := range r.Changes {
		if !c.FoldersOnly() {
			names = append(names, cas.EscapePath(c.Path))
		}
	}
	if len(names) == 0 {
		text += "; it had changed no file, and was taken back"
	} else {
		text += "; it was taken back, and " + fault.Plural(len(names), "file") + " became what it was before: " + someOf(names)
	}
	if len(r.Left) == 0 {
		return text
	}
	names = nil
	for _, l := range r.Left {
		names = append(names, cas.EscapePath(l.Path)+" ("+l.Reason+")")
	}
	return text + "; left as they are: " + someOf(names)
}

// doingBranch is the operation of a folder that is given the files of another branch.
const doingBranch = "change of branches"

// reading is set for an operation that leaves the chat's folder as it is.
type reading struct {
	// pending is the change because of which the folder must not be touched; nil if
	// there is none.
	pending *Pending
}

// found is the state that the folder is assumed to have; nil if the folder is read.
func (r *reading) found() *cas.Manifest {
	if r == nil || r.pending == nil {
		return nil
	}
	return r.pending.found
}

// readOnly prepares a folder for an operation that leaves it as it is.
func (s *Store) readOnly(ctx context.Context, conv *conversation, r *reading) (err error) {
	if r.pending, err = s.pendingIn(ctx, conv.chat); err != nil || r.pending == nil {
		return err
	}
	s.o.Notice(fmt.Sprintf("chat %d: %s", conv.chat.Number, r.pending))
	return nil
}

// lookAt is the state of a folder that something is pending in, as it is.
func (s *Store) lookAt(ctx context.Context, chat chat.Chat, ws *toolset.Workspace, w watch) (*cas.Manifest, error) {
	m, err := s.states.Look(ctx, casWorkspace(ws), cas.SnapshotOptions{
		About:  cas.About{ChatID: chat.ID, ParentID: chat.ActiveManifest, Source: cas.External},
		Limits: s.o.States, Begin: w.begin, Progress: w.progress,
	})
	if err != nil {
		return nil, stateFault("look at "+ws.Path, err)
	}
	return m, nil
}

// settle records a state that was restored for the chat by a process which was killed
// before it could record that: the folder has it already. The caller holds the chat's
// lock.
func (s *Store) settle(ctx context.Context, chat *chat.Chat) error {
	id, err := s.settled(ctx, *chat)
	if err != nil || id == chat.ActiveManifest {
		return err
	}
	chat.ActiveManifest = id
	if err := s.setActive(ctx, chat.ID, id); err != nil {
		return err
	}
	s.o.Notice(fmt.Sprintf("chat %d: an operation that was cut short had brought its files back; it is noted now", chat.Number))
	return nil
}

// settled returns the chat's active state, including one that was restored for it but
// not recorded.
func (s *Store) settled(ctx context.Context, chat chat.Chat) (string, error) {
	was := chat.ActiveManifest
	last, err := s.states.Latest(ctx, chat.ID)
	if err != nil {
		return was, storeFault("read the states of the workspace", err)
	}
	if last == nil || last.ID == was || last.Source != cas.Restored && (last.Source != cas.Branch || last.SourceRef != chat.ActiveLeaf) {
		return was, nil
	}
	if last.ParentID == "" {
		return was, nil // it was imported: a restored state follows another one
	}
	// It follows the active state, or what was found to differ from that.
	const furthest = 2
	for m, i := last, 0; m != nil && i < furthest; i++ {
		if m.ParentID == was {
			return last.ID, nil
		}
		if m, err = s.manifest(ctx, m.ParentID); err != nil {
			return was, err
		}
		if m != nil && m.Source != cas.External && m.Source != cas.Interrupted {
			return was, nil
		}
	}
	return was, nil
}

// asSettled is a chat as [Engine.settle] would leave it, for what only reads.
func (s *Store) asSettled(ctx context.Context, chat chat.Chat) (chat.Chat, error) {
	if chat.ActiveManifest == "" {
		return chat, nil
	}
	id, err := s.settled(ctx, chat)
	chat.ActiveManifest = id
	return chat, err
}
