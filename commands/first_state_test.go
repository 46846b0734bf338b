package commands_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A first state of very many files says so with its numbers; a second one of the
// same folder, and one of few files, don't.
func TestALargeFirstStateIsAnnounced(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it makes 20,001 files")
	}
	w := newWorld(t, `responses:
  - {when: write, step: 0, calls: [{name: write_file, args: {path: notes.txt, content: "one\n"}}]}
  - {when: "", text: Done.}
`)
	large, small := filepath.Join(w.Dir, "large"), filepath.Join(w.Dir, "small")
	if err := os.MkdirAll(small, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range 20_001 {
		dir := filepath.Join(large, fmt.Sprint(i/500))
		if i%500 == 0 {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const said = "the first state of"
	for _, ask := range []struct {
		args []string
		want string
	}{
		{[]string{"-w", large}, "kept the first state of " + large + ": 20001 files, 0 MB"},
		{[]string{"-c"}, ""},
		{[]string{"-w", small}, ""},
	} {
		out, _ := w.Run(0, append([]string{"ask", "--yes", "--no-stdin", "-o", "json", "write"}, ask.args...)...)
		if !strings.Contains(out, "Done.") || !strings.Contains(out, ask.want) || ask.want == "" && strings.Contains(out, said) {
			t.Errorf("fettle ask %v printed:\n%s", ask.args, out)
		}
	}
}
