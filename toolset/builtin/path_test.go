package builtin

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/wspath"
)

const relative = "; give a path relative to the workspace, such as notes.txt or src/main.go"

func TestPaths(t *testing.T) {
	t.Parallel()
	ws := newWorkspace(t, map[string]string{"a/b.txt": "x", "sp ace.txt": "x", "..odd": "x"})
	secret := filepath.Join(filepath.Dir(ws.Path), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, path, want string }{ // want is the text, or the error after a !
		{"plain", "a/b.txt", "x"},
		{"with a dot", "./a/./b.txt", "x"},
		{"with a double slash", "a//b.txt", "x"},
		{"up and down inside", "a/../a/b.txt", "x"},
		{"absolute, inside", filepath.Join(ws.Path, "a", "b.txt"), "x"},
		{"with a space", "sp ace.txt", "x"},
		{"two dots as part of a name", "..odd", "x"},
		{"a quoted name", `"a/b.txt"`, "x"},
		{"empty", "", "!path is empty; give a path relative to the workspace, such as notes.txt"},
		{"absolute, outside", secret, "!path " + secret + " is outside the workspace" + relative},
		{"absolute, beside with the same beginning", ws.Path + "x/secret", "!path " + ws.Path + "x/secret is outside the workspace" + relative},
		{"up", "../secret", "!path ../secret is outside the workspace" + relative},
		{"up, hidden", "a/../../secret", "!path a/../../secret is outside the workspace" + relative},
		{"up alone", "..", "!path .. is outside the workspace" + relative},
		{"up, absolute", ws.Path + "/../secret", "!path " + ws.Path + "/../secret is outside the workspace" + relative},
		{"home", "~/notes", "!path ~/notes: ~ is not known here; give a path relative to the workspace"},
		{"NUL", "a\x00b", `!path "a\x00b" holds a NUL character`},
		{"controls are shown", "no\x1b[2Jsuch", `!there is no file "no\x1b[2Jsuch"; list_files shows what is there`},
		{"too long", strings.Repeat("a/", 2100), "!path has 4200 bytes; 4096 are allowed"},
		{"a name that is too long", strings.Repeat("a", 300), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			res, err := try(t, ws, "read_file", object{"path": tt.path})
			want, fails := strings.CutPrefix(tt.want, "!")
			switch {
			case tt.want == "" && err == nil:
				t.Error("it was read")
			case tt.want == "": // the system's own words
			case fails && (err == nil || err.Error() != want):
				t.Errorf("got %v\nwant %s", err, want)
			case !fails && (err != nil || res.Text != want):
				t.Errorf("got %q, %v", res.Text, err)
			}
		})
	}
}

func TestLinks(t *testing.T) {
	t.Parallel()
	ws := newWorkspace(t, map[string]string{"dir/file": "inside\n"})
	outside := filepath.Dir(ws.Path)
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{
		"in": "dir/file", "dir/up": "../dir/file", "indir": "dir", "absin": filepath.Join(ws.Path, "dir", "file"), "dir/absin": filepath.Join(ws.Path, "dir"),
		"out": "../secret", "absout": filepath.Join(outside, "secret"), "outdir": "..", "chain": "out",
		"circle": "circle2", "circle2": "circle", "dangling": "dir/none", "deep": "dir/../../secret",
	} {
		link(t, ws, target, name)
	}
	for _, name := range []string{"in", "dir/up", "indir/file", "absin", "dir/absin/file"} {
		if got := do(t, ws, "read_file", object{"path": name}).Text; got != "inside\n" {
			t.Errorf("%s reads %q", name, got)
		}
	}
	for name, want := range map[string]string{
		"out": "out is a link that leads out of the workspace", "absout": "absout is a link that leads out of the workspace",
		"outdir/secret": "outdir/secret is a link that leads out of the workspace", "chain": "chain is a link that leads out of the workspace",
		"deep": "deep is a link that leads out of the workspace", "circle": "circle is a link that leads in a circle",
		"dangling": "dangling leads to dir/none, and there is no such file",
	} {
		for _, id := range []string{"read_file", "edit_file", "search_files", "list_files", "write_file"} {
			if id == "write_file" && name == "dangling" {
				continue
			}
			args := object{"path": name}
			switch id {
			case "edit_file":
				args["old_text"], args["new_text"] = "secret", "gotcha"
			case "write_file":
				args["content"] = "gotcha"
			case "search_files":
				args["query"] = "secret"
			}
			if got := refused(t, ws, id, args); got != want {
				t.Errorf("%s of %s: got %q, want %q", id, name, got, want)
			}
		}
	}
	// A link stays a link; what it leads to is written, or made.
	do(t, ws, "write_file", object{"path": "in", "content": "new\n"})
	do(t, ws, "edit_file", object{"path": "absin", "old_text": "new", "new_text": "newer"})
	do(t, ws, "write_file", object{"path": "dangling", "content": "made\n"})
	for _, name := range []string{"in", "absin", "dangling"} {
		if info, err := os.Lstat(filepath.Join(ws.Path, name)); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s is no link any more: %v", name, err)
		}
	}
	if got := get(t, ws, "dir/file") + get(t, ws, "dir/none"); got != "newer\nmade\n" {
		t.Errorf("the files have %q", got)
	}
	if raw, err := os.ReadFile(filepath.Join(outside, "secret")); err != nil || string(raw) != "secret" {
		t.Errorf("outside: %q, %v", raw, err)
	}
	list := do(t, ws, "list_files", object{"depth": 1}).Text
	if !strings.Contains(list, "out -> ../secret\n") || !strings.Contains(list, "indir -> dir\n") {
		t.Errorf("the listing has\n%s", list)
	}
	if got := do(t, ws, "search_files", object{"query": "secret"}).Text; strings.Contains(got, "secret\n") || !strings.HasPrefix(got, "[no match") {
		t.Errorf("a search found %q", got)
	}
}

