//go:build linux || darwin

package commands_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/commands/commandtest"
)

const asksServers = `{responses: [
  {when: "capital", text: Paris.},
  {when: "book", step: 0, calls: [{name: book}]},
  {when: "", text: So it is.}]}`

// shows waits until a page has drawn a text, whatever became of it since.
func shows(c *commandtest.Terminal, text string) {
	c.T.Helper()
	for deadline := time.Now().Add(commandtest.Wait); !strings.Contains(c.Raw(), text); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			c.T.Fatalf("%q wasn't drawn:\n%s", text, c.Raw())
		}
	}
}

// A server's questions are asked on the terminal, in its name, and what is typed is
// held against the form before it is sent.
func TestAServerAsksOnATerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t, asksServers)
	w.Run(0, "mcp", "add", "trip", "--sampling", "--url", commandtest.AskingMCP(t))
	for _, c := range []struct {
		name, tool string
		talk       [][2]string // what is shown, and what is typed then
		heard      string
	}{
		{"form", "book", [][2]string{
			{"? the MCP server trip asks", ""}, {"    Which seat?[2J", ""}, {"[n]o", "f"},
			{"Seat:", "\n"}, {"it is needed:", "12A\n"},
			{"bags (a number, Enter for 1):", "nine\n"}, {"want a number:", "2\n"},
			{"class (a number, Enter leaves it out):", "2\n"}, {"class: biz", ""}, {"end it", "s"},
		}, `"content":{"bags":2,"class":"biz","seat":"12A"}`},
		{"declined", "book", [][2]string{{"[n]o", "n"}}, `heard {"action":"decline"}`},
		{"address", "visit", [][2]string{
			{"https://pay.example.com/a?b=c", ""}, {"it is at pay.example.com", ""}, {"[n]o", "y"},
		}, `heard {"action":"accept"}`},
		{"model", "think", [][2]string{
			{"would be asked, for at most 50 tokens", ""}, {"    Be short.", ""}, {"    the capital of France?", ""}, {"always: sampling@trip", "y"},
		}, "Paris."},
	} {
		t.Run(c.name, func(t *testing.T) {
			on := w.OnTerminal(nil, "tool", "call", "trip:"+c.tool)
			for _, one := range c.talk {
				on.Until(one[0])
				if one[1] != "" {
					on.Type(one[1])
				}
			}
			if screen := on.Ends(0); !strings.Contains(strings.ReplaceAll(screen, "\n", ""), c.heard) {
				t.Errorf("it heard\n%s", screen)
			}
		})
	}
	t.Run("chat", func(t *testing.T) {
		c := w.OnTerminal(nil, "chat", "--allow", "trip:*")
		shows(c, "›")
		c.Type("book it\r")
		shows(c, "waits for an answer")
		shows(c, "fill in")
		c.Type("f")
		shows(c, "Seat:")
		c.Type("7\r")
		shows(c, "bags (a number, Enter for 1):")
		c.Type("\r")
		shows(c, "class (a number, Enter leaves it out):")
		c.Type("\r")
		shows(c, "end it")
		c.Type("s")
		shows(c, "So it is.")
		c.Type("\x04")
		c.Ends(0)
	})
	t.Run("plain chat", func(t *testing.T) {
		c := w.OnTerminal(nil, "chat", "--plain", "--allow", "trip:*")
		c.Until(">")
		c.Type("book it\n")
		c.Until("[n]o")
		c.Type("n")
		c.Until("So it is.")
		c.Type("\x04")
		c.Ends(0)
	})
}

// Where nobody can be asked a server hears that, and is told beforehand.
func TestAServerAsksInAPipe(t *testing.T) {
	t.Parallel()
	w := newWorld(t, asksServers)
	w.Run(0, "mcp", "add", "trip", "--sampling", "--url", commandtest.AskingMCP(t))
	if out, _ := w.Run(0, "tool", "call", "trip:think"); !strings.Contains(out, "nobody can be asked here whether it may ask a model") {
		t.Errorf("a prompt: %s", out)
	}
	if out, _ := w.Run(0, "tool", "call", "trip:book"); !strings.Contains(out, "does not support elicitation") && !strings.Contains(out, `"cancel"`) {
		t.Errorf("a form: %s", out)
	}
	w.Run(0, "mcp", "add", "shy", "--url", commandtest.AskingMCP(t))
	if out, _ := w.Run(0, "tool", "call", "shy:think"); strings.Contains(out, "Paris") || !strings.Contains(out, "support") {
		t.Errorf("one that may not: %s", out)
	}
}

