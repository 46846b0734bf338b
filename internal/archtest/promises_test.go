package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// promise matches a line of the table of SECURITY.md: its last cell names a package
// and the tests in it.
var promise = regexp.MustCompile("(?m)^\\|.*\\| `([^`]+)` (Test[A-Za-z0-9_, ]+?) \\|$")

// Each promise of SECURITY.md names tests that exist.
func TestEachPromiseNamesItsTest(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "SECURITY.md"))
	if err != nil {
		t.Fatal(err)
	}
	lines := promise.FindAllStringSubmatch(string(text), -1)
	if rows := strings.Count(string(text), "\n| ") - 1; len(lines) == 0 || len(lines) != rows {
		t.Errorf("%d of %d promises name a test", len(lines), rows)
	}
	for _, line := range lines {
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(line[1]), "*_test.go"))
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
		for _, name := range strings.Split(line[2], ", ") {
			if !strings.Contains(all.String(), "\nfunc "+name+"(t *testing.T)") {
				t.Errorf("SECURITY.md names %s of %s, which does not exist", name, line[1])
			}
		}
	}
}
