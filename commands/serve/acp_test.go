package serve_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/fettle-cli/fettle/commands/commandtest"
	"github.com/fettle-cli/fettle/internal/needtest"
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
			e := w.edit(project, "")
			e.ask(3, "slow")
			if e.hear("Half") == "" {
				t.Fatal("the model said nothing")
			}
			if how == "end of input" {
				e.say("")
			} else if err := e.cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if e.hear(`"id":3`) == "" {
				t.Error("the prompt was not answered")
			}
			e.hear("all that is left")
			if err := e.cmd.Wait(); err != nil {
				t.Errorf("it ended with %v", err)
			}
			said, _ := w.Run(0, "chats", "show", "-o", "json")
			if !strings.Contains(said, e.session) || !strings.Contains(said, `"cancelled"`) || !strings.Contains(said, "Half") {
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
	commandtest.Put(t, filepath.Join(w.Dir, "config", "prompts", "look.md"), "---\ndescription: looks at something\nvariables: {lang: {}}\n---\nLook at {{lang}}: {{input}}\n")
	commandtest.Put(t, filepath.Join(project, ".fettle", "prompts", "own.md"), "The project's own.\n")
	if err := os.Chmod(filepath.Join(project, ".fettle"), 0o700); err != nil {
		t.Fatal(err)
	}
	e := w.edit(project, "")
	commands := e.hear("available_commands_update")
	if !strings.Contains(commands, `"looks at something"`) || !strings.Contains(commands, `"own"`) {
		t.Errorf("the commands are %s", commands)
	}
	e.ask(3, "/look lang=go tea, and nothing else")
	if e.hear("Looked.") == "" {
		t.Error("the prompt was not filled")
	}
	e.hear(`"id":3`)
	e.ask(4, "/look tea")
	if got := e.hear(`"id":4`); !strings.Contains(got, `/look lang=…`) {
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
		if _, said := w.Run(c.status, append([]string{"acp"}, c.args...)...); !strings.Contains(said, c.want) {
			t.Errorf("%v: %s", c.args, said)
		}
	}
}

// A server that the editor sends along is there for its session: its tools are
// offered, asked about, and called.
func TestACPUsesTheEditorsServers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `responses: [{when: "list", step: 0, calls: [{name: "a:list_notes"}]}, {when: "", text: So it is.}]`)
	w.AddNotes()
	project := realDir(t)
	e := w.edit(project, `{"name":"a","command":"notes-server","args":[],"env":[]}`)
	e.ask(3, "list")
	var asked struct {
		ID     json.RawMessage
		Params struct {
			Options []struct{ OptionID, Kind string }
		}
	}
	if err := json.Unmarshal([]byte(e.hear("session/request_permission")), &asked); err != nil {
		t.Fatal(err)
	}
	for _, o := range asked.Params.Options {
		if o.Kind == "allow_once" {
			e.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"selected","optionId":%q}}}`, asked.ID, o.OptionID))
		}
	}
	if e.hear("buy milk") == "" {
		t.Error("the tool's result was not told")
	}
	if got := e.hear(`"id":3`); !strings.Contains(got, "end_turn") {
		t.Errorf("the prompt ended with %s", got)
	}
}

// A workflow of an installed toolset runs by a command, with its steps as the plan.
func TestACPRunsWorkflows(t *testing.T) {
	t.Parallel()
	needtest.Program(t, "python3")
	w := newWorld(t, editorScript)
	w.Run(0, "toolset", "import", commandtest.Toolset(t, "reviews"), "--yes")
	project := realDir(t)
	e := w.edit(project, "")
	ask := func(id int, text string) string {
		e.ask(id, text)
		for all := ""; ; {
			line := e.hear("")
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
