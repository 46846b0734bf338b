package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/engine/workspace"
)

// dieAfter kills the process at a step, whichever it is, after so many others.
func dieAfter(left int) func(string) {
	var mu sync.Mutex
	return func(string) {
		mu.Lock()
		defer mu.Unlock()
		if left--; left == 0 {
			p, _ := os.FindProcess(os.Getpid())
			_ = p.Kill()
			select {} // until it is dead
		}
	}
}

// childCut changes the files of chat 1, and is killed after so many steps of that.
func childCut(ctx context.Context, dir string, args []string) error {
	what, ref := args[0], args[1]
	n, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	e := New(changerOptions(crashT{}, dir))
	at := dieAfter(n)
	e.Pause = at
	e.Snapshots.Hook(at)
	req := workspace.RestoreRequest{Chat: store.ChatRef{Number: 1}}
	switch what {
	case "undo":
		_, err = e.Undo(ctx, req)
	case "redo":
		_, err = e.Redo(ctx, req)
	case "restore":
		_, err = e.RestoreState(ctx, ref, req)
	case "switch":
		_, err = e.Switch(ctx, workspace.SwitchRequest{Chat: req.Chat, Message: ref})
	}
	if err != nil {
		return err
	}
	fmt.Println("done")
	return e.Close()
}

// cutScene is a chat in a folder of the user's in which an operation is cut short.
type cutScene struct {
	*bench
	t            *testing.T
	folder, ref  string // ref is the state or the message that the operation names
	before, then map[string]string
}

func newCutScene(t *testing.T, what string) *cutScene {
	t.Helper()
	c := &cutScene{bench: changer(t, t.TempDir()), t: t, folder: realPath(t, t.TempDir())}
	put(t, filepath.Join(c.folder, "mine"), []byte("mine"))
	req := ask(`{"put":{"a":"one","d/x":"x","d/y":"y"}}`)
	req.Policy.AllowAll, req.Workspace = true, c.folder
	c.run(req)
	first := c.chat(1)
	if what == "switch" {
		c.did(store.ChatRef{Number: 1, Instead: first.Messages[0].ID}, `{"put":{"a":"two","new":"n"}}`)
	} else {
		c.did(store.ChatRef{Number: 1}, `{"put":{"a":"two","new":"n"},"rm":["d/x"]}`)
	}
	c.ref = first.Messages[1].ID
	if what == "restore" {
		c.ref = first.Chat.ActiveManifest
	}
	later := tree(t, c.folder)
	c.before = later
	c.then = map[string]string{"mine": "mine", "a": "one", "d/x": "x", "d/y": "y"}
	if what == "redo" {
		c.undo(1)
		c.before, c.then = tree(t, c.folder), later
	}
	if err := c.KV.LetGo(); err != nil {
		t.Fatal(err)
	}
	return c
}

// reads runs all that only reads, and fails if the folder is another one then.
func (c *cutScene) reads() {
	c.t.Helper()
	ctx, ref := c.t.Context(), store.ChatRef{Number: 1}
	was := tree(c.t, c.folder)
	plan := workspace.RestoreRequest{Chat: ref, Plan: true}
	chat, err := c.FindChat(ctx, ref)
	if err != nil {
		c.t.Fatal(err)
	}
	_, _, _, statesErr := c.States(ctx, ref, 0)
	_, _, _, treeErr := c.StateTree(ctx, ref, 0)
	_, stateErr := c.State(ctx, chat, "@")
	_, undoErr := c.Undo(ctx, plan)
	_, redoErr := c.Redo(ctx, plan)
	_, restoreErr := c.RestoreState(ctx, "@-1", plan)
	_, now, folderErr := c.FolderState(ctx, workspace.RestoreRequest{Chat: ref})
	_, _, branchErr := c.Branches(ctx, ref)
	_, healthErr := c.Pending(ctx, chat)
	for _, err := range []error{statesErr, treeErr, stateErr, undoErr, redoErr, restoreErr, folderErr, branchErr, healthErr} {
		if err != nil && fault.CodeOf(err) != fault.NotFound { // nothing to undo or redo
			c.t.Errorf("a command that reads: %v", err)
		}
	}
	if diff := cmp.Diff(was, tree(c.t, c.folder)); diff != "" {
		c.t.Errorf("a command that reads has changed the folder (-was +is):\n%s", diff)
	}
	if now == nil {
		return
	}
	for f, err := range c.Files(ctx, now) { // the folder as it is, without files of the operation
		if err != nil {
			c.t.Fatal(err)
		}
		if _, there := was[f.Path]; !there && f.Size > 0 || strings.HasPrefix(f.Path, ".fettle-") {
			c.t.Errorf("the state of the folder has %s, which is not there", f.Path)
		}
	}
}

