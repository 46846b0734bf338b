package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/toolset"
)

// States lists the states on the way to the chat's active one, the latest
// first, with those that redo can bring back before them: at most limit of
// them, all where that is 0. more tells that there are others.
func (w *Folders) States(ctx context.Context, ref store.ChatRef, limit int) (c chat.Chat, out []store.StateInfo, more bool, err error) {
	if c, err = w.findSettled(ctx, ref); err != nil {
		return chat.Chat{}, nil, false, err
	}
	h, err := w.History(ctx, c)
	if err != nil {
		return chat.Chat{}, nil, false, err
	}
	if limit <= 0 {
		limit = store.MaxHistory
	}
	way := stateWay{e: w, atOnce: limit > fewStates}
	undone, err := h.Undone(ctx)
	if err != nil {
		return chat.Chat{}, nil, false, err
	}
	skip := map[string]bool{}
	for _, s := range slices.Backward(undone) {
		out = append(out, store.StateInfo{Manifest: s.After, Undone: true})
		skip[s.After.ID] = true
	}
	for m := h.Active; m != nil && len(out) <= limit; {
		if !skip[m.ID] {
			out = append(out, store.StateInfo{Manifest: m, Active: m.ID == h.Active.ID})
		}
		if m, err = way.manifest(ctx, m.ParentID); err != nil {
			return chat.Chat{}, nil, false, err
		}
	}
	if more = len(out) > limit; more {
		out = out[:limit]
	}
	if err := h.MarkReverted(ctx, out); err != nil {
		return chat.Chat{}, nil, false, err
	}
	return c, out, more, w.nameTools(ctx, out)
}

// fewStates is how many states are looked up one by one. Where a list may be
// longer, all states of a chat are read in one scan.
const fewStates = 100

// stateWay reads the ancestors of a state.
type stateWay struct {
	e      *Folders
	atOnce bool // read all states of a chat with the first of them
	known  map[string]*cas.Manifest
	chats  map[string]bool // those whose states are known
}

// manifest is [Engine.manifest] for the next state on the way.
func (w *stateWay) manifest(ctx context.Context, id string) (*cas.Manifest, error) {
	if m := w.known[id]; m != nil {
		return m, nil
	}
	m, err := w.e.Manifest(ctx, id)
	if err != nil || m == nil || !w.atOnce || w.chats[m.ChatID] {
		return m, err
	}
	if w.known == nil {
		w.known, w.chats = map[string]*cas.Manifest{}, map[string]bool{}
	}
	w.chats[m.ChatID] = true // the states of a fork begin in another chat
	list, err := w.e.Snapshots.Manifests(ctx, m.ChatID)
	if err != nil {
		return nil, store.StateFault("list the states", err)
	}
	for _, m := range list {
		w.known[m.ID] = m
	}
	return m, nil
}

// findSettled finds a chat, at the state that its folder has.
func (w *Folders) findSettled(ctx context.Context, ref store.ChatRef) (chat.Chat, error) {
	chat, err := w.Find(ctx, ref, nil)
	if err != nil {
		return chat, err
	}
	return w.asSettled(ctx, chat)
}

// StateTree lists the states of all branches of a chat, the latest first: at most
// limit of them, all where that is 0. more tells that there are others. Each comes
// before the one that it names as its parent.
func (w *Folders) StateTree(ctx context.Context, ref store.ChatRef, limit int) (c chat.Chat, out []store.StateInfo, more bool, err error) {
	if c, err = w.findSettled(ctx, ref); err != nil {
		return chat.Chat{}, nil, false, err
	}
	h, err := w.History(ctx, c)
	if err != nil {
		return chat.Chat{}, nil, false, err
	}
	undone, err := h.Undone(ctx)
	if err != nil {
		return chat.Chat{}, nil, false, err
	}
	skip := map[string]bool{}
	for _, done := range undone {
		skip[done.After.ID] = true
	}
	list, err := w.Snapshots.Manifests(ctx, c.ID)
	if err != nil {
		return chat.Chat{}, nil, false, store.StateFault("list the states", err)
	}
	if more = limit > 0 && len(list) > limit; more {
		list = list[len(list)-limit:]
	}
	for _, m := range slices.Backward(list) {
		out = append(out, store.StateInfo{Manifest: m, Active: m.ID == c.ActiveManifest, Undone: skip[m.ID]})
	}
	if err := h.MarkReverted(ctx, out); err != nil {
		return chat.Chat{}, nil, false, err
	}
	return c, out, more, w.nameTools(ctx, out)
}

