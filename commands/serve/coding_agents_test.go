package serve_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/commands/commandtest"
	"github.com/fettle-cli/fettle/internal/needtest"
	"github.com/fettle-cli/fettle/internal/nodetest"
)

// agentTime bounds one task of a coding agent: it takes some seconds on an idle machine.
const agentTime = 4 * time.Minute

// codingAgent returns the path of a program of npm's that is built for this machine.
func codingAgent(t *testing.T, pattern string) string {
	t.Helper()
	modules, _ := nodetest.Find(t, nodetest.Coders())
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	found, err := filepath.Glob(filepath.Join(modules, fmt.Sprintf(pattern, runtime.GOOS+"-"+arch)))
	if err != nil || len(found) == 0 {
		needtest.Lacking(t, "a build of the coding agent for "+runtime.GOOS+" on "+runtime.GOARCH)
	}
	return found[0]
}

// runAgent runs a coding agent in a folder with a home of its own, and returns what it
// printed.
func runAgent(t *testing.T, dir string, env []string, program string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), agentTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "NO_PROXY=127.0.0.1", "TERM=dumb"}, env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v", err)
	}
	return string(out)
}

// codingTask is a model that makes the calls one after the other and answers once it has
// seen what it looks for: the mended file, and the list of fettle's MCP server.
func codingTask(t *testing.T, calls []call) string {
	t.Helper()
	var out strings.Builder
	out.WriteString("responses:\n")
	for i, c := range calls {
		raw, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "  - {when: mend the typo, step: %d, reasoning: Step %d., calls: [%s]}\n", i, i, raw)
	}
	fmt.Fprintf(&out, "  - {when: mend the typo, step: %d, seen: 'hello world(.|\\n)*from-fettle.txt', text: The file says hello world now.}\n", len(calls))
	out.WriteString(`  - {when: "", text: A title.}` + "\n")
	return out.String()
}

// task is the folder of a task, and a server whose model does it. The MCP server of the
// agent is fettle too, in another folder, which has a file that only its tools list.
type task struct {
	*serving
	project string
	mcp     mcpCommand
}

type mcpCommand struct {
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
}

func openTask(t *testing.T, calls func(file string) []call) *task {
	t.Helper()
	project := t.TempDir()
	file := filepath.Join(project, "a.txt")
	commandtest.Put(t, file, "hello wrld\n")
	w := newWorld(t, codingTask(t, calls(file)))
	folder := t.TempDir()
	commandtest.Put(t, filepath.Join(folder, "from-fettle.txt"), "x")
	env := map[string]string{}
	for _, e := range w.Env {
		name, value, _ := strings.Cut(e, "=")
		env[name] = value
	}
	return &task{
		serving: w.serve("--log", "off"), project: project,
		mcp: mcpCommand{os.Args[0], []string{"mcp", "serve", "--toolset", "builtin", "-w", folder, "--log", "off"}, env},
	}
}

// done checks that the file was mended.
func (k *task) done(t *testing.T, said string) {
	t.Helper()
	got, err := os.ReadFile(filepath.Join(k.project, "a.txt"))
	if err != nil || string(got) != "hello world\n" || !strings.Contains(said, "The file says hello world now.") {
		t.Errorf("the file says %q, %v; the agent said\n%s", got, err, said)
	}
}

type call struct {
	Name string         `json:"name"`
	Args map[string]any `json:"args"`
}

