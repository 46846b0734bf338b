package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/store"
)

// childEnv makes the test binary a child process: task, folder, arguments, with
// spaces between.
const childEnv = "FETTLE_ENGINE_CHILD"

func child(args []string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	dir := args[1]
	switch args[0] {
	case "ask": // how many: that many new chats, with pauses
		return childAsk(ctx, dir, args[2])
	case "fold": // until the file "stop" is there, with pauses
		return childFold(ctx, dir)
	case "die": // step, count: folds, and is killed when it comes to the step that often
		return childDie(ctx, dir, args[2], args[3])
	case "purge", "fork": // step: is killed there
		return childCare(ctx, args[0], dir, args[2])
	case "churn": // what, chat: until it is killed
		return childChurn(ctx, dir, args[2], args[3])
	case "move": // ask or switch, the message, step: is killed there
		return childMove(ctx, dir, args[2:])
	case "cut": // undo, redo, restore or switch, what that names, steps: is killed after so many
		return childCut(ctx, dir, args[2:])
	case "putback": // step, count: is killed there
		left, err := strconv.Atoi(args[3])
		if err != nil {
			return err
		}
		return childPutBack(ctx, dir, dieAt(args[2], left))
	case "beside": // short commands, until it is killed
		return childBeside(ctx, dir)
	case "layer": // a command, step: is killed there, or while the command runs
		return childLayer(ctx, dir, args[2:])
	case "full":
		return childFull(ctx, dir)
	case "fullrestore":
		return childFullRestore(ctx, dir)
	}
	return fmt.Errorf("no such task %q", args)
}

// childEngine is an engine that calls fn at each step of its own and of its
// journals that another process could come between.
func childEngine(dir string, fn func(step string)) *Engine {
	e := New(testOptions(crashT{}, dir, nil))
	e.o.Notice = func(s string) { fmt.Fprintln(os.Stderr, "notice:", s) }
	e.Pause = fn
	e.Journals.Hook(fn)
	return e
}

// pauses waits a little, now and then.
func pauses(string) {
	if n := rand.IntN(4); n > 0 {
		time.Sleep(time.Duration(n) * 300 * time.Microsecond)
	}
}

func childAsk(ctx context.Context, dir, count string) error {
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	e := childEngine(dir, pauses)
	for range n {
		id, err := e.Start(ctx, ask("go"))
		if err != nil {
			return err
		}
		for ev, err := range e.Follow(ctx, id, 0) {
			if err != nil {
				return err
			}
			if ev.Ends() && ev.Type() != event.TypeComplete {
				return fmt.Errorf("ended with %+v", ev.Body)
			}
		}
		fmt.Println(id)
	}
	return e.Close()
}

func childFold(ctx context.Context, dir string) error {
	for {
		e := childEngine(dir, pauses)
		_, statErr := os.Stat(filepath.Join(dir, "stop"))
		_, err := e.Fold(ctx, store.FoldAll)
		if err = errors.Join(err, e.Journals.Sweep(ctx), e.Close()); err != nil || statErr == nil {
			return err
		}
	}
}

func childDie(ctx context.Context, dir, step, count string) error {
	left, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	e := childEngine(dir, dieAt(step, left))
	_, err = e.Fold(ctx, store.FoldAll)
	return fmt.Errorf("it never came to %s: %w", step, errors.Join(err, e.Close()))
}

// dieAt kills the process when it comes to a step for the left-th time.
func dieAt(step string, left int) func(string) {
	return func(at string) {
		if at == step {
			if left--; left == 0 {
				p, _ := os.FindProcess(os.Getpid())
				_ = p.Kill()
				select {} // until it is dead
			}
		}
	}
}

type process struct {
	cmd      *exec.Cmd
	out, err bytes.Buffer
}

func spawn(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(os.Args[0])}
	p.cmd.Env = append(os.Environ(), childEnv+"="+strings.Join(args, " "))
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.err
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill(); _ = p.cmd.Wait() })
	return p
}

