package commands_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/commands"
	"github.com/fettle-cli/fettle/commands/commandtest"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/internal/needtest"
)

// exampleScript answers whatever the examples ask.
const exampleScript = `
responses:
  - {when: "three birds", text: '["wren", "robin", "owl"]'}
  - {when: "a shell loop", text: "~~~sh\nfind . -type f\n~~~"}
  - {when: "write notes", step: 0, calls: [{name: write_file, args: {path: notes/todo.md, content: "- one\n"}}]}
  - {when: "add a line", step: 0, calls: [{name: write_file, args: {path: notes/todo.md, content: "- one\n- two\n"}}]}
  - {when: agent planner, step: 0, calls: [{name: propose, args: {id: planner}}]}
  - {when: agent reviewer, step: 0, calls: [{name: propose, args: {id: reviewer}}]}
  - {when: card, text: 'So: SUM: {"a": 1}'}
  - {when: topics, text: 'Naps. SUGGESTED_ACTIONS: [{"label": "Open the tab", "type": "open_tab"}]'}
  - {when: "", text: An answer.}
`

// examplesOf are the places with examples that are run one after another in a
// world of their own, so that those of one command can't spoil another's.
type examplesOf struct {
	name     string
	commands []example
}

// example is one command line, and where it stands.
type example struct{ where, line string }

// notRun are the examples that can't be run here, each with the reason. One
// that no page has any more is an error.
func notRun() map[string]string {
	const runs = "it runs until a signal ends it; TestServe runs it so"
	return map[string]string{
		"fettle serve": runs, "fettle serve --open": runs, "fettle serve --print-url --listen 127.0.0.1:0": runs, "fettle serve --print-url": runs,
		"fettle serve --demo --trust-origin http://localhost:5173": runs,
		"fettle serve --demo --allow-origin https://example.org":   runs, "fettle serve --listen 127.0.0.1:0 --artifacts 127.0.0.1:0": runs,
		"llm logs list -n 0 --json | fettle chats import --skip": "it needs the program llm; tests of the engine import its logs",
		"fettle models update":        "it needs models.dev; TestScripts/models_facts reads a file",
		"fettle undo --call 4F2K9QX1": "its id is that of a call of the reader's; TestScripts/undo_call has one",
		"fettle serve --check":        "it needs a server that runs; TestServe has one",
	}
}