func bound(t *testing.T, ws *toolset.Workspace) *toolset.Workspace {
	t.Helper()
	b := *ws
	b.Bound = true
	return &b
}

func TestGitIsOutOfReach(t *testing.T) {
	t.Parallel()
	managed := newWorkspace(t, map[string]string{".git/config": "token\n", "sub/.git": "gitdir: x\n", ".gitignore": "x\n", "a/.github/x": "y\n"})
	link(t, managed, ".git", "alias")
	link(t, managed, ".git/config", "conf")
	ws := bound(t, managed)
	for _, name := range []string{".git/config", ".git", "sub/.git", ".GIT/config", "new/.git/hooks/post-commit", "alias/config", "conf", ".git./config", ".git /config", ".git::$INDEX_ALLOCATION/config"} {
		for _, id := range []string{"read_file", "write_file", "edit_file", "list_files", "search_files"} {
			args := object{"path": name}
			switch id {
			case "edit_file":
				args["old_text"], args["new_text"] = "token", "x"
			case "write_file":
				args["content"] = "x"
			case "search_files":
				args["query"] = "token"
			}
			if got := refused(t, ws, id, args); !strings.HasSuffix(got, "belongs to git; these tools neither read nor write it") {
				t.Errorf("%s of %s: %s", id, name, got)
			}
		}
	}
	for _, name := range []string{".gitignore", "a/.github/x"} {
		do(t, ws, "read_file", object{"path": name})
	}
	if got := do(t, ws, "search_files", object{"query": "token"}).Text; !strings.HasPrefix(got, "[no match in the workspace (2 files") {
		t.Errorf("a search gives %q", got)
	}
	if got := do(t, ws, "list_files", object{}).Text; !strings.Contains(got, ".git/  [git's own, not listed]\n") || strings.Contains(got, "\n.git/config") {
		t.Errorf("the listing has\n%s", got)
	}
	// fettle's own workspace is content, all of it.
	if got := do(t, managed, "read_file", object{"path": ".git/config"}).Text; got != "token\n" {
		t.Errorf("managed: %q", got)
	}
	if got := do(t, managed, "list_files", object{"path": ".git"}).Text; got != ".git/config  6 bytes" {
		t.Errorf("managed: %q", got)
	}
}

// TestLinkBetweenLookAndUse is the race of TestSwappedForALink, made certain: a
// file, and the folder of a file, become links out after find has looked.
func TestLinkBetweenLookAndUse(t *testing.T) {
	t.Parallel()
	ws := newWorkspace(t, map[string]string{"f": "inside\n", "d/f": "inside\n"})
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "f"), []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var places []place
	for _, name := range []string{"f", "d/f"} {
		at, err := resolve(ws, name)
		if err != nil {
			t.Fatal(err)
		}
		places = append(places, at)
	}
	for name, target := range map[string]string{"f": filepath.Join(outside, "f"), "d": outside} {
		if err := os.RemoveAll(filepath.Join(ws.Path, name)); err != nil {
			t.Fatal(err)
		}
		link(t, ws, target, name)
	}
	for _, at := range places {
		if f, err := openRegular(ws, at); err == nil {
			f.Close()
			t.Errorf("%s was opened", at.Given)
		}
		if err := writeAtomic(t.Context(), ws, at, []byte("gotcha")); err == nil {
			t.Errorf("%s was written", at.Given)
		}
	}
	if _, _, err := readDir(ws, "d", 10); err == nil {
		t.Error("the folder outside was listed")
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
		t.Errorf("outside there are %v, %v", entries, err)
	}
	noLeftovers(t, ws.Path)
}

