package patch

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fettle-cli/fettle/internal/needtest"
)

func TestPatches(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file File
		want string
	}{
		"changed": {File{"a.txt", []byte("1\n2\n"), []byte("1\n3\n"), "100644", "100644"},
			"diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n 1\n-2\n+3\n"},
		"added": {File{"a", nil, []byte("1\n"), "", "100755"},
			"diff --git a/a b/a\nnew file mode 100755\n--- /dev/null\n+++ b/a\n@@ -0,0 +1,1 @@\n+1\n"},
		"added empty": {File{"a", nil, nil, "", "100644"}, "diff --git a/a b/a\nnew file mode 100644\n"},
		"removed": {File{"a", []byte("1"), nil, "100644", ""},
			"diff --git a/a b/a\ndeleted file mode 100644\n--- a/a\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-1\n\\ No newline at end of file\n"},
		"mode": {File{"a", []byte("1"), []byte("1"), "100644", "100755"},
			"diff --git a/a b/a\nold mode 100644\nnew mode 100755\n"},
		"binary": {File{"a", []byte{0}, []byte{1, 0}, "100644", "100644"},
			"diff --git a/a b/a\nBinary files a/a and b/a differ\n"},
		"names": {File{"tab\tü", []byte("1\n"), []byte("2\n"), "100644", "100644"},
			"diff --git \"a/tab\\t\\303\\274\" \"b/tab\\t\\303\\274\"\n--- \"a/tab\\t\\303\\274\"\n+++ \"b/tab\\t\\303\\274\"\n@@ -1,1 +1,1 @@\n-1\n+2\n"},
	} {
		if got := Of(c.file).Text; got != c.want {
			t.Errorf("%s:\n%s\nwant:\n%s", name, got, c.want)
		}
	}
}

func TestCounts(t *testing.T) {
	t.Parallel()
	p := Of(File{"a", []byte("1\n2\n--3\n"), []byte("1\n++\n4\n"), "100644", "100644"})
	if p.Added != 2 || p.Removed != 2 {
		t.Errorf("+%d -%d:\n%s", p.Added, p.Removed, p.Text)
	}
}

// Git makes the new version of the old one by any patch.
func TestGitAppliesPatches(t *testing.T) {
	t.Parallel()
	git := needtest.Program(t, "git")
	line := rapid.SampledFrom([]string{"a\n", "b\n", "\n", "-\n", "+x\n", " y\n", "@@\n", "\\ No newline\n", "é\n", "\r\n"})
	text := rapid.Custom(func(t *rapid.T) string {
		s := strings.Join(rapid.SliceOfN(line, 0, 12).Draw(t, "lines"), "")
		if rapid.Bool().Draw(t, "no newline at the end") {
			s = strings.TrimSuffix(s, "\n")
		}
		return s
	})
	dir := t.TempDir()
	for i := range 40 {
		old, new := text.Example(2*i), text.Example(2*i+1)
		f := File{Path: "f", Old: []byte(old), New: []byte(new), OldMode: "100644", NewMode: "100644"}
		if old == new {
			continue
		}
		path := filepath.Join(dir, "f")
		if err := os.WriteFile(path, f.Old, 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), git, "apply", "--unidiff-zero", "-")
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(Of(f).Text)
		cmd.Env = append(os.Environ(), "GIT_DIR="+filepath.Join(dir, "none"), "GIT_CEILING_DIRECTORIES="+dir)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git apply: %v\n%s\n%s", err, out, Of(f).Text)
		}
		got, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got, f.New) {
			t.Errorf("%q to %q gave %q, %v", old, new, got, err)
		}
	}
}
