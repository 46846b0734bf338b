package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/backup"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/engine/workspace"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/toolset"
)

// entry is the ledger's record of a chat: the simple model of it.
type entry struct {
	said   []string          // the questions that were answered, in order
	files  map[string]string // its folder; nil where that is unknown
	states int               // how many states it has at least
	doubt  bool              // it may be there or not
	gone   bool              // it was removed for good
}

func (c *entry) clone() *entry {
	other := *c
	other.said, other.files = slices.Clone(c.said), maps.Clone(c.files)
	return &other
}

// ledger records what was acknowledged, by the ids of chats.
type ledger map[string]*entry

func (l ledger) clone() ledger {
	out := ledger{}
	for id, c := range l {
		out[id] = c.clone()
	}
	return out
}

// scene is a data directory on which schedules are played, and its ledger.
type scene struct {
	t       *testing.T
	b       *bench
	rng     *rand.Rand
	history []byte
	prompts int
	spent   bool // it has damage, or was restored: no schedule after this one

	mu       sync.Mutex
	ledger   ledger
	touched  []string // chats of this schedule
	bad      []string // chats with damage
	backups  []*madeBackup
	restored ledger // the restored chats, if a backup was restored

	first, then, last []func() // see begin
}

// madeBackup is a backup of a schedule, and what had been acknowledged when it began
// and when it was ready.
type madeBackup struct {
	raw           bytes.Buffer
	before, after ledger
}

// fastDir returns a folder in memory where there is one: a schedule syncs some fifty
// times.
func fastDir(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "fettle-schedules-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func newScene(t *testing.T, history []byte) *scene {
	w := &scene{t: t, history: history, ledger: ledger{}}
	w.b = onceChanger(t)
	w.b.did(store.ChatRef{}, `{"put":{"ground.txt":"0"}}`) // so that there is a store
	w.fold()
	return w
}

func (w *scene) close() {
	if len(w.bad) == 0 {
		wholeStore(w.t, w.b)
	}
	w.b.end()
}

// onceChanger is changer in a folder of memory, which lasts until end is called.
func onceChanger(t *testing.T) *bench {
	b := &bench{t: t, dir: fastDir(t)}
	b.Engine = New(changerOptions(t, b.dir))
	b.o.Notice = b.notice
	share(b.Engine, kv.Open(b.StoreDir(), kv.Options{}))
	return b
}

// share lets an Engine use a session of the store that others use, too.
func share(e *Engine, store *kv.Store) {
	_ = e.KV.Close() // it was never opened
	e.KV = store
	e.Snapshots = cas.Open(cas.Options{Dir: e.o.DataDir, KV: store, Now: e.o.Now})
}

// end closes the Engine and removes its folder.
func (b *bench) end() {
	if err := b.Close(); err != nil {
		b.t.Errorf("close: %v", err)
	}
	if err := os.RemoveAll(b.dir); err != nil {
		b.t.Error(err)
	}
}

func (w *scene) fold() {
	if _, err := w.b.Fold(context.Background(), store.FoldAll); err != nil {
		w.t.Fatal(err)
	}
}

// engine makes the Engine of an actor. Sharing the store's session spares the
// reopenings, which take longer than all the rest of a schedule.
func (w *scene) engine(a *actor, apart bool) *Engine {
	stop := tool("stop", func(context.Context, toolset.Call) (toolset.Result, error) {
		a.pause("turn:call")
		return toolset.Result{Text: "done"}, nil
	})
	write := writer()
	run := write.Runner
	write.Runner = toolset.RunnerFunc(func(ctx context.Context, c toolset.Call) (toolset.Result, error) {
		a.pause("turn:call")
		return run.Run(ctx, c)
	})
	write.Tool.ID, write.Tool.Name = "slow", "slow"
	o := changerOptions(w.t, w.b.dir, stop, write)
	o.Notice = w.b.notice
	e := New(o)
	if !apart {
		share(e, w.b.KV)
	}
	e.Pause = a.pause
	return e
}

func (w *scene) dismiss(a *actor, apart bool) {
	if apart {
		if err := a.e.Close(); err != nil {
			w.t.Errorf("close the store of %s: %v", a.name, err)
		}
		return
	}
	a.e.stop(store.ErrClosed)
	a.e.wg.Wait()
}

// begin ends the preparation of a schedule: first the data that a restore brings, then
// the changes since, then the journals that wait, which any of these would fold.
func (w *scene) begin() {
	w.restored, w.backups = nil, nil
	for _, do := range slices.Concat(w.first, w.then, w.last) {
		do()
	}
	w.first, w.then, w.last = nil, nil, nil
}