// Every command of the README, of every help text and of the page of recipes is
// run, by a shell, as it stands. Only the models are not real: a script answers
// questions, and an Ollama on this machine is played by a test server.
func TestExamplesRun(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the examples are for a POSIX shell")
	}
	skipped := notRun()
	for _, group := range exampleGroups(t) {
		var runnable []example
		for _, e := range group.commands {
			if _, ok := notRun()[e.line]; ok {
				delete(skipped, e.line)
				continue
			}
			runnable = append(runnable, e)
		}
		t.Run(group.name, func(t *testing.T) {
			t.Parallel()
			w := exampleWorld(t)
			if strings.HasPrefix(group.name, "chats") {
				for _, question := range []string{"so that there is one", "plan a walk", "which birds are these?", "why is the sky blue?", "a sixth one"} {
					w.Run(0, "ask", "--no-stdin", question)
				}
				w.Run(0, "chats", "export", "--all", "-o", "json", "--file", filepath.Join(w.project(), "chats.jsonl"))
			}
			if strings.HasPrefix(group.name, "workspace") || group.name == "undo" || group.name == "redo" {
				w.Run(0, "ask", "--no-stdin", "--chat", "1", "--yes", "write notes")
				w.Run(0, "ask", "--no-stdin", "--chat", "1", "--yes", "add a line")
			}
			if group.name == "workspace import" {
				w.Run(0, "workspace", "export", "1", filepath.Join(w.project(), "history.tar.gz"))
			}
			if group.name == "chats branches" || group.name == "chats switch" {
				w.Run(0, "ask", "--retry", "--chat", "1")
			}
			if strings.HasPrefix(group.name, "payloads") {
				commandtest.Put(t, filepath.Join(w.project(), "cards", "toolset.yaml"), cardToolset)
				w.Run(0, "toolset", "import", filepath.Join(w.project(), "cards"), "--yes")
				w.Run(0, "ask", "--no-stdin", "--chat", "1", "--page", "sums", "card")
			}
			if group.name == "ask" {
				w.Run(0, "toolset", "import", commandtest.Toolset(t, "research-streams"), "--yes")
			}
			if group.name == "chats import" {
				export, err := os.ReadFile(filepath.Join("..", "engine", "testdata", "exports", "chatgpt.json"))
				if err != nil {
					t.Fatal(err)
				}
				commandtest.Put(t, filepath.Join(w.project(), "conversations.json"), string(export))
			}
			if group.name == "embed" {
				commandtest.Put(t, filepath.Join(w.project(), "lines.txt"), "rain in Oslo\nsnow\n")
			}
			if group.name == "models" {
				commandtest.Put(t, filepath.Join(w.project(), "models.json"), `{"openai": {"models": {"gpt-9": {"tool_call": true}}}}`)
			}
			if group.name == "agents" {
				w.Run(0, "toolset", "import", commandtest.Toolset(t, "chaoscontext"), "--yes")
				w.ownAgents("planner", "reviewer")
			}
			if group.name == "workflows" {
				w.Run(0, "toolset", "import", commandtest.Toolset(t, "reviews"), "--yes")
				commandtest.Put(t, filepath.Join(w.project(), "input.json"), `{"category": "movers", "location": "Portland, OR"}`)
			}
			if strings.HasPrefix(group.name, "toolset") || group.name == "README" || group.name == "tool" {
				w.authors()
				w.bundles(w.project())
			}
			if group.name == "toolset" || group.name == "tool" {
				w.Run(0, "toolset", "import", filepath.Join(w.project(), "csv-tools.zip"), "--yes")
			}
			if group.name == "README" || group.name == "mcp" || strings.HasPrefix(group.name, "mcp ") {
				w.AddNotes()
				commandtest.Put(t, filepath.Join(w.project(), "mcp.json"), `{"mcpServers": {"found": {"command": "notes-server"}}}`)
				if group.name == "mcp login" {
					w.Run(0, "mcp", "add", "docs", "--url", commandtest.OpenMCP(t))
				}
				for _, name := range []string{"notes", "docs"} {
					if group.name != "README" && group.name != "mcp" && group.name != "mcp add" && group.name != "mcp login" {
						w.Run(0, "mcp", "add", name, "--", "notes-server")
					}
				}
			}
			if group.name == "redo" {
				w.Run(0, "undo", "2")
				w.Run(0, "redo")
				w.Run(0, "undo")
			}
			for _, e := range runnable {
				w.example(e)
			}
		})
	}
	for line, why := range skipped {
		t.Errorf("no page has the example %q (%s)", line, why)
	}
}

// ownAgents creates agents of the user, as a toolset proposes them.
func (w *world) ownAgents(ids ...string) {
	w.T.Helper()
	dir := filepath.Join(w.project(), "maker")
	commandtest.Put(w.T, filepath.Join(dir, "toolset.yaml"), `manifest_version: "1"
id: maker
name: Maker
version: "1.0.0"
description: Proposes agents
tools:
  - id: propose
    description: Proposes an agent
    entrypoint: propose:run
    input_schema: {type: object, properties: {id: {type: string}}}
`)
	commandtest.Put(w.T, filepath.Join(dir, "tools", "propose.py"), `from fettle import ToolResult


def run(workspace, id):
    agent = {"id": id, "name": id.title(), "purpose": "Shows examples", "prompt": "You help."}
    return ToolResult(text="proposed", workspace_payload={"type": "agent_create", "title": "An agent", "agent_data": agent})
`)
	w.Run(0, "toolset", "import", dir, "--yes")
	for _, id := range ids {
		w.Run(0, "ask", "--no-stdin", "--yes", "--agent", "none", "agent "+id)
		w.Run(0, "payloads", "accept")
	}
}

// exampleGroups gathers all examples: those of the README, of the overview, of
// the recipes, and of each command with all that are below it.
func exampleGroups(t *testing.T) []examplesOf {
	t.Helper()
	readme := examplesOf{name: "README"}
	for _, line := range readmeCommands(t) {
		readme.commands = append(readme.commands, example{"README", line})
	}
	overview := examplesOf{name: "overview"}
	out := helpText(t, "--help")
	for _, line := range overviewExamples(out) {
		if line == "fettle undo" { // which takes back what a tool did
			overview.commands = append(overview.commands, example{"the test", "fettle ask -w . --yes 'write notes/todo.md'"})
		}
		overview.commands = append(overview.commands, example{"fettle", line})
	}
	if len(overview.commands) < 5 {
		t.Errorf("the overview has only %d examples", len(overview.commands))
	}
	recipes := examplesOf{name: "pipelines"}
	for _, script := range readRecipes(t) {
		recipes.commands = append(recipes.commands, example{"fettle help pipelines", script})
	}
	groups := []examplesOf{readme, overview, recipes}
	out = helpText(t, "help")
	for _, name := range commandsListed(out) {
		all := examplesBelow(t, []string{name})
		if name == "chats" || name == "workspace" || name == "payloads" || name == "mcp" { // its commands change what others of them need
			groups = append(groups, byPage(all)...)
			continue
		}
		groups = append(groups, examplesOf{name: name, commands: all})
	}
	if len(groups) < 10 {
		t.Errorf("fettle help lists only %d commands:\n%s", len(groups)-3, out)
	}
	return groups
}

