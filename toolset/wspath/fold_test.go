package wspath

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/toolset"
)

// ignoringCase returns a disk that finds the entries of another one regardless of case
// below a folder, as a folder of ext4 with the attribute F, APFS and NTFS do. The folders
// list names as they were made, and the identities of the files are those of the disk.
func ignoringCase(d disk, below string) disk {
	truly := func(name string) string {
		at := below
		rest, ok := strings.CutPrefix(name, below)
		if !ok && below != "." {
			return name
		}
		if below == "." {
			rest = name
		}
		for _, part := range components(rest) {
			d.eachName(at, func(listed string) bool {
				if strings.EqualFold(listed, part) {
					part = listed
					return false
				}
				return true
			})
			at = path.Join(at, part)
		}
		return at
	}
	return disk{
		lstat:    func(name string) (fs.FileInfo, error) { return d.lstat(truly(name)) },
		readlink: func(name string) (string, error) { return d.readlink(truly(name)) },
		open:     func(name string) (*os.File, error) { return d.open(truly(name)) },
	}
}

// casefolded opens a workspace with files, on a disk that ignores case from the
// workspace's parent on.
func casefolded(t *testing.T, files ...string) resolver {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ws, err := toolset.OpenManaged(filepath.Join(base, "WorkSpace"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ws.Close() })
	for _, name := range files {
		file := filepath.Join(ws.Path, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r := newResolver(ws)
	r.in = ignoringCase(r.in, ".")
	r.all = ignoringCase(r.all, filepath.ToSlash(base))
	return r
}

// Where a folder ignores case, every spelling of a file has the file's own name, and a rule
// for the file is compared without case.
func TestSpellingsInAFolderThatIgnoresCase(t *testing.T) {
	t.Parallel()
	r := casefolded(t, ".env", "Src/Main.go", "été/Ärger", "straße")
	ws := filepath.ToSlash(r.ws.Path)
	for value, want := range map[string]string{
		".ENV": ".env", ".EnV": ".env", "./.Env": ".env", "src/../.ENV": ".env", ".env": ".env",
		"SRC/main.GO": "Src/Main.go", "src/new.go": "Src/new.go", "ÉTÉ/ärger": "été/Ärger", "STRAßE": "straße",
		".Envs": ".Envs", ws + "/.ENV": ".env", path.Dir(ws) + "/WORKSPACE/.ENV": ".env", path.Dir(ws) + "/workspace/src/Main.go": "Src/Main.go",
	} {
		var m Meaning
		r.of(&m, value)
		for _, names := range m.Readings {
			if names[0] != want || !m.Fold {
				t.Errorf("%s means %q, fold %v; want %s", value, names, m.Fold, want)
			}
		}
	}
	for name, want := range map[string]string{".eNV": ".env", "SRC/MAIN.go": "Src/Main.go", "Src/other": "Src/other"} {
		at, err := r.find(name)
		if err != nil || at.Name != want || !at.Fold {
			t.Errorf("the tools open %q for %s, fold %v, %v; want %s", at.Name, name, at.Fold, err, want)
		}
	}
}

// A new file in a folder that shows nothing about case is held to rules without case: the
// folder can ignore case though the one above it does not.
func TestAnEmptyFolderCountsAsOneThatIgnoresCase(t *testing.T) {
	t.Parallel()
	ws, err := toolset.OpenManaged(filepath.Join(t.TempDir(), "ws"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ws.Close() })
	if at, err := Find(ws, ".ENV"); err != nil || !at.Fold {
		t.Errorf("fold %v, %v", at.Fold, err)
	}
	if err := ws.Root.WriteFile("letters", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, statErr := ws.Root.Lstat("LETTERS")
	if at, err := Find(ws, ".ENV"); err != nil || at.Fold != (statErr == nil) {
		t.Errorf("with an entry that has letters: fold %v, %v", at.Fold, err)
	}
}

// A rule denies what a walk finds, also by another case where the folder ignores it.
func TestADeniedEntryOfAWalk(t *testing.T) {
	t.Parallel()
	r := casefolded(t, "Secret/key", "open")
	var asked []bool
	r.ws.Denied = func(name string, fold bool) (string, bool) {
		asked = append(asked, fold)
		return "deny read_file(secret/**)", fold && strings.HasPrefix(strings.ToLower(name), "secret")
	}
	if !r.foldsOnTheWay("Secret/key") {
		t.Error("the folder of the entry does not fold")
	}
	_, err := r.ws.Root.Lstat("SECRET")
	if _, denied := DeniedEntry(r.ws, "Secret/key"); denied != (err == nil) || !slices.Equal(asked, []bool{false, true}) {
		t.Errorf("denied %v, asked %v", denied, asked)
	}
}

// A path that leads into the workspace by another name of a folder above it means the file
// in the workspace.
func TestTheWorkspaceByAnotherName(t *testing.T) {
	t.Parallel()
	r := casefolded(t, ".env")
	real, rel, inside, fold := r.locate(path.Dir(filepath.ToSlash(r.ws.Path)) + "/wORKSPACE/.ENV")
	if !inside || rel != ".ENV" || !fold || real != filepath.ToSlash(r.ws.Path) {
		t.Errorf("%s %s %v %v", real, rel, inside, fold)
	}
}
