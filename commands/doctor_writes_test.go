package commands_test

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// contentsOf are the files below a folder by name, to see that nothing changed.
func contentsOf(t *testing.T, dir string) map[string][32]byte {
	t.Helper()
	out := map[string][32]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			out[path] = [32]byte{}
			return err
		}
		data, err := os.ReadFile(path)
		out[path] = sha256.Sum256(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestDoctorWritesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{responses: [{when: "", text: Hi.}]}`)
	w.Run(0, "ask", "--no-stdin", "hi")
	w.Run(0, "chats", "list") // makes the store
	w.Run(0, "ask", "--no-stdin", "hi")
	for i := range 70 { // more journals than a command leaves waiting
		path := filepath.Join(w.Dir, "data", "journal", fmt.Sprintf("01J%023d.jsonl", i))
		if err := os.WriteFile(path, []byte("{}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := contentsOf(t, w.Dir)
	w.Run(0, "doctor")
	w.Run(0, "doctor", "-o", "json")
	if diff := cmp.Diff(before, contentsOf(t, w.Dir)); diff != "" {
		t.Errorf("files (-before +after):\n%s", diff)
	}
}
