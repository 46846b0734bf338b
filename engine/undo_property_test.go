package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/engine/workspace"
)

// walker goes a random way through calls, edits by hand, undo, redo, restores, branches and
// crashes, and knows which files the user left how.
type walker struct {
	*bench
	rnd *rand.Rand
	dir string
	// turn asks for a call that writes and removes files. during runs one in the last chat,
	// and a function while the call runs; nil is for calls to which that would be attributed.
	turn   func(folderChange) TurnRequest
	during func(folderChange, func()) event.ToolComplete
	// hers has the files that the user wrote last, or removed ("").
	hers  map[string]string
	ids   []string // of the calls
	log   []string
	n     int  // makes each content another one
	bound bool // the folder is the user's
}

// folderChange is what a call does to the folder.
type folderChange struct {
	name, content string
	rm            string // "" removes nothing
}

// TestNothingOfTheUsersIsChangedUnasked holds whatever is done in whatever order: without
// Overwrite no file changes that the user wrote last, an operation that fails changes
// nothing, and what an operation with Overwrite replaces is restored by its inverse.
func TestNothingOfTheUsersIsChangedUnasked(t *testing.T) {
	t.Parallel()
	seeds, steps := 5, 14
	if os.Getenv("FETTLE_TEST_LONG") != "" {
		seeds, steps = 200, 40
	}
	for _, place := range []string{"its own", "the user's"} {
		for seed := range seeds {
			t.Run(fmt.Sprintf("%s/%d", place, seed), func(t *testing.T) {
				t.Parallel()
				w := walkerIn(t, place, seed)
				w.walk(steps)
			})
		}
	}
}

// walkerIn is a walker whose calls run in the folder itself, with a snapshot before and
// after.
func walkerIn(t *testing.T, place string, seed int) *walker {
	w := &walker{
		bench: changer(t, t.TempDir()), rnd: rand.New(rand.NewPCG(uint64(seed), 24)), hers: map[string]string{}, bound: place != "its own",
	}
	if w.bound {
		dir := t.TempDir()
		save(t, dir, "d/c", "the user's from the start")
		w.boundTo(dir, `{"put":{"a":"ground"}}`)
		w.hers["d/c"] = "the user's from the start"
	} else {
		w.did(store.ChatRef{}, `{"put":{"a":"ground"}}`)
	}
	w.dir = w.WorkspacePath(w.chat(1).Chat)
	w.turn = func(c folderChange) TurnRequest {
		req := ask(fmt.Sprintf(`{"put":{%q:%q}}`, c.name, c.content))
		if c.rm != "" {
			req = ask(fmt.Sprintf(`{"put":{%q:%q},"rm":[%q]}`, c.name, c.content, c.rm))
		}
		req.Chat, req.Policy.AllowAll = lastChat, true
		return req
	}
	return w
}

func (w *walker) walk(steps int) {
	w.t.Helper()
	defer func() {
		if w.t.Failed() {
			w.t.Logf("after:\n%s", strings.Join(w.log, "\n"))
		}
	}()
	ops := []func(){w.calls, w.calls, w.edit, w.edit, w.undoes, w.undoes, w.redoes, w.undoesCall, w.restores, w.branches, w.crashes, w.reopens}
	for range steps {
		w.n++
		ops[w.rnd.IntN(len(ops))]()
		w.kept()
		if w.t.Failed() {
			return
		}
	}
}

func (w *walker) note(format string, args ...any) {
	w.log = append(w.log, fmt.Sprintf(format, args...))
}

func (w *walker) name() string {
	return []string{"a", "b", "d/c", "d/e", "f"}[w.rnd.IntN(5)]
}

// kept checks that the user's files are as they were left.
func (w *walker) kept() {
	w.t.Helper()
	now := tree(w.t, w.dir)
	for name, want := range w.hers {
		if now[name] != want {
			w.t.Errorf("%s was %q, as the user left it, and is %q", name, want, now[name])
		}
	}
}