// TestSwappedForALink replaces a file and a folder by links that lead out,
// again and again, while the tools work on them. Whatever they find, they
// never read or write outside.
func TestSwappedForALink(t *testing.T) {
	t.Parallel()
	ws := newWorkspace(t, map[string]string{"f": "inside\n", "d/f": "inside\n"})
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "f"), []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	link(t, ws, filepath.Join(outside, "f"), "probe")
	var stop atomic.Bool
	done := make(chan error, 1)
	go func() { done <- swap(ws.Path, outside, &stop) }()
	calls := []struct {
		id   string
		args object
	}{
		{"read_file", object{"path": "f"}},
		{"read_file", object{"path": "d/f"}},
		{"search_files", object{"query": "e"}},
		{"list_files", object{}},
		{"write_file", object{"path": "d/f", "content": "inside\n"}},
		{"edit_file", object{"path": "d/f", "old_text": "inside", "new_text": "inside!"}},
		{"write_file", object{"path": "f", "content": "inside\n"}},
	}
	for range 60 {
		for _, c := range calls {
			args, err := encode(c.args)
			if err != nil {
				t.Fatal(err)
			}
			res, err := tools()[c.id].entry.Runner.Run(t.Context(), toolset.Call{Workspace: ws, Args: args})
			if strings.Contains(res.Text, "secret\n") || strings.Contains(string(res.Data), "secret") {
				t.Fatalf("%s read outside: %s", c.id, res.Text)
			}
			var own *toolset.ToolError
			if err != nil && !errors.As(err, &own) {
				t.Errorf("%s: %v", c.id, err)
			}
		}
	}
	stop.Store(true)
	if err := <-done; err != nil {
		t.Error(err)
	}
	entries, err := os.ReadDir(outside)
	if err != nil || len(entries) != 1 {
		t.Errorf("outside there are %v, %v", entries, err)
	}
	if raw, err := os.ReadFile(filepath.Join(outside, "f")); err != nil || string(raw) != "secret\n" {
		t.Errorf("outside: %q, %v", raw, err)
	}
}

func swap(dir, outside string, stop *atomic.Bool) error {
	f, d, away := filepath.Join(dir, "f"), filepath.Join(dir, "d"), filepath.Join(dir, "away")
	for !stop.Load() {
		os.Remove(f)
		os.Symlink(filepath.Join(outside, "f"), f)
		os.Rename(d, away)
		os.Symlink(outside, d)
		for i := 0; i < 100 && os.Rename(away, d) != nil; i++ {
			os.RemoveAll(d) // the link, or a folder that a write made and may still fill
		}
		os.Remove(f)
		if err := os.WriteFile(f, []byte("inside\n"), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func FuzzLocate(f *testing.F) {
	for _, p := range []string{"a/b", "../x", "/etc/passwd", "a/../../b", `"\xff"`, "~", "a//./b/", ".git", "C:\\x", "\x00"} {
		f.Add(p)
	}
	ws, err := toolset.OpenManaged(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	defer ws.Close()
	f.Fuzz(func(t *testing.T, given string) {
		name, err := wspath.Name(ws, given)
		if err != nil {
			if len(err.Error()) > 20_000 {
				t.Fatalf("a message of %d bytes", len(err.Error()))
			}
			return
		}
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			t.Fatalf("%q gave %q", given, name)
		}
		if again, err := wspath.Name(ws, name); name != "" && (err != nil || again != name) && !strings.HasPrefix(name, "~") && !strings.HasPrefix(name, `"`) {
			t.Fatalf("%q gave %q, and that %q, %v", given, name, again, err)
		}
	})
}

// A rule that denies a tool a path hides it from the tools that walk folders, and from
// those that reach it by a link.
func TestDeniedPaths(t *testing.T) {
	t.Parallel()
	ws := newWorkspace(t, map[string]string{"secret/key": "needle\n", "open/a": "needle\n", "b": "needle\n"})
	link(t, ws, "../secret/key", "open/alias")
	link(t, ws, "../secret", "open/dir")
	ws.Denied = func(name string, _ bool) (string, bool) {
		return "deny *(path=secret/**)", name == "secret" || strings.HasPrefix(name, "secret/")
	}
	for _, call := range []struct {
		tool string
		args object
	}{
		{"read_file", object{"path": "secret/key"}}, {"read_file", object{"path": "open/alias"}}, {"read_file", object{"path": "open/dir/key"}},
		{"write_file", object{"path": "secret/new", "content": "x"}}, {"write_file", object{"path": "open/dir/new", "content": "x"}},
		{"edit_file", object{"path": "open/alias", "old_text": "needle", "new_text": "x"}},
		{"list_files", object{"path": "open/dir"}}, {"search_files", object{"query": "needle", "path": "secret"}},
	} {
		if _, err := try(t, ws, call.tool, call.args); err == nil || !strings.Contains(err.Error(), "is denied by the rule deny *(path=secret/**)") {
			t.Errorf("%s %v: %v", call.tool, call.args, err)
		}
	}
	if got := do(t, ws, "list_files", object{}).Text; strings.Contains(got, "\nsecret") || !strings.Contains(got, "[1 entry not listed: a rule denies them]") {
		t.Errorf("the listing is\n%s", got)
	}
	got := do(t, ws, "search_files", object{"query": "needle"}).Text
	if strings.Contains(got, "secret") || !strings.Contains(got, "open/a") || !strings.Contains(got, "1 not searched: a rule denies them") {
		t.Errorf("the search gives\n%s", got)
	}
}