// A question takes along what it names of servers, and a prompt of theirs is asked.
func TestWhatServersHaveIsSentAlong(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{responses: [{when: "book a", text: Booked.}, {seen: "buy \\[2Jmilk", text: Milk it is.}, {when: "", text: Nothing there.}]}`)
	w.Run(0, "mcp", "add", "trip", "--url", commandtest.AskingMCP(t))
	typed := func(status int, text string) (stdout, stderr string) {
		cmd := w.Command("chat", "--plain")
		var out, errs bytes.Buffer
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(text+"\n"), &out, &errs
		_ = cmd.Run() // the status is looked at
		if got := cmd.ProcessState.ExitCode(); got != status {
			t.Errorf("%s ended with %d: %s", text, got, errs.String())
		}
		return out.String(), errs.String()
	}
	for _, c := range []struct {
		text  string
		along bool
	}{
		{"what do I need, by @trip:mem://notes?", true},
		{`what is \@trip:mem://notes?`, false},
		{"write to ada@example.com: hi", false},
		{"and @nobody:mem://notes", false},
	} {
		if out, _ := w.Run(0, "ask", "--no-stdin", c.text); strings.Contains(out, "Milk") != c.along {
			t.Errorf("ask %s: %s", c.text, out)
		}
		if out, _ := typed(0, c.text); strings.Contains(out, "Milk") != c.along {
			t.Errorf("chat %s: %s", c.text, out)
		}
	}
	if out, _ := typed(0, "/prompt"); !strings.Contains(out, "trip/shop") || !strings.Contains(out, "what=") {
		t.Errorf("the list: %s", out)
	}
	if out, _ := typed(0, "/prompt trip/shop what='two words'"); !strings.Contains(out, "please book a [2Jmarket") || !strings.Contains(out, "Booked.") {
		t.Errorf("the prompt: %s", out)
	}
	if out, _ := w.Run(0, "ask", "--no-stdin", "-p", "trip/shop", "--var", "what=two words"); out != "Booked.\n" {
		t.Errorf("the prompt by ask: %s", out)
	}
	commandtest.Put(t, filepath.Join(w.project(), "list.txt"), "eggs")
	w.Run(0, "ask", "--no-stdin", "-p", "trip/shop", "--var", "what=x", "-f", filepath.Join(w.project(), "list.txt"), "by @trip:mem://notes, please")
	show, _ := w.Run(0, "chats", "show", "by @trip:mem://notes, please", "-o", "json")
	at := -1
	for _, want := range []string{"buy [2Jmilk", "eggs", `please book a [2Jmarket\n\nby @trip:mem://notes, please`} {
		next := strings.Index(show, want)
		if next <= at {
			t.Errorf("%q does not follow in %s", want, show)
		}
		at = next
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"-p", "nobody/shop"}, 1, "nobody"},
		{[]string{"-p", "trip/shop", "--var", "what"}, 2, "--var wants NAME=VALUE"},
		{[]string{"-p", "trip/shop", "--server", "http://127.0.0.1:1/?token=x"}, 2, "the MCP servers are this machine's"},
		{[]string{"-p", "trip/"}, 1, "trip/"},
	} {
		if _, errs := w.Run(c.code, append([]string{"ask", "--no-stdin"}, c.args...)...); !strings.Contains(errs, c.want) {
			t.Errorf("%v: %s", c.args, errs)
		}
	}
	if out, _ := w.Run(0, "__complete", "fish", "--", "=tr", "ask", "-p"); out != "trip/\ta prompt of the MCP server\n" {
		t.Errorf("completion of -p: %q", out)
	}
	for cursor, want := range map[string]string{
		"@": "@trip:mem://notes\tnotes\n", "@tr": "@trip:mem://notes\tnotes\n", "@trip:": "@trip:mem://notes\tnotes\n",
		"@trip:me": "@trip:mem://notes\tnotes\n", "@trip:x": "", "@nobody:": "", "tr": "",
	} {
		if out, errs := w.Run(0, "__complete", "bash", "--", "="+cursor, "ask"); out != want || errs != "" {
			t.Errorf("completion of %s: %q %q", cursor, out, errs)
		}
	}
	w.Run(0, "mcp", "add", "tea", "--url", commandtest.AskingMCP(t))
	if out, _ := w.Run(0, "__complete", "bash", "--", "=@t", "ask"); out != "@tea:\ta resource of the MCP server\n@trip:\ta resource of the MCP server\n" {
		t.Errorf("completion among two servers: %q", out)
	}
	w.Run(0, "mcp", "disable", "trip")
	if out, errs := w.Run(0, "__complete", "bash", "--", "=@trip:", "ask"); out+errs != "" {
		t.Errorf("completion for one that is off: %q %q", out, errs)
	}
	if _, errs := typed(2, "/prompt trip/shop what"); !strings.Contains(errs, "is no KEY=VALUE") {
		t.Errorf("no value: %s", errs)
	}
}

// The page of chat completes the servers and then what one of them has; the server is
// asked only where a person asks for the list.
func TestChatCompletesResources(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{responses: [{seen: "buy \\[2Jmilk", text: Milk it is.}, {when: "", text: Nothing there.}]}`)
	w.Run(0, "mcp", "add", "trip", "--url", commandtest.AskingMCP(t))
	s := w.chatOn(80, 24, nil)
	s.idle()
	s.typed("what do I need, by @tr")
	s.shows("> @trip:  a resource of the MCP server")
	s.typed("\t")
	s.shows("› what do I need, by @trip:")
	s.shows("> @trip:mem://notes  notes")
	s.typed("\t")
	s.shows("› what do I need, by @trip:mem://notes")
	s.typed("\r")
	s.shows("Milk it is.")
	s.idle()
}