func (w *walker) calls() {
	c := folderChange{name: w.name(), content: fmt.Sprintf("call %d", w.n)}
	if rm := w.name(); w.rnd.IntN(3) == 0 && rm != c.name {
		c.rm = rm
	}
	before, meanwhile := maps.Clone(w.hers), w.during != nil && w.rnd.IntN(3) == 0
	w.note("a call writes %s, removes %q, an edit meanwhile %t", c.name, c.rm, meanwhile)
	var end event.ToolComplete
	if meanwhile {
		end = w.during(c, w.edit)
	} else {
		end = find[event.ToolComplete](w.run(w.turn(c)))
	}
	if end.Status != event.CallSuccess {
		w.t.Fatalf("the call: %s", end.Error)
	}
	w.ids = append(w.ids, end.CallID)
	for _, name := range []string{c.name, c.rm} {
		if w.hers[name] == before[name] { // the user has not changed it meanwhile
			delete(w.hers, name)
		}
	}
}

func (w *walker) edit() {
	w.n++
	name := w.name()
	at := filepath.Join(w.dir, name)
	if w.rnd.IntN(4) == 0 {
		if err := os.Remove(at); err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				w.t.Fatal(err)
			}
			return
		}
		w.note("the user removes %s", name)
		w.hers[name] = ""
		return
	}
	w.note("the user writes %s, %d", name, w.n)
	w.hers[name] = fmt.Sprintf("user %d", w.n)
	if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(w.hers[name]), 0o644)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *walker) undoes() { w.takes("undo", w.Undo, w.request()) }
func (w *walker) redoes() { w.takes("redo", w.Redo, w.request()) }

func (w *walker) undoesCall() {
	if len(w.ids) == 0 {
		return
	}
	req := w.request()
	req.Steps, req.Call = 0, w.ids[w.rnd.IntN(len(w.ids))]
	w.takes("undo of call "+req.Call[len(req.Call)-8:], w.Undo, req)
}

func (w *walker) restores() {
	req := w.request()
	req.Steps = 0
	to := fmt.Sprintf("@-%d", w.rnd.IntN(5))
	w.takes("restore of "+to, func(ctx context.Context, req workspace.RestoreRequest) (*workspace.Restored, error) {
		return w.RestoreState(ctx, to, req)
	}, req)
}

func (w *walker) request() workspace.RestoreRequest {
	req := workspace.RestoreRequest{Chat: lastChat, Steps: 1 + w.rnd.IntN(3), Overwrite: w.rnd.IntN(3) == 0}
	if w.rnd.IntN(4) == 0 {
		req.Keep = []string{"a"}
	}
	return req
}

// takes runs an operation that restores files. With Overwrite it runs the inverse, too, and
// sometimes the operation once more.
func (w *walker) takes(what string, do func(context.Context, workspace.RestoreRequest) (*workspace.Restored, error), req workspace.RestoreRequest) {
	w.t.Helper()
	was := tree(w.t, w.dir)
	done, err := do(w.t.Context(), req)
	w.note("%s %d, overwrite %t, keep %v: %v", what, req.Steps, req.Overwrite, req.Keep, err)
	if err != nil {
		w.failed(err, was)
		return
	}
	now := tree(w.t, w.dir)
	if req.Keep != nil && now["a"] != was["a"] {
		w.t.Errorf("a was to be kept: %q, and is %q", was["a"], now["a"])
	}
	if done.After.ID == done.Before.ID {
		if diff := cmp.Diff(was, now); diff != "" {
			w.t.Errorf("nothing had to be changed, and was (-want +got):\n%s", diff)
		}
		return
	}
	if done.After.Steps != 0 {
		w.agreed()
	}
	if req.Overwrite {
		if done.After.Steps == 0 { // redo may repeat it, without being told once more
			maps.DeleteFunc(w.hers, func(name, _ string) bool { return was[name] != now[name] })
		}
		w.inverts(done, was)
	}
}

// agreed forgets what the user removed: undo and redo may have found it removed as they
// would have it, and the inverse of these restores it.
func (w *walker) agreed() {
	maps.DeleteFunc(w.hers, func(_, content string) bool { return content == "" })
}

