package commands_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// An editor that dies, or a signal, cancels the turn; nothing but messages was on
// standard output, and the chat goes on in a shell.
func TestACPEndsInOrder(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"end of input", "a signal"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			if how == "a signal" && runtime.GOOS == "windows" {
				t.Skip("no signal ends it in order there")
			}
			w := newWorld(t, editorScript)
			project := realDir(t)
			cmd, say, hear := w.acpProcess("--log", "off", "--model", "script/"+filepath.Join(w.dir, "m.yaml"))
			say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`)
			say(fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":%q,"mcpServers":[]}}`, project))
			var opened struct{ Result struct{ SessionID string } }
			if err := json.Unmarshal([]byte(hear(`"sessionId"`)), &opened); err != nil {
				t.Fatal(err)
			}
			say(fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":"slow"}]}}`, opened.Result.SessionID))
			if hear("Half") == "" {
				t.Fatal("the model said nothing")
			}
			if how == "end of input" {
				say("")
			} else if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if hear(`"id":3`) == "" {
				t.Error("the prompt was not answered")
			}
			hear("all that is left")
			if err := cmd.Wait(); err != nil {
				t.Errorf("it ended with %v", err)
			}
			said, _ := w.run(0, "chats", "show", "-o", "json")
			if !strings.Contains(said, opened.Result.SessionID) || !strings.Contains(said, `"cancelled"`) || !strings.Contains(said, "Half") {
				t.Errorf("the chat is %s", said)
			}
		})
	}
}

// The user's prompts and the project's are commands, with their variables.
func TestACPPrompts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `responses: [{when: "^Look at go: tea", text: Looked.}, {when: "", text: Asked.}]`)
	project := realDir(t)
	put(t, filepath.Join(w.dir, "config", "prompts", "look.md"), "---\ndescription: looks at something\nvariables: {lang: {}}\n---\nLook at {{lang}}: {{input}}\n")
	put(t, filepath.Join(project, ".fettle", "prompts", "own.md"), "The project's own.\n")
	if err := os.Chmod(filepath.Join(project, ".fettle"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, say, hear := w.acpProcess("--log", "off", "--model", "script/"+filepath.Join(w.dir, "m.yaml"))
	say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`)
	say(fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":%q,"mcpServers":[]}}`, project))
	var opened struct{ Result struct{ SessionID string } }
	if err := json.Unmarshal([]byte(hear(`"sessionId"`)), &opened); err != nil {
		t.Fatal(err)
	}
	commands := hear("available_commands_update")
	if !strings.Contains(commands, `"looks at something"`) || !strings.Contains(commands, `"own"`) {
		t.Errorf("the commands are %s", commands)
	}
	ask := func(id int, text string) {
		say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":%q}]}}`, id, opened.Result.SessionID, text))
	}
	ask(3, "/look lang=go tea, and nothing else")
	if hear("Looked.") == "" {
		t.Error("the prompt was not filled")
	}
	hear(`"id":3`)
	ask(4, "/look tea")
	if got := hear(`"id":4`); !strings.Contains(got, `/look lang=…`) {
		t.Errorf("without its variable: %s", got)
	}
}

func TestACPRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, editorScript)
	for _, c := range []struct {
		status int
		args   []string
		want   string
	}{
		{2, []string{"--log", "loud"}, "--log wants text, json or off"},
		{2, []string{"--demo", "--model", "script/m.yaml"}, "--demo answers"},
		{2, []string{"now"}, "now"},
		{1, []string{"--agent", "nobody"}, "nobody"},
	} {
		if _, said := w.run(c.status, append([]string{"acp"}, c.args...)...); !strings.Contains(said, c.want) {
			t.Errorf("%v: %s", c.args, said)
		}
	}
}

