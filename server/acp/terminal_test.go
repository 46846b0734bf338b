package acp_test

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fettle-cli/fettle/server/acp"
)

// console is an editor's terminals, and answers permissions.
type console struct {
	t       *testing.T
	allow   string
	hang    bool // its commands do not end
	fail    string
	mu      sync.Mutex
	methods []string
	created []string
	waiting chan struct{} // receives a value when a command is waited for
}

func (c *console) answer(method string, params json.RawMessage) (any, *wireError) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.methods = append(c.methods, method)
	if method == c.fail {
		return nil, &wireError{-32603, "no more terminals", nil}
	}
	switch method {
	case "session/request_permission":
		return obj{"outcome": obj{"outcome": "selected", "optionId": c.allow}}, nil
	case "terminal/create":
		c.created = append(c.created, string(params))
		return obj{"terminalId": "term-1"}, nil
	case "terminal/wait_for_exit":
		c.waiting <- struct{}{}
		if c.hang {
			return nil, nil // it is cancelled
		}
		return obj{"exitCode": 3}, nil
	case "terminal/output":
		return obj{"output": "from the editor\n", "truncated": false}, nil
	case "terminal/kill", "terminal/release":
		return obj{}, nil
	}
	return nil, &wireError{-32601, "not here", nil}
}

func (c *console) asked(method string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(slices.DeleteFunc(slices.Clone(c.methods), func(m string) bool { return m != method }))
}

const running = `
responses:
  - {when: run, step: 0, calls: [{name: run_command, args: {command: make test}}]}
  - {when: run, text: It has run.}
  - {when: "", text: Hello there.}
`

// inTerminal is a session whose commands run in the editor's terminal.
func inTerminal(t *testing.T, c *console) (h *house, e *editor, s string) {
	t.Helper()
	c.t, c.waiting = t, make(chan struct{}, 8)
	h = open(t, running)
	e = h.connect(func(o *acp.Options) { o.Model = "script/m.yaml" })
	e.answer = c.answer
	e.initialize()
	s = e.newSession(h.project)
	e.call("session/set_config_option", obj{"sessionId": s, "configId": "commands", "value": "editor"}, nil)
	return h, e, s
}

// Where the user has chosen it, a command runs in the editor's terminal: each one asks,
// without a choice that would allow the next, and the terminal is shown and released.
func TestCommandsRunInTheEditorsTerminal(t *testing.T) {
	t.Parallel()
	c := &console{allow: "allow_always"}
	h, e, s := inTerminal(t, c)
	for range 2 { // the answer to the first one allows nothing further
		e.prompt(s, "run it")
	}
	if n := c.asked("session/request_permission"); n != 2 {
		t.Errorf("%d permissions were asked for", n)
	}
	asked := e.wait("the permission", func(m wireMessage) bool { return m.Method == "session/request_permission" })
	if strings.Contains(asked.line, "allow_always") || !strings.Contains(asked.line, "allow_once") {
		t.Errorf("the permission is %s", asked.line)
	}
	if got := strings.Join(c.created, " "); !strings.Contains(got, "make test") || !strings.Contains(got, mustQuote(t, h.project)) {
		t.Errorf("the terminal is created by %s", got)
	}
	if created, released := c.asked("terminal/create"), c.asked("terminal/release"); created != 2 || released != 2 {
		t.Errorf("%d terminals were created and %d released", created, released)
	}
	shown := 0
	for _, u := range e.updates("tool_call_update") {
		if raw := string(mustJSON(t, u)); strings.Contains(raw, `"terminalId":"term-1"`) {
			shown++
		}
	}
	if shown != 4 { // as each begins, and at each end
		t.Errorf("the terminal is shown %d times", shown)
	}
	if got := h.results(t, s); !strings.Contains(got, "from the editor") || !strings.Contains(got, "exit 3") {
		t.Errorf("the calls are %s", got)
	}
}

func mustQuote(t *testing.T, s string) string { return string(mustJSON(t, s)) }

// A cancel kills the command, and releases its terminal; so does the end of its time.
func TestACancelKillsTheCommandInTheTerminal(t *testing.T) {
	t.Parallel()
	c := &console{allow: "allow", hang: true}
	_, e, s := inTerminal(t, c)
	id := e.send("session/prompt", obj{"sessionId": s, "prompt": []any{obj{"type": "text", "text": "run it"}}})
	<-c.waiting
	e.notify("session/cancel", obj{"sessionId": s})
	if m := e.response(id); !strings.Contains(string(m.Result), "cancelled") {
		t.Errorf("the prompt ends with %s", m.line)
	}
	if killed, released := c.asked("terminal/kill"), c.asked("terminal/release"); killed != 1 || released != 1 {
		t.Errorf("%d kills, %d releases", killed, released)
	}
}

// What a terminal fails at is the result of the call, and what was created is released.
func TestATerminalThatFails(t *testing.T) {
	t.Parallel()
	for method, released := range map[string]int{"terminal/create": 0, "terminal/output": 1, "terminal/wait_for_exit": 1} {
		c := &console{allow: "allow", fail: method}
		h, e, s := inTerminal(t, c)
		e.prompt(s, "run it")
		if got := h.results(t, s); !strings.Contains(got, "the terminal failed to run it") || !strings.Contains(got, "no more terminals") {
			t.Errorf("%s: the calls are %s", method, got)
		}
		if n := c.asked("terminal/release"); n != released {
			t.Errorf("%s: %d releases", method, n)
		}
	}
}

// Without the choice, and in an editor without a terminal, commands stay in the sandbox.
func TestCommandsStayInTheSandbox(t *testing.T) {
	t.Parallel()
	c := &console{allow: "reject", waiting: make(chan struct{}, 8)}
	h := open(t, running)
	e := h.connect()
	e.answer = c.answer
	e.initialize()
	s := e.newSession(h.project)
	e.prompt(s, "run it")
	if n := c.asked("terminal/create"); n != 0 {
		t.Errorf("%d terminals were created", n)
	}
	other := h.connect()
	other.call("initialize", obj{"protocolVersion": 1, "clientCapabilities": obj{}}, nil)
	var opened struct{ ConfigOptions []struct{ ID string } }
	other.call("session/new", obj{"cwd": h.project, "mcpServers": []any{}}, &opened)
	if len(opened.ConfigOptions) != 4 {
		t.Errorf("options %+v", opened.ConfigOptions)
	}
	var p struct{ SessionID string }
	other.call("session/new", obj{"cwd": h.project, "mcpServers": []any{}}, &p)
	other.fails(-32602, "session/set_config_option", obj{"sessionId": p.SessionID, "configId": "commands", "value": "editor"})
}
