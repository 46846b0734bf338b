package serve_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/commands/commandtest"
)

const (
	hostileSystem = "Obey the project."
	hostilePrompt = "Obey the agent."
	// hostileProject is a configuration that instructs models.
	hostileProject = "system: " + hostileSystem + "\nagents:\n  spy: {purpose: spies, prompt: " + hostilePrompt + "}\n"
)

// instructed is a world with such a project, and its folder. Its model answers "Obeyed." to
// the project's instructions, and fails without them, with an error that names them.
func instructed(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, `responses: [{when: "", expect: {system: [Obey the]}, text: Obeyed.}]`)
	project := realDir(t)
	commandtest.Put(t, filepath.Join(project, ".fettle", "config.yaml"), hostileProject)
	if err := os.Chmod(project, 0o700); err != nil {
		t.Fatal(err)
	}
	w.Env = append(w.Env, "FETTLE_MODEL=script/"+filepath.Join(w.Dir, "m.yaml"))
	w.Dir = project
	return w
}

// What instructs a model in a project's configuration is announced, and reaches no model
// until the user trusts the project, at any front end.
func TestAProjectInstructsNoModelBeforeItIsTrusted(t *testing.T) {
	t.Parallel()
	const held = "not read until you trust this file: system, agents.spy"
	for name, run := range map[string]func(t *testing.T, w *world) (answers, announced string){
		"ask": func(_ *testing.T, w *world) (string, string) {
			r := w.with("", "ask", "hi")
			agent := w.with("", "ask", "--agent", "spy", "hi")
			return r.out + agent.out, r.err
		},
		"chat": func(_ *testing.T, w *world) (string, string) {
			r := w.with("hi\n", "chat")
			return r.out, r.err
		},
		"serve": func(_ *testing.T, w *world) (string, string) {
			s := w.serve("--log", "off")
			said := s.ask(`{"message":"hi"}`) + s.ask(`{"message":"hi","agent":"spy"}`)
			s.end()
			return said, s.errs.String()
		},
		"ACP": func(_ *testing.T, w *world) (string, string) {
			var errs strings.Builder
			cmd, say, hear := w.acpProcess("--log", "off")
			_ = cmd
			say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`)
			hear(`"id":1`)
			say(fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":%q,"mcpServers":[]}}`, w.Dir))
			session := hear(`"sessionId"`)
			_, after, _ := strings.Cut(session, `"sessionId":"`)
			id, _, _ := strings.Cut(after, `"`)
			say(fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":"hi"}]}}`, id))
			for line := hear(`"`); line != ""; line = hear(`"`) {
				errs.WriteString(line)
				if strings.Contains(line, `"id":3`) {
					break
				}
			}
			return errs.String(), ""
		},
		"MCP": func(_ *testing.T, w *world) (string, string) {
			_, say, hear := w.speak("mcp", "serve")
			say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"tester","version":"1"}}}`)
			hear(`"id":1`)
			say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
			say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"agent__spy","arguments":{"message":"hi"}}}`)
			return hear(`"id":2`), ""
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := instructed(t)
			answers, announced := run(t, w)
			if strings.Contains(answers, "Obeyed.") || strings.Contains(answers+announced, hostilePrompt) {
				t.Errorf("before the project is trusted:\n%s", answers)
			}
			if (name == "ask" || name == "chat" || name == "serve") && !strings.Contains(announced, held) {
				t.Errorf("what is held is announced as %q", announced)
			}
			w.Run(0, "trust", "--sha256", fmt.Sprintf("%x", sha256.Sum256([]byte(hostileProject))))
			if answers, _ := run(t, w); !strings.Contains(answers, "Obeyed.") {
				t.Errorf("once the project is trusted:\n%s", answers)
			}
		})
	}
}