// changes are operations that change something, and revert an operation that was cut
// short.
var changes = []func(*cutScene) error{
	func(c *cutScene) error { // a question, for which no tool is called
		req := ask(`{}`)
		req.Chat = store.ChatRef{Number: 1}
		last[event.Complete](c.t, c.run(req))
		return nil
	},
	func(c *cutScene) error {
		_, err := c.Undo(c.t.Context(), workspace.RestoreRequest{Chat: store.ChatRef{Number: 1}, Paths: []string{"nowhere"}})
		return err
	},
	func(c *cutScene) error {
		_, err := c.Redo(c.t.Context(), workspace.RestoreRequest{Chat: store.ChatRef{Number: 1}, Paths: []string{"nowhere"}})
		return err
	},
	func(c *cutScene) error {
		_, err := c.RestoreState(c.t.Context(), "@", workspace.RestoreRequest{Chat: store.ChatRef{Number: 1}, Keep: []string{"since"}})
		return err
	},
	func(c *cutScene) error {
		_, err := c.PutFile(c.t.Context(), workspace.RestoreRequest{Chat: store.ChatRef{Number: 1}}, workspace.Put{Name: "extra", Content: strings.NewReader("")})
		return errors.Join(err, os.Remove(filepath.Join(c.folder, "extra")))
	},
}

// An operation on files that is killed at any of its steps is reverted or finished by
// the next command that changes something, which reports that. A command that only
// reads leaves every byte of the folder as it is, and what the user has changed since
// is kept.
func TestAnOperationOnFilesThatWasKilled(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"undo", "redo", "restore", "switch"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			every, pending := sized(t, "FETTLE_TEST_CUT_STEPS", 3), 0
			for n := 1; ; n += every {
				c := newCutScene(t, what)
				p := spawn(t, "cut", c.dir, what, c.ref, strconv.Itoa(n))
				if err := p.cmd.Wait(); err == nil {
					break
				} else if p.err.Len() > 0 {
					t.Fatalf("killed at %d, it ended by itself: %v: %s", n, err, &p.err)
				}
				if c.settlesAfterAKill(what, n) {
					pending++
				}
				if t.Failed() {
					t.Fatalf("%s, killed at step %d", what, n)
				}
			}
			if pending == 0 {
				t.Error("it was never cut short half-way")
			}
		})
	}
}

// settlesAfterAKill checks what follows a kill, and reports whether anything was pending.
func (c *cutScene) settlesAfterAKill(what string, n int) bool {
	t := c.t
	t.Helper()
	put(t, filepath.Join(c.folder, "since"), []byte("by the user"))
	c.reads()
	chat, err := c.FindChat(t.Context(), store.ChatRef{Number: 1})
	if err != nil {
		t.Fatal(err)
	}
	pending, err := c.Pending(t.Context(), chat)
	if err != nil {
		t.Fatal(err)
	}
	if said := strings.Contains(c.notices(), "is pending"); said != (pending != nil) {
		t.Errorf("pending: %v, and the notices are %q", pending, c.notices())
	}
	if err := changes[n%len(changes)](c); err != nil && fault.CodeOf(err) != fault.NotFound {
		t.Errorf("a command that changes something: %v", err)
	}
	now := tree(t, c.folder)
	if now["since"] != "by the user" {
		t.Error("the user's file is gone")
	}
	delete(now, "since")
	undone, done := cmp.Diff(c.before, now), cmp.Diff(c.then, now)
	if undone != "" && done != "" {
		t.Errorf("the folder is neither as before (-want +got):\n%s\nnor as wanted:\n%s", undone, done)
	}
	if pending != nil && !strings.Contains(c.notices(), "chat 1: "+store.Article(pending.Doing)+" "+pending.Doing+" in "+c.folder+" was cut short") {
		t.Errorf("nothing was said of what was taken back: %q", c.notices())
	}
	if chat, err = c.FindChat(t.Context(), store.ChatRef{Number: 1}); err != nil {
		t.Fatal(err)
	}
	if left, err := c.Pending(t.Context(), chat); left != nil || err != nil {
		t.Errorf("still pending: %v, %v", left, err)
	}
	return pending != nil
}
