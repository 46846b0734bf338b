package toolset

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"testing"
)

func mkdir(t *testing.T, parts ...string) string {
	t.Helper()
	dir := filepath.Join(parts...)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestCheckBound(t *testing.T) {
	t.Parallel()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home := mkdir(t, base, "users", "ann")
	project := mkdir(t, home, "project")
	data := mkdir(t, base, "var", "fettle")
	inside := mkdir(t, data, "chats", "1")
	file := filepath.Join(base, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(base, "link")
	linked := os.Symlink(home, link) == nil
	for _, tt := range []struct {
		name, dir string
		places    Places
		want      string
	}{
		{"a project", project, Places{Home: home, DataDir: data}, ""},
		{"a folder beside everything", mkdir(t, base, "other"), Places{Home: home, DataDir: data}, ""},
		{"the home directory", home, Places{Home: home, DataDir: data}, "it is your home directory"},
		{"the home directory, spelt otherwise", filepath.Join(project, ".."), Places{Home: home, DataDir: data}, "it is your home directory"},
		{"above the home directory", filepath.Join(base, "users"), Places{Home: home, DataDir: data}, "your home directory is inside it"},
		{"the data directory", data, Places{Home: home, DataDir: data}, "it is fettle's data directory"},
		{"above the data directory", filepath.Join(base, "var"), Places{Home: home, DataDir: data}, "fettle's data directory is inside it"},
		{"inside the data directory", inside, Places{Home: home, DataDir: data}, "it is inside fettle's data directory"},
		{"above a data directory that isn't there yet", filepath.Join(base, "var"), Places{Home: home, DataDir: filepath.Join(base, "var", "new", "fettle")}, "fettle's data directory is inside it"},
		{"beside a data directory that isn't there yet", project, Places{Home: home, DataDir: filepath.Join(base, "var", "new", "fettle")}, ""},
		{"below the parent of a data directory that isn't there yet", inside, Places{Home: home, DataDir: filepath.Join(base, "var", "new")}, ""},
		{"a data directory inside the project", project, Places{Home: home, DataDir: filepath.Join(project, ".fettle")}, "fettle's data directory is inside it"},
		{"no folder", filepath.Join(base, "nothing"), Places{Home: home, DataDir: data}, "there is no such folder"},
		{"a file", file, Places{Home: home, DataDir: data}, "it is not a folder"},
		{"the root", filepath.VolumeName(base) + string(filepath.Separator), Places{Home: home, DataDir: data}, "it is the root of the file system"},
		{"a link to the home directory", link, Places{Home: home, DataDir: data}, "it is your home directory"},
		{"no places to keep away from", project, Places{Home: home}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.dir == link && !linked {
				t.Skip("this system makes no links")
			}
			err := CheckBound(tt.dir, tt.places)
			var refused *RefusedError
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case tt.want != "" && (!errors.As(err, &refused) || refused.Reason != tt.want || refused.Path != tt.dir):
				t.Errorf("got %v, want %s", err, tt.want)
			}
			if ws, err := OpenBound(tt.dir, tt.places); err == nil {
				if tt.want != "" {
					t.Error("OpenBound opened it")
				}
				if !ws.Bound || !filepath.IsAbs(ws.Path) {
					t.Errorf("opened as %+v", ws)
				}
				if err := ws.Close(); err != nil {
					t.Error(err)
				}
			} else if tt.want == "" {
				t.Errorf("OpenBound: %v", err)
			}
		})
	}
}

// TestHomeOfTheSystem can't run beside others: it sets the environment.
func TestHomeOfTheSystem(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home) // Windows
	var refused *RefusedError
	if err := CheckBound(home, Places{}); !errors.As(err, &refused) || refused.Reason != "it is your home directory" {
		t.Errorf("got %v", err)
	}
}

func TestOpenManaged(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "chats", "1", "workspace")
	ws, err := OpenManaged(dir)
	if err != nil {
		t.Fatal(err)
	}
	if ws.Bound {
		t.Error("it is bound")
	}
	info, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	if perm := info.Mode().Perm(); runtime.GOOS != "windows" && perm != 0o700 {
		t.Errorf("mode %v", perm)
	}
	if err := ws.Root.WriteFile("a", []byte("x"), 0o600); err != nil {
		t.Error(err)
	}
	if _, err := ws.Root.Open("../secret"); err == nil {
		t.Error("the root leads out")
	}
	if err := ws.Close(); err != nil {
		t.Error(err)
	}
	again, err := OpenManaged(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := again.Root.ReadFile("a"); err != nil || string(got) != "x" {
		t.Errorf("got %q, %v", got, err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenManaged(file); err == nil {
		t.Error("a file was opened as a workspace")
	}
}

// A placeholder that a running process has put in the folder changes no policy: services
// are started again for another one.
func TestAPlaceholderChangesNoPolicy(t *testing.T) {
	t.Parallel()
	without := Policy{}.On(&Workspace{Path: "/work", Bound: true, Repositories: []string{"a/.git"}})
	with := Policy{}.On(&Workspace{Path: "/work", Bound: true, Repositories: []string{".git", "a/.git"}})
	if !reflect.DeepEqual(with, without) {
		t.Errorf("%v, and %v", with.Sealed, without.Sealed)
	}
}