// question makes a prompt that no other turn has.
func (w *scene) question(toolName string) (prompt, name, content string) {
	w.prompts++
	name, content = fmt.Sprintf("f%d.txt", w.prompts%5), fmt.Sprintf("text %d", w.prompts)
	return fmt.Sprintf(`%s{"put":{%q:%q}}`, toolName, name, content), name, content
}

// chatOf runs a turn of a chat, alone, and enters it.
func (w *scene) chatOf(id string) string {
	prompt, name, content := w.question("")
	req := ask(prompt)
	req.Chat, req.Policy.AllowAll = store.ChatRef{ID: id}, true
	turn := w.b.start(req)
	id = w.b.turn(turn).accept.Chat.ID
	w.b.follow(turn)
	w.enter(id, prompt, name, content)
	return id
}

// enter notes a turn that was acknowledged.
func (w *scene) enter(id, prompt, name, content string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.ledger[id]
	if c == nil {
		c = &entry{files: map[string]string{}}
		w.ledger[id] = c
	}
	c.said = append(c.said, prompt)
	if c.files != nil {
		c.files[name] = content
	}
	c.states = max(c.states+1, 2) // the folder before the first call, and after each
	w.touch(id)
}

func (w *scene) touch(id string) {
	if !slices.Contains(w.touched, id) {
		w.touched = append(w.touched, id)
	}
}

func (w *scene) locked(f func()) func() {
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		f()
	}
}

func (w *scene) snapshot() ledger {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ledger.clone()
}

// operations are the kinds of operations that schedules are made of.
func operations() []operation {
	return []operation{
		{name: "turn", prepare: func(w *scene) deed { return w.turn("") }},
		{name: "continue", prepare: func(w *scene) deed { return w.turn(w.folded()) }},
		{name: "fold", mortal: true, prepare: (*scene).foldDeed},
		{name: "gc", mortal: true, prepare: (*scene).collectDeed},
		{name: "import", mortal: true, prepare: (*scene).importDeed},
		{name: "purge", mortal: true, prepare: (*scene).purgeDeed},
		{name: "fork", mortal: true, prepare: (*scene).forkDeed},
		{name: "backup", prepare: (*scene).backupDeed},
		{name: "restore", prepare: (*scene).restoreDeed},
	}
}

func nothing() { /* an operation whose end changes nothing that the ledger has */ }

// folded is a chat that is in the store.
func (w *scene) folded() string {
	id := w.chatOf("")
	w.fold()
	return id
}

// turn asks in a chat, or in a new one where id is empty.
func (w *scene) turn(id string) deed {
	prompt, name, content := w.question("slow ")
	isNew := id == ""
	return deed{
		do: func(ctx context.Context, a *actor) error {
			req := ask(prompt)
			req.Chat, req.Policy.AllowAll = store.ChatRef{ID: id}, true
			turn, err := a.e.Start(ctx, req)
			if err != nil {
				return err
			}
			id = a.e.turn(turn).accept.Chat.ID
			for ev, err := range a.e.Follow(ctx, turn, 0) {
				switch body := ev.Body.(type) {
				case event.Error:
					return errors.New(body.Message)
				case event.ToolComplete:
					if body.Status != event.CallSuccess {
						return errors.New(body.Error)
					}
				}
				if err != nil {
					return err
				}
			}
			return nil
		},
		done: func() { w.enter(id, prompt, name, content) },
		lost: w.locked(func() {
			if c := w.ledger[id]; c != nil {
				c.files = nil // the call may have run
			}
			if isNew && id != "" {
				w.ledger[id] = &entry{doubt: true}
			}
		}),
	}
}

// foldDeed folds, with journals of two chats that wait.
func (w *scene) foldDeed() deed {
	w.last = append(w.last, func() { w.chatOf(""); w.chatOf("") })
	return deed{
		do: func(ctx context.Context, a *actor) error {
			_, err := a.e.Fold(ctx, store.FoldAll)
			return err
		},
		done: nothing, lost: nothing,
	}
}

// collectDeed collects, hours later: no state is kept for being young alone.
func (w *scene) collectDeed() deed {
	return deed{
		do: func(ctx context.Context, a *actor) error {
			a.e.o.Now = later(4 * store.UnknownGrace)
			_, err := a.e.CollectStates(ctx, false)
			return err
		},
		done: nothing, lost: nothing,
	}
}

func (w *scene) importDeed() deed {
	var in *workspace.ImportedStates
	return deed{
		do: func(ctx context.Context, a *actor) (err error) {
			in, err = a.e.ImportStates(ctx, workspace.RestoreRequest{}, workspace.History{Name: "f", Content: bytes.NewReader(w.history), New: true})
			return err
		},
		done: w.locked(func() {
			w.ledger[in.Chat.ID] = &entry{states: len(in.States) + 1}
			w.touch(in.Chat.ID)
		}),
		lost: nothing,
	}
}

