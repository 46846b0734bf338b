package builtin

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/fettle-cli/fettle/toolset"
)

// A tool that has a layer writes there, with the modes that the workspace has, and leaves the
// workspace as it is.
func TestFilesAreWrittenToTheLayer(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no permission bits")
	}
	ws := newWorkspace(t, map[string]string{"d/old.txt": "one\n"})
	for name, mode := range map[string]fs.FileMode{"d": 0o750, "d/old.txt": 0o604} {
		if err := os.Chmod(filepath.Join(ws.Path, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	layer := t.TempDir()
	ws.Layer = &toolset.Layer{Upper: layer}
	do(t, ws, "edit_file", object{"path": "d/old.txt", "old_text": "one", "new_text": "two"})
	do(t, ws, "write_file", object{"path": "d/new/deep.txt", "content": "three"})
	for name, want := range map[string]struct {
		text string
		mode fs.FileMode
	}{"d": {"", 0o750}, "d/old.txt": {"two\n", 0o604}, "d/new": {"", 0}, "d/new/deep.txt": {"three", 0}} {
		path := filepath.Join(layer, name)
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		if want.mode != 0 && info.Mode().Perm() != want.mode {
			t.Errorf("%s has mode %v, want %v", name, info.Mode().Perm(), want.mode)
		}
		if text, _ := os.ReadFile(path); string(text) != want.text {
			t.Errorf("%s has %q, want %q", name, text, want.text)
		}
	}
	if got := get(t, ws, "d/old.txt"); got != "one\n" {
		t.Errorf("the workspace has %q", got)
	}
	if _, err := os.Lstat(filepath.Join(ws.Path, "d/new")); !os.IsNotExist(err) {
		t.Errorf("a folder was made in the workspace: %v", err)
	}
}

func TestTheLayerKeepsFoldersReadOnly(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no permission bits")
	}
	ws := newWorkspace(t, map[string]string{"locked/f": "x"})
	if err := os.Chmod(filepath.Join(ws.Path, "locked"), 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(ws.Path, "locked"), 0o755) })
	ws.Layer = &toolset.Layer{Upper: t.TempDir()}
	want := "the folder locked is read-only (mode 0555)"
	if got := refused(t, ws, "write_file", object{"path": "locked/new", "content": ""}); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
