package engine

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/engine/workspace"
	"github.com/fettle-cli/fettle/internal/needtest"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/builtin"
	"github.com/fettle-cli/fettle/toolset/sandbox"
)

// layeredBench is an engine whose commands run in the real sandbox, with a layer each.
func layeredBench(t *testing.T) *bench {
	t.Helper()
	b, launcher := newBench(t, yes), sandbox.New(sandbox.Options{KeeperEnv: []string{"GORACE=atexit_sleep_ms=0"}})
	t.Cleanup(func() {
		if err := launcher.Close(); err != nil {
			t.Error(err)
		}
	})
	report, err := launcher.Report(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if report.Level != toolset.LevelFull {
		needtest.Lacking(t, "a sandbox at level full: "+report.String())
	}
	b.sandboxed(launcher, builtin.Commands{})
	if why := b.noLayers(t.Context(), managedFolder(t, t.TempDir())); why != "" {
		needtest.Lacking(t, "overlays in user namespaces: "+why)
	}
	return b
}

// sandboxed gives the engine the builtin tools with a launcher.
func (e *Engine) sandboxed(launcher *sandbox.Launcher, o builtin.Commands) {
	set, err := toolset.NewSet(builtin.Entries(builtin.Options{
		Launcher: launcher, Commands: o, Policy: toolset.Policy{Limits: toolset.Limits{FreeDisk: toolset.NoLimit}},
	})...)
	if err != nil {
		panic(err)
	}
	e.o.Tools, e.o.CommandsWriteGit = set, o.WriteGit
	if launcher != nil {
		e.o.Layers = launcher.Layers
	}
	e.o.SealsRepositories = func(context.Context) bool { return true }
}

func managedFolder(t *testing.T, dir string) *toolset.Workspace {
	t.Helper()
	ws, err := toolset.OpenManaged(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	return ws
}

// command is a call of a command in a bound folder.
func command(dir, line string) TurnRequest {
	args, err := json.Marshal(map[string]string{"command": line})
	if err != nil {
		panic(err)
	}
	req := direct("run_command", string(args))
	req.Workspace = dir
	return req
}

// first runs a command in a chat of the folder, so that a state of that is known.
func (b *bench) first(t *testing.T, dir string) {
	t.Helper()
	if end := completed(t, b.run(command(dir, "true"))); end.Status != event.CallSuccess {
		t.Fatalf("%+v", end)
	}
}

// during starts a command that waits for the file "go", runs do, and lets it continue.
func (b *bench) during(t *testing.T, dir, line string, do func()) event.ToolComplete {
	t.Helper()
	// A file that is written in place is seen through an overlay at once; a new one may not be.
	save(t, dir, "go", "no")
	id := b.start(next(command("", "until grep -q yes go; do sleep 0.01; done; "+line)))
	b.waitForCall(t)
	do()
	save(t, dir, "go", "yes")
	return completed(t, b.follow(id))
}

// waitForCall waits until a call has its layer, so that it began.
func (b *bench) waitForCall(t *testing.T) {
	t.Helper()
	for t.Context().Err() == nil {
		if mounted, _ := filepath.Glob(filepath.Join(b.LayersDir(), "*", "work", "work")); len(mounted) > 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("no call began")
}

func TestWhatTheUserSavesDuringACallIsNotTheCalls(t *testing.T) {
	t.Parallel()
	b, dir := layeredBench(t), t.TempDir()
	save(t, dir, "call.txt", "1")
	save(t, dir, "both.txt", "1")
	b.first(t, dir)
	save(t, dir, "before.txt", "the user's, between calls")
	end := b.during(t, dir, "echo 2 > call.txt; echo call > both.txt; echo 1 > new.txt", func() {
		save(t, dir, "user.txt", "the user's")
		save(t, dir, "both.txt", "the user's")
	})
	if end.Status != event.CallSuccess || changesIn(end) != "modified call.txt, added new.txt" {
		t.Errorf("%s %s", end.Error, changesIn(end))
	}
	if len(end.Conflicts) != 1 || end.Conflicts[0].Path != "both.txt" || end.CallManifestID == "" || !strings.Contains(end.Result, "both.txt") {
		t.Errorf("%+v %q %s", end.Conflicts, end.CallManifestID, end.Result)
	}
	wantFile(t, dir, "both.txt", "the user's")
	wantFile(t, dir, "call.txt", "2\n")
	if _, err := b.Undo(t.Context(), workspace.RestoreRequest{Chat: store.ChatRef{Last: true}}); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"call.txt": "1", "new.txt": "", "both.txt": "the user's", "user.txt": "the user's", "before.txt": "the user's, between calls",
	} {
		wantFile(t, dir, name, text)
	}
	m, err := b.Snapshots.Manifest(t.Context(), end.CallManifestID)
	if err != nil || m.Source != cas.CallVersion {
		t.Errorf("%+v %v", m, err)
	}
	b.noLayersLeft(t)
}

// noLayersLeft fails if a layer is left.
func (b *bench) noLayersLeft(t *testing.T) {
	t.Helper()
	left, err := os.ReadDir(b.LayersDir())
	if err != nil || len(left) != 0 {
		t.Errorf("layers are left: %v %v", left, err)
	}
	if cut, err := b.CutWrites(t.Context()); err != nil || len(cut) != 0 {
		t.Errorf("%v %v", cut, err)
	}
}

func TestNothingOfACancelledCallLands(t *testing.T) {
	t.Parallel()
	for _, times := range []int{1, 2} {
		b, dir := layeredBench(t), t.TempDir()
		save(t, dir, "a", "1")
		b.first(t, dir)
		id := b.start(next(command("", "echo 2 > a; touch began; trap '' INT TERM; sleep 60 & wait; sleep 60")))
		b.waitForCall(t)
		for range times {
			if err := b.Cancel(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
		end := completed(t, b.follow(id))
		if end.Status != event.CallError || len(end.Changes) != 0 {
			t.Errorf("%+v", end)
		}
		wantFile(t, dir, "a", "1")
		wantFile(t, dir, "began", "")
		if cut, err := b.CutWrites(t.Context()); err != nil || len(cut) != 0 {
			t.Errorf("a cancelled call's files are offered: %v %v", cut, err)
		}
		b.first(t, dir)
	}
}

// A call that fails, or is ended by its time limit, lands what it did, as it always was.
func TestWhatAFailedCallWroteLands(t *testing.T) {
	t.Parallel()
	b, dir := layeredBench(t), t.TempDir()
	b.first(t, dir)
	end := completed(t, b.run(next(command("", "echo 1 > a; false"))))
	if changesIn(end) != "added a" {
		t.Errorf("%s", changesIn(end))
	}
	wantFile(t, dir, "a", "1\n")
}

func TestManagedFoldersHaveLayersToo(t *testing.T) {
	t.Parallel()
	b := layeredBench(t)
	b.first(t, "")
	end := completed(t, b.run(next(command("", "mkdir -p d/e; echo 1 > d/e/f; ln -s f d/e/l; stat -f -c %T ."))))
	if changesIn(end) != "added d/e/f, added d/e/l" || !strings.Contains(end.Result, "overlayfs") {
		t.Errorf("%s %s", changesIn(end), end.Result)
	}
	end = completed(t, b.run(next(command("", "rm -r d; cat x"))))
	if changesIn(end) != "removed d/e/f, removed d/e/l" {
		t.Errorf("%s", changesIn(end))
	}
	if _, err := b.Undo(t.Context(), workspace.RestoreRequest{Chat: store.ChatRef{Last: true}}); err != nil {
		t.Fatal(err)
	}
	end = completed(t, b.run(next(command("", "cat d/e/l"))))
	if !strings.Contains(end.Result, "1") || end.Status != event.CallSuccess {
		t.Errorf("%+v", end)
	}
	b.noLayersLeft(t)
}

func TestALayerThatCannotBeMountedFallsBack(t *testing.T) {
	t.Parallel()
	b, dir := layeredBench(t), t.TempDir()
	b.first(t, dir)
	b.o.Layers = func(context.Context, string, string) (string, error) { return "", nil }
	b.Pause = func(step string) {
		if step == "layer:made" { // as on a file system that can't be one
			made, _ := filepath.Glob(filepath.Join(b.LayersDir(), "*", "work"))
			for _, work := range made {
				os.Remove(work)
			}
		}
	}
	save(t, dir, "user.txt", "the user's")
	end := completed(t, b.run(next(command("", "echo 1 > a; stat -f -c %T ."))))
	if changesIn(end) != "added a" || strings.Contains(end.Result, "overlayfs") || end.Status != event.CallSuccess {
		t.Errorf("%s %s", changesIn(end), end.Result)
	}
	b.noLayersLeft(t)
}

// Renaming a folder of the lower layer is EXDEV, which programs report in their own words.
func TestACallThatFailsInALayerRunsDirectlyTheNextTime(t *testing.T) {
	t.Parallel()
	python := needtest.Program(t, "python3")
	if _, err := os.Stat("/usr/bin/python3"); err != nil {
		needtest.Lacking(t, python)
	}
	b, dir := layeredBench(t), t.TempDir()
	save(t, dir, "old/f", "1")
	b.first(t, dir)
	rename := next(command("", `/usr/bin/python3 -c 'import os; os.rename("old", "new")'`))
	end := completed(t, b.run(rename))
	if !strings.Contains(end.Result, "runs directly in the folder") || len(end.Changes) != 0 {
		t.Fatalf("%s %s", changesIn(end), end.Result)
	}
	if end = completed(t, b.run(rename)); changesIn(end) != "added new/f, removed old/f" {
		t.Errorf("%s %s", changesIn(end), end.Result)
	}
	if end = completed(t, b.run(next(command("", "stat -f -c %T .")))); !strings.Contains(end.Result, "overlayfs") {
		t.Errorf("%s", end.Result)
	}
}

func TestRepositoriesThatACallAddsInALayerAreSetAside(t *testing.T) {
	t.Parallel()
	b, dir := layeredBench(t), t.TempDir()
	save(t, dir, ".git/HEAD", "ref: refs/heads/main\n")
	b.first(t, dir)
	end := completed(t, b.run(next(command("", "mkdir -p deep/.git; echo 1 > deep/.git/config; echo 2 > .git/HEAD; mkdir -p bare/objects bare/refs; echo x > bare/HEAD"))))
	if !strings.Contains(end.Result, "deep/git-set-aside") {
		t.Errorf("%s", end.Result)
	}
	wantFile(t, dir, ".git/HEAD", "ref: refs/heads/main\n")
	wantFile(t, dir, "deep/.git/config", "")
	wantFile(t, dir, "deep/git-set-aside/config", "1\n")
	wantFile(t, dir, "bare/HEAD", "")
}

func TestCommandsThatMayWriteGitDoSoThroughALayer(t *testing.T) {
	t.Parallel()
	git := needtest.Program(t, "git")
	b, dir := layeredBench(t), t.TempDir()
	launcher := sandbox.New(sandbox.Options{KeeperEnv: []string{"GORACE=atexit_sleep_ms=0"}})
	t.Cleanup(func() { launcher.Close() })
	b.sandboxed(launcher, builtin.Commands{WriteGit: true})
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"config", "user.name", "n"}, {"config", "user.email", "e@x"}} {
		cmd := exec.Command(git, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
	}
	save(t, dir, "a", "1")
	b.first(t, dir)
	end := completed(t, b.run(next(command("", "git add -A && git commit -qm one && git mv a b && git commit -qm two && git checkout -q -b other && git fsck --strict && stat -f -c %T ."))))
	if changesIn(end) != "removed a, added b" && changesIn(end) != "added b, removed a" || !strings.Contains(end.Result, "overlayfs") {
		t.Errorf("%s %s", changesIn(end), end.Result)
	}
	cmd := exec.Command(git, "status", "--porcelain", "--branch")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "## other\n" {
		t.Errorf("%v %s", err, out)
	}
}

// An entry of another group may be written without a layer, and not with one.
func TestFoldersWithEntriesOfOthersHaveNoLayers(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		needtest.Lacking(t, "root, who alone can give files away")
	}
	b, dir := layeredBench(t), t.TempDir()
	save(t, dir, "shared/f", "1")
	if err := os.Chown(filepath.Join(dir, "shared/f"), 0, 12345); err != nil {
		t.Fatal(err)
	}
	b.first(t, dir)
	end := completed(t, b.run(next(command("", "echo 2 > shared/f; stat -f -c %T ."))))
	if changesIn(end) != "modified shared/f" || strings.Contains(end.Result, "overlayfs") {
		t.Errorf("%s %s", changesIn(end), end.Result)
	}
	if why := b.noLayers(t.Context(), managedFolder(t, dir)); !strings.Contains(why, "shared/f belongs to another") {
		t.Errorf("%q", why)
	}
	if err := os.Chown(filepath.Join(dir, "shared/f"), 0, 0); err != nil {
		t.Fatal(err)
	}
	b.run(next(command("", "true")))
	if end = completed(t, b.run(next(command("", "stat -f -c %T .")))); !strings.Contains(end.Result, "overlayfs") {
		t.Errorf("%s", end.Result)
	}
}
