package engine

import (
	"context"
	"errors"

	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/engine/workspace"
	"github.com/fettle-cli/fettle/toolset/builtin"
	"github.com/fettle-cli/fettle/toolset/sandbox"
)

// childLayer runs a command in a folder of the user's, and is killed at a step.
func childLayer(ctx context.Context, dir string, args []string) error {
	e := childEngine(dir, dieAt(args[1], 1))
	e.sandboxed(sandbox.New(sandbox.Options{}), builtin.Commands{})
	req := next(command("", "echo 2 > a; rm b; echo 1 > c; "+args[0]))
	if strings.HasPrefix(args[1], "review:") {
		req = next(reviewedCall("", "echo 2 > a; rm b; echo 1 > c; "+args[0]))
	}
	id, err := e.Start(ctx, req)
	if err != nil {
		return err
	}
	for _, err := range e.Follow(ctx, id, 0) {
		if err != nil {
			return err
		}
	}
	return errors.New("it was not killed")
}

// killed has a process run a command in the chat of a folder, and be killed.
func (b *bench) killed(t *testing.T, line, step string) {
	t.Helper()
	p := spawn(t, "layer", b.dir, line, step)
	if step == "-" {
		b.waitForCall(t)
		for t.Context().Err() == nil { // until the command has written
			if made, _ := filepath.Glob(filepath.Join(b.LayersDir(), "*", "upper", "c")); len(made) > 0 {
				break
			}
			time.Sleep(time.Millisecond)
		}
		if err := p.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.cmd.Wait(); err == nil || p.err.Len() > 0 && strings.Contains(p.err.String(), "not killed") {
		t.Fatalf("%v %s", err, &p.err)
	}
}

func TestWhatAKilledCallWroteIsOffered(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, line, step string }{
		{"killed while the command runs", "sleep${IFS}60", "-"}, {"killed before it lands", "true", "layer:read"},
		{"killed while the user decides", "true", "review:asked"},
	} {
		for _, apply := range []bool{true, false} {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				b, dir := layeredBench(t), t.TempDir()
				save(t, dir, "a", "1")
				save(t, dir, "b", "1")
				b.first(t, dir)
				b.killed(t, c.line, c.step)
				save(t, dir, "user", "1")
				wantFile(t, dir, "a", "1")
				cut, err := b.CutWrites(t.Context())
				if err != nil || len(cut) != 1 || cut[0].Workspace != dir || cut[0].Suspect {
					t.Fatalf("%+v %v", cut, err)
				}
				events := b.run(next(command("", "true")))
				if !strings.Contains(b.notices(), cut[0].CallID) {
					t.Errorf("it is not offered: %s\n%s", b.notices(), outline(events))
				}
				shown, err := b.ReviewCut(t.Context(), cut[0].CallID, nil)
				if err != nil || shown.ToolID != commandTool || !strings.Contains(string(shown.Args), c.line) || fileKinds(shown.Review) != "removed b, modified a, added c" {
					t.Fatalf("the review: %s %s %v", shown.Args, fileKinds(shown.Review), err)
				}
				wantFile(t, dir, "a", "1")
				if !apply {
					if _, err := b.DiscardCut(t.Context(), ""); err != nil {
						t.Fatal(err)
					}
					wantFile(t, dir, "a", "1")
					b.noLayersLeft(t)
					return
				}
				done, err := b.ApplyCut(t.Context(), cut[0].CallID, nil)
				if err != nil || len(done.Changes) != 3 || len(done.Conflicts) != 0 {
					t.Fatalf("%+v %v", done, err)
				}
				wantFile(t, dir, "a", "2\n")
				wantFile(t, dir, "b", "")
				wantFile(t, dir, "c", "1\n")
				b.noLayersLeft(t)
				if _, err := b.Undo(t.Context(), workspace.RestoreRequest{Chat: store.ChatRef{Last: true}}); err != nil {
					t.Fatal(err)
				}
				for name, text := range map[string]string{"a": "1", "b": "1", "c": "", "user": "1"} {
					wantFile(t, dir, name, text)
				}
			})
		}
	}
}

// A call that was killed after it had landed is a step like any other, and nothing is offered.
func TestACallThatIsKilledAfterItHasLanded(t *testing.T) {
	t.Parallel()
	b, dir := layeredBench(t), t.TempDir()
	save(t, dir, "a", "1")
	save(t, dir, "b", "1")
	b.first(t, dir)
	b.killed(t, "true", "layer:landed")
	if cut, err := b.CutWrites(t.Context()); err != nil || len(cut) != 0 {
		t.Errorf("%+v %v", cut, err)
	}
	wantFile(t, dir, "a", "2\n")
	b.run(next(command("", "true")))
	if _, err := b.RemoveLeftovers(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.noLayersLeft(t)
	// The chat has no end of the call, so undo does not know whose the changes are.
	undo := workspace.RestoreRequest{Chat: store.ChatRef{Number: 1}}
	if _, err := b.Undo(t.Context(), undo); err == nil || !strings.Contains(err.Error(), "3 files can't be brought back") {
		t.Errorf("undo: %v", err)
	}
	undo.Overwrite = true
	if _, err := b.Undo(t.Context(), undo); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"a": "1", "b": "1", "c": ""} {
		wantFile(t, dir, name, text)
	}
}

func TestACutCallThatWroteNothingIsNotOffered(t *testing.T) {
	t.Parallel()
	b, dir := layeredBench(t), t.TempDir()
	save(t, dir, "a", "1")
	b.first(t, dir)
	b.killed(t, "true", "layer:made")
	if cut, err := b.CutWrites(t.Context()); err != nil || len(cut) != 0 {
		t.Errorf("%+v %v", cut, err)
	}
	if _, err := b.RemoveLeftovers(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.noLayersLeft(t)
}
