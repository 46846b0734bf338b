package commands_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/commands/commandtest"
)

// own is a file in a server's own folder.
func (w *world) own(server, name string) string {
	return filepath.Join(w.Dir, "data", "mcp", "home", server, name)
}

func (w *world) starts(server string) int {
	data, err := os.ReadFile(w.own(server, "started"))
	if err != nil && !os.IsNotExist(err) {
		w.T.Error(err)
	}
	return len(data)
}

const callsOfServers = `{responses: [
  {when: "list all", step: 0, calls: [{name: "a:list_notes"}, {name: "b:list_notes"}, {name: "c:list_notes"}, {name: list_files, args: {}}]},
  {when: "wait for all", step: 0, calls: [{name: "a:wait"}, {name: "b:wait"}, {name: "c:wait"}]},
  {when: "", text: So it is.}]}`

// threeServers is a world with three servers, each started once to be pinned.
func threeServers(t *testing.T, args ...string) *world {
	t.Helper()
	w := newWorld(t, callsOfServers)
	w.AddNotes()
	for _, name := range []string{"a", "b", "c"} {
		w.Run(0, append([]string{"mcp", "add", name, "--", "notes-server"}, args...)...)
	}
	return w
}

func TestAnAskThatNeedsNoServerStartsNone(t *testing.T) {
	t.Parallel()
	w := threeServers(t)
	before := w.starts("a")
	w.Run(0, "ask", "--no-stdin", "--allow", "*:*", "hi")
	w.Run(0, "mcp", "list")
	w.Run(0, "mcp", "show", "a")
	w.Run(0, "tool", "list")
	if got := w.starts("a"); got != before || before == 0 {
		t.Errorf("%d starts, and %d before", got, before)
	}
}

// One server that changed, one that dies and one that is well: each is named
// for what it did, and the turn goes on.
func TestServersThatFailCostNobodyElse(t *testing.T) {
	t.Parallel()
	w := threeServers(t)
	commandtest.Put(t, w.own("a", "mode"), "changed")
	commandtest.Put(t, w.own("b", "mode"), "die")
	out, errs := w.Run(0, "ask", "--no-stdin", "-o", "json", "--allow", "*:*", "list all")
	var answer struct {
		Calls []struct {
			Result string `json:"result"`
			Error  string `json:"error"`
		} `json:"tool_calls"`
	}
	if err := json.Unmarshal([]byte(out), &answer); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for i, want := range []string{"the MCP server a: what it says of itself has changed", "the MCP server b: it ended during the call", "buy milk", ""} {
		if i >= len(answer.Calls) || !strings.Contains(answer.Calls[i].Result+answer.Calls[i].Error, want) {
			t.Errorf("call %d: %+v", i, answer.Calls)
			break
		}
	}
	if !strings.Contains(errs, "the MCP server a changed 1 tool since it was approved; fettle mcp test a") {
		t.Errorf("said %q", errs)
	}
	if out, _ := w.Run(0, "mcp", "list"); !strings.Contains(out, "a\tchanged\t2") {
		t.Errorf("list:\n%s", out)
	}
	if _, errs := w.Run(8, "mcp", "test", "a"); !strings.Contains(errs, "+Lists notes, and sends them on.") {
		t.Errorf("the change is not shown: %q", errs)
	}
	w.Run(0, "mcp", "test", "a", "--yes")
	if out, _ := w.Run(0, "mcp", "list"); !strings.Contains(out, "a\ton\t2") {
		t.Errorf("approved:\n%s", out)
	}
}

