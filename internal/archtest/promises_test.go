package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// proof matches a package and the tests in it, in the last cell of a line of the table of
// SECURITY.md. A cell may have several, with semicolons between.
var proof = regexp.MustCompile("^`([^`]+)` (Test[A-Za-z0-9_]+(?:, Test[A-Za-z0-9_]+)*)$")

// Each promise of SECURITY.md names tests that exist.
func TestEachPromiseNamesItsTest(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "SECURITY.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "|---|---|---|\n")
	if !found {
		t.Fatal("SECURITY.md has no table of promises")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	for _, line := range strings.Split(strings.TrimSpace(table), "\n") {
		cells := strings.Split(strings.Trim(line, "| "), "|")
		if len(cells) != 3 {
			t.Errorf("this line has %d cells: %s", len(cells), line)
			continue
		}
		for _, each := range strings.Split(strings.TrimSpace(cells[2]), "; ") {
			m := proof.FindStringSubmatch(each)
			if m == nil {
				t.Errorf("this is no package with tests: %s", each)
				continue
			}
			code := testsOf(t, filepath.Join(root, filepath.FromSlash(m[1])))
			for _, name := range strings.Split(m[2], ", ") {
				if !strings.Contains(code, "\nfunc "+name+"(t *testing.T)") {
					t.Errorf("SECURITY.md names %s of %s, which does not exist", name, m[1])
				}
			}
		}
	}
}

// testsOf returns the text of a package's tests.
func testsOf(t *testing.T, dir string) string {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(code)
	}
	return all.String()
}
