package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/workspace"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/toolset"
)

// warningsOf are the texts that every front end shows at once.
func warningsOf(events []event.Event) string {
	var out []string
	for _, e := range events {
		if note, ok := e.Body.(event.Footnote); ok && note.Warning {
			out = append(out, note.Text)
		}
	}
	return strings.Join(out, "\n")
}

// plant adds a repository and exclusion rules to a folder, by whatever way leads there.
func plant(dir string) error {
	return errors.Join(
		os.MkdirAll(filepath.Join(dir, "a", ".git"), 0o755),
		os.WriteFile(filepath.Join(dir, "a", ".git", "config"), []byte("[core]"), 0o644),
		os.WriteFile(filepath.Join(dir, workspace.IgnoreFile), []byte("src/"), 0o644),
	)
}

// planted reports what of that git and snapshots would still use.
func planted(dir string) (left []string) {
	for _, name := range []string{filepath.Join("a", ".git"), workspace.IgnoreFile} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			left = append(left, name)
		}
	}
	return left
}

// records are the folders that are being watched.
func records(t *testing.T, dataDir string) int {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dataDir, workspace.GuardsName))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return len(entries)
}

// A call that is left running when its turn is cancelled is checked then, and again when
// it has ended.
func TestACallThatIsLeftRunningPlantsNoRepository(t *testing.T) {
	t.Parallel()
	for _, early := range []bool{true, false} { // it plants before or after it was left
		dir := t.TempDir()
		began, end := make(chan bool), make(chan bool)
		b := changer(t, t.TempDir(), tool("stubborn", func(context.Context, toolset.Call) (toolset.Result, error) {
			var err error
			if early {
				err = plant(dir)
			}
			began <- true
			<-end
			if !early {
				err = plant(dir)
			}
			return toolset.Result{}, err
		}))
		b.grace = 20 * time.Millisecond
		req := ask("stubborn {}")
		req.Workspace, req.Policy.AllowAll = dir, true
		id := b.start(req)
		<-began
		if err := b.Cancel(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		events := b.follow(id)
		if left := planted(dir); len(left) > 0 {
			t.Errorf("after the turn there are %q", left)
		}
		if warned := warningsOf(events); early && (!strings.Contains(warned, "a/git-set-aside now") || !strings.Contains(warned, workspace.ProposedRules)) {
			t.Errorf("the warnings are %q", warned)
		}
		if n := records(t, b.o.DataDir); n != 1 {
			t.Errorf("%d folders are watched while the call runs", n)
		}
		close(end)
		until(t, "the end of the watch", func() bool { return records(t, b.o.DataDir) == 0 })
		if left := planted(dir); len(left) > 0 {
			t.Errorf("after the call there are %q", left)
		}
		if notices := b.notices(); !strings.Contains(notices, "a/git-set-aside now") {
			t.Errorf("the notices are %q", notices)
		}
	}
}

// What a call added before fettle was killed is found by the next command, whether that
// asks a question or only restores files.
func TestTheNextCommandChecksWhereACallWasKilled(t *testing.T) {
	t.Parallel()
	for _, next := range []string{"question", "undo", "tidy"} {
		dir := t.TempDir()
		mine := filepath.Join(dir, ".git", "config")
		if err := errors.Join(os.MkdirAll(filepath.Dir(mine), 0o755), os.WriteFile(mine, []byte("mine"), 0o644)); err != nil {
			t.Fatal(err)
		}
		began, end := make(chan bool), make(chan bool)
		does := func() error { return errors.Join(plant(dir), os.WriteFile(mine, []byte("evil"), 0o644)) }
		b := changer(t, t.TempDir(), tool("halfway", func(context.Context, toolset.Call) (toolset.Result, error) {
			err := does()
			began <- true
			<-end
			return toolset.Result{}, err
		}))
		b.boundTo(dir, `{"put":{"f":"1"}}`)
		req := ask("halfway {}")
		req.Chat, req.Policy.AllowAll = lastChat, true
		id := b.start(req)
		<-began
		crashed := t.TempDir()
		err := b.KV.View(t.Context(), func(*kv.Tx) error { return os.CopyFS(crashed, os.DirFS(b.dir)) })
		close(end)
		b.follow(id)
		if err = errors.Join(err, os.RemoveAll(filepath.Join(dir, "a")), does()); err != nil { // as the crash left it
			t.Fatal(err)
		}
		after := changer(t, crashed)
		shown := ""
		switch next {
		case "question":
			shown = warningsOf(after.run(ask("hello")))
		case "undo":
			_, _ = after.Undo(t.Context(), workspace.RestoreRequest{Chat: lastChat})
			shown = after.notices()
		case "tidy":
			if err := after.Tidy(t.Context(), time.Second); err != nil {
				t.Fatal(err)
			}
			shown = after.notices()
		}
		if left := planted(dir); len(left) > 0 {
			t.Errorf("%s: there are %q", next, left)
		}
		if text, err := os.ReadFile(mine); err != nil || string(text) != "mine" {
			t.Errorf("%s: the configuration is %q %v", next, text, err)
		}
		if !strings.Contains(shown, "fettle ended while a tool could write to "+dir) || !strings.Contains(shown, "a/git-set-aside now") {
			t.Errorf("%s: the user is told %q", next, shown)
		}
		if n := records(t, after.o.DataDir); n != 0 {
			t.Errorf("%s: %d folders are still watched", next, n)
		}
	}
}

// A process that outlives its call is checked when a later call begins, when one ends, and
// when the process has ended. What the user changes in an existing repository meanwhile
// stays.
func TestAProcessThatOutlivesItsCallPlantsNoRepository(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mine := filepath.Join(dir, ".git", "config")
	if err := errors.Join(os.MkdirAll(filepath.Dir(mine), 0o755), os.WriteFile(mine, []byte("mine"), 0o644)); err != nil {
		t.Fatal(err)
	}
	var sealed []string
	ended := func() {}
	b := changer(t, t.TempDir(), tool("serve", func(ctx context.Context, c toolset.Call) (toolset.Result, error) {
		ws, gone, err := c.Workspace.ForOutliving(ctx)
		if err == nil {
			sealed, ended = ws.Repositories, gone
		}
		return toolset.Result{}, err
	}), tool("wait", func(context.Context, toolset.Call) (toolset.Result, error) { return toolset.Result{}, plant(dir) }))
	b.boundTo(dir, "serve {}")
	if len(sealed) != 1 || sealed[0] != ".git" {
		t.Errorf("sealed for it are %q", sealed)
	}
	for i, when := range []string{"between calls", "during a call", "after the last call"} {
		if err := os.WriteFile(mine, []byte("mine "+when), 0o644); err != nil {
			t.Fatal(err)
		}
		prompt := `{"put":{"f":"1"}}`
		if when == "during a call" {
			prompt = "wait {}"
		} else if err := plant(dir); err != nil {
			t.Fatal(err)
		}
		if i < 2 {
			b.did(lastChat, prompt)
		} else {
			ended()
		}
		if _, err := os.Lstat(filepath.Join(dir, "a", ".git")); err == nil {
			t.Errorf("%s: the repository is there", when)
		}
		if text, err := os.ReadFile(mine); err != nil || string(text) != "mine "+when {
			t.Errorf("%s: the user's configuration is %q %v", when, text, err)
		}
	}
	if n := records(t, b.o.DataDir); n != 0 {
		t.Errorf("%d folders are still watched", n)
	}
}

// At the end of the program the folders of processes that are gone by then are checked,
// although nobody has waited for them.
func TestTheEndOfTheProgramChecksTheFolders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := changer(t, t.TempDir(), tool("serve", func(ctx context.Context, c toolset.Call) (toolset.Result, error) {
		_, _, err := c.Workspace.ForOutliving(ctx)
		return toolset.Result{}, err
	}))
	b.boundTo(dir, "serve {}")
	if err := plant(dir); err != nil {
		t.Fatal(err)
	}
	b.CheckFolders()
	if _, err := os.Lstat(filepath.Join(dir, "a", ".git")); err == nil {
		t.Error("the repository is there")
	}
	if n := records(t, b.o.DataDir); n != 0 {
		t.Errorf("%d folders are still watched", n)
	}
}
