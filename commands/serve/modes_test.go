package serve_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/commands/commandtest"
)

// modesScript reads, writes what a rule denies and what no rule is about, and runs a
// command.
const modesScript = `
responses:
  - {when: hello, text: Hello.}
  - when: go
    step: 0
    calls:
      - {name: read_file, args: {path: src/main.go}}
      - {name: write_file, args: {path: ./.env, content: changed}}
      - {name: write_file, args: {path: notes/a.md, content: written}}
      - {name: run_command, args: {command: "echo ran > made"}}
  - {when: go, text: Done.}
`

const modesConfig = `
deny: ['write_file(path=.env)']
agents:
  helper: {purpose: helps, prompt: You help., tools: ['*']}
`

// modesWorld is a world with a project, whose chat 1 works in it.
func modesWorld(t *testing.T) (w *world, project string) {
	t.Helper()
	w = newWorld(t, modesScript)
	w.Configure(modesConfig)
	project = realDir(t)
	for _, name := range []string{".env", "src/main.go"} {
		commandtest.Put(t, filepath.Join(project, filepath.FromSlash(name)), "secret of "+name+"\n")
	}
	w.Run(0, "ask", "-w", project, "hello")
	return w, project
}

// modeFrontEnds ask "go" in a mode, each in its own way.
var modeFrontEnds = map[string]func(t *testing.T, w *world, project, mode string){
	"ask": func(_ *testing.T, w *world, project, mode string) {
		w.with("", append([]string{"ask", "-w", project, "--tool", "*", "go"}, modeFlags(mode)...)...)
	},
	"a chat's flags": func(_ *testing.T, w *world, project, mode string) {
		w.with("go\n", append([]string{"chat", "-w", project, "--tool", "*"}, modeFlags(mode)...)...)
	},
	"a chat's commands": func(_ *testing.T, w *world, project, mode string) {
		command := "/approvals " + mode
		if mode == "plan" {
			command = "/plan"
		}
		w.with(command+"\ngo\n", "chat", "-w", project, "--tool", "*")
	},
	"a chat that keeps its mode": func(_ *testing.T, w *world, _, mode string) {
		command := "/approvals " + mode
		if mode == "plan" {
			command = "/plan"
		}
		w.with(command+"\n", "chat", "-c")
		w.with("", "ask", "-c", "--tool", "*", "go")
	},
	"HTTP": func(_ *testing.T, w *world, _, mode string) {
		body := `{"message":"go","conversation_id":1,"tools":["*"],"approvals":"` + mode + `"}`
		if mode == "plan" {
			body = `{"message":"go","conversation_id":1,"tools":["*"],"plan":true}`
		}
		w.serve("--log", "off").ask(body)
	},
	"ACP": func(t *testing.T, w *world, project, mode string) {
		e := w.edit(project, "")
		e.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":9,"method":"session/set_mode","params":{"sessionId":%q,"modeId":%q}}`, e.session, mode))
		e.hear(`"id":9`)
		rejectAll(t, e)
	},
	"MCP": func(_ *testing.T, w *world, project, mode string) {
		if mode == "plan" { // no session of an MCP client is a chat of the user's
			mode = "calls"
		}
		w.Configure(modesConfig + "approvals: " + mode + "\n")
		_, say, hear := w.speak("mcp", "serve", "-m", "script/"+filepath.Join(w.Dir, "m.yaml"), "-w", project)
		say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"tester","version":"1"}}}`)
		hear(`"id":1`)
		say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"agent__helper","arguments":{"message":"go"}}}`)
		hear(`"id":2`)
	},
}

func modeFlags(mode string) []string {
	if mode == "plan" {
		return []string{"--plan"}
	}
	return []string{"--approvals", mode}
}

// The modes mean the same at each front end: a rule that denies holds in all of them, and
// only edits lets the builtin tools change other files. No approval is given here.
func TestModesHoldAtEveryFrontEnd(t *testing.T) {
	t.Parallel()
	for name, run := range modeFrontEnds {
		modes := []string{"edits", "plan"} // one that lets more through, and one that lets less
		if name == "ask" {
			modes = []string{"calls", "changes", "edits", "ask-all", "plan"}
		}
		for _, mode := range modes {
			t.Run(name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				w, project := modesWorld(t)
				run(t, w, project, mode)
				checkMode(t, w, project, mode)
			})
		}
	}
}

// checkMode looks at what the calls of a turn in a mode did.
func checkMode(t *testing.T, w *world, project, mode string) {
	t.Helper()
	said, _ := w.Run(0, "chats", "show", "-o", "json")
	told := strings.Join(results.FindAllString(said, -1), "\n")
	if text, err := os.ReadFile(filepath.Join(project, ".env")); err != nil || string(text) != "secret of .env\n" {
		t.Errorf(".env holds %q: %v", text, err)
	}
	text, err := os.ReadFile(filepath.Join(project, "notes", "a.md"))
	if wrote := err == nil; wrote != (mode == "edits") || wrote && string(text) != "written" {
		t.Errorf("notes/a.md was written: %v (%q)\n%s", wrote, text, told)
	}
	if _, err := os.Stat(filepath.Join(project, "made")); err == nil {
		t.Errorf("the command ran\n%s", told)
	}
	if read := strings.Contains(said, "secret of src/main.go"); read == (mode == "ask-all") {
		t.Errorf("a file was read: %v\n%s", read, told)
	}
	if !strings.Contains(said, "denied") {
		t.Errorf("no call was denied\n%s", told)
	}
}

// A project that the user does not trust chooses no mode, not for the configuration's chats
// and not for those that are asked there.
func TestAProjectWithoutTrustChoosesNoMode(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]func(w *world, project string) result{
		"ask":  func(w *world, project string) result { return w.with("", "ask", "-w", project, "--tool", "*", "go") },
		"chat": func(w *world, project string) result { return w.with("go\n", "chat", "-w", project, "--tool", "*") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, project := modesWorld(t)
			commandtest.Put(t, filepath.Join(project, ".fettle", "config.yaml"), "approvals: edits\n")
			commandtest.Put(t, filepath.Join(project, "m.yaml"), modesScript)
			w.Dir = project
			got := run(w, project)
			if _, err := os.Stat(filepath.Join(project, "notes", "a.md")); err == nil {
				t.Errorf("the project's mode counted: %+v", got)
			}
			if !strings.Contains(got.err, "approvals") {
				t.Errorf("nothing says that the setting does not count: %s", got.err)
			}
			said, _ := w.Run(0, "trust", "-o", "json")
			var file struct{ SHA256 string }
			if err := json.Unmarshal([]byte(said), &file); err != nil || !strings.Contains(said, "approvals: edits") {
				t.Fatalf("trust shows %s: %v", said, err)
			}
			w.Run(0, "trust", "--sha256", file.SHA256)
			run(w, project)
			if _, err := os.Stat(filepath.Join(project, "notes", "a.md")); err != nil {
				t.Errorf("the trusted project's mode did not count: %v", err)
			}
		})
	}
}
