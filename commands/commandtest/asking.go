//go:build linux || darwin

package commandtest

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// AskingScript is a model that writes a.txt by a call, which is asked about.
const AskingScript = `
responses:
  - {step: 0, text: I write., calls: [{name: write_file, args: {path: a.txt, content: "one\ntwo\n"}}]}
  - {step: 1, text: The **end**.}
`

// question is what is asked, on 80 columns.
const question = "  [y] once  [c] this chat  [a] always: write_file(a.txt)  [n] no  [?] details"

// UntilAsked waits until the question was put n times. Its choices may be
// wrapped.
func (c *Terminal) UntilAsked(n int) {
	c.T.Helper()
	deadline := time.Now().Add(Wait)
	for strings.Count(strings.ReplaceAll(c.Screen(), "\n  [", "  ["), question) < n {
		if time.Now().After(deadline) {
			c.T.Fatalf("the question wasn't put %d times:\n%s", n, c.Screen())
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// Folder makes a folder to bind, and names the file that the script writes.
func (w *World) Folder() string {
	w.T.Helper()
	if err := os.MkdirAll(filepath.Join(w.Dir, "project"), 0o755); err != nil {
		w.T.Fatal(err)
	}
	return filepath.Join(w.Dir, "project", "a.txt")
}