// Claude Code does a whole task through /v1/messages, unmodified but for the base URL: it
// reads, edits, runs a command, and calls tools of fettle's MCP server, which it starts or
// reaches at the address of fettle serve.
func TestClaudeCodeDoesATask(t *testing.T) {
	t.Parallel()
	program := codingAgent(t, "@anthropic-ai/claude-code-%s/claude")
	for name, over := range map[string]struct {
		server func(*task) any
		calls  []call // before the tools list the folder
		search string // which offers the tools
	}{
		"a command": {func(k *task) any { return k.mcp }, nil, "select:mcp__fettle__list_files"},
		"an address": {
			func(k *task) any {
				return map[string]any{"type": "http", "url": k.url + "/mcp", "headers": map[string]string{"Authorization": "Bearer " + k.token}}
			},
			[]call{{"mcp__fettle__write_file", map[string]any{"path": "from-fettle.txt", "content": "x"}}},
			"select:mcp__fettle__list_files,mcp__fettle__write_file",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := openTask(t, func(file string) []call {
				calls := []call{
					{"Read", map[string]any{"file_path": file}},
					{"Edit", map[string]any{"file_path": file, "old_string": "wrld", "new_string": "world"}},
					{"Bash", map[string]any{"command": "cat a.txt", "description": "show the file"}},
					{"ToolSearch", map[string]any{"query": over.search}},
				}
				return append(append(calls, over.calls...), call{"mcp__fettle__list_files", map[string]any{}})
			})
			servers, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"fettle": over.server(k)}})
			if err != nil {
				t.Fatal(err)
			}
			said := runAgent(t, k.project, []string{
				"IS_SANDBOX=1", "ANTHROPIC_BASE_URL=" + k.url, "ANTHROPIC_AUTH_TOKEN=" + k.token,
				"ANTHROPIC_MODEL=script/m.yaml", "ANTHROPIC_SMALL_FAST_MODEL=script/m.yaml", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1",
			}, program, "-p", "mend the typo in a.txt", "--dangerously-skip-permissions", "--strict-mcp-config", "--mcp-config", string(servers),
				"--output-format", "stream-json", "--verbose")
			k.done(t, said)
		})
	}
}

// Codex does the same through /v1/responses, where the tools of MCP servers come in a
// namespace.
func TestCodexDoesATask(t *testing.T) {
	t.Parallel()
	program := codingAgent(t, "@openai/codex-%s/vendor/*/bin/codex")
	k := openTask(t, func(file string) []call {
		return []call{
			{"exec_command", map[string]any{"cmd": "cat " + file}},
			{"exec_command", map[string]any{"cmd": "printf 'hello world\\n' > " + file}},
			{"exec_command", map[string]any{"cmd": "cat a.txt"}},
			{"mcp__fettle__list_files", map[string]any{}},
		}
	})
	home := t.TempDir()
	config := `
model = "script/m.yaml"
model_provider = "fettle"
[model_providers.fettle]
name = "fettle"
base_url = "` + k.url + `/v1"
env_key = "FETTLE_TOKEN"
wire_api = "responses"
[mcp_servers.fettle]
command = ` + quote(t, k.mcp.Command) + `
args = ` + quote(t, k.mcp.Args) + `
[mcp_servers.fettle.env]
`
	for name, value := range k.mcp.Env {
		config += fmt.Sprintf("%s = %s\n", name, quote(t, value))
	}
	commandtest.Put(t, filepath.Join(home, "config.toml"), config)
	said := runAgent(t, k.project, []string{"CODEX_HOME=" + home, "FETTLE_TOKEN=" + k.token}, program,
		"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "mend the typo in a.txt")
	k.done(t, said)
}

// quote is a text or a list of texts as TOML has it, which is as JSON has it.
func quote(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// opencode does the same through /v1/chat/completions.
func TestOpenCodeDoesATask(t *testing.T) {
	t.Parallel()
	program := codingAgent(t, "opencode-%s/bin/opencode")
	k := openTask(t, func(file string) []call {
		return []call{
			{"read", map[string]any{"filePath": file}},
			{"edit", map[string]any{"filePath": file, "oldString": "wrld", "newString": "world"}},
			{"bash", map[string]any{"command": "cat a.txt", "description": "show the file"}},
			{"fettle_list_files", map[string]any{}},
		}
	})
	config, err := json.Marshal(map[string]any{
		"model": "local/script/m.yaml", "small_model": "local/script/m.yaml", "autoupdate": false, "share": "disabled",
		"permission": map[string]any{"bash": "allow", "edit": "allow"},
		"provider": map[string]any{"local": map[string]any{
			"npm": "@ai-sdk/openai-compatible", "name": "fettle", "options": map[string]any{"baseURL": k.url + "/v1", "apiKey": k.token},
			"models": map[string]any{"script/m.yaml": map[string]any{"name": "a script", "tool_call": true}},
		}},
		"mcp": map[string]any{"fettle": map[string]any{
			"type": "local", "command": append([]string{k.mcp.Command}, k.mcp.Args...), "environment": k.mcp.Env, "enabled": true,
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	said := runAgent(t, k.project, []string{
		"OPENCODE_CONFIG_CONTENT=" + string(config), "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1",
		"OPENCODE_DISABLE_DEFAULT_PLUGINS=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
	}, program, "run", "mend the typo in a.txt")
	k.done(t, said)
}
