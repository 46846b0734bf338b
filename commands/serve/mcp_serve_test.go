package serve_test

import (
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/fettle-cli/fettle/commands/commandtest"
)

// The end of its input, or a signal, ends fettle mcp and the turn that runs; nothing
// but messages was on standard output, and the chat is kept.
func TestMCPServeEndsInOrder(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"end of input", "a signal"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			if how == "a signal" && runtime.GOOS == "windows" {
				t.Skip("no signal ends it in order there")
			}
			w := newWorld(t, `responses: [{when: "", deltas: [{content: Half}], hang: true}]`)
			commandtest.Put(t, filepath.Join(w.Dir, "config", "config.yaml"), "agents:\n  helper: {purpose: helps, prompt: You help.}\n")
			cmd, say, hear := w.speak("mcp", "serve", "-m", "script/"+filepath.Join(w.Dir, "m.yaml"))
			say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"tester","version":"1"}}}`)
			if line := hear(`"id":1`); !strings.Contains(line, `"name":"fettle"`) {
				t.Fatalf("it began with %q", line)
			}
			say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
			say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"agent__helper","arguments":{"message":"slow"},"_meta":{"progressToken":1}}}`)
			if hear("notifications/progress") == "" {
				t.Fatal("the agent did not begin")
			}
			if how == "end of input" {
				say("")
			} else if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			hear("all that is left")
			if err := cmd.Wait(); err != nil {
				t.Errorf("it ended with %v", err)
			}
			said, _ := w.Run(0, "chats", "show", "-o", "json")
			if !strings.Contains(said, "MCP: tester") || !strings.Contains(said, `"cancelled"`) {
				t.Errorf("the chat is %s", said)
			}
		})
	}
}

// Beside a server nothing is for people: a terminal gets the help, and mistakes are
// told before anything begins.
func TestMCPServeMistakes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `responses: [{when: "", text: Hello.}]`)
	for _, c := range []struct {
		status int
		args   []string
		want   string
	}{
		{2, []string{"mcp", "serve", "--allow", "x("}, "the bracket is not closed"},
		{2, []string{"mcp", "serve", "--log", "loud"}, "--log wants text, json or off"},
		{2, []string{"mcp", "serve", "-w", w.Dir + "/data"}, "fettle can't work in this folder"},
		{1, []string{"mcp", "serve", "--toolset", "nothing"}, "there is no toolset nothing"},
		{2, []string{"mcp", "nothing"}, "no command nothing"},
	} {
		out, errs := w.Run(c.status, c.args...)
		if out != "" || !strings.Contains(errs, c.want) {
			t.Errorf("%q: %q %q", c.args, out, errs)
		}
	}
	if out, errs := w.Run(0, "mcp", "serve", "--log", "off"); out+errs != "" {
		t.Errorf("with no input it says %q %q", out, errs)
	}
}
