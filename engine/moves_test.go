package engine

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/engine/workspace"
	"github.com/fettle-cli/fettle/internal/kv"
)

// childMove asks a question in another branch of chat 1, or switches to one, and
// is killed at a step of that.
func childMove(ctx context.Context, dir string, args []string) error {
	what, message, step := args[0], args[1], args[2]
	e := New(changerOptions(crashT{}, dir))
	e.Pause = dieAt(step, 1)
	e.Journals.Hook(e.Pause)
	var err error
	if what == "switch" {
		_, err = e.Switch(ctx, workspace.SwitchRequest{Chat: store.ChatRef{Number: 1}, Message: message})
	} else {
		req := ask(`{"put":{"new.txt":"new"}}`)
		req.Chat, req.Policy.AllowAll = store.ChatRef{Number: 1, Instead: message}, true
		req.Uploads = []Upload{{Name: "brought.txt", Data: []byte("brought")}}
		_, err = e.Start(ctx, req)
	}
	return fmt.Errorf("it never came to %s: %w", step, err)
}

// A process that is killed after it has given the folder another branch's files,
// and before the chat is in that branch, leaves nothing of it: the next one
// brings the files of the chat's branch back, and nothing counts as somebody's
// change but what somebody has changed.
func TestKilledOnTheWayToAnotherBranch(t *testing.T) {
	t.Parallel()
	steps := map[string][]string{
		"ask":    {"move:noted", "move:done", "start:numbered", "start:created"},
		"switch": {"move:noted", "move:done"},
	}
	for what, all := range steps {
		for _, step := range all {
			for _, bound := range []bool{false, true} {
				t.Run(fmt.Sprint(what, " ", step, " bound ", bound), func(t *testing.T) {
					t.Parallel()
					k := &killedMove{bench: changer(t, t.TempDir()), t: t, bound: bound}
					k.prepare()
					k.kill(what, step)
					k.check(what, step)
				})
			}
		}
	}
}

// killedMove is a chat of two branches: the first has a.txt "1" and b.txt, the
// active one a.txt "2" and c.txt.
type killedMove struct {
	*bench
	t      *testing.T
	bound  bool
	folder string
	first  string // a message of the first branch
	before chat.Chat
}

func (k *killedMove) prepare() {
	k.t.Helper()
	req := ask(`{"put":{"a.txt":"1"}}`)
	req.Policy.AllowAll = true
	if k.bound {
		req.Workspace = realPath(k.t, k.t.TempDir())
	}
	k.run(req)
	k.did(store.ChatRef{Number: 1}, `{"put":{"b.txt":"b"}}`)
	old := k.chat(1).Messages
	k.did(store.ChatRef{Number: 1, Instead: old[2].ID}, `{"put":{"a.txt":"2","c.txt":"c"}}`)
	k.first = old[2].ID
	k.before = k.chat(1).Chat
	k.folder = k.WorkspacePath(k.before)
	if !k.bound { // in the user's folder nobody goes to another branch over it
		put(k.t, filepath.Join(k.folder, "mine.txt"), []byte("before"))
	}
	if err := k.KV.LetGo(); err != nil {
		k.t.Fatal(err)
	}
}

// own adds what a person has put into the chat's own folder before.
func (k *killedMove) own(files map[string]string) map[string]string {
	if !k.bound {
		files["mine.txt"] = "before"
	}
	return files
}

func (k *killedMove) kill(what, step string) {
	k.t.Helper()
	p := spawn(k.t, "move", k.dir, what, k.first, step)
	if err := p.cmd.Wait(); err == nil || p.err.Len() > 0 {
		k.t.Fatalf("it ended by itself: %v: %s", err, &p.err)
	}
	put(k.t, filepath.Join(k.folder, "since.txt"), []byte("since"))
}

func (k *killedMove) check(what, step string) {
	t := k.t
	t.Helper()
	// The next command changes something, so it reverts the move; there is nothing to
	// redo.
	if _, err := k.Redo(t.Context(), workspace.RestoreRequest{Chat: store.ChatRef{Number: 1}}); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("redo: %v", err)
	}
	chat, now, err := k.FolderState(t.Context(), workspace.RestoreRequest{Chat: store.ChatRef{Number: 1}})
	if err != nil {
		t.Fatal(err)
	}
	want := k.own(map[string]string{"a.txt": "2", "c.txt": "c", "since.txt": "since"})
	if what == "ask" && step != "move:noted" && step != "move:done" {
		want["brought.txt"] = "brought" // the question isn't kept, its files are the person's
	}
	k.sees(1, want)
	if chat.ActiveLeaf != k.before.ActiveLeaf || chat.Messages != k.before.Messages {
		t.Errorf("the chat has moved: %+v", chat)
	}
	if !now.Complete {
		t.Errorf("the state is %+v", now)
	}
	err = k.KV.View(t.Context(), func(tx *kv.Tx) error {
		_, err := k.Tables.Moves.Get(tx, kv.Str(chat.ID))
		return err
	})
	if !errors.Is(err, kv.ErrNotFound) {
		t.Errorf("the record of the move: %v", err)
	}
	// Undo takes back the branch's own call, and nothing that belongs to another.
	k.undo(1)
	delete(want, "c.txt")
	want["a.txt"] = "1"
	k.sees(1, want)
	k.redo(1)
	if !k.bound {
		k.switchTo(1, k.first)
		k.sees(1, map[string]string{"a.txt": "1", "b.txt": "b"})
	}
	wholeStore(t, k.bench)
}

// What somebody has changed in the meantime is left as it is, also where the
// move had changed it.
func TestAMoveIsTakenBackAroundOthersWork(t *testing.T) {
	t.Parallel()
	for _, bound := range []bool{false, true} {
		t.Run(fmt.Sprint("bound ", bound), func(t *testing.T) {
			t.Parallel()
			k := &killedMove{bench: changer(t, t.TempDir()), t: t, bound: bound}
			k.prepare()
			k.kill("switch", "move:done")
			put(t, filepath.Join(k.folder, "a.txt"), []byte("by hand"))
			// There is nothing to redo, but a command that changes something ends the move.
			if _, err := k.Redo(t.Context(), workspace.RestoreRequest{Chat: store.ChatRef{Number: 1}}); fault.CodeOf(err) != fault.NotFound {
				t.Fatal(err)
			}
			k.sees(1, k.own(map[string]string{"a.txt": "by hand", "c.txt": "c", "since.txt": "since"}))
		})
	}
}

// A turn that was accepted ends the move: nothing is taken back after it, killed
// or not.
func TestAMoveThatArrived(t *testing.T) {
	t.Parallel()
	k := &killedMove{bench: changer(t, t.TempDir()), t: t}
	k.prepare()
	k.did(store.ChatRef{Number: 1, Instead: k.first}, `{"put":{"d.txt":"d"}}`)
	want := map[string]string{"a.txt": "1", "d.txt": "d"}
	k.sees(1, want)
	k.undo(1)
	delete(want, "d.txt")
	k.sees(1, want)
	list, err := k.Snapshots.Manifests(t.Context(), k.before.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range list {
		if m.Source == cas.Interrupted {
			t.Errorf("something counts as left by a crash: %+v", m)
		}
	}
}