// byPage gives the examples of each page a world of their own.
func byPage(all []example) []examplesOf {
	var out []examplesOf
	for _, e := range all {
		name := strings.TrimPrefix(e.where, "fettle ")
		if len(out) == 0 || out[len(out)-1].name != name {
			out = append(out, examplesOf{name: name})
		}
		out[len(out)-1].commands = append(out[len(out)-1].commands, e)
	}
	return out
}

// helpText is what a command prints that needs neither files nor processes.
func helpText(t *testing.T, args ...string) string {
	t.Helper()
	s := term.Test(term.TestOptions{})
	if status := commands.Main(t.Context(), append([]string{"fettle"}, args...), s.Streams); status != 0 {
		t.Fatalf("fettle %s: status %d, %s", strings.Join(args, " "), status, s.Stderr)
	}
	return s.Stdout.String()
}

// examplesBelow are the examples of a command and of all below it, by their
// help texts alone: a command that is listed can't be forgotten. Another test
// holds the lists against the commands that there are.
func examplesBelow(t *testing.T, path []string) []example {
	t.Helper()
	name := "fettle " + strings.Join(path, " ")
	help := helpText(t, append(path[:len(path):len(path)], "--help")...)
	var out []example
	for _, line := range helpExamples(help) {
		out = append(out, example{name, line})
	}
	if len(out) == 0 {
		t.Errorf("%s --help has no examples", name)
	}
	for _, below := range commandsListed(help) {
		out = append(out, examplesBelow(t, append(path[:len(path):len(path)], below))...)
	}
	return out
}

// commandsListed are the names below "commands" of a help text.
func commandsListed(help string) []string {
	_, after, ok := strings.Cut(help, "\ncommands\n")
	if !ok {
		return nil
	}
	var out []string
	for line := range strings.Lines(after) {
		words := strings.Fields(line)
		if !strings.HasPrefix(line, "  ") || len(words) == 0 {
			break
		}
		out = append(out, words[0])
	}
	return out
}

// recipes are the commands of the page about pipelines: its indented lines.
// Some of them want jq.
func readRecipes(t *testing.T) []string {
	t.Helper()
	page := helpText(t, "help", "pipelines")
	_, err := exec.LookPath("jq")
	if err != nil && needtest.All() {
		t.Errorf("the recipes need jq: %v", err)
	}
	var out []string
	script := "" // lines that belong together are run by one shell
	for line := range strings.Lines(page + "\n") {
		if command, ok := strings.CutPrefix(line, "  "); ok {
			script += command
			continue
		}
		if script != "" && (err == nil || !strings.Contains(script, "jq")) {
			out = append(out, script)
		}
		script = ""
	}
	if len(out) < 8 {
		t.Errorf("the page has only %d recipes", len(out))
	}
	return out
}

// exampleWorld is a world in which every example works: with an Ollama that has
// models and lets them be pulled and removed, and a keyring that is off.
func exampleWorld(t *testing.T) *world {
	t.Helper()
	ollama := commandtest.NewOllama(t, "qwen3", "llama3.2", "nomic-embed-text")
	ollama.Plays(commandtest.Says(commandtest.PullBegins + commandtest.Layer("a", 1, 1) + commandtest.PullEnds))
	w := newWorld(t, "responses: [{text: Yes.}]")
	w.Plain()
	w.Env = append(w.Env, ollama.Settings()...)
	w.Env = append(w.Env, "FETTLE_MODEL=script/m.yaml", "FETTLE_EMBEDDING=ollama/nomic-embed-text", "FETTLE_KEYRING=off")
	if err := os.WriteFile(filepath.Join(w.Dir, "m.yaml"), []byte(exampleScript), 0o600); err != nil {
		t.Fatal(err)
	}
	w.shell()
	commandtest.Put(t, filepath.Join(w.project(), ".fettle", "config.yaml"), "retries: 1\n") // data alone, which needs no trust
	return w
}

