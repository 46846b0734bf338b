//go:build unix

package builtin

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestSpecialFilesAreNeverOpened: a pipe without a writer would block a read
// for ever, and a socket or device has effects.
func TestSpecialFilesAreNeverOpened(t *testing.T) {
	t.Parallel()
	ws := newWorkspace(t, map[string]string{"f": "text\n"})
	if err := syscall.Mkfifo(filepath.Join(ws.Path, "pipe"), 0o600); err != nil {
		t.Skipf("no named pipes: %v", err)
	}
	dir, err := os.MkdirTemp("", "s") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := os.Rename(filepath.Join(dir, "s"), filepath.Join(ws.Path, "socket")); err != nil {
		t.Skipf("the temporary folder lies elsewhere: %v", err)
	}
	for name, kind := range map[string]string{"pipe": "named pipe", "socket": "socket"} {
		for _, id := range []string{"read_file", "write_file", "edit_file"} {
			args := object{"path": name}
			switch id {
			case "edit_file":
				args["old_text"], args["new_text"] = "a", "b"
			case "write_file":
				args["content"] = "x"
			}
			want := name + " is a " + kind + "; only regular files can be opened"
			if got := refused(t, ws, id, args); got != want {
				t.Errorf("%s: got %q, want %q", id, got, want)
			}
		}
		if got := refused(t, ws, "search_files", object{"query": "x", "path": name}); !strings.Contains(got, "only regular files") {
			t.Errorf("search_files: %q", got)
		}
	}
	if got := do(t, ws, "search_files", object{"query": "text"}).Text; got != "f\n1: text" {
		t.Errorf("a search beside them gives %q", got)
	}
	if got := do(t, ws, "list_files", object{}).Text; got != "f  5 bytes\npipe  [named pipe]\nsocket  [socket]" {
		t.Errorf("the listing has\n%s", got)
	}
}

// TestSwappedForAPipe: a file that becomes a pipe between the look and the
// open is noticed, without waiting for a writer.
func TestSwappedForAPipe(t *testing.T) {
	t.Parallel()
	ws := newWorkspace(t, map[string]string{"f": "text\n"})
	at, err := resolve(ws, "f")
	if err != nil {
		t.Fatal(err)
	}
	full := filepath.Join(ws.Path, "f")
	if err := os.Remove(full); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(full, 0o600); err != nil {
		t.Skipf("no named pipes: %v", err)
	}
	done := make(chan error, 1)
	go func() {
		f, err := openRegular(ws, at)
		if err == nil {
			f.Close()
		}
		done <- err
	}()
	select {
	case err := <-done:
		if err == nil || err.Error() != "f is a named pipe; only regular files can be opened" {
			t.Errorf("got %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the open waits for a writer")
	}
}

func TestNamesThatArentText(t *testing.T) {
	t.Parallel()
	ws := newWorkspace(t, map[string]string{"tab\tand\nnewline": "one\n", `"quoted"`: "two\n"})
	if err := os.WriteFile(filepath.Join(ws.Path, "latin\xFC"), []byte("three\n"), 0o600); err != nil {
		t.Skipf("this file system wants UTF-8: %v", err)
	}
	list := do(t, ws, "list_files", object{})
	want := `"\"quoted\""  4 bytes` + "\n" + `"latin\xfc"  6 bytes` + "\n" + `"tab\tand\nnewline"  4 bytes`
	if list.Text != want {
		t.Errorf("the listing has\n%s\nwant\n%s", list.Text, want)
	}
	// What is shown, and what the data has, both work as a path.
	names := strings.Split(want, "\n")
	for i, e := range data[listData](t, list).Entries {
		content := []string{"two\n", "three\n", "one\n"}[i]
		shown, _, _ := strings.Cut(names[i], "  ")
		for _, path := range []string{e.Path, shown} {
			if got := do(t, ws, "read_file", object{"path": path}).Text; got != content {
				t.Errorf("%s reads %q, want %q", path, got, content)
			}
		}
	}
	if got := do(t, ws, "search_files", object{"query": "three"}).Text; got != `"latin\xfc"`+"\n1: three" {
		t.Errorf("a search gives %q", got)
	}
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("root reads everything")
	}
	ws := newWorkspace(t, map[string]string{"closed/f": "x", "shut": "x", "open": "x\n"})
	for _, name := range []string{"closed", "shut"} {
		full := filepath.Join(ws.Path, name)
		if err := os.Chmod(full, 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(full, 0o700) })
	}
	if got := refused(t, ws, "read_file", object{"path": "shut"}); got != "no permission to read shut" {
		t.Errorf("got %q", got)
	}
	if got := refused(t, ws, "list_files", object{"path": "closed"}); got != "no permission to list closed" {
		t.Errorf("got %q", got)
	}
	if got := do(t, ws, "list_files", object{}).Text; got != "closed/  [can't be read]\nopen  2 bytes\nshut  1 byte" {
		t.Errorf("got %q", got)
	}
	if got := do(t, ws, "search_files", object{"query": "x"}).Text; got != "open\n1: x\n[2 could not be read]" {
		t.Errorf("got %q", got)
	}
}
