package engine

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/engine/workspace"
)

var lastChat = store.ChatRef{Last: true}

// undoModel is what undo and redo have to do, in the simplest way: a list of
// folders, and how many of the steps between them are done.
type undoModel struct {
	before, after []map[string]string // of each step
	done          int
	now           map[string]string
}

func (m *undoModel) step(next map[string]string) {
	m.before, m.after = append(m.before[:m.done], m.now), append(m.after[:m.done], next)
	m.done, m.now = m.done+1, next
}

func (m *undoModel) undo(n int) bool {
	if m.done == 0 {
		return false
	}
	m.done -= min(n, m.done)
	m.now = m.before[m.done]
	return true
}

func (m *undoModel) redo(n int) bool {
	if m.done == len(m.after) {
		return false
	}
	m.done += min(n, len(m.after)-m.done)
	m.now = m.after[m.done-1]
	return true
}

// Whatever is done, undone, redone and brought back, in any order, the folder
// is what a list of steps says.
func TestUndoFollowsAModel(t *testing.T) {
	t.Parallel()
	const walks, ops = 3, 45
	for walk := range walks {
		t.Run(fmt.Sprint(walk), func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(uint64(walk), 4))
			b := changer(t, t.TempDir())
			b.did(store.ChatRef{}, `{"put":{"ground":"0"}}`)
			m := &undoModel{now: map[string]string{}}
			m.step(map[string]string{"ground": "0"})
			var log []string
			for i := range ops {
				log = append(log, undoOp(t, b, m, rnd, i))
				if diff := cmp.Diff(m.now, tree(t, b.WorkspacePath(b.chat(1).Chat))); diff != "" {
					t.Fatalf("after %v (-want +got):\n%s", log, diff)
				}
			}
		})
	}
}

func undoOp(t *testing.T, b *bench, m *undoModel, rnd *rand.Rand, i int) string {
	t.Helper()
	n := 1 + rnd.IntN(3)
	switch op := rnd.IntN(10); {
	case op < 3:
		next := maps.Clone(m.now)
		name := "f" + strconv.Itoa(rnd.IntN(4))
		next[name] = strconv.Itoa(i)
		b.did(lastChat, `{"put":{"`+name+`":"`+strconv.Itoa(i)+`"}}`)
		m.step(next)
		return "put " + name
	case op < 6:
		_, err := b.Undo(t.Context(), workspace.RestoreRequest{Chat: lastChat, Steps: n})
		if could := m.undo(n); could != (err == nil) {
			t.Fatalf("undo %d: %v", n, err)
		}
		return "undo " + strconv.Itoa(n)
	case op < 9:
		_, err := b.Redo(t.Context(), workspace.RestoreRequest{Chat: lastChat, Steps: n})
		if could := m.redo(n); could != (err == nil) {
			t.Fatalf("redo %d: %v", n, err)
		}
		return "redo " + strconv.Itoa(n)
	}
	chat, states, _, err := b.States(t.Context(), lastChat, 0)
	if err != nil {
		t.Fatal(err)
	}
	to := states[rnd.IntN(len(states))]
	next := map[string]string{}
	for f, err := range b.Files(t.Context(), to.Manifest) {
		if err != nil {
			t.Fatal(err)
		}
		next[f.Path] = contentOf(t, b, f.Entry)
	}
	before := b.chat(1).Chat.ActiveManifest
	if _, err := b.RestoreState(t.Context(), to.ID, workspace.RestoreRequest{Chat: store.ChatRef{ID: chat.ID}}); err != nil {
		t.Fatal(err)
	}
	if b.chat(1).Chat.ActiveManifest != before { // else it was that already
		m.step(next)
	}
	return "restore " + to.ID
}

func contentOf(t *testing.T, b *bench, e cas.Entry) string {
	t.Helper()
	var out writerTo
	if err := b.ReadFile(t.Context(), &out, e); err != nil {
		t.Fatal(err)
	}
	return string(out)
}

type writerTo []byte

func (w *writerTo) Write(p []byte) (int, error) { *w = append(*w, p...); return len(p), nil }

// What a step costs to undo doesn't grow with what was done before it, nor with
// what is undone.
func TestUndoReadsNoMoreThanItsSteps(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	b.did(store.ChatRef{}, `{"put":{"a":"0"}}`)
	const calls, most = 60, 12
	for i := range calls {
		b.did(lastChat, `{"put":{"a":"`+strconv.Itoa(i+1)+`"}}`)
	}
	for round := range calls / 2 {
		h, err := b.History(t.Context(), b.chat(1).Chat)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.Undo(t.Context(), 1); err != nil || h.Read > most {
			t.Fatalf("undo %d has read %d states, %v", round, h.Read, err)
		}
		b.undo(1)
	}
	_, states, more, err := b.States(t.Context(), lastChat, 5)
	if err != nil || len(states) != 5 || !more {
		t.Errorf("a list of 5 has %d states, more is %t, %v", len(states), more, err)
	}
}

