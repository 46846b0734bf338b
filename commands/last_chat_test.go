package commands_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/commands/commandtest"
)

// -c names the chat that it continues if the user cannot be sure which one that is: it has
// not been used for a while, or a question that was asked after it is not kept.
func TestTheLastChatIsNamedIfItIsNotObvious(t *testing.T) {
	t.Parallel()
	w := newWorld(t, yesScript)
	w.Run(0, "ask", "--no-stdin", "about the bird")
	if _, errs := w.Run(0, "ask", "--no-stdin", "-c", "and then"); strings.Contains(errs, "chat 1") {
		t.Errorf("the chat of a moment ago is named: %q", errs)
	}
	doc, _ := w.Run(0, "chats", "export", "1", "-o", "json")
	old := regexp.MustCompile(`"(\w+_at|time)":\s*"20\d\d-`).ReplaceAllString(doc, `"$1":"2019-`)
	if old == doc {
		t.Fatalf("the document has no times: %s", doc)
	}
	for _, quiet := range []bool{false, true} {
		other := newWorld(t, yesScript)
		commandtest.Put(t, filepath.Join(other.Dir, "old.json"), old)
		other.Run(0, "chats", "import", "old.json")
		args := []string{"ask", "--no-stdin", "-c", "and now"}
		if quiet {
			args = append(args, "-q")
		}
		_, errs := other.Run(0, args...)
		if named := strings.Contains(errs, "continuing chat 1 (about the bird) of ") && strings.Contains(errs, "2019"); named == quiet {
			t.Errorf("with -q %v standard error is %q", quiet, errs)
		}
		if _, errs = other.Run(0, "ask", "--no-stdin", "--chat", "1", "and now"); strings.Contains(errs, "continuing") {
			t.Errorf("a chat that the command names is named again: %q", errs)
		}
	}
	// A question that its provider never got takes a number, and nothing else.
	w.Configure("providers: {p: {type: openai, base_url: 'http://127.0.0.1:1/v1', key: k-0123456789}}")
	w.Run(4, "ask", "--no-stdin", "-c", "-m", "p/m", "not kept")
	if _, errs := w.Run(0, "ask", "--no-stdin", "-c", "-m", "script/m.yaml", "go on"); !strings.Contains(errs, "this continues chat 1 (about the bird): a question that was asked after it is not kept") {
		t.Errorf("standard error is %q", errs)
	}
}
