package engine

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/toolset"
)

// footnoteTexts are the texts that a turn's events show in addition to its answer.
func footnoteTexts(events []event.Event) string {
	var out []string
	for _, e := range events {
		if note, ok := e.Body.(event.Footnote); ok {
			out = append(out, note.Text)
		}
	}
	return strings.Join(out, "\n")
}

// A call that adds a repository to the user's folder, at any place and under any name,
// leaves none that git would use; undo removes what it added.
func TestACallPlantsNoRepository(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, prompt string
		aside        string
	}{
		{"at the root", `{"put":{".git/HEAD":"ref: refs/heads/x",".git/config":"[core]"}}`, "git-set-aside"},
		{"deeper, in other letter case", `{"put":{"a/.GIT/config":"[core]"}}`, "a/git-set-aside"},
		{"a file that names a folder", `{"put":{"a/.git":"gitdir: ../b"}}`, "a/git-set-aside"},
		{"bare", `{"put":{"b/HEAD":"ref: refs/heads/x","b/config":"x","b/objects/x":"","b/refs/x":""}}`, "b/HEAD-set-aside"},
		{"in a folder that rules leave out", `{"put":{"out/.git/config":"[core]"}}`, "out/git-set-aside"},
		{"in a folder that can be made again", `{"put":{"package.json":"{}","node_modules/p/.git/config":"x"}}`, "node_modules/p/git-set-aside"},
		{"by a call that fails", `{"put":{".git/config":"x"},"fail":"it failed"}`, "git-set-aside"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := changer(t, t.TempDir())
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, ".fettleignore"), []byte("out/\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			req := ask(c.prompt)
			req.Workspace, req.Policy.AllowAll = dir, true
			events := b.run(req)
			if notes := footnoteTexts(events); !strings.Contains(notes, c.aside+" now") {
				t.Errorf("the user isn't told: %q", notes)
			}
			end := find[event.ToolComplete](events)
			if end.Status == event.CallSuccess && !strings.Contains(end.Result, c.aside) {
				t.Errorf("the model isn't told: %q", end.Result)
			}
			if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(c.aside))); err != nil {
				t.Error(err)
			}
			for _, name := range []string{".git", "a/.GIT", "a/.git", "b/HEAD", "out/.git", "node_modules/p/.git"} {
				if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name))); err == nil {
					t.Errorf("%s is there", name)
				}
			}
			b.undo(1)
			left := tree(t, dir)
			for name := range left {
				if name != ".fettleignore" && !strings.HasPrefix(name, "out/") && !strings.HasPrefix(name, "node_modules/") {
					t.Errorf("undo leaves %s", name)
				}
			}
		})
	}
}

// Existing repositories are found before a call at any place, and changes by a call to
// files from which git runs commands are reverted if no sandbox sealed them.
func TestACallChangesNoRepositoryThatNothingSealed(t *testing.T) {
	t.Parallel()
	for _, sealed := range []bool{false, true} {
		var seen []string
		b := changer(t, t.TempDir(), tool("look", func(_ context.Context, c toolset.Call) (toolset.Result, error) {
			seen = append(seen, c.Workspace.Repositories...)
			seen = append(seen, c.Workspace.BareParts...)
			return toolset.Result{Text: "done"}, nil
		}))
		b.o.SealsRepositories = func(context.Context) bool { return sealed }
		dir := t.TempDir()
		for _, name := range []string{".git/config", "node_modules/p/.git/config", "package.json", "bare/HEAD", "bare/objects/x", "bare/refs/x", "bare/config"} {
			path := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte("mine"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		b.boundTo(dir, "look {}")
		if diff := cmp.Diff([]string{".git", "node_modules/p/.git", "bare/config", "bare/hooks"}, seen); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		b.did(lastChat, `{"put":{".git/config":"evil","bare/config":"evil",".git/hooks/post-checkout":"evil"}}`)
		for _, name := range []string{".git/config", "bare/config"} {
			text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
			if want := map[bool]string{false: "mine", true: "evil"}[sealed]; err != nil || string(text) != want {
				t.Errorf("%s: %q %v", name, text, err)
			}
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git/hooks/post-checkout")); (err == nil) != sealed {
			t.Errorf("the hook: %v", err)
		}
	}
}

// A turn that keeps no states guards the user's folder all the same.
func TestATurnThatKeepsNothingPlantsNoRepository(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	dir := t.TempDir()
	req := ask(`{"put":{"x/.git/config":"x"}}`)
	req.Workspace, req.Policy.AllowAll, req.Ephemeral = dir, true, true
	b.run(req)
	if _, err := os.Lstat(filepath.Join(dir, "x/.git")); err == nil {
		t.Error("it is there")
	}
}

// Commands may write repositories where the user's settings allow that, and no other
// tool may.
func TestCommandsMayWriteRepositoriesWhereAllowed(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	b.o.CommandsWriteGit = true
	ws := &toolset.Workspace{Path: t.TempDir(), Bound: true}
	var err error
	if ws.Root, err = os.OpenRoot(ws.Path); err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	run := &turn{eng: b.Engine, ctx: t.Context()}
	end := ended{call: &call{known: true, entry: toolset.Entry{Tool: toolset.Tool{ID: "run_command"}}}}
	if err := run.guardRepositories([]*call{end.call}, ws, false); err != nil {
		t.Fatal(err)
	}
	defer run.unguard()
	if err := ws.Root.WriteFile(".git", []byte("gitdir: x"), 0o644); err != nil {
		t.Fatal(err)
	}
	run.checked(end, ws)
	if _, err := ws.Root.Lstat(".git"); err != nil {
		t.Error(err)
	}
}

// Exclusion rules that a call writes don't count, so that undo restores the files that it
// and later calls change.
func TestACallChangesNoExclusionRules(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, rules, prompt string }{
		{"made", "", `{"put":{".fettleignore":"src/","src/a":"2"}}`},
		{"changed", "out/\n", `{"put":{".fettleignore":"src/","src/a":"2"}}`},
		{"removed", "out/\n", `{"rm":[".fettleignore"],"put":{"src/a":"2"}}`},
		{"replaced by a folder", "out/\n", `{"rm":[".fettleignore"],"put":{".fettleignore/x":"1","src/a":"2"}}`},
		{"a mark of folders that can be made again", "", `{"put":{"src/pyvenv.cfg":"x","src/a":"2"}}`},
		{"a mark of caches", "", `{"put":{"src/CACHEDIR.TAG":"Signature: 8a477f597d28d172789f06886806bc55","src/a":"2"}}`},
		{"a mark next to a folder", "", `{"put":{"package.json":"{}","node_modules/mine":"2","src/a":"2"}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := changer(t, t.TempDir())
			dir := t.TempDir()
			want := map[string]string{"src/a": "1", "node_modules/mine": "1"}
			if c.rules != "" {
				want[".fettleignore"] = c.rules
			}
			for name, text := range want {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			b.boundTo(dir, c.prompt)
			if c.rules != "" || c.name == "made" {
				text, _ := os.ReadFile(filepath.Join(dir, ".fettleignore"))
				if string(text) != c.rules {
					t.Errorf("the rules are %q", text)
				}
			}
			b.did(lastChat, `{"put":{"src/a":"3"}}`)
			b.undo(2)
			if diff := cmp.Diff(want, tree(t, dir)); diff != "" {
				t.Errorf("undo (-want +got):\n%s", diff)
			}
		})
	}
}