// An edit that no state has yet, in a folder of the chat's own, is no less
// somebody's work than one in a bound folder.
func TestUndoSeesAnEditOfJustNow(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	first := b.did(store.ChatRef{}, `{"put":{"a":"1","b":"1"}}`).PostManifestID
	b.did(lastChat, `{"put":{"a":"2","b":"2"}}`)
	b.put(1, "a", "by hand")
	for name, do := range map[string]func(workspace.RestoreRequest) error{
		"undo":    func(r workspace.RestoreRequest) error { _, err := b.Undo(t.Context(), r); return err },
		"restore": func(r workspace.RestoreRequest) error { _, err := b.RestoreState(t.Context(), first, r); return err },
	} {
		for range 2 { // refused, and not only the first time
			if err := do(workspace.RestoreRequest{Chat: lastChat}); fault.CodeOf(err) != fault.Failed {
				t.Errorf("%s over an edit of just now: %v", name, err)
			}
		}
		b.sees(1, map[string]string{"a": "by hand", "b": "2"})
	}
	if _, err := b.Undo(t.Context(), workspace.RestoreRequest{Chat: lastChat, Keep: []string{"a"}}); err != nil {
		t.Fatal(err)
	}
	b.sees(1, map[string]string{"a": "by hand", "b": "1"})
}

// What was kept in an undo is as redo wants it already, and in nobody's way.
func TestRedoAfterSomethingWasKept(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	b.did(store.ChatRef{}, `{"put":{"a":"1","b":"1"}}`)
	b.did(lastChat, `{"put":{"a":"2","b":"2"}}`)
	if _, err := b.Undo(t.Context(), workspace.RestoreRequest{Chat: lastChat, Keep: []string{"a"}}); err != nil {
		t.Fatal(err)
	}
	b.sees(1, map[string]string{"a": "2", "b": "1"})
	b.redo(1)
	b.sees(1, map[string]string{"a": "2", "b": "2"})
}

// A step that somebody has taken back by hand is undone without a change, and
// the next undo goes on before it.
func TestUndoOfWhatWasTakenBackByHand(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	b.did(store.ChatRef{}, `{"put":{"a":"1"}}`)
	b.did(lastChat, `{"put":{"b":"1"}}`)
	b.did(lastChat, `{"put":{"a":"2"}}`)
	b.put(1, "a", "1")
	if out := b.undo(1); len(out.Changes) != 0 {
		t.Errorf("it changed %v", out.Changes)
	}
	b.sees(1, map[string]string{"a": "1", "b": "1"})
	b.undo(1)
	b.sees(1, map[string]string{"a": "1"})
	b.redo(2)
	b.sees(1, map[string]string{"a": "2", "b": "1"})
}

// To undo the files that came with a message takes back no edit made before.
func TestAnUploadIsApartFromEdits(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	b.did(store.ChatRef{}, `{"put":{"a":"1"}}`)
	b.put(1, "a", "by hand")
	req := ask(`{}`)
	req.Chat, req.Policy.AllowAll = lastChat, true
	req.Uploads = []Upload{{Name: "new.txt", Data: []byte("new")}}
	b.run(req)
	b.sees(1, map[string]string{"a": "by hand", "new.txt": "new"})
	b.undo(1)
	b.sees(1, map[string]string{"a": "by hand"})
}