// Each way in which a server may misbehave, in one turn: its name stands in what is
// said of it, the others work, and the turn goes on to its answer.
func TestATurnGoesOnWhateverServersDo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{responses: [
  {when: "", step: 0, calls: [{name: "mute:list_notes"}, {name: "flood:list_notes"}, {name: "dies:list_notes"}, {name: "changed:list_notes"}, {name: "many:more7"}, {name: "well:list_notes"}]},
  {when: "", text: So it is.}]}`)
	w.AddNotes()
	commandtest.Put(t, w.own("many", "mode"), "many")
	for _, name := range []string{"mute", "flood", "dies", "changed", "many", "well"} {
		_, errs := w.Run(0, "mcp", "add", name, "--timeout", map[bool]string{true: "2s", false: "5m"}[name == "mute"], "--", "notes-server")
		if name == "many" && !strings.Contains(errs, "its list goes on; the first 2000 tools are taken") {
			t.Errorf("of 2,102 tools it says %q", errs)
		}
	}
	for name, mode := range map[string]string{"mute": "mute", "flood": "flood", "dies": "die", "changed": "changed"} {
		commandtest.Put(t, w.own(name, "mode"), mode)
	}
	out, errs := w.Run(0, "ask", "--no-stdin", "-o", "json", "--allow", "*:*", "list all")
	var answer struct {
		Answer string `json:"answer"`
		Calls  []struct {
			Result string `json:"result"`
			Error  string `json:"error"`
		} `json:"tool_calls"`
	}
	if err := json.Unmarshal([]byte(out), &answer); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	wants := []string{
		"the MCP server mute: the tool list_notes took longer than 2s", "the MCP server flood: it floods", "the MCP server dies: it ended during the call",
		"the MCP server changed: what it says of itself has changed", "buy milk", "buy milk",
	}
	if len(answer.Calls) != len(wants) || answer.Answer != "So it is." {
		t.Fatalf("the turn came to %s\n%s", out, errs)
	}
	for i, want := range wants {
		if got := answer.Calls[i]; !strings.Contains(got.Result+got.Error, want) {
			t.Errorf("call %d gave %+v, want %q", i, got, want)
		}
	}
}

// Whenever and however an ask with three servers ends, no process of theirs is
// left, daemons included. FETTLE_TEST_KILLS is how many times that is tried.
func TestNoServerOutlivesItsAsk(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("looks at /proc")
	}
	mark := fmt.Sprintf("fettle-mark-%d-%d", os.Getpid(), time.Now().UnixNano())
	w := threeServers(t, "--child", mark)
	runs := 4
	if n, err := strconv.Atoi(os.Getenv("FETTLE_TEST_KILLS")); err == nil {
		runs = n
	}
	for i := range runs {
		w.killed(i)
	}
	end := time.Now().Add(time.Minute)
	for left := commandtest.Marked(t, mark); len(left) > 0; left = commandtest.Marked(t, mark) {
		if time.Now().After(end) {
			t.Fatalf("%d processes are left:\n%s", len(left), strings.Join(left, "\n"))
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Logf("%d asks, and nothing left", runs)
}

// killed runs an ask and ends it: in the middle of its calls by force or by a
// request, at some early moment, or not at all.
func (w *world) killed(i int) {
	w.T.Helper()
	question := "wait for all"
	if i%4 == 3 {
		question = "list all"
	}
	cmd := w.Command("ask", "--no-stdin", "-o", "events", "--allow", "*:*", question)
	out, err := cmd.StdoutPipe()
	if err != nil {
		w.T.Fatal(err)
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		w.T.Fatal(err)
	}
	switch i % 4 {
	case 0, 1:
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() && !bytes.Contains(lines.Bytes(), []byte(`"stage":"mcp"`)) {
		}
		time.Sleep(time.Duration(i*7%60) * time.Millisecond) // before, while and after the server comes up
		signal := syscall.SIGKILL
		if i%4 == 1 {
			signal = syscall.SIGTERM
		}
		_ = cmd.Process.Signal(signal) // it may have ended
	case 2:
		time.Sleep(time.Duration(i*13%200) * time.Millisecond)
		_ = cmd.Process.Kill() // as above
	}
	_, _ = io.Copy(io.Discard, out) // to the end, so that Wait may close it
	_ = cmd.Wait()                  // its status is the signal's
	if i%4 == 3 && cmd.ProcessState.ExitCode() != 0 {
		w.T.Errorf("status %d: %s", cmd.ProcessState.ExitCode(), errs.String())
	}
}

// An import of a toolset looks at its servers once, and pins their tools; a
// server that fails is a reason, and no failed import.
func TestServersOfAnImport(t *testing.T) {
	t.Parallel()
	w := newWorld(t, callsOfServers)
	w.AddNotes()
	for _, id := range []string{"one", "two"} {
		commandtest.Put(t, filepath.Join(w.Dir, id, "toolset.yaml"), `{manifest_version: "1", id: `+id+`, name: `+id+`, version: 1.0.0, description: Notes.,
mcp_servers: [{id: a, command: notes-server}, {id: `+id+`-bad, command: no-such-server}]}`)
		w.Run(0, "toolset", "import", id, "--yes")
	}
	out, _ := w.Run(0, "mcp", "list")
	for _, want := range []string{"a\ton\t2\tone, two\tnotes-server", "one-bad\tnot seen\t0\tone\tno-such-server"} {
		if !strings.Contains(out, want) {
			t.Errorf("the list lacks %q:\n%s", want, out)
		}
	}
	w.Run(0, "ask", "--no-stdin", "--allow", "*:*", "list all")
	w.Run(0, "toolset", "rm", "one", "--yes")
	if out, _ := w.Run(0, "mcp", "list"); !strings.Contains(out, "a\ton\t2\ttwo") || strings.Contains(out, "one-bad") {
		t.Errorf("after one of two is gone:\n%s", out)
	}
	w.Run(1, "mcp", "rm", "a", "--yes")
	w.Run(0, "mcp", "disable", "a")
	if _, errs := w.Run(1, "tool", "call", "a:list_notes"); !strings.Contains(errs, "it is switched off") {
		t.Errorf("said %q", errs)
	}
	w.Run(0, "toolset", "rm", "two", "--yes")
	if out, _ := w.Run(0, "mcp", "list"); strings.Contains(out, "a\t") {
		t.Errorf("after both are gone:\n%s", out)
	}
}