// purgeDeed removes a deleted chat for good, of which a fork has some states.
func (w *scene) purgeDeed() deed {
	id := w.folded()
	w.fork(id)
	w.then = append(w.then, func() { w.delete(id) })
	var out store.Purged
	return deed{
		do: func(ctx context.Context, a *actor) (err error) {
			out, err = a.e.PurgeChats(ctx, store.Purge{Chats: []string{id}})
			return err
		},
		done: w.locked(func() {
			if out.Chats == 1 {
				w.ledger[id].gone = true
			}
		}),
		lost: nothing,
	}
}

// delete deletes a chat.
func (w *scene) delete(id string) {
	chat, err := w.b.FindChat(context.Background(), store.ChatRef{ID: id})
	if err == nil {
		err = w.b.DeleteChats(context.Background(), chat)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.ledger[id].doubt, w.ledger[id].files = true, nil
}

// fork forks a chat, alone.
func (w *scene) fork(id string) {
	fork, err := w.b.ForkChat(context.Background(), store.ChatRef{ID: id}, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	w.ledger[fork.ID] = &entry{said: slices.Clone(w.ledger[id].said)}
	w.touch(fork.ID)
}

func (w *scene) forkDeed() deed {
	id := w.folded()
	var fork chat.Chat
	return deed{
		do: func(ctx context.Context, a *actor) (err error) {
			fork, err = a.e.ForkChat(ctx, store.ChatRef{ID: id}, 0)
			return err
		},
		done: w.locked(func() {
			w.ledger[fork.ID] = &entry{said: slices.Clone(w.ledger[id].said)}
			w.touch(fork.ID)
		}),
		lost: nothing,
	}
}

func (w *scene) backupDeed() deed {
	w.last = append(w.last, func() { w.chatOf("") })
	made := new(madeBackup)
	return deed{
		do: func(ctx context.Context, a *actor) error {
			made.before = w.snapshot()
			stops := 0
			var mu sync.Mutex
			_, err := backup.Make(ctx, a.e.Store, &made.raw, backup.Options{
				Stage: func(doing string, _ int64) { a.pause("backup:" + doing) },
				Moved: func(int, int64) {
					mu.Lock()
					defer mu.Unlock()
					if stops < 6 { // while it reads the copy of the store, too
						stops++
						a.pause("backup:moved")
					}
				},
			})
			return err
		},
		done: func() {
			made.after = w.snapshot()
			w.backups = append(w.backups, made)
		},
		lost: nothing,
	}
}

// restoreDeed puts back a backup of all that there is now.
func (w *scene) restoreDeed() deed {
	w.spent = true
	var raw []byte
	var was ledger
	w.first = append(w.first, func() {
		w.fold()
		raw, was = w.b.backup(backup.Options{}), w.snapshot()
	})
	return deed{
		do: func(ctx context.Context, a *actor) error {
			_, err := backup.Restore(ctx, a.e.Store, bytes.NewReader(raw), backup.Options{Replace: true})
			return err
		},
		done: func() { w.restored = was },
		lost: nothing,
	}
}

// spoil damages one chat, of which a turn waits that can't be folded: the record of its
// leaf is missing.
func (w *scene) spoil() {
	ctx := context.Background()
	w.spent = true
	id := w.chatOf(w.chatOf(""))
	w.fold()
	conv, err := w.b.Chat(ctx, store.ChatRef{ID: id})
	if err != nil {
		w.t.Fatal(err)
	}
	req := ask("refuse")
	req.Chat = store.ChatRef{ID: id, Parent: conv.Messages[1].ID}
	w.b.run(req)
	err = w.b.KV.UpdateSync(ctx, func(tx *kv.Tx) error {
		return w.b.Tables.Messages.Delete(tx, store.MessageKey(id, conv.Chat.ActiveLeaf))
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.bad = append(w.bad, id)
}

// sessions opens and closes the store some times, as short commands do, so that its
// small tables are merged.
func (w *scene) sessions() {
	table := kv.NewTable("interleaved", func(r *session) kv.Key { return kv.Str(r.ID) })
	for range 3 {
		s := kv.Open(filepath.Join(w.b.o.DataDir, "store"), kv.Options{})
		err := s.Update(context.Background(), func(tx *kv.Tx) error { return table.Put(tx, &session{ID: "x"}) })
		if err = errors.Join(err, s.Close()); err != nil {
			w.t.Error(err)
		}
	}
}

type session struct {
	ID string `json:"id"`
}

// check compares the data directory with the ledger.
func (w *scene) check(s *schedule) error {
	want := w.ledger
	for _, a := range s.actors {
		if a.err != nil && !w.excused(a) {
			return fmt.Errorf("%s: %w", a.name, a.err)
		}
	}
	if w.restored != nil {
		// What ended before the backup was restored is lost with the restore; what
		// ended after exists.
		for id, c := range want {
			if was := w.restored[id]; was != nil {
				c.said, c.files, c.gone, c.doubt = was.said, nil, false, was.doubt
				continue
			}
			c.doubt = true
		}
		w.touched = slices.Sorted(maps.Keys(want))
	}
	_, foldErr := w.b.Fold(context.Background(), store.FoldAll)
	for _, id := range w.touched {
		if err := w.compare(w.b, id, want[id]); err != nil {
			return err
		}
	}
	if foldErr != nil && len(w.bad) == 0 {
		return foldErr
	}
	for _, made := range w.backups {
		if err := w.checkBackup(made); err != nil {
			return err
		}
	}
	return nil
}

// excused reports whether an operation may have failed with its error: another one was
// using what it needs, or what it began with has been removed.
func (w *scene) excused(a *actor) bool {
	switch fault.CodeOf(a.err) {
	case fault.Busy:
		return true
	case fault.NotFound:
		return w.restored != nil
	}
	return false
}

// compare checks one chat of a data directory.
func (w *scene) compare(b *bench, id string, want *entry) error {
	if slices.Contains(w.bad, id) {
		return nil
	}
	ctx := context.Background()
	conv, err := b.Chat(ctx, store.ChatRef{ID: id})
	switch {
	case fault.CodeOf(err) == fault.NotFound && (want.doubt || want.gone):
		return nil
	case err != nil:
		return fmt.Errorf("chat %s, which was acknowledged: %w", id, err)
	case want.gone:
		return fmt.Errorf("chat %s is there, and was removed for good", id)
	case want.doubt:
		return nil
	}
	var said []string
	for _, m := range conv.Messages {
		if m.Role == "user" {
			said = append(said, m.Text())
		}
	}
	if n := len(want.said); len(said) < n || !slices.Equal(said[:n], want.said) || w.restored == nil && len(said) > n+1 {
		return fmt.Errorf("chat %s has the questions\n%s\nand acknowledged were\n%s", id, strings.Join(said, "\n"), strings.Join(want.said, "\n"))
	}
	states, err := b.wholeStates(ctx, conv.Chat)
	if err != nil {
		return fmt.Errorf("chat %s: %w", id, err)
	}
	if states < want.states && w.restored == nil {
		return fmt.Errorf("chat %s has %d states, and %d were acknowledged", id, states, want.states)
	}
	if want.files == nil || w.restored != nil {
		return nil
	}
	if have := tree(b.t, b.WorkspacePath(conv.Chat)); !maps.Equal(have, want.files) {
		return fmt.Errorf("the folder of chat %s has %v, and not %v", id, have, want.files)
	}
	return nil
}

// wholeStates reads every file of every state that a chat names, and returns how many
// states there are.
func (b *bench) wholeStates(ctx context.Context, chat chat.Chat) (int, error) {
	list, err := b.Snapshots.Manifests(ctx, chat.ID)
	if err != nil {
		return 0, err
	}
	all := slices.Clone(list)
	if chat.ActiveManifest != "" && !slices.ContainsFunc(all, func(m *cas.Manifest) bool { return m.ID == chat.ActiveManifest }) {
		m, err := b.Snapshots.Manifest(ctx, chat.ActiveManifest) // of the chat that it was forked from
		if err != nil {
			return 0, fmt.Errorf("its state: %w", err)
		}
		all = append(all, m)
	}
	for _, m := range all {
		for f, err := range b.Files(ctx, m) {
			if err != nil {
				return 0, fmt.Errorf("state %s: %w", m.ID, err)
			}
			if f.Kind.String() != "file" {
				continue
			}
			if err := b.ReadFile(ctx, io.Discard, f.Entry); err != nil {
				return 0, fmt.Errorf("state %s: %w", m.ID, err)
			}
		}
	}
	return len(list), nil
}

// checkBackup restores a backup to another folder: all that had been acknowledged when
// it began is in it, and nothing that was acknowledged later in part.
func (w *scene) checkBackup(made *madeBackup) error {
	if w.restored != nil {
		return nil // which of the two the backup has isn't known
	}
	c := onceChanger(w.t)
	defer c.end()
	if err := c.putBack(made.raw.Bytes(), backup.Options{Damaged: len(w.bad) > 0}); err != nil {
		return fmt.Errorf("a backup that was made without an error can't be put back: %w", err)
	}
	for id, want := range made.before {
		if after := made.after[id]; after == nil || after.gone || want.doubt {
			continue
		}
		if !slices.Contains(w.touched, id) {
			continue
		}
		want.files = nil
		if err := w.compare(c, id, want); err != nil {
			return fmt.Errorf("in the backup: %w", err)
		}
	}
	return nil
}
