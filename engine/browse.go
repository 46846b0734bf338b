package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/toolset"
)

// StateInfo is a state with what made it.
type StateInfo struct {
	*cas.Manifest
	// Tool is the tool of the call that gave it, if one did, and Args what it
	// was called with. Of an imported state there is the tool alone, and of a turn
	// that still runs neither.
	Tool string
	Args json.RawMessage
	// By is the tool whose page made the call; empty for the calls of models and
	// persons.
	By string
	// Active is set for the state that the chat is at, Undone for a step that
	// redo restores.
	Active, Undone bool
	// Reverted is set for a step that is undone and that redo does not restore: it was
	// undone alone, or something new was done since.
	Reverted bool
}

// States lists the states on the way to the chat's active one, the latest
// first, with those that redo can bring back before them: at most limit of
// them, all where that is 0. more tells that there are others.
func (e *Engine) States(ctx context.Context, ref ChatRef, limit int) (c chat.Chat, out []StateInfo, more bool, err error) {
	if c, err = e.findSettled(ctx, ref); err != nil {
		return chat.Chat{}, nil, false, err
	}
	h, err := e.history(ctx, c)
	if err != nil {
		return chat.Chat{}, nil, false, err
	}
	if limit <= 0 {
		limit = maxHistory
	}
	way := stateWay{e: e, atOnce: limit > fewStates}
	undone, err := h.undone(ctx)
	if err != nil {
		return chat.Chat{}, nil, false, err
	}
	skip := map[string]bool{}
	for _, s := range slices.Backward(undone) {
		out = append(out, StateInfo{Manifest: s.after, Undone: true})
		skip[s.after.ID] = true
	}
	for m := h.active; m != nil && len(out) <= limit; {
		if !skip[m.ID] {
			out = append(out, StateInfo{Manifest: m, Active: m.ID == h.active.ID})
		}
		if m, err = way.manifest(ctx, m.ParentID); err != nil {
			return chat.Chat{}, nil, false, err
		}
	}
	if more = len(out) > limit; more {
		out = out[:limit]
	}
	if err := h.markReverted(ctx, out); err != nil {
		return chat.Chat{}, nil, false, err
	}
	return c, out, more, e.nameTools(ctx, out)
}

// fewStates is how many states are looked up one by one. Where a list may be
// longer, all states of a chat are read in one scan.
const fewStates = 100

// stateWay reads the ancestors of a state.
type stateWay struct {
	e      *Engine
	atOnce bool // read all states of a chat with the first of them
	known  map[string]*cas.Manifest
	chats  map[string]bool // those whose states are known
}

// manifest is [Engine.manifest] for the next state on the way.
func (w *stateWay) manifest(ctx context.Context, id string) (*cas.Manifest, error) {
	if m := w.known[id]; m != nil {
		return m, nil
	}
	m, err := w.e.manifest(ctx, id)
	if err != nil || m == nil || !w.atOnce || w.chats[m.ChatID] {
		return m, err
	}
	if w.known == nil {
		w.known, w.chats = map[string]*cas.Manifest{}, map[string]bool{}
	}
	w.chats[m.ChatID] = true // the states of a fork begin in another chat
	list, err := w.e.states.Manifests(ctx, m.ChatID)
	if err != nil {
		return nil, stateFault("list the states", err)
	}
	for _, m := range list {
		w.known[m.ID] = m
	}
	return m, nil
}

// findSettled finds a chat, at the state that its folder has.
func (s *Store) findSettled(ctx context.Context, ref ChatRef) (chat.Chat, error) {
	chat, err := s.find(ctx, ref, nil)
	if err != nil {
		return chat, err
	}
	return s.asSettled(ctx, chat)
}

// StateTree lists the states of all branches of a chat, the latest first: at most
// limit of them, all where that is 0. more tells that there are others. Each comes
// before the one that it names as its parent.
func (s *Store) StateTree(ctx context.Context, ref ChatRef, limit int) (c chat.Chat, out []StateInfo, more bool, err error) {
	if c, err = s.findSettled(ctx, ref); err != nil {
		return chat.Chat{}, nil, false, err
	}
	h, err := s.history(ctx, c)
	if err != nil {
		return chat.Chat{}, nil, false, err
	}
	undone, err := h.undone(ctx)
	if err != nil {
		return chat.Chat{}, nil, false, err
	}
	skip := map[string]bool{}
	for _, done := range undone {
		skip[done.after.ID] = true
	}
	list, err := s.states.Manifests(ctx, c.ID)
	if err != nil {
		return chat.Chat{}, nil, false, stateFault("list the states", err)
	}
	if more = limit > 0 && len(list) > limit; more {
		list = list[len(list)-limit:]
	}
	for _, m := range slices.Backward(list) {
		out = append(out, StateInfo{Manifest: m, Active: m.ID == c.ActiveManifest, Undone: skip[m.ID]})
	}
	if err := h.markReverted(ctx, out); err != nil {
		return chat.Chat{}, nil, false, err
	}
	return c, out, more, s.nameTools(ctx, out)
}

