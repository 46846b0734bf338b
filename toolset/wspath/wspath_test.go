package wspath_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/wspath"
)

func workspace(t *testing.T, files ...string) *toolset.Workspace {
	t.Helper()
	ws, err := toolset.OpenManaged(filepath.Join(t.TempDir(), "ws"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ws.Close() })
	for _, name := range files {
		full := filepath.Join(ws.Path, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return ws
}

func link(t *testing.T, ws *toolset.Workspace, target, name string) {
	t.Helper()
	if err := os.Symlink(target, filepath.Join(ws.Path, filepath.FromSlash(name))); err != nil {
		t.Skip("links can't be made here: " + err.Error())
	}
}

func TestOfReturnsEveryFileThatAValueCanMean(t *testing.T) {
	t.Parallel()
	ws := workspace(t, "src/main.go", "notes/a.md", "src/deep/x", ".env")
	link(t, ws, "../src/main.go", "notes/link")
	link(t, ws, "../src/deep", "notes/dir")
	outside := filepath.Join(filepath.Dir(ws.Path), "outside")
	if err := os.MkdirAll(outside, 0o755); err != nil {
		t.Fatal(err)
	}
	link(t, ws, outside, "notes/out")
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string][]string{ // the first name of each reading
		"src/main.go":                  {"src/main.go"},
		"./src/main.go":                {"src/main.go"},
		"notes/../src/main.go":         {"src/main.go"},
		"notes//../src/./main.go":      {"src/main.go"},
		"notes/link":                   {"src/main.go"},
		"notes/dir/x":                  {"src/deep/x"},
		"notes/dir/../main.go":         {"notes/main.go", "src/main.go"}, // dots first; links first
		"./.env":                       {".env"},
		"none/x":                       {"none/x"},
		"notes/new":                    {"notes/new"},
		"notes/out/x":                  {filepath.ToSlash(outside) + "/x"},
		"../outside/x":                 {filepath.ToSlash(outside) + "/x"},
		"x\n/../.env":                  {".env"},
		filepath.Join(ws.Path, ".env"): {".env"},
		"a text":                       {"a text"},
		"":                             {""},
		"a\x00b":                       {"a\x00b"},
		strings.Repeat("x", 5000):      {strings.Repeat("x", 5000)},
	} {
		var got []string
		for _, names := range wspath.Of(ws, value).Readings {
			got = append(got, names[0])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%.40q means %q, want %q", value, got, want)
		}
	}
	for value, want := range map[string]string{
		`"\x2eenv"`: ".env", // a quoted name, as the tools read it
		"~/x":       filepath.ToSlash(filepath.Join(home, "x")),
		"file://" + filepath.ToSlash(ws.Path) + "/%2eenv": ".env",
	} {
		if filepath.Separator != '/' && strings.HasPrefix(value, "file:") {
			continue // such addresses have a drive on Windows
		}
		if !slices.ContainsFunc(wspath.Of(ws, value).Readings, func(names []string) bool { return names[0] == want }) {
			t.Errorf("%q can't mean %q: %q", value, want, wspath.Of(ws, value).Readings)
		}
	}
}

// Each reading of a path in the workspace has its absolute name, too.
func TestReadingsHaveAnAbsoluteName(t *testing.T) {
	t.Parallel()
	ws := workspace(t, "a/b")
	got := wspath.Of(ws, "a/./b").Readings
	want := [][]string{{"a/b", filepath.ToSlash(filepath.Join(ws.Path, "a", "b"))}}
	if len(got) != 1 || !slices.Equal(got[0], want[0]) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWithoutAWorkspaceTheSpellingDecides(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{"a/../b": "b", "./b": "b", "/x//y": "/x/y"} {
		if got := wspath.Of(nil, value).Readings; len(got) != 1 || got[0][0] != want {
			t.Errorf("%q means %q, want %q", value, got, want)
		}
	}
}

// The true case of a name is that of the folder, where the file system ignores case.
func TestNamesHaveTheCaseOfTheFolder(t *testing.T) {
	t.Parallel()
	ws := workspace(t, "Dir/File.txt", ".env")
	_, err := os.Stat(filepath.Join(ws.Path, "dir"))
	ignores := err == nil
	for _, name := range []string{"dir/file.TXT", "DIR/File.txt"} {
		at, err := wspath.Find(ws, name)
		if err != nil {
			t.Fatal(err)
		}
		if want := map[bool]string{true: "Dir/File.txt", false: name}[ignores]; at.Name != want || at.Fold != ignores {
			t.Errorf("%s is found as %s, fold %v; want %s", name, at.Name, at.Fold, want)
		}
	}
	at, err := wspath.Find(ws, "dir/New.txt")
	if err != nil || at.Fold != ignores {
		t.Errorf("a new file: fold is %v, %v", at.Fold, err)
	}
}

// A hard link that differs in case alone doesn't make a file system ignore case.
func TestHardLinksDoNotFold(t *testing.T) {
	t.Parallel()
	ws := workspace(t, "abc")
	if err := os.Link(filepath.Join(ws.Path, "abc"), filepath.Join(ws.Path, "ABC")); err != nil {
		t.Skip("the file system ignores case, or has no hard links: " + err.Error())
	}
	at, err := wspath.Find(ws, "abc")
	if err != nil || at.Name != "abc" || at.Fold {
		t.Errorf("found %q, fold %v, %v", at.Name, at.Fold, err)
	}
}

func TestFindRefusesWhatARuleDenies(t *testing.T) {
	t.Parallel()
	ws := workspace(t, "secret/key", "open")
	link(t, ws, "secret/key", "alias")
	ws.Denied = func(name string, _ bool) (string, bool) {
		return "deny read_file(secret/**)", strings.HasPrefix(name, "secret")
	}
	for _, name := range []string{"secret/key", "alias", "secret/none"} {
		if _, err := wspath.Find(ws, name); err == nil || !strings.Contains(err.Error(), "denied by the rule deny read_file(secret/**)") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := wspath.Find(ws, "open"); err != nil {
		t.Error(err)
	}
}

func FuzzOf(f *testing.F) {
	for _, s := range []string{"a/../b", `"\x2e"`, "~/x", "file:///x", "/", "..", "a//b", "\\\\x\\y", "C:x"} {
		f.Add(s)
	}
	ws, err := toolset.OpenManaged(filepath.Join(f.TempDir(), "ws"))
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = ws.Close() })
	f.Fuzz(func(t *testing.T, value string) {
		m := wspath.Of(ws, value)
		if len(m.Readings) == 0 {
			t.Fatalf("%q means nothing", value)
		}
		for _, names := range m.Readings {
			if len(names) == 0 || len(value) > 0 && names[0] == "" {
				t.Errorf("%q has an empty reading: %q", value, m.Readings)
			}
		}
		if name, err := wspath.Name(ws, value); err == nil {
			if at, err := wspath.Find(ws, name); err == nil && !slices.ContainsFunc(m.Readings, func(names []string) bool { return names[0] == at.Name }) {
				t.Errorf("the tools open %q for %q, rules see %q", at.Name, value, m.Readings)
			}
		}
	})
}
