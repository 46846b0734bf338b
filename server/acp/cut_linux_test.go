package acp_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/server/acp"
)

// cutOff leaves what a call wrote in a session that was cut off: a file with its own id as
// the name.
func (h *house) cutOff(session, call string) {
	h.t.Helper()
	root, err := os.OpenRoot(h.project)
	must(h.t, err)
	defer root.Close()
	layers := filepath.Join(h.dir, "data", "layers")
	must(h.t, os.MkdirAll(layers, 0o700))
	layer := filepath.Join(layers, call)
	_, err = cas.NewLayer(layer, &cas.Workspace{Root: root, Path: h.project, Bound: true}, cas.LayerMeta{ChatID: session, CallID: call})
	must(h.t, err)
	must(h.t, os.WriteFile(filepath.Join(layer, "upper", call), []byte("1"), 0o600))
}

// An editor's user learns of a call that was cut off by the answer to the next prompt, and
// applies or discards what it wrote by a command.
func TestWhatACutCallWroteIsDecidedByACommand(t *testing.T) {
	t.Parallel()
	h := open(t, usual)
	e := h.connect()
	e.answer = choose("allow")
	e.initialize()
	s := e.newSession(h.project)
	e.prompt(s, "/cut")
	e.prompt(s, "write it")
	const one, two = "01J00000000000000000000001", "01J00000000000000000000002"
	h.cutOff(s, one)
	h.cutOff(s, two)
	e.forget()
	e.prompt(s, "hello")
	notices := fmt.Sprint(e.updates("notice"))
	if !strings.Contains(notices, acp.CutAdvice(one)) || strings.Contains(notices, "fettle workspace") {
		t.Errorf("the notices are %s", notices)
	}
	for _, c := range []struct{ prompt, want string }{
		{"/cut", "added " + one + "\n\n`/cut apply " + one + "` applies it"},
		{"/cut throw", "/cut takes the word apply or discard"},
		{"/cut apply", "Name one call by its id: `/cut apply " + one + "`, `/cut apply " + two + "`"},
		{"/cut apply 01", "Applied 1 change. /undo reverts this.\n- added " + one},
		{"/cut discard", "Removed what the call " + two},
		{"/cut", "No call was cut off here"},
	} {
		e.forget()
		e.prompt(s, c.prompt)
		if got := e.text("agent_message_chunk"); !strings.Contains(got, c.want) {
			t.Errorf("%s says %q, not %q", c.prompt, got, c.want)
		}
	}
	for call, there := range map[string]bool{one: true, two: false} {
		if _, err := os.Stat(filepath.Join(h.project, call)); (err == nil) != there {
			t.Errorf("%s: %v", call, err)
		}
	}
}
