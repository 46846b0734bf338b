package serve_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/internal/needtest"
	"github.com/fettle-cli/fettle/internal/nodetest"
)

// editorsTake bounds what an editor's client does: seconds here, and a machine that
// builds at the same time may take twenty times as long.
const editorsTake = 3 * time.Minute

const editorScript = `
responses:
  - {when: "^slow", deltas: [{content: Half}], hang: true}
  - {when: "^write", step: 0, text: I write it., calls: [{name: write_file, args: {path: notes/a.txt, content: "one\n"}}]}
  - {when: "", text: Hello there.}
`

// The TypeScript SDK drives whole turns: a permission, a link with unsaved text, a
// load in another process, undo, cancels.
func TestSDKDrivesACP(t *testing.T) {
	t.Parallel()
	drivesACP(t, "sdk.mjs")
}

// Zed's SDK of an earlier protocol drives a turn with a permission and a diff, and one in
// another mode.
func TestZedsSDKDrivesACP(t *testing.T) {
	t.Parallel()
	drivesACP(t, "zed.mjs")
}

// drivesACP runs the script of an editor's side, which has three scenarios.
func drivesACP(t *testing.T, name string) {
	t.Helper()
	modules, node := nodetest.Find(t, nodetest.Editors())
	w := newWorld(t, editorScript)
	dir, project := t.TempDir(), realDir(t)
	script, err := os.ReadFile(filepath.Join(needtest.Root(t), "server", "acp", "testdata", "clients", name))
	if err := errors.Join(err, os.WriteFile(filepath.Join(dir, name), script, 0o600), os.Symlink(modules, filepath.Join(dir, "node_modules"))); err != nil {
		t.Fatal(err)
	}
	cmd := w.Command()
	cmd.Path, cmd.Args = node, []string{node, filepath.Join(dir, name), project, os.Args[0], "acp", "--log", "off"}
	cmd.Env = append(w.Env, "FETTLE_MODEL=script/"+filepath.Join(w.Dir, "m.yaml"))
	out := timed(t, cmd)
	if strings.Count(out, "ok ") != 3 || strings.Contains(out, "not ok") {
		t.Errorf("%s", out)
	}
}

// acpx runs one prompt, and its transcript ends well.
func TestACPXRunsAPrompt(t *testing.T) {
	t.Parallel()
	modules, node := nodetest.Find(t, nodetest.Editors())
	w := newWorld(t, editorScript)
	project := realDir(t)
	cmd := w.Command()
	if node, err := exec.LookPath(node); err != nil {
		t.Fatal(err)
	} else {
		cmd.Path = node
	}
	cmd.Args = []string{
		node, filepath.Join(modules, "acpx", "dist", "cli.js"), "--agent", os.Args[0] + " acp --log off", "--cwd", project,
		"--approve-all", "--format", "json", "exec", "write it",
	}
	cmd.Env = append(w.Env, "FETTLE_MODEL=script/"+filepath.Join(w.Dir, "m.yaml"))
	out := timed(t, cmd)
	var stop, text string
	for line := range strings.Lines(out) {
		var m struct {
			Result struct{ StopReason string }
			Params struct {
				Update struct {
					SessionUpdate string
					Content       json.RawMessage
				}
			}
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if m.Result.StopReason != "" {
			stop = m.Result.StopReason
		}
		if m.Params.Update.SessionUpdate == "agent_message_chunk" {
			var c struct{ Text string }
			if err := json.Unmarshal(m.Params.Update.Content, &c); err != nil {
				t.Fatal(err)
			}
			text += c.Text
		}
	}
	if stop != "end_turn" || text != "I write it.Hello there." {
		t.Errorf("it stopped for %q after %q\n%s", stop, text, out)
	}
	if on, err := os.ReadFile(filepath.Join(project, "notes", "a.txt")); err != nil || string(on) != "one\n" {
		t.Errorf("the file has %q, %v", on, err)
	}
	said, _ := w.Run(0, "chats", "list", "-o", "json")
	if !strings.Contains(said, `"write it"`) {
		t.Errorf("the chats are %s", said)
	}
	w.Run(0, "undo")
	if _, err := os.Stat(filepath.Join(project, "notes", "a.txt")); err == nil {
		t.Error("fettle undo left the file")
	}
	denied := exec.CommandContext(t.Context(), cmd.Path, slices.Replace(slices.Clone(cmd.Args[1:]), 5, 6, "--deny-all")...)
	denied.Env = cmd.Env
	if out, _ := denied.CombinedOutput(); denied.ProcessState.ExitCode() != 5 {
		t.Errorf("with every question denied it ended with %d:\n%s", denied.ProcessState.ExitCode(), out)
	}
	if _, err := os.Stat(filepath.Join(project, "notes", "a.txt")); err == nil {
		t.Error("the file was written although the user denied it")
	}
	if n := newACPDefs(t).hold(t, out); n < 10 {
		t.Errorf("the transcript has %d messages:\n%s", n, out)
	}
}

// realDir is a folder by the name that the system has for it.
func realDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// timed runs a program to its end, and gives what it printed.
func timed(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	late := time.AfterFunc(editorsTake, func() {
		if cmd.Process != nil {
			_ = cmd.Process.Kill()
		}
	})
	defer late.Stop()
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("%v\n%s\n%s", err, out, errs.String())
	}
	return string(out)
}

// acpProcess is a `fettle acp` that a test writes to.
func (w *world) acpProcess(args ...string) (cmd *exec.Cmd, say func(string), hear func(string) string) {
	w.T.Helper()
	return w.speak(append([]string{"acp"}, args...)...)
}

// editing is an editor's session with fettle acp.
type editing struct {
	cmd     *exec.Cmd
	say     func(string)
	hear    func(string) string
	session string
}

// edit opens a session in a project, with MCP servers of the editor's.
func (w *world) edit(project, servers string) *editing {
	w.T.Helper()
	e := &editing{}
	e.cmd, e.say, e.hear = w.acpProcess("--log", "off", "--model", "script/"+filepath.Join(w.Dir, "m.yaml"))
	e.say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`)
	e.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":%q,"mcpServers":[%s]}}`, project, servers))
	var opened struct{ Result struct{ SessionID string } }
	if err := json.Unmarshal([]byte(e.hear(`"sessionId"`)), &opened); err != nil {
		w.T.Fatal(err)
	}
	e.session = opened.Result.SessionID
	return e
}

// ask sends a prompt, as the request of an id.
func (e *editing) ask(id int, text string) {
	e.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":%q}]}}`, id, e.session, text))
}

// speak starts a fettle that a test exchanges lines of JSON with. An empty line
// ends its input; hear gives the next line with a text, empty where none comes.
func (w *world) speak(args ...string) (cmd *exec.Cmd, say func(string), hear func(string) string) {
	w.T.Helper()
	cmd = w.Command(args...)
	in, err := cmd.StdinPipe()
	if err != nil {
		w.T.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		w.T.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.T.Fatal(err)
	}
	w.T.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	lines := bufio.NewReader(out)
	say = func(line string) {
		if line == "" {
			_ = in.Close()
			return
		}
		if _, err := in.Write([]byte(line + "\n")); err != nil {
			w.T.Fatal(err)
		}
	}
	hear = func(part string) string {
		w.T.Helper()
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				return ""
			}
			if !json.Valid([]byte(line)) {
				w.T.Errorf("standard output has %q", line)
			}
			if strings.Contains(line, part) {
				return line
			}
		}
	}
	return cmd, say, hear
}
