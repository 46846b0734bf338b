package acp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fettle-cli/fettle/internal/sanitize"
	"github.com/fettle-cli/fettle/toolset"
)

const (
	// terminalTime bounds each request about a terminal but the wait for its command: an
	// editor starts, ends and reads a process at once.
	terminalTime = 10 * time.Second
	// maxTerminalOutput bounds the output that is asked for: it comes as one message.
	maxTerminalOutput = 4 << 20
)

// Where a session's commands run. The editor's terminal is offered where the editor has one,
// and never used unless the user chooses it: nothing contains what runs there.
const (
	terminalOption = "commands"
	inSandbox      = "sandbox"
	inEditor       = "editor"
)

// createTerminal are the parameters of terminal/create.
type createTerminal struct {
	SessionID string   `json:"sessionId"`
	Command   string   `json:"command"`
	Args      []string `json:"args"`
	CWD       string   `json:"cwd"`
	Limit     int      `json:"outputByteLimit"`
}

// terminalParams are those of every other request about a terminal.
type terminalParams struct {
	SessionID  string `json:"sessionId"`
	TerminalID string `json:"terminalId"`
}

type exitStatus struct {
	Code   *int    `json:"exitCode"`
	Signal *string `json:"signal"`
}

type terminalOutput struct {
	Output    string `json:"output"`
	Truncated bool   `json:"truncated"`
}

// terminals runs a session's commands in the editor's terminal.
type terminals struct {
	a *agent
	s *session
}

var _ toolset.Terminal = terminals{}

// terminalOf returns where the commands of a session run, if not in the sandbox.
func (a *agent) terminalOf(s *session) toolset.Terminal {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !a.client.Terminal || !s.inTerminal {
		return nil
	}
	return terminals{a, s}
}

// terminalChoice is the option that chooses where commands run.
func terminalChoice(c choice) configOption {
	out := configOption{
		ID: terminalOption, Name: "Commands", Category: "_commands", Type: "select", Current: inSandbox,
		Options: []configChoice{
			{Value: inSandbox, Name: "In fettle's sandbox", Description: "Commands reach what the sandbox allows, and end with their call"},
			{Value: inEditor, Name: "In the editor's terminal", Description: "Commands run outside of the sandbox, with your rights, and each one asks"},
		},
	}
	if c.inTerminal {
		out.Current = inEditor
	}
	return out
}

// chooseTerminal sets where the commands of the prompts that follow run.
func (a *agent) chooseTerminal(s *session, value string) error {
	if !a.client.Terminal || value != inSandbox && value != inEditor {
		return &rpcError{Code: codeParams, Message: "commands run in " + inSandbox + ", or in " + inEditor + " where the editor offers a terminal"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inTerminal = value == inEditor
	return nil
}

// RunInTerminal runs one command, and shows its terminal in the call. The terminal is
// released however the command ends.
func (t terminals) RunInTerminal(ctx context.Context, c toolset.TerminalCommand) (toolset.TerminalEnd, error) {
	var end toolset.TerminalEnd
	var made struct {
		ID string `json:"terminalId"`
	}
	// The request itself is not cancelled: the terminal that it may have made has to be released.
	err := t.ask(ctx, "terminal/create", createTerminal{t.s.id, c.Args[0], c.Args[1:], t.s.cwd, min(c.Output, maxTerminalOutput)}, &made)
	if err != nil {
		return end, err
	}
	if made.ID == "" {
		return end, errors.New("the answer to terminal/create has no terminalId")
	}
	p := terminalParams{t.s.id, made.ID}
	defer func() { _ = t.ask(ctx, "terminal/release", p, new(any)) }() // ask has logged an error
	t.s.shows(c.UseID, made.ID)
	t.a.update(t.s, update{
		Kind: "tool_call_update", ToolCallID: c.UseID, Status: "in_progress", Outputs: []toolContent{{Type: "terminal", TerminalID: made.ID}},
	})
	if end.Exit, err = t.wait(ctx, c.Time, p); err != nil {
		return end, err
	}
	var out terminalOutput
	if err := t.ask(ctx, "terminal/output", p, &out); err != nil {
		return end, err
	}
	end.Output, end.Cut = out.Output, out.Truncated
	if over := len(end.Output) - maxTerminalOutput; over > 0 {
		end.Output, end.Cut = end.Output[over:], true
	}
	return end, nil
}

// wait waits for the command's end, and kills it at the end of ctx or of its time.
func (t terminals) wait(ctx context.Context, limit time.Duration, p terminalParams) (toolset.Exit, error) {
	waiting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var status exitStatus
	err := t.a.conn.call(waiting, "terminal/wait_for_exit", p, &status)
	switch {
	case err == nil && status.Signal != nil && *status.Signal != "":
		return toolset.Exit{Cause: "signalled", Code: -1, Signal: sanitize.Cut(sanitize.Line(*status.Signal), maxShownName)}, nil
	case err == nil && status.Code != nil:
		return toolset.Exit{Cause: "exited", Code: *status.Code}, nil
	case err == nil:
		return toolset.Exit{}, errors.New("the editor does not say how the command ended")
	}
	if killed := t.ask(ctx, "terminal/kill", p, new(any)); killed != nil {
		return toolset.Exit{}, killed
	}
	switch {
	case ctx.Err() != nil:
		return toolset.Exit{}, ctx.Err()
	case waiting.Err() != nil:
		return toolset.Exit{Cause: "time", Code: -1, Detail: fmt.Sprintf("it took longer than %s", limit)}, nil
	}
	return toolset.Exit{}, errors.New(sanitize.Cut(sanitize.Line(err.Error()), maxShownName))
}

// ask makes a request that the end of ctx does not cut off.
func (t terminals) ask(ctx context.Context, method string, params, result any) error {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), terminalTime, errors.New("the editor did not answer in time"))
	defer cancel()
	err := t.a.conn.call(ctx, method, params, result)
	if err == nil {
		return nil
	}
	text := sanitize.Cut(sanitize.Line(err.Error()), maxShownName)
	t.a.log.Warn("the editor's terminal failed", "method", method, "error", text)
	return fmt.Errorf("%s: %s", method, text)
}

// shows notes the terminal that a call shows, for the update of its end.
func (s *session) shows(useID, terminal string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shown == nil {
		s.shown = map[string]string{}
	}
	s.shown[useID] = terminal
}

// takeShown returns the terminal that a call has shown, once; empty is none.
func (s *session) takeShown(useID string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.shown[useID]
	delete(s.shown, useID)
	return id
}
