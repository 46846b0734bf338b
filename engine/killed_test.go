package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/engine/workspace"
	"github.com/fettle-cli/fettle/toolset"
)

// killsEnv is how many processes TestKilledAmidEverything kills.
const killsEnv = "FETTLE_TEST_KILLS"

// sized is a size from the environment, or the one that a few seconds are enough
// for.
func sized(t testing.TB, env string, usual int) int {
	t.Helper()
	text := os.Getenv(env)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s is %q", env, text)
	}
	return n
}

// childChurn does one kind of thing until it is killed.
func childChurn(ctx context.Context, dir, what, number string) error {
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return err
	}
	e := New(changerOptions(crashT{}, dir))
	e.o.Notice = func(string) {} // of what others were killed at
	e.Pause = pauses
	fmt.Println("begun")
	for i := 0; ctx.Err() == nil; i++ {
		switch what {
		case "turn":
			err = churnTurn(ctx, e, n, i)
		case "undo":
			err = churnUndo(ctx, e, n)
		case "gc":
			_, err = e.CollectStates(ctx, rand.IntN(4) == 0)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	return e.Close()
}

func churnTurn(ctx context.Context, e *Engine, chat int64, i int) error {
	req := ask(fmt.Sprintf(`{"put":{"f%d-%d":"%d %d","d%d/g":"%d"},"rm":["f%d-%d"]}`, chat, i%3, os.Getpid(), i, chat, i, chat, rand.IntN(3)))
	req.Chat, req.Policy.AllowAll = store.ChatRef{Number: chat}, true
	id, err := e.Start(ctx, req)
	if err != nil {
		return err
	}
	for ev, err := range e.Follow(ctx, id, 0) {
		if err != nil {
			return err
		}
		if c, ok := ev.Body.(event.ToolComplete); ok && c.Status != event.CallSuccess {
			return errors.New(c.Error)
		}
		if ev.Ends() && ev.Type() != event.TypeComplete {
			return fmt.Errorf("ended with %+v", ev.Body)
		}
	}
	return nil
}

func churnUndo(ctx context.Context, e *Engine, chat int64) error {
	do := e.Undo
	if rand.IntN(2) == 0 {
		do = e.Redo
	}
	_, err := do(ctx, workspace.RestoreRequest{Chat: store.ChatRef{Number: chat}, Steps: 1 + rand.IntN(3)})
	switch fault.CodeOf(err) {
	case fault.NotFound, fault.Failed: // nothing to undo, or somebody else's work in the way
		return nil
	}
	return err
}

// churned is a data directory with two chats in folders of their own and two in
// one folder of the user's, and what a person has put into the folders.
type churned struct {
	t       *testing.T
	dir     string
	folders [2]string // of chats 1 and 2
	project string    // of chats 3 and 4
	mine    map[string]string
	edits   int
}

func newChurned(t *testing.T) *churned {
	t.Helper()
	c := &churned{t: t, dir: t.TempDir(), mine: map[string]string{}}
	b := changer(t, c.dir)
	for i := range c.folders {
		b.did(store.ChatRef{}, `{"put":{"ground":"0"}}`)
		c.folders[i] = b.WorkspacePath(b.chat(int64(i + 1)).Chat)
	}
	c.project = filepath.Join(c.dir, "project")
	put(t, filepath.Join(c.project, "theirs"), []byte("theirs"))
	for range 2 {
		req := ask(`{"put":{"ground":"0"}}`)
		req.Workspace, req.Policy.AllowAll = c.project, true
		b.run(req)
	}
	b.chat(1)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	return c
}

// edit is a person's work in one of the folders, at a moment in which no call of
// a tool runs there, between two or after a kill in one: what somebody does while
// a tool works can't be told from what the tool does.
func (c *churned) edit() {
	c.t.Helper()
	c.edits++
	e := New(Options{Options: store.Options{DataDir: filepath.Join(c.dir, "data")}})
	at := rand.IntN(3)
	folder := []string{c.folders[0], c.folders[1], c.project}[at]
	lock := func() (func(), error) { return e.Lock(c.t.Context(), "chat-"+filepath.Base(filepath.Dir(folder)), nil) }
	if at == 2 {
		ws := &toolset.Workspace{Path: realPath(c.t, c.project), Bound: true}
		lock = func() (func(), error) { return e.LockWorkspace(c.t.Context(), ws, func(string) {}) }
	}
	release, err := lock()
	if err != nil {
		c.t.Fatal(err)
	}
	defer release()
	name := filepath.Join(folder, "mine-"+strconv.Itoa(rand.IntN(4)))
	c.mine[name] = "by hand, edit " + strconv.Itoa(c.edits)
	put(c.t, name, []byte(c.mine[name]))
}

// check fails if anything was lost, and leaves every folder as it is.
func (c *churned) check() {
	t := c.t
	t.Helper()
	b := changer(t, c.dir)
	b.o.Notice = func(string) {}
	for number := int64(1); number <= 4; number++ {
		ref := store.ChatRef{Number: number}
		chat, err := b.FindChat(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		if m, err := b.State(t.Context(), chat, "@"); err != nil || !m.Complete {
			t.Fatalf("chat %d is at %+v, %v", number, m, err)
		}
		c.whole(b, chat)
		chat, now, err := b.FolderState(t.Context(), workspace.RestoreRequest{Chat: ref})
		if err != nil {
			t.Fatal(err)
		}
		dir := b.WorkspacePath(chat)
		before := tree(t, dir)
		for name := range before {
			if strings.HasPrefix(name, ".fettle-") {
				t.Errorf("chat %d: %s is left", number, name)
			}
		}
		if diff := cmp.Diff(before, c.elsewhere(b, now)); diff != "" {
			t.Errorf("chat %d can't be brought back:\n%s", number, diff)
		}
	}
	for name, want := range c.mine {
		if got, err := os.ReadFile(name); string(got) != want {
			t.Errorf("somebody's work is lost: %s has %q, %v", name, got, err)
		}
	}
	wholeStore(t, b)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}

// elsewhere brings a state back into a new folder. In the chat's own it would be
// a step, which the next undo takes back.
func (c *churned) elsewhere(b *bench, m *cas.Manifest) map[string]string {
	c.t.Helper()
	ws, err := toolset.OpenManaged(filepath.Join(c.t.TempDir(), "elsewhere"))
	if err != nil {
		c.t.Fatal(err)
	}
	defer ws.Close()
	about := cas.About{ChatID: "elsewhere", Source: cas.Restored}
	if _, err := b.Snapshots.Materialize(c.t.Context(), workspace.CASWorkspace(ws), m, cas.RestoreOptions{About: about}); err != nil {
		c.t.Error(err)
	}
	return tree(c.t, ws.Path)
}

// whole reads everything that the chat's active state has.
func (c *churned) whole(b *bench, chat chat.Chat) {
	c.t.Helper()
	m, err := b.State(c.t.Context(), chat, "@")
	if err != nil {
		c.t.Fatal(err)
	}
	for f, err := range b.Files(c.t.Context(), m) {
		if err != nil {
			c.t.Fatal(err)
		}
		if f.Kind.String() == "file" {
			if err := b.ReadFile(c.t.Context(), io.Discard, f.Entry); err != nil {
				c.t.Error(err)
			}
		}
	}
}

// Processes run turns in two chats, undo and redo, in folders of their own and in
// one that two chats share, while another collects and a person edits, and are
// killed at any moment. After each time every chat's state is whole, the store
// is clean, the folder can be brought back, and nobody's edit is gone.
func TestKilledAmidEverything(t *testing.T) {
	t.Parallel()
	kills := sized(t, killsEnv, 8)
	c := newChurned(t)
	for killed := 0; killed < kills && !t.Failed(); {
		var all []*process
		for _, task := range []string{"turn 1", "undo 2", "turn " + strconv.Itoa(3+rand.IntN(2)), "undo " + strconv.Itoa(3+rand.IntN(2)), "gc 0"} {
			what, n, _ := strings.Cut(task, " ")
			if what == "undo" && rand.IntN(3) == 0 {
				what = "turn" // there must be something to undo
			}
			all = append(all, spawn(t, "churn", c.dir, what, n))
		}
		for range 1 + rand.IntN(3) {
			time.Sleep(time.Duration(rand.IntN(150)) * time.Millisecond)
			c.edit()
		}
		for _, i := range rand.Perm(len(all)) {
			time.Sleep(time.Duration(rand.IntN(60)) * time.Millisecond)
			_ = all[i].cmd.Process.Kill()
			if err := all[i].cmd.Wait(); err == nil || all[i].err.Len() > 0 {
				t.Fatalf("it ended by itself: %v: %s", err, &all[i].err)
			}
			killed++
		}
		c.edit()
		c.check()
	}
}

// manyCallsEnv is how many calls TestManyCallsInALargeFolder makes, and manyFilesEnv how
// many files the workspace has.
const (
	manyCallsEnv = "FETTLE_TEST_CALLS"
	manyFilesEnv = "FETTLE_TEST_FILES"
)

// The store grows by what calls change, not by what is there, and undo of all of
// them gives the first state back.
func TestManyCallsInALargeFolder(t *testing.T) {
	t.Parallel()
	calls, count := sized(t, manyCallsEnv, 40), sized(t, manyFilesEnv, 400)
	b := changer(t, t.TempDir())
	project := filepath.Join(b.dir, "project")
	for i := range count {
		put(t, filepath.Join(project, fmt.Sprintf("d%02d/%03d.txt", i/100, i%100)), []byte(strings.Repeat(strconv.Itoa(i)+" ", 200)))
	}
	req := ask(`{"put":{"d00/000.txt":"first"}}`)
	req.Workspace, req.Policy.AllowAll = project, true
	b.run(req)
	first := tree(t, project)
	begin, began := b.storeSize(), time.Now()
	changed := 0
	for i := range calls {
		content := fmt.Sprintf("call %d changes this", i)
		changed += len(content)
		b.did(lastChat, fmt.Sprintf(`{"put":{"d%02d/%03d.txt":"%s"}}`, i%(count/100), i%100, content))
	}
	took := time.Since(began)
	states, err := b.StateStats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// What a call adds is its file, the tree of its folder (100 names of 50
	// bytes) and of the root, and the records of turn, call and state.
	const perCall = 64 << 10
	grown := b.storeSize() - begin
	if most := int64(calls)*perCall + 8<<20; grown > most {
		t.Errorf("%d calls that changed %d bytes grew the store by %d KB, more than %d KB", calls, changed, grown>>10, most>>10)
	}
	if most := int64(count)*1000*2 + int64(changed)*2; states.Bytes > most {
		t.Errorf("the states have %d bytes, more than %d", states.Bytes, most)
	}
	began = time.Now()
	one, err := b.History(t.Context(), b.chat(1).Chat)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := one.Undo(t.Context(), 1); err != nil || one.Read > 12 {
		t.Errorf("undo of one step has read %d states, %v", one.Read, err)
	}
	if out := b.undo(calls); len(out.Steps) != calls {
		t.Errorf("it went %d steps", len(out.Steps))
	}
	if diff := cmp.Diff(first, tree(t, project)); diff != "" {
		t.Errorf("the first state is not back:\n%s", diff)
	}
	t.Logf("%d files, %d calls in %s, the store grew by %d KB (%d a call) to %d KB, undo of all took %s",
		count, calls, took.Round(time.Millisecond), grown>>10, grown/int64(calls), (begin+grown)>>10, time.Since(began).Round(time.Millisecond))
	b.redo(calls)
	wholeStore(t, b)
}

// storeSize is what the data directory takes, without the chats' own folders,
// once nobody has it open.
func (b *bench) storeSize() (total int64) {
	b.t.Helper()
	if err := errors.Join(b.KV.Compact(context.Background()), b.KV.LetGo()); err != nil {
		b.t.Fatal(err)
	}
	for _, dir := range []string{"store", "blobs", "journal"} {
		for _, name := range files(b.t, filepath.Join(b.o.DataDir, dir)) {
			if info, err := os.Stat(filepath.Join(b.o.DataDir, dir, name)); err == nil {
				total += info.Size()
			}
		}
	}
	return total
}