// shell makes a folder in which the examples can be run: fettle on the PATH,
// a git repository, and the files that are named.
func (w *world) shell() {
	w.T.Helper()
	bin := filepath.Join(w.Dir, "bin")
	wrapper := fmt.Sprintf("#!/bin/sh\nexec '%s' \"$@\"\n", w.Program)
	for path, content := range map[string]string{
		filepath.Join(bin, "fettle"): wrapper, "report.md": "# Report\n", "chart.png": onePixel,
		"m.yaml": exampleScript, "questions.txt": "why?\nhow?\n", "diff.patch": "-a\n+b\n",
		"key.txt": "sk-EXAMPLEnotrealEXAMPLEnotreal\n",
		filepath.Join(w.Dir, "config", "prompts", "review.md"): "---\nvariables: {focus: {required: false}}\n---\nReview this. {{focus}} {{input}}\n",
		filepath.Join(w.Dir, "config", "prompts", "draft.md"):  "Draft it.\n",
	} {
		if !filepath.IsAbs(path) {
			path = filepath.Join(w.project(), path)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			w.T.Fatal(err)
		}
		if err := commandtest.WriteProgram(path, content); err != nil {
			w.T.Fatal(err)
		}
	}
	w.changes()
	w.Env = append(w.Env, "EDITOR=true", "VISUAL=", "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	w.Run(0, "ask", "--no-stdin", "so that there is a chat")
}

// changes makes the project a git repository with a change that is staged and
// one that isn't.
func (w *world) changes() {
	w.T.Helper()
	script := "git init -q . && git add report.md questions.txt && " +
		"git -c user.name=Ann -c user.email=ann@example.com commit -q -m first && " +
		"echo more >>report.md && git add report.md && echo when? >>questions.txt"
	cmd := exec.CommandContext(w.T.Context(), "sh", "-c", script)
	cmd.Dir = w.project()
	cmd.Env = append(w.Env, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
	if out, err := cmd.CombinedOutput(); err != nil {
		w.T.Fatalf("make a repository: %v: %s", err, out)
	}
}

// onePixel is the smallest PNG.
const onePixel = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\b\x06\x00\x00\x00\x1f\x15\xc4\x89\x00\x00\x00\nIDATx\x9cc\x00\x01\x00\x00\x05\x00\x01\r\n-\xb4\x00\x00\x00\x00IEND\xaeB`\x82"

// project is the folder that the examples are run in.
func (w *world) project() string { return filepath.Join(w.Dir, "project") }

func (w *world) example(e example) {
	w.T.Helper()
	// The examples that ask a real model are run on the script.
	command := strings.NewReplacer("-m ollama/qwen3", "-m script/m.yaml", "--model ollama/qwen3", "--model script/m.yaml").Replace(e.line)
	asks := strings.HasPrefix(command, "fettle chats rm ") || strings.HasPrefix(command, "fettle toolset import gallery:")
	if asks && !strings.Contains(command, "--yes") {
		command += " --yes" // nobody can be asked here
	}
	cmd := exec.CommandContext(w.T.Context(), "sh", "-c", command)
	cmd.Env, cmd.Dir = w.Env, w.project()
	if out, err := cmd.CombinedOutput(); err != nil {
		w.T.Errorf("%s: %s\n%v\n%s", e.where, e.line, err, out)
	}
}

// helpExamples are the lines below "examples" of a help text.
func helpExamples(help string) []string {
	_, after, _ := strings.Cut(help, "\nexamples\n")
	var out []string
	for line := range strings.Lines(after) {
		if !strings.HasPrefix(line, "  ") {
			break
		}
		out = append(out, strings.TrimSpace(line))
	}
	return out
}

// overviewExamples are the commands in the columns of the overview.
func overviewExamples(help string) []string {
	var out []string
	for line := range strings.Lines(help) {
		name, rest, ok := strings.Cut(strings.TrimPrefix(line, "  "), " ")
		if !ok || !strings.HasPrefix(line, "  ") || name == "" {
			continue
		}
		command, _, _ := strings.Cut(strings.TrimSpace(rest), "   ")
		if strings.Contains(command, "fettle ") {
			out = append(out, command)
		}
	}
	return out
}

// readmeCommands are the fettle commands of the README's blocks.
func readmeCommands(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	block := ""
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\n")
		if lang, ok := strings.CutPrefix(line, "```"); ok {
			block = lang
			continue
		}
		switch {
		case block == "console" && strings.HasPrefix(line, "$ "):
			out = append(out, line[2:])
		case block == "sh" && strings.HasPrefix(line, "fettle "):
			out = append(out, line)
		}
	}
	if len(out) < 4 {
		t.Errorf("the README has only %d commands", len(out))
	}
	return out
}
