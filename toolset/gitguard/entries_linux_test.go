package gitguard

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestEntriesAreThoseOfTheSystem compares the entries of a folder with those that the standard
// library reads, also where the file system lists no kinds.
func TestEntriesAreThoseOfTheSystem(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"d", ".git", "long" + strings.Repeat("x", 200)} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 2000 { // more than one buffer
		if err := os.WriteFile(filepath.Join(dir, "file"+strings.Repeat("y", i%40)+string(rune('a'+i%26))+strings.Repeat("z", i/40)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("d", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	got, err := list(root)
	if err != nil {
		t.Fatal(err)
	}
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := make([]entry, len(all))
	for i, e := range all {
		want[i] = entry{e.Name(), e.IsDir()}
		if e, ok := entryOf(root, e.Name(), unix.DT_UNKNOWN); !ok || e != want[i] {
			t.Errorf("without a kind %q is %v", e.name, e)
		}
	}
	slices.SortFunc(got, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	if !slices.Equal(got, want) {
		t.Errorf("%d entries, want %d", len(got), len(want))
	}
	if _, ok := entryOf(root, "gone", unix.DT_UNKNOWN); ok {
		t.Error("a name that does not exist is an entry")
	}
}
