package serve_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/commands/commandtest"
	"github.com/fettle-cli/fettle/internal/needtest"
)

// rulesScript tries what the rules of the test deny or do not allow, by other spellings,
// and one call that they allow.
const rulesScript = `
responses:
  - {when: hello, text: Hello.}
  - when: go
    step: 0
    calls:
      - {name: write_file, args: {path: ./.env, content: changed}}
      - {name: write_file, args: {path: notes/../src/main.go, content: changed}}
      - {name: write_file, args: {path: notes/link, content: changed}}
      - {name: edit_file, args: {path: notes/../.env, old_text: secret, new_text: changed}}
      - {name: read_file, args: {path: notes/../.env}}
      - {name: list_files, args: {path: notes/../src}}
      - {name: search_files, args: {query: secret, path: src/..}}
      - {name: run_command, args: {command: "command rm .env"}}
      - {name: run_command, args: {command: "$(echo rm) .env"}}
      - {name: web_fetch, args: {url: "https://evil.invalid#.example.com/"}}
      - {name: write_file, args: {path: notes/a.md, content: written}}
  - {when: go, text: Done.}
`

const rulesConfig = `
deny: ['write_file(path=.env)', 'edit_file(path=.env)', 'read_file(path=.env)', 'search_files(path=.env)', 'list_files(path=src)', 'run_command(rm *)']
agents:
  helper: {purpose: helps, prompt: You help., tools: ['*']}
`

// rulesAllow are the rules that each front end gets in its own way.
var rulesAllow = []string{"write_file(path=notes/**)", "web_fetch(https://*.example.com/**)", "run_command(echo *)"}

// rulesWorld is a world with a project, whose chat 1 works in it.
func rulesWorld(t *testing.T) (w *world, project string) {
	t.Helper()
	script := rulesScript
	if runtime.GOOS == "windows" { // whose shells have no command of this name
		script = strings.ReplaceAll(script, "command rm .env", "rm .env")
	}
	w = newWorld(t, script)
	w.Configure(rulesConfig)
	project = realDir(t)
	for _, name := range []string{".env", "src/main.go", "notes/b.md"} {
		commandtest.Put(t, filepath.Join(project, filepath.FromSlash(name)), "secret of "+name+"\n")
	}
	if err := os.Symlink("../.env", filepath.Join(project, "notes", "link")); err != nil {
		needtest.Lacking(t, "symbolic links: "+err.Error())
	}
	w.Run(0, "ask", "-w", project, "hello")
	return w, project
}

// The rules of the configuration, and those that a client or a command gives along, hold at
// each front end for what an argument means.
func TestRulesMeanFilesAtEveryFrontEnd(t *testing.T) {
	t.Parallel()
	var flags []string
	for _, rule := range rulesAllow {
		flags = append(flags, "--allow", rule)
	}
	listed, err := json.Marshal(rulesAllow)
	if err != nil {
		t.Fatal(err)
	}
	for name, run := range map[string]func(t *testing.T, w *world, project string){
		"ask": func(_ *testing.T, w *world, project string) {
			w.with("", append([]string{"ask", "-w", project, "go"}, flags...)...)
		},
		"chat": func(_ *testing.T, w *world, project string) {
			w.with("go\n", append([]string{"chat", "-w", project}, flags...)...)
		},
		"HTTP": func(_ *testing.T, w *world, _ string) {
			w.serve("--log", "off").ask(`{"message":"go","conversation_id":1,"allow":` + string(listed) + `}`)
		},
		"ACP": func(t *testing.T, w *world, project string) {
			w.Configure(rulesConfig + "allow: " + string(listed) + "\n")
			rejectAll(t, w.edit(project, ""))
		},
		"MCP": func(_ *testing.T, w *world, project string) {
			_, say, hear := w.speak(append([]string{"mcp", "serve", "-m", "script/" + filepath.Join(w.Dir, "m.yaml"), "-w", project}, flags...)...)
			say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"tester","version":"1"}}}`)
			hear(`"id":1`)
			say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
			say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"agent__helper","arguments":{"message":"go"}}}`)
			hear(`"id":2`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, project := rulesWorld(t)
			run(t, w, project)
			checkRules(t, w, project)
		})
	}
}

// checkRules looks at what the calls of the last chat's last turn did.
func checkRules(t *testing.T, w *world, project string) {
	t.Helper()
	for _, name := range []string{".env", "src/main.go", "notes/b.md"} {
		if text, err := os.ReadFile(filepath.Join(project, filepath.FromSlash(name))); err != nil || string(text) != "secret of "+name+"\n" {
			t.Errorf("%s holds %q: %v", name, text, err)
		}
	}
	said, _ := w.Run(0, "chats", "show", "-o", "json")
	if strings.Contains(said, "secret of .env") {
		t.Errorf("the model has read the denied file: %s", said)
	}
	if text, err := os.ReadFile(filepath.Join(project, "notes", "a.md")); err != nil || string(text) != "written" {
		t.Errorf("what the rules allow was not written: %q %v\n%s", text, err, strings.Join(results.FindAllString(said, -1), "\n"))
	}
	if n := strings.Count(said, "the rule deny "); n < 6 {
		t.Errorf("%d refusals name a rule:\n%s", n, strings.Join(results.FindAllString(said, -1), "\n"))
	}
}

// results matches the texts of a chat as JSON.
var results = regexp.MustCompile(`"text": .*`)

// rejectAll prompts an editor's session, and rejects each call that it is asked about.
func rejectAll(t *testing.T, e *editing) {
	t.Helper()
	e.ask(3, "go")
	for {
		line := e.hear(`"id":`)
		if line == "" || strings.Contains(line, `"stopReason"`) {
			return
		}
		var asked struct {
			ID     json.RawMessage
			Params struct {
				Options []struct{ OptionID, Kind string }
			}
		}
		if err := json.Unmarshal([]byte(line), &asked); err != nil {
			t.Fatal(err)
		}
		for _, o := range asked.Params.Options {
			if o.Kind == "reject_once" {
				e.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"selected","optionId":%q}}}`, asked.ID, o.OptionID))
			}
		}
	}
}