// postManifest is the state after a call; empty where no record of the call is
// there.
func (s *Store) postManifest(ctx context.Context, call string) (id string, err error) {
	err = s.view(ctx, func(tx *kv.Tx) error {
		c, err := s.tables.calls.Get(tx, kv.Str(call))
		if err == nil {
			id = c.PostManifestID
		}
		return err
	})
	if errors.Is(err, kv.ErrNotFound) {
		return "", nil
	}
	return id, err
}

// nameTools fills in the tools of calls.
func (s *Store) nameTools(ctx context.Context, states []StateInfo) error {
	err := s.view(ctx, func(tx *kv.Tx) error {
		for i := range states {
			if states[i].Source != cas.ToolRun {
				continue
			}
			c, err := s.tables.calls.Get(tx, kv.Str(states[i].SourceRef))
			if errors.Is(err, kv.ErrNotFound) || err != nil && s.leavesOut(err) { // of another chat, or of a removed one
				states[i].Tool = states[i].Maker
				continue
			}
			if err != nil {
				return err
			}
			states[i].Tool, states[i].Args = c.ToolID, c.Args
			if c.AppOf == "" {
				continue
			}
			of, err := s.tables.calls.Get(tx, kv.Str(c.AppOf))
			if err != nil && s.leavesOut(err) {
				continue
			}
			if err != nil {
				return err // records of a chat go together
			}
			states[i].By = of.ToolID
		}
		return nil
	})
	if errors.Is(err, kv.ErrNotFound) {
		return nil
	}
	return err
}

// FolderState stores the chat's folder as it is now, and returns that state: the active
// one, unless another program has changed something since. It becomes the chat's active
// state. Where an operation on the folder was cut short and is pending, it is the state
// of the files as they are, which gets no id and isn't noted. Of req it uses Chat,
// OnWait, Begin and Progress.
func (e *Engine) FolderState(ctx context.Context, req RestoreRequest) (chat.Chat, *cas.Manifest, error) {
	req.read = new(reading)
	out, err := e.withFolder(ctx, req, func(chat chat.Chat, ws *toolset.Workspace) (*Restored, error) {
		if req.read.pending != nil {
			m, err := e.lookAt(ctx, chat, ws, req.watch())
			return &Restored{Chat: chat, After: m}, err
		}
		m, err := e.takeIn(ctx, &chat, ws, taking{About: cas.About{Source: cas.External}, watch: req.watch()})
		return &Restored{Chat: chat, After: m}, err
	})
	if err != nil {
		return chat.Chat{}, nil, err
	}
	return out.Chat, out.After, nil
}

// watch are told how a snapshot comes along; both may be nil.
type watch struct {
	begin    func(cas.Estimate) error
	progress func(files int, bytes int64)
}

// taking says what a folder is taken in as.
type taking struct {
	cas.About
	watch
}

// takeIn takes a snapshot and makes it the chat's active state.
func (s *Store) takeIn(ctx context.Context, chat *chat.Chat, ws *toolset.Workspace, t taking) (*cas.Manifest, error) {
	active, err := s.manifest(ctx, chat.ActiveManifest)
	if err != nil {
		return nil, err
	}
	t.ChatID = chat.ID
	snap, err := s.takeState(ctx, ws, cas.SnapshotOptions{
		About: t.About, Parent: active, Limits: s.o.States, Begin: t.begin, Progress: t.progress,
	})
	if err != nil {
		return nil, stateFault("look at "+ws.Path, err)
	}
	if snap.Manifest.ID == chat.ActiveManifest {
		return snap.Manifest, nil
	}
	chat.ActiveManifest = snap.Manifest.ID
	return snap.Manifest, s.setActive(ctx, chat.ID, snap.Manifest.ID)
}

// stopped is a reader that ends with its context.
type stopped struct {
	ctx context.Context
	r   io.Reader
}

func (s stopped) Read(p []byte) (int, error) {
	if s.ctx.Err() != nil {
		return 0, context.Cause(s.ctx)
	}
	return s.r.Read(p)
}

