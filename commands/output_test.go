package commands_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/commands/commandtest"
)

// writing is how commands that have -o are made to print something. Those that
// aren't here do so without arguments. silent ones say on standard error what
// they did, so that they print nothing but JSON.
func writing() map[string]struct {
	args   string
	silent bool
} {
	return map[string]struct {
		args   string
		silent bool
	}{
		"ask": {args: "--no-stdin hi"}, "embed": {args: "-m script/m.yaml hi"}, "chats show": {args: "1"}, "prompts show": {args: "review"},
		"models show": {args: "ollama/qwen3"}, "models pull": {args: "qwen3", silent: true},
		"config get": {args: "model"}, "config set": {args: "color never", silent: true},
		"config unset": {args: "retries", silent: true}, "config check": {silent: true},
		"keys set": {args: "mistral", silent: true}, "keys rm": {args: "openai", silent: true}, "trust": {args: "--list"},
		"chats search": {args: "hi"}, "chats branches": {args: "2"}, "chats switch": {args: "2 1"}, "chats compact": {args: "2 --keep 0", silent: true}, "undo": {args: "--dry-run --chat 2"}, "redo": {args: "--dry-run --chat 3"},
		"agents show": {args: "interface"}, "payloads list": {args: "--chat 4"}, "payloads show": {args: "1 --chat 4"},
		"payloads accept": {args: "1 --chat 4"}, "payloads reject": {args: "1 --chat 5"}, "tool call": {args: "list_files"}, "workspace files": {args: "2"}, "workspace log": {args: "2"}, "workspace show": {args: "2"},
		"toolset import": {args: "csv-tools.zip --yes"}, "toolset update": {args: "csv-tools"}, "toolset show": {args: "csv-tools"},
		"toolset export": {args: "csv-tools out.zip --force", silent: true}, "toolset rm": {args: "gone --yes", silent: true},
		"toolset enable": {args: "csv-tools", silent: true}, "toolset disable": {args: "off", silent: true},
		"tool show": {args: "csv-tools:columns"}, "tool enable": {args: "write_file", silent: true},
		"tool disable": {args: "off:columns", silent: true}, "tool renderer rm": {args: "read_file", silent: true},
		"tool renderer set": {args: "edit_file code --show-file $args.path", silent: true},
		"tool services":     {silent: true}, "tool stop": {args: "csv-tools:columns", silent: true},
		"mcp add": {args: "fresh --no-test --replace --url http://127.0.0.1:1", silent: true}, "mcp show": {args: "notes"}, "mcp test": {args: "notes"}, "mcp import": {args: "mcp.json --yes", silent: true},
		"mcp login": {args: "web", silent: true}, "mcp logout": {args: "web", silent: true}, "mcp rm": {args: "doomed --yes", silent: true},
		"mcp enable": {args: "switched", silent: true}, "mcp disable": {args: "switched", silent: true},
		"toolset validate": {args: "my-tools"}, "toolset test": {args: "my-tools"}, "toolset pack": {args: "my-tools -O packed.zip"},
		"workspace diff": {args: "2 @-1"}, "workspace restore": {args: "2 @-1 --dry-run"}, "workspace import": {args: "history.tar.gz"},
		"workflows start": {args: "plain", silent: true}, "workflows show": {args: "plain"}, "workflows act": {args: "6 continue", silent: true},
		"workflows cancel": {args: "7", silent: true}, "workflows list": {args: "--instances"},
		"docs add": {args: "kept.md", silent: true}, "docs show": {args: "kept.md"}, "docs search": {args: "kept"}, "docs rm": {args: "gone.md", silent: true},
		"store backup": {args: "out.tar.zst", silent: true}, "store restore": {args: "kept.tar.zst --dry-run", silent: true},
	}
}

// Whatever a command prints, a standard output that takes nothing makes it
// fail.
func TestLostOutputIsAFailure(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skipf("needs /dev/full, which Linux has: %v", err)
	}
	t.Cleanup(func() { _ = full.Close() }) // the tests below run after this one
	w := outputWorld(t)
	commands := []string{
		"ask --no-stdin -x hi", "ask --no-stdin --no-stream hi", "ask --no-stdin -o events hi", "demo", "", "help", "help output", "ask --help",
		"chats", "completion bash", "man", "man models list", "prompts path", "usage --by day", "usage --by chat",
	}
	for _, path := range withOutput(t, nil) {
		how := writing()[path]
		text := strings.TrimSpace(path + " " + how.args)
		if !how.silent {
			commands = append(commands, text)
		}
		commands = append(commands, text+" -o json")
	}
	if len(commands) < 30 {
		t.Errorf("only %d commands: %q", len(commands), commands)
	}
	for _, command := range commands {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			cmd := w.Command(strings.Fields(command)...)
			var errs bytes.Buffer
			cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader("a-key-of-no-one\n"), full, &errs
			_ = cmd.Run() // the status says it
			if status := cmd.ProcessState.ExitCode(); status != 1 || !strings.Contains(errs.String(), "write to standard output: no space left on device") {
				t.Errorf("status %d, said %q; what it needs to print something belongs into the table above", status, errs.String())
			}
		})
	}
}

// cardToolset has a page with one payload.
const cardToolset = `{manifest_version: "1", id: cards, name: Cards, version: 1.0.0, description: Sums.,
payloads: [{type: sum, parse_marker: "SUM:", llm_instructions: Write it.}], pages: [{id: sums, payloads: [sum]}]}`