// A server that the editor sends along is there for its session: its tools are
// offered, asked about, and called.
func TestACPUsesTheEditorsServers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `responses: [{when: "list", step: 0, calls: [{name: "a:list_notes"}]}, {when: "", text: So it is.}]`)
	w.notes()
	project := realDir(t)
	_, say, hear := w.acpProcess("--log", "off", "--model", "script/"+filepath.Join(w.dir, "m.yaml"))
	say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`)
	say(fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":%q,"mcpServers":[{"name":"a","command":"notes-server","args":[],"env":[]}]}}`, project))
	var opened struct{ Result struct{ SessionID string } }
	if err := json.Unmarshal([]byte(hear(`"sessionId"`)), &opened); err != nil {
		t.Fatal(err)
	}
	say(fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":"list"}]}}`, opened.Result.SessionID))
	var asked struct {
		ID     json.RawMessage
		Params struct {
			Options []struct{ OptionID, Kind string }
		}
	}
	if err := json.Unmarshal([]byte(hear("session/request_permission")), &asked); err != nil {
		t.Fatal(err)
	}
	for _, o := range asked.Params.Options {
		if o.Kind == "allow_once" {
			say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"selected","optionId":%q}}}`, asked.ID, o.OptionID))
		}
	}
	if hear("buy milk") == "" {
		t.Error("the tool's result was not told")
	}
	if got := hear(`"id":3`); !strings.Contains(got, "end_turn") {
		t.Errorf("the prompt ended with %s", got)
	}
}

// A workflow of an installed toolset runs by a command, with its steps as the plan.
func TestACPRunsWorkflows(t *testing.T) {
	t.Parallel()
	needPython(t)
	w := newWorld(t, editorScript)
	w.run(0, "toolset", "import", exampleToolset(t, "reviews"), "--yes")
	project := realDir(t)
	_, say, hear := w.acpProcess("--log", "off", "--model", "script/"+filepath.Join(w.dir, "m.yaml"))
	say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`)
	say(fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":%q,"mcpServers":[]}}`, project))
	var opened struct{ Result struct{ SessionID string } }
	if err := json.Unmarshal([]byte(hear(`"sessionId"`)), &opened); err != nil {
		t.Fatal(err)
	}
	ask := func(id int, text string) string {
		say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":%q}]}}`, id, opened.Result.SessionID, text))
		for all := ""; ; {
			line := hear("")
			if all += line; line == "" || strings.Contains(line, fmt.Sprintf(`"id":%d,`, id)) {
				return all
			}
		}
	}
	if got := ask(3, "/workflow"); !strings.Contains(got, "`/workflow reviews:vendor_finder`  Finds businesses of one kind") {
		t.Errorf("the list: %s", got)
	}
	// It goes on to its checkpoint: the steps behind it stay open.
	got := ask(4, `/workflow vendor_finder {"category": "movers", "location": "Portland, OR"}`)
	at := -1
	for _, want := range []string{
		stepsAre("pending", "pending", "pending"), stepsAre("in_progress", "pending", "pending"), `"name":"reviews:find_vendors"`, "Careful Hands Movers",
		stepsAre("completed", "pending", "pending"), `"stopReason":"end_turn"`,
	} {
		next := strings.Index(got, want)
		if next <= at {
			t.Fatalf("%s does not follow in %s", want, got)
		}
		at = next
	}
	if got := ask(5, "/workflow vendor_finder movers"); !strings.Contains(got, "has to be JSON") {
		t.Errorf("no JSON: %s", got)
	}
	if got := ask(6, "/workflow nothing"); !strings.Contains(got, "There is no workflow nothing") {
		t.Errorf("no workflow: %s", got)
	}
}

// stepsAre is the plan of vendor_finder whose steps are in these states.
func stepsAre(find, compare, recommend string) string {
	return fmt.Sprintf(`"entries":[{"content":"Find vendors","priority":"medium","status":%q},{"content":"Compare their reviews","priority":"medium","status":%q},{"content":"Recommend one","priority":"medium","status":%q}]`, find, compare, recommend)
}