// Processes begin chats while others fold and sweep, and everybody pauses at
// each step that another could come between: no turn is lost or doubled.
func TestProcessesThatFoldAndAskAtOnce(t *testing.T) {
	t.Parallel()
	const askers, folders, turns = 2, 3, 12
	dir := t.TempDir()
	put(t, filepath.Join(dir, "m.yaml"), []byte(`{responses: [{when: "", text: Yes.}]}`))
	var asking, folding []*process
	for range folders {
		folding = append(folding, spawn(t, "fold", dir))
	}
	for range askers {
		asking = append(asking, spawn(t, "ask", dir, strconv.Itoa(turns)))
	}
	var ids []string
	for _, p := range asking {
		if err := p.cmd.Wait(); err != nil {
			t.Fatalf("%v: %s", err, &p.err)
		}
		ids = append(ids, strings.Fields(p.out.String())...)
	}
	put(t, filepath.Join(dir, "stop"), nil)
	for _, p := range folding {
		err := p.cmd.Wait()
		said := strings.ReplaceAll(p.err.String(), "notice: waiting for another process\n", "") // as it may on a busy machine
		if err != nil || said != "" {
			t.Errorf("fold: %v: %s", err, said)
		}
	}
	if left := files(t, filepath.Join(dir, "data", "journal")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	b := openBench(t, dir)
	page, err := b.Chats(t.Context(), store.ListChats{})
	if err != nil || len(page.Chats) != askers*turns || len(ids) != askers*turns {
		t.Fatalf("%d chats and %d turns, %v", len(page.Chats), len(ids), err)
	}
	for _, c := range page.Chats {
		if c.Messages != 2 {
			t.Errorf("chat %d has %d messages", c.Number, c.Messages)
		}
	}
	for _, id := range ids {
		want(t, b.follow(store.TurnID(id)), `"Yes."`, "meta stop", "complete")
	}
}

// A process is killed at each step of a fold, after some of the turns or all of
// them; what the next one makes of it is what it would have been.
func TestKilledWhileItFolds(t *testing.T) {
	t.Parallel()
	template := t.TempDir()
	b := newBenchIn(t, template, `
responses:
  - {step: 0, text: I write it down., calls: [{name: write_file, args: {path: "a.txt", content: "x"}}]}
  - {step: 1, text: Done.}
`)
	b.run(ask("one"))
	b.chat(1) // so that there is a store, and a chat to go on with
	req := ask("two")
	req.Chat.Number = 1
	b.run(req)
	req = ask("three")
	req.Chat = store.ChatRef{Number: 1, Fork: true} // folds the second, and is one itself
	b.run(req)
	b.run(ask("four"))
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	for _, step := range []string{"fold:claimed", "fold:parts", "fold:written", "fold:synced", "remove"} {
		for _, count := range []string{"1", "2"} {
			if count == "2" && (step == "fold:parts" || step == "fold:written") {
				continue // these come once a group
			}
			t.Run(step+" "+count, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				if err := os.CopyFS(dir, os.DirFS(template)); err != nil {
					t.Fatal(err)
				}
				p := spawn(t, "die", dir, step, count)
				if err := p.cmd.Wait(); err == nil || p.err.Len() > 0 {
					t.Fatalf("it was not killed: %v: %s", err, &p.err)
				}
				checkFolded(t, dir)
			})
		}
	}
}

func checkFolded(t *testing.T, dir string) {
	t.Helper()
	b := openBench(t, dir)
	for number, messages := range []int{1: 4, 2: 6, 3: 2} {
		if number == 0 {
			continue
		}
		conv := b.chat(int64(number))
		if len(conv.Messages) != messages || conv.Chat.Messages != messages {
			t.Errorf("chat %d has %d messages and says %d, want %d", number, len(conv.Messages), conv.Chat.Messages, messages)
		}
		turn := conv.Messages[len(conv.Messages)-1].TurnID
		last[event.Complete](t, b.follow(store.TurnID(turn)))
	}
	if left := files(t, filepath.Join(dir, "data", "journal")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if told := b.notices(); told != "" {
		t.Errorf("said: %s", told)
	}
	req := ask("on")
	req.Chat.Number = 2
	if n := last[event.Complete](t, b.run(req)).Payload.ConversationID; n != 2 {
		t.Errorf("the next turn is in chat %d", n)
	}
}

func newBenchIn(t testing.TB, dir, yaml string) *bench {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "m.yaml"), []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	return openBench(t, dir)
}

// Ten turns wait for one chat, in two engines: all run, one after the other.
func TestManyWaitForOneChat(t *testing.T) {
	t.Parallel()
	const waiting = 10
	b := newBench(t, `{responses: [{when: "", text: Yes.}]}`)
	b.run(ask("first"))
	other := b.reopen()
	var wg sync.WaitGroup
	for i := range waiting {
		e := b
		if i%2 > 0 {
			e = other
		}
		req := ask(fmt.Sprintf("turn %d", i))
		req.Chat.Number = 1
		wg.Go(func() { last[event.Complete](t, e.run(req)) })
	}
	wg.Wait()
	conv := b.chat(1)
	if len(conv.Messages) != 2+2*waiting || conv.Chat.Messages != len(conv.Messages) {
		t.Errorf("%d messages are on the way to the leaf, %d in all", len(conv.Messages), conv.Chat.Messages)
	}
	asked := map[string]bool{}
	for _, m := range conv.Messages {
		asked[m.Text()] = true
	}
	for i := range waiting {
		if !asked[fmt.Sprintf("turn %d", i)] {
			t.Errorf("turn %d is lost", i)
		}
	}
}