// outputWorld is a world in which each listing has something to list.
func outputWorld(t *testing.T) *world {
	t.Helper()
	ollama := commandtest.NewOllama(t, "qwen3")
	ollama.Plays(commandtest.Says(commandtest.PullBegins + commandtest.Layer("a", 1, 1) + commandtest.PullEnds))
	w := newWorld(t, "responses: [{text: Yes.}]")
	w.Env = append(w.Env, ollama.Settings()...)
	w.Env = append(w.Env, "FETTLE_MODEL=script/m.yaml", "FETTLE_KEYRING=off")
	commandtest.Put(t, filepath.Join(w.Dir, "m.yaml"), `{responses: [{when: card, text: 'So: SUM: {"a": 1}'}, {when: write, step: 0, calls: [{name: write_file, args: {path: a.txt, content: a}}]}, {when: "", text: "~~~\ncode\n~~~", usage: {input_tokens: 5, output_tokens: 7}}]}`)
	commandtest.Put(t, filepath.Join(w.Dir, "config", "prompts", "review.md"), "Review this. {{input}}\n")
	commandtest.Put(t, filepath.Join(w.Dir, ".fettle", "config.yaml"), "allow: [read_file]\n")
	w.Configure("retries: 0\n")
	for _, name := range []string{"openai", "mistral"} { // one of them is removed
		cmd := w.Command("keys", "set", name)
		cmd.Stdin = strings.NewReader("a-key-of-no-one\n")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("keys set %s: %v\n%s", name, err, out)
		}
	}
	w.Run(0, "ask", "--no-stdin", "hi")
	for range 2 { // chats 2 and 3, in which something is to be undone, and to be redone
		w.Run(0, "ask", "--no-stdin", "--yes", "write")
	}
	w.Run(0, "undo", "--chat", "3")
	w.Run(0, "workspace", "export", "3", "history.tar.gz")
	commandtest.Put(t, filepath.Join(w.Dir, "kept.md"), "kept")
	commandtest.Put(t, filepath.Join(w.Dir, "gone.md"), "gone")
	w.Run(0, "docs", "add", "kept.md", "gone.md")
	w.Run(0, "toolset", "init", "my-tools")
	w.Run(0, "store", "backup", "kept.tar.zst")
	commandtest.Put(t, filepath.Join(w.Dir, "cards", "toolset.yaml"), cardToolset)
	w.Run(0, "toolset", "import", "cards", "--yes")
	for range 2 { // chats 4 and 5, with a payload to accept and one to reject
		w.Run(0, "ask", "--no-stdin", "--page", "sums", "card")
	}
	trustProject(t, w)
	w.bundles(w.Dir)
	w.Run(0, "toolset", "import", commandtest.Toolset(t, "chaoscontext"), "--yes")
	for _, name := range []string{"csv-tools.zip", "off", "gone"} {
		w.Run(0, "toolset", "import", name, "--yes")
	}
	commandtest.Put(t, filepath.Join(w.Dir, "flows", "toolset.yaml"), flowsManifest)
	w.Run(0, "toolset", "import", "flows", "--yes")
	for range 2 { // chats 6 and 7, in which one waits
		w.Run(0, "workflows", "start", "plain")
	}
	w.AddNotes()
	commandtest.Put(t, filepath.Join(w.Dir, "mcp.json"), `{"mcpServers": {"found": {"command": "notes-server"}}}`)
	for _, name := range []string{"notes", "doomed", "switched"} {
		w.Run(0, "mcp", "add", name, "--", "notes-server")
	}
	w.Run(0, "mcp", "add", "web", "--url", commandtest.OpenMCP(t), "--no-test")
	w.Run(0, "tool", "renderer", "set", "read_file", "code", "--show-file", "$args.path")
	return w
}

// flowsManifest is a toolset that has a workflow of builtin tools alone.
const flowsManifest = `manifest_version: "1"
id: flows
name: Flows
version: 1.0.0
description: A workflow without tools of its own.
workflows:
  - id: plain
    steps:
      - {id: look, tool: list_files, args: {}, checkpoint: true}
      - {id: note, tool: write_file, args: {path: note.md, content: "$steps.look.text"}}
`

// trustProject trusts the configuration of the world's folder, by its digest.
func trustProject(t *testing.T, w *world) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(w.Dir, ".fettle", "config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	w.Run(0, "trust", "--sha256", fmt.Sprintf("%x", sha256.Sum256(data)))
}

// withOutput are the commands below one that have -o, by their help texts.
func withOutput(t *testing.T, path []string) []string {
	t.Helper()
	help := helpText(t, append([]string{"help"}, path...)...)
	var out []string
	if strings.Contains(help, "\n  -o, --output ") {
		out = append(out, strings.Join(path, " "))
	}
	for _, below := range commandsListed(help) {
		out = append(out, withOutput(t, append(path[:len(path):len(path)], below))...)
	}
	return out
}

// An image that the model is known not to take is left out, and that is said.
func TestImagesThatAModelCantTake(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{capabilities: {images: no}, responses: [{when: "", text: I see nothing.}]}`)
	if err := os.WriteFile(filepath.Join(w.Dir, "dot.png"), []byte(onePixel), 0o600); err != nil {
		t.Fatal(err)
	}
	const note = "images were left out: script/m.yaml takes none"
	if _, errs := w.Run(0, "ask", "--no-stdin", "-v", "-f", "dot.png", "what is it?"); !strings.Contains(errs, "note: "+note) {
		t.Errorf("said %q", errs)
	}
	if out, _ := w.Run(0, "ask", "--no-stdin", "-o", "json", "-f", "dot.png", "what is it?"); !strings.Contains(out, `"footnotes":["`+note) {
		t.Errorf("printed %s", out)
	}
	if shown, _ := w.Run(0, "chats", "show"); !strings.Contains(shown, "image dot.png, ") || !strings.HasSuffix(shown, "note: "+note+"\n") {
		t.Errorf("kept:\n%s", shown)
	}
}
