package builtin

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/toolset"
)

func TestWriteFile(t *testing.T) {
	t.Parallel()
	ws := newWorkspace(t, map[string]string{"old.txt": "x\n", "dos.txt": "a\r\nb\r\n"})
	for _, tt := range []struct {
		name string
		args object
		text string
		want writeData
	}{
		{"a new file", object{"path": "new.txt", "content": "a\nb\n"}, "made new.txt (4 bytes, 2 lines)", writeData{"new.txt", 4, 2, true}},
		{"in new folders", object{"path": "a/b/c.txt", "content": "é"}, "made a/b/c.txt (2 bytes, 1 line)", writeData{"a/b/c.txt", 2, 1, true}},
		{"over an old one", object{"path": "./old.txt", "content": ""}, "replaced old.txt (0 bytes, 0 lines)", writeData{"old.txt", 0, 0, false}},
		{"LF over CRLF", object{"path": "dos.txt", "content": "a\n"}, "replaced dos.txt (2 bytes, 1 line); its line endings were CRLF and are LF now", writeData{"dos.txt", 2, 1, false}},
		{"a Unicode name", object{"path": "日本/ü 🌱.txt", "content": "x"}, "made 日本/ü 🌱.txt (1 byte, 1 line)", writeData{"日本/ü 🌱.txt", 1, 1, true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := do(t, ws, "write_file", tt.args)
			if res.Text != tt.text {
				t.Errorf("got %q, want %q", res.Text, tt.text)
			}
			if got := data[writeData](t, res); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
			if got := get(t, ws, tt.want.Written); got != tt.args["content"] {
				t.Errorf("the file has %q", got)
			}
		})
	}
	noLeftovers(t, ws.Path)
}

// noLeftovers finds temporary files that a write left behind.
func noLeftovers(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(d.Name(), ".fettle-") {
			t.Errorf("left behind: %s", p)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestWriteFileRefuses(t *testing.T) {
	t.Parallel()
	ws := newWorkspace(t, map[string]string{"dir/f": "x", "locked": "keep"})
	if err := os.Chmod(filepath.Join(ws.Path, "locked"), 0o444); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, path, want string }{
		{"a folder", "dir", "dir is a folder, so no file can be written there"},
		{"a name with a slash at its end", "new/", "path new/ names a folder; give the path of a file"},
		{"below a file", "dir/f/g", "dir/f is a file, not a folder"},
		{"a read-only file", "locked", "locked is read-only (mode 0444)"},
		{"outside", "../x", "path ../x is outside the workspace; give a path relative to the workspace, such as notes.txt or src/main.go"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := refused(t, ws, "write_file", object{"path": tt.path, "content": "y"}); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if _, err := (writeArgs{Path: "big", Content: new(strings.Repeat("x", maxWrite+1))}).run(t.Context(), ws); err == nil || !strings.HasPrefix(err.Error(), "content has 16.8 MB") {
		t.Errorf("got %v", err)
	}
	if got := get(t, ws, "dir/f") + get(t, ws, "locked"); got != "xkeep" {
		t.Errorf("the files have %q", got)
	}
	noLeftovers(t, ws.Path)
}

func TestModesAreKept(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no modes")
	}
	ws := newWorkspace(t, map[string]string{"run.sh": "#!/bin/sh\n", "secret": "s"})
	for name, mode := range map[string]os.FileMode{"run.sh": 0o755, "secret": 0o600} {
		full := filepath.Join(ws.Path, name)
		if err := os.Chmod(full, mode); err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{"write_file", "edit_file"} {
			args := object{"path": name, "content": "old\n"}
			if id == "edit_file" {
				args = object{"path": name, "old_text": "old", "new_text": "new"}
			}
			do(t, ws, id, args)
			info, err := os.Stat(full)
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode().Perm() != mode {
				t.Errorf("%s left %s with mode %04o, want %04o", id, name, info.Mode().Perm(), mode)
			}
		}
	}
}

// TestWriteIsAtomic reads a file while it is replaced again and again: it is
// always one of the two contents, whole.
func TestWriteIsAtomic(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 100_000)
	ws := newWorkspace(t, map[string]string{"f": long})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 20 {
			args, _ := encode(object{"path": "f", "content": []string{"short", long}[i%2]})
			if _, err := tools()["write_file"].entry.Runner.Run(t.Context(), toolset.Call{Workspace: ws, Args: args}); err != nil {
				t.Error(err)
			}
		}
	}()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		raw, err := os.ReadFile(filepath.Join(ws.Path, "f"))
		if err != nil && runtime.GOOS != "windows" {
			t.Fatal(err)
		}
		if got := string(raw); err == nil && got != long && got != "short" {
			t.Fatalf("read %d bytes that nobody wrote", len(got))
		}
	}
}

func TestWriteThatIsOvertaken(t *testing.T) {
	t.Parallel()
	ws := newWorkspace(t, map[string]string{"f": "one"})
	at, err := findWritable(ws, "f")
	if err != nil {
		t.Fatal(err)
	}
	put(t, ws, "f", "someone else's")
	want := "f was changed by someone else meanwhile; nothing was written; read it again"
	if err := writeAtomic(t.Context(), ws, at, []byte("mine")); err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	fresh, err := findWritable(ws, "new")
	if err != nil {
		t.Fatal(err)
	}
	put(t, ws, "new", "someone else's")
	if err := writeAtomic(t.Context(), ws, fresh, []byte("mine")); err == nil || !strings.HasPrefix(err.Error(), "new was changed") {
		t.Errorf("got %v", err)
	}
	if got := get(t, ws, "f") + get(t, ws, "new"); got != "someone else'ssomeone else's" {
		t.Errorf("the files have %q", got)
	}
	noLeftovers(t, ws.Path)
}
