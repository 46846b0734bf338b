package commands_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// exampleScript answers whatever the examples ask.
const exampleScript = `
responses:
  - {when: "three birds", text: '["wren", "robin", "owl"]'}
  - {when: "a shell loop", text: "~~~sh\nfind . -type f\n~~~"}
  - {when: "write notes", step: 0, calls: [{name: write_file, args: {path: notes/todo.md, content: "- one\n"}}]}
  - {when: "", text: An answer.}
`

// Every command of the README and of every help text is run, by a shell, as it
// stands. Only the model is a script.
func TestExamplesRun(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the examples are for a POSIX shell")
	}
	w := newWorld(t, exampleScript)
	w.shell()
	examples := map[string][]string{"README": readmeCommands(t)}
	for _, name := range []string{"", "ask", "demo", "chats", "chats list", "chats show", "chats search", "prompts", "prompts list", "prompts show",
		"prompts new", "prompts edit", "prompts rm", "prompts path", "usage", "doctor", "version", "help"} {
		args := append(strings.Fields(name), "--help")
		out, _ := w.run(0, args...)
		examples[name] = helpExamples(out)
		if len(examples[name]) == 0 {
			t.Errorf("fettle %s --help has no examples", name)
		}
	}
	examples["pipelines"] = w.recipes()
	for where, commands := range examples {
		for _, command := range commands {
			w.example(where, command)
		}
	}
}

// recipes are the commands of the page about pipelines: its indented lines.
// Some of them want jq.
func (w *world) recipes() []string {
	w.t.Helper()
	page, _ := w.run(0, "help", "pipelines")
	_, err := exec.LookPath("jq")
	if err != nil && os.Getenv("FETTLE_TEST_REQUIRE") == "all" {
		w.t.Errorf("the recipes need jq: %v", err)
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
		w.t.Errorf("the page has only %d recipes", len(out))
	}
	return out
}

// shell makes a folder in which the examples can be run: fettle on the PATH,
// a git repository, and the files that are named.
func (w *world) shell() {
	w.t.Helper()
	bin := filepath.Join(w.dir, "bin")
	wrapper := fmt.Sprintf("#!/bin/sh\nexec '%s' \"$@\"\n", os.Args[0])
	for path, content := range map[string]string{
		filepath.Join(bin, "fettle"): wrapper, "report.md": "# Report\n", "chart.png": onePixel,
		"m.yaml": exampleScript, "questions.txt": "why?\nhow?\n", "diff.patch": "-a\n+b\n",
		filepath.Join(w.dir, "config", "prompts", "review.md"): "---\nvariables: {focus: {required: false}}\n---\nReview this. {{focus}} {{input}}\n",
		filepath.Join(w.dir, "config", "prompts", "draft.md"):  "Draft it.\n",
	} {
		if !filepath.IsAbs(path) {
			path = filepath.Join(w.project(), path)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			w.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
			w.t.Fatal(err)
		}
	}
	if out, err := exec.Command("git", "init", "-q", w.project()).CombinedOutput(); err != nil {
		w.t.Fatalf("git init: %v: %s", err, out)
	}
	w.env = append(w.env, "EDITOR=true", "VISUAL=", "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	w.run(0, "ask", "--no-stdin", "so that there is a chat")
}

// onePixel is the smallest PNG.
const onePixel = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\b\x06\x00\x00\x00\x1f\x15\xc4\x89\x00\x00\x00\nIDATx\x9cc\x00\x01\x00\x00\x05\x00\x01\r\n-\xb4\x00\x00\x00\x00IEND\xaeB`\x82"

// project is the folder that the examples are run in.
func (w *world) project() string { return filepath.Join(w.dir, "project") }

func (w *world) example(where, command string) {
	w.t.Helper()
	// The examples that name a real model are run on the script.
	command = strings.NewReplacer("-m ollama/qwen3", "-m script/m.yaml", "--model ollama/qwen3", "--model script/m.yaml").Replace(command)
	cmd := exec.CommandContext(w.t.Context(), "sh", "-c", command)
	cmd.Env, cmd.Dir = w.env, w.project()
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Errorf("%s: %s\n%v\n%s", where, command, err, out)
	}
}

// helpExamples are the lines below "examples" of a help text.
func helpExamples(help string) []string {
	_, after, ok := strings.Cut(help, "\nexamples\n")
	if !ok && strings.Contains(help, "fettle alone") {
		return nil
	}
	if !ok { // the overview has them in its columns
		var out []string
		for line := range strings.Lines(help) {
			if i := strings.Index(line, "fettle "); i > 4 && strings.HasPrefix(line, "  ") {
				command, _, _ := strings.Cut(line[i:], "   ")
				out = append(out, strings.TrimSpace(command))
			}
		}
		return out
	}
	var out []string
	for line := range strings.Lines(after) {
		if !strings.HasPrefix(line, "  ") {
			break
		}
		out = append(out, strings.TrimSpace(line))
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
