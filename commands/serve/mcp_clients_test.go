package serve_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/commands/commandtest"
	"github.com/fettle-cli/fettle/internal/nodetest"
)

// shim is a program that starts fettle with the world's environment.
func (w *world) shim() string {
	w.T.Helper()
	text := "#!/bin/sh\n"
	for _, e := range w.Env {
		if name, value, _ := strings.Cut(e, "="); strings.HasPrefix(name, "FETTLE_") || strings.HasSuffix(name, "_HOST") || name == "GORACE" {
			text += "export " + name + "='" + value + "'\n"
		}
	}
	path := filepath.Join(w.Dir, "fettle-shim")
	if err := commandtest.WriteProgram(path, text+"exec '"+os.Args[0]+"' \"$@\"\n"); err != nil {
		w.T.Fatal(err)
	}
	return path
}

// The inspector and the TypeScript clients list and call what is installed, over
// standard input and at the address of fettle serve, in both eras; a tool with a
// page is an app, named prompts are prompts, and a call that takes longer than the
// client's timeout is kept alive by its progress.
func TestMCPClientsUseFettle(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the inspector starts a shell's script here")
	}
	modules, node := nodetest.Find(t, nodetest.Peers())
	w := newWorld(t, `responses: [{when: "", deltas: [{wait: 6s, content: Hello.}]}]`)
	commandtest.Put(t, filepath.Join(w.Dir, "config", "config.yaml"), "allow: [run_command]\nagents:\n  slow: {purpose: takes its time, prompt: You help., model: script/"+filepath.Join(w.Dir, "m.yaml")+"}\n")
	commandtest.Put(t, filepath.Join(w.Dir, "config", "prompts", "review.md"), "---\nvariables: {lang: Go}\n---\nReview this {{lang}} change.\n")
	w.Run(0, "toolset", "import", commandtest.Toolset(t, "research-streams"), "--yes")
	served := w.serve("--log", "off")
	url := served.url + "/t/" + served.token + "/mcp"
	run := func(env []string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), node, args...)
		cmd.Env = append(append(w.Env, "MCP_INSPECTOR_SECRET_STORE=memory", "NODE_OPTIONS=", "NO_PROXY=localhost,127.0.0.1"), env...)
		cmd.Dir = w.Dir
		var errs strings.Builder
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("%s: %v\n%s%s", strings.Join(args[1:], " "), err, out, errs.String())
		}
		return string(out)
	}
	inspector := filepath.Join(modules, ".bin", "mcp-inspector")
	for _, at := range [][]string{
		{url, "--transport", "http", "--protocol-era", "modern"}, {url, "--transport", "http", "--protocol-era", "legacy"},
		{w.shim(), "mcp"}, // the inspector passes on little of its environment
	} {
		inspect := func(args ...string) string {
			return run(nil, append(append([]string{inspector, "--cli"}, at...), append(args, "--format", "json", "-q")...)...)
		}
		if out := inspect("--method", "tools/list"); !strings.Contains(out, `"research-streams__search_pubmed"`) || !strings.Contains(out, `"write_file"`) {
			t.Errorf("%s: the tools are %.2000s", at[1], out)
		}
		if out := inspect("--method", "tools/call", "--tool-name", "write_file", "--tool-arg", "path=a.txt", "--tool-arg", "content=hi"); !strings.Contains(out, "a.txt") {
			t.Errorf("%s: the call gave %s", at[1], out)
		}
		if out := inspect("--method", "tools/call", "--tool-name", "research-streams__search_pubmed", "--app-info"); !strings.Contains(strings.ReplaceAll(out, " ", ""), `"hasApp":true`) {
			t.Errorf("%s: the page is %s", at[1], out)
		}
	}
	for want, args := range map[int][]string{
		5: {url, "--transport", "http", "--method", "tools/call", "--tool-name", "read_file", "--tool-arg", "path=missing.txt"},
		3: {served.url + "/mcp", "--transport", "http", "--method", "tools/list"}, // without the token
	} {
		cmd := exec.CommandContext(t.Context(), node, append([]string{inspector, "--cli"}, args...)...)
		cmd.Env, cmd.Dir = append(w.Env, "MCP_INSPECTOR_SECRET_STORE=memory", "NODE_OPTIONS=", "NO_PROXY=localhost,127.0.0.1"), w.Dir
		if out, _ := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != want {
			t.Errorf("%q ended with %d, want %d:\n%s", args[1:], cmd.ProcessState.ExitCode(), want, out)
		}
	}
	script, err := filepath.Abs(filepath.Join("testdata", "mcp", "client.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	said := run([]string{"MODULES=" + modules}, script, url, os.Args[0])
	var results map[string]struct {
		Prompts, Completed []string
		Filled, Agent      string
		Command, Rose      bool
		Agents             int
		Tools              int
		Text               string
		Resources          []string
		Page               string
	}
	if err := json.Unmarshal([]byte(said), &results); err != nil || len(results) != 4 {
		t.Fatalf("%v: %s", err, said)
	}
	for name, r := range results {
		if r.Tools < 5 || !strings.Contains(r.Text, "b.txt") || !strings.Contains(strings.Join(r.Resources, " "), "workspace:///b.txt") || r.Page != "text/html;profile=mcp-app" {
			t.Errorf("%s: %+v", name, r)
		}
		if strings.Join(r.Prompts, "|") != "review lang,input" || r.Filled != "Review this Go change.\n\na diff" || strings.Join(r.Completed, "|") != "Go" {
			t.Errorf("%s: the prompts are %q, %q, %q", name, r.Prompts, r.Filled, r.Completed)
		}
		if !r.Command || r.Agent != "Hello." || r.Agents < 3 || !r.Rose {
			t.Errorf("%s: of the long calls, the command succeeded: %t; the agent answered %q after %d reports; progress rose: %t", name, r.Command, r.Agent, r.Agents, r.Rose)
		}
	}
}