// A restore whose end a crash cut off, after the folder had the files, counts:
// redo takes it back, and a turn doesn't take it for somebody else's work.
func TestARestoreThatWasNotNoted(t *testing.T) {
	t.Parallel()
	for name, then := range map[string]func(*bench){
		"redo": func(b *bench) { b.redo(1); b.sees(1, map[string]string{"a": "2"}) },
		"turn": func(b *bench) {
			b.did(lastChat, `{"put":{"b":"3"}}`)
			b.undo(1)
			b.sees(1, map[string]string{"a": "1"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := changer(t, t.TempDir())
			b.did(store.ChatRef{}, `{"put":{"a":"1"}}`)
			b.did(lastChat, `{"put":{"a":"2"}}`)
			b.chat(1)
			ctx, cancel := context.WithCancel(t.Context())
			b.Pause = func(step string) {
				if step == "restore:done" {
					cancel()
				}
			}
			if _, err := b.Undo(ctx, workspace.RestoreRequest{Chat: lastChat}); err == nil {
				t.Fatal("it was not cut off")
			}
			b.Pause = func(string) {}
			b.sees(1, map[string]string{"a": "1"})
			then(b)
			_, states, _, err := b.States(t.Context(), lastChat, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range states {
				if s.Source == cas.External && s.ParentID != "" {
					t.Errorf("somebody else is said to have changed the folder: %+v", s.Manifest)
				}
			}
		})
	}
}

// A turn on another branch that can't be accepted gives the folder back.
func TestATurnThatIsNotAcceptedGivesTheFolderBack(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	b.did(store.ChatRef{}, `{"put":{"a":"1"}}`)
	b.did(lastChat, `{"put":{"a":"2"}}`)
	leaf := b.chat(1).Messages[1].ID
	b.Pause = func(step string) {
		if step == "start:created" {
			if err := os.RemoveAll(filepath.Join(b.o.DataDir, "journal")); err != nil {
				t.Error(err)
			}
		}
	}
	req := ask(`{}`)
	req.Chat = store.ChatRef{Number: 1, Parent: leaf}
	if _, err := b.Start(t.Context(), req); err == nil {
		t.Fatal("the turn was accepted")
	}
	b.Pause = func(string) {}
	b.sees(1, map[string]string{"a": "2"})
	b.undo(1)
	b.sees(1, map[string]string{"a": "1"})
}

// A fork that nothing was done with yet has the files of the chat that it came
// from, also when that chat is gone for good.
func TestAForkOutlivesItsOrigin(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	b.did(store.ChatRef{}, `{"put":{"a":"1"}}`)
	b.did(lastChat, `{"put":{"a":"2"}}`)
	old := b.chat(1).Messages[1].ID
	if _, err := b.ForkChat(t.Context(), store.ChatRef{Number: 1}, 0); err != nil {
		t.Fatal(err)
	}
	origin := b.chat(1).Chat
	if err := b.DeleteChats(t.Context(), origin); err != nil {
		t.Fatal(err)
	}
	if _, err := b.PurgeChats(t.Context(), store.Purge{Chats: []string{origin.ID}}); err != nil {
		t.Fatal(err)
	}
	b.o.Now = later(2 * store.UnknownGrace)
	if _, err := b.CollectStates(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	b.did(store.ChatRef{Number: 2}, `{"put":{"b":"3"}}`)
	b.sees(2, map[string]string{"a": "2", "b": "3"})
	b.did(store.ChatRef{Number: 2, Parent: old}, `{"put":{"c":"4"}}`)
	b.sees(2, map[string]string{"a": "1", "c": "4"})
	wholeStore(t, b)

	fork := b.chat(2).Chat
	if err := b.DeleteChats(t.Context(), fork); err != nil {
		t.Fatal(err)
	}
	if _, err := b.PurgeChats(t.Context(), store.Purge{Chats: []string{fork.ID}}); err != nil {
		t.Fatal(err)
	}
	b.o.Now = later(4 * store.UnknownGrace)
	if got, err := b.CollectStates(t.Context(), false); err != nil || got.Manifests == 0 || got.Kept != 0 {
		t.Errorf("when nobody needs them any more: %+v, %v", got, err)
	}
}

// wholeStore fails if anything in the store is not what was stored.
func wholeStore(t testing.TB, b *bench) {
	t.Helper()
	report, err := b.VerifyStates(context.Background(), nil)
	if err != nil || len(report.Problems) > 0 {
		t.Errorf("verify: %+v, %v", report, err)
	}
}

// What a killed put has left goes with the next one, and is in no state; what
// only looks like it stays, and so does another process's that lives.
func TestWhatAKilledPutLeft(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	b.did(store.ChatRef{}, `{"put":{"d/a":"1"}}`)
	left := map[string]bool{
		".fettle-put-999999999": false, "d/.fettle-put-" + strconv.Itoa(os.Getpid()): false,
		".fettle-put-" + strconv.Itoa(os.Getppid()): true, ".fettle-put-": true, ".fettle-put-01": true, ".fettle-put-mine": true,
	}
	for name := range left {
		b.put(1, name, "x")
	}
	if _, err := b.PutFile(t.Context(), workspace.RestoreRequest{Chat: lastChat}, workspace.Put{Name: "d/b", Content: &bytesReader{[]byte("2")}}); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"d/a": "1", "d/b": "2"}
	for name, stays := range left {
		if stays {
			want[name] = "x"
		}
	}
	b.sees(1, want)
	b.undo(1)
	delete(want, "d/b")
	b.sees(1, want)
}

// bytesReader is a reader of bytes that is nothing else.
type bytesReader struct{ b []byte }

func (r *bytesReader) Read(p []byte) (int, error) {
	n := copy(p, r.b)
	if r.b = r.b[n:]; n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// later is a clock that goes ahead.
func later(by time.Duration) func() time.Time {
	return func() time.Time { return time.Now().Add(by) }
}

// A first state is announced from more than 20,000 files or 2 GB on; a later one
// is not.
func TestWhatIsMuchToKeep(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		cas.Estimate
		much bool
	}{
		{cas.Estimate{First: true, Files: 20_000, Bytes: 2 << 30}, false},
		{cas.Estimate{First: true, Files: 20_001}, true},
		{cas.Estimate{First: true, Bytes: 2<<30 + 1}, true},
		{cas.Estimate{Files: 30_000, Bytes: 3 << 30}, false},
	} {
		if IsMuch(c.Estimate) != c.much {
			t.Errorf("%+v", c)
		}
	}
}