// nameTools fills in the tools of calls.
func (w *Folders) nameTools(ctx context.Context, states []store.StateInfo) error {
	err := w.View(ctx, func(tx *kv.Tx) error {
		for i := range states {
			if states[i].Source != cas.ToolRun {
				continue
			}
			c, err := w.Tables.Calls.Get(tx, kv.Str(states[i].SourceRef))
			if errors.Is(err, kv.ErrNotFound) || err != nil && w.LeavesOut(err) { // of another chat, or of a removed one
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
			of, err := w.Tables.Calls.Get(tx, kv.Str(c.AppOf))
			if err != nil && w.LeavesOut(err) {
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
func (w *Folders) FolderState(ctx context.Context, req RestoreRequest) (chat.Chat, *cas.Manifest, error) {
	req.read = new(reading)
	out, err := w.WithFolder(ctx, req, func(chat chat.Chat, ws *toolset.Workspace) (*Restored, error) {
		if req.read.pending != nil {
			m, err := w.lookAt(ctx, chat, ws, req.watch())
			return &Restored{Chat: chat, After: m}, err
		}
		m, err := w.takeIn(ctx, &chat, ws, taking{About: cas.About{Source: cas.External}, watch: req.watch()})
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
func (w *Folders) takeIn(ctx context.Context, chat *chat.Chat, ws *toolset.Workspace, t taking) (*cas.Manifest, error) {
	active, err := w.Manifest(ctx, chat.ActiveManifest)
	if err != nil {
		return nil, err
	}
	t.ChatID = chat.ID
	snap, err := w.TakeState(ctx, ws, cas.SnapshotOptions{
		About: t.About, Parent: active, Limits: w.Options.States, Begin: t.begin, Progress: t.progress,
	})
	if err != nil {
		return nil, store.StateFault("look at "+ws.Path, err)
	}
	if snap.Manifest.ID == chat.ActiveManifest {
		return snap.Manifest, nil
	}
	chat.ActiveManifest = snap.Manifest.ID
	return snap.Manifest, w.SetActive(ctx, chat.ID, snap.Manifest.ID)
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
		if !ok || err != nil || pid <= 0 || strconv.Itoa(pid) != digits || pid != os.Getpid() && store.ProcessAlive(pid) {
			continue
		}
		path := filepath.Join(dir, name)
		if info, err := root.Lstat(path); err == nil && info.Mode().IsRegular() {
			_ = root.Remove(path)
		}
	}
}

// ReadFile writes the content of a file of a state. Where the store turns out to
// be damaged it fails after having written some of it.
func (w *Folders) ReadFile(ctx context.Context, out io.Writer, entry cas.Entry) error {
	if err := w.Snapshots.Read(ctx, out, entry); err != nil {
		return store.StateFault("read "+cas.EscapePath(entry.Name), err)
	}
	return nil
}

// WriteManifest writes a state as document 004's {path: sha256}.
func (w *Folders) WriteManifest(ctx context.Context, out io.Writer, m *cas.Manifest) error {
	if err := w.Snapshots.WriteFiles(ctx, out, m.Root); err != nil {
		return store.StateFault("list the files", err)
	}
	return nil
}

// DescribeState says what made a state of a chat.
func (w *Folders) DescribeState(ctx context.Context, chat chat.Chat, m *cas.Manifest) (store.StateInfo, error) {
	out := []store.StateInfo{{Manifest: m, Active: m.ID == chat.ActiveManifest}}
	err := w.nameTools(ctx, out)
	return out[0], err
}