// inverts runs the inverse of an operation, which gives the folder back as it was.
func (w *walker) inverts(done *workspace.Restored, was map[string]string) {
	w.t.Helper()
	after := tree(w.t, w.dir)
	inverse, back := w.Undo, workspace.RestoreRequest{Chat: lastChat, Steps: 1, Overwrite: true}
	if done.Inverse == "redo" {
		inverse = w.Redo
	}
	if n := done.After.Steps; n != 0 {
		back.Steps = max(n, -n)
	}
	_, err := inverse(w.t.Context(), back)
	w.note("its inverse, %s %d: %v", done.Inverse, back.Steps, err)
	if err != nil {
		w.t.Errorf("the inverse: %v", err)
		return
	}
	now := tree(w.t, w.dir)
	for name := range everyName(was, after, now) {
		// What the operation found as it would have it may be as its steps made it.
		agreed := was[name] == after[name] && !strings.HasPrefix(was[name], "user")
		if now[name] != was[name] && !agreed {
			w.t.Errorf("after the inverse %s is %q, and was %q", name, now[name], was[name])
		}
	}
}

// everyName has the names of files in several folders.
func everyName(of ...map[string]string) map[string]bool {
	out := map[string]bool{}
	for _, files := range of {
		for name := range files {
			out[name] = true
		}
	}
	return out
}

// failed checks an operation that failed: it has a reason, and changed nothing.
func (w *walker) failed(err error, was map[string]string) {
	w.t.Helper()
	if code := fault.CodeOf(err); code != fault.NotFound && code != fault.Failed {
		w.t.Errorf("%v", err)
	}
	if diff := cmp.Diff(was, tree(w.t, w.dir)); diff != "" {
		w.t.Errorf("it failed, and changed the folder (-want +got):\n%s", diff)
	}
}

// branches goes to the end of another branch, or begins one with a call. A folder of the
// chat's own gets the branch's files as it was left, edits included.
func (w *walker) branches() {
	chat, list, err := w.Branches(w.t.Context(), lastChat)
	if err != nil {
		w.t.Fatal(err)
	}
	was := tree(w.t, w.dir)
	b := list[w.rnd.IntN(len(list))]
	if w.rnd.IntN(2) == 0 || len(list) == 1 {
		conv := w.chat(chat.Number)
		at := 1 + 2*w.rnd.IntN(len(conv.Messages)/2)
		req := w.turn(folderChange{name: "f", content: fmt.Sprintf("branch %d", w.n)})
		req.Chat = store.ChatRef{Number: chat.Number, Parent: conv.Messages[at].ID}
		var id store.TurnID
		if id, err = w.Start(w.t.Context(), req); err == nil {
			w.follow(id)
			delete(w.hers, "f")
		}
		w.note("a branch begins at message %d: %v", at, err)
	} else {
		_, err = w.Switch(w.t.Context(), workspace.SwitchRequest{Chat: lastChat, Message: b.Leaf})
		w.note("another branch, %d: %v", b.Number, err)
	}
	if err != nil {
		w.failed(err, was)
	}
	if !w.bound {
		clear(w.hers)
	}
}

// crashes ends an undo or a redo after the folder was changed, before that is recorded.
func (w *walker) crashes() {
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	w.Pause = func(step string) {
		if step == "restore:done" {
			cancel()
		}
	}
	req := w.request()
	req.Overwrite = false
	do := []func(context.Context, workspace.RestoreRequest) (*workspace.Restored, error){w.Undo, w.Redo}[w.rnd.IntN(2)]
	_, err := do(ctx, req)
	w.Pause = func(string) {}
	w.note("cut off: %v", err)
	w.agreed()
	if w.rnd.IntN(2) == 0 {
		w.reopens()
	}
}

// reopens is what another process sees of the data.
func (w *walker) reopens() {
	w.note("reopened")
	o := w.o
	if err := w.Close(); err != nil {
		w.t.Fatal(err)
	}
	w.Engine = New(o)
}