// putWhole writes a file beside its place and renames it there.
func putWhole(root *os.Root, name string, content io.Reader) (err error) {
	if dir := filepath.Dir(name); dir != "." {
		if err := root.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	mode := os.FileMode(0o644)
	if info, err := root.Stat(name); err == nil {
		if !info.Mode().IsRegular() {
			return fmt.Errorf("it is no file")
		}
		mode = info.Mode().Perm()
	}
	temp := filepath.Join(filepath.Dir(name), putPrefix+strconv.Itoa(os.Getpid()))
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	err = errors.Join(err, f.Chmod(mode), f.Close())
	if err == nil {
		err = root.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(err, root.Remove(temp))
	}
	return nil
}

// putPrefix begins the name of a file that is being put; the pid of who does so
// follows.
const putPrefix = ".fettle-put-"

// sweepPuts removes what puts have left in a folder that were killed. Who calls
// it holds the locks under which files are put into the workspace, so those of
// this process are left over, too: from an earlier one of its pid. What can't be
// looked at or removed stays; nothing depends on it.
func sweepPuts(root *os.Root, dir string) {
	d, err := root.Open(dir)
	if err != nil {
		return
	}
	names, _ := d.Readdirnames(-1)
	_ = d.Close()
	for _, name := range names {
		digits, ok := strings.CutPrefix(name, putPrefix)
		pid, err := strconv.Atoi(digits)
		if !ok || err != nil || pid <= 0 || strconv.Itoa(pid) != digits || pid != os.Getpid() && alive(pid) {
			continue
		}
		path := filepath.Join(dir, name)
		if info, err := root.Lstat(path); err == nil && info.Mode().IsRegular() {
			_ = root.Remove(path)
		}
	}
}

// Files yields what a state has, in the order of paths, folders before what is
// in them. An error ends it.
func (s *Store) Files(ctx context.Context, m *cas.Manifest) iter.Seq2[cas.Located, error] {
	return s.states.Walk(ctx, m.Root)
}

// FileEntry gives what a state has under a path.
func (s *Store) FileEntry(ctx context.Context, m *cas.Manifest, name string) (cas.Entry, error) {
	entry, err := s.states.Lookup(ctx, m.Root, name)
	if errors.Is(err, cas.ErrNotFound) {
		return entry, fault.New(fault.NotFound, "there is no file "+cas.EscapePath(name)+" in that state", "fettle workspace files   lists what there is")
	}
	if err != nil {
		return entry, stateFault("look for "+cas.EscapePath(name), err)
	}
	return entry, nil
}

// ReadFile writes the content of a file of a state. Where the store turns out to
// be damaged it fails after having written some of it.
func (s *Store) ReadFile(ctx context.Context, w io.Writer, entry cas.Entry) error {
	if err := s.states.Read(ctx, w, entry); err != nil {
		return stateFault("read "+cas.EscapePath(entry.Name), err)
	}
	return nil
}

// DiffStates yields what differs between two states, in the order of paths. An
// error ends it.
func (s *Store) DiffStates(ctx context.Context, from, to *cas.Manifest) iter.Seq2[cas.Change, error] {
	var a, b cas.Digest
	if from != nil {
		a = from.Root
	}
	if to != nil {
		b = to.Root
	}
	return s.states.Diff(ctx, a, b)
}

// WriteManifest writes a state as document 004's {path: sha256}.
func (s *Store) WriteManifest(ctx context.Context, w io.Writer, m *cas.Manifest) error {
	if err := s.states.WriteFiles(ctx, w, m.Root); err != nil {
		return stateFault("list the files", err)
	}
	return nil
}

// StateBefore gives the state that one came after; nil where it was the first,
// or where the one before is not there any more.
func (s *Store) StateBefore(ctx context.Context, m *cas.Manifest) (*cas.Manifest, error) {
	return s.manifest(ctx, m.ParentID)
}

// DescribeState says what made a state of a chat.
func (s *Store) DescribeState(ctx context.Context, chat chat.Chat, m *cas.Manifest) (StateInfo, error) {
	out := []StateInfo{{Manifest: m, Active: m.ID == chat.ActiveManifest}}
	err := s.nameTools(ctx, out)
	return out[0], err
}

// ChatsByID gives those chats of some ids that there are, deleted ones
// included.
func (s *Store) ChatsByID(ctx context.Context, ids []string) (map[string]chat.Chat, error) {
	if _, err := s.Fold(ctx, FoldAll); err != nil {
		return nil, err // a chat whose turns wait in journals is there, too
	}
	out := make(map[string]chat.Chat, len(ids))
	err := s.view(ctx, func(tx *kv.Tx) error {
		for _, id := range ids {
			c, err := s.tables.chats.Get(tx, kv.Str(id))
			if errors.Is(err, kv.ErrNotFound) || err != nil && s.leavesOut(err) {
				continue
			}
			if err != nil {
				return err
			}
			out[id] = *c
		}
		return nil
	})
	if errors.Is(err, kv.ErrNotFound) {
		return out, nil // no store yet
	}
	return out, err
}
