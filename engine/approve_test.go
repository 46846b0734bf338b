package engine

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/toolset"
)

// bound is a request whose tools work in a folder of the user's, where a
// change wants an approval.
func bound(t *testing.T, b *bench) TurnRequest {
	req := ask("write")
	req.Workspace = filepath.Join(b.dir, "project")
	if err := os.MkdirAll(req.Workspace, 0o755); err != nil {
		t.Fatal(err)
	}
	return req
}

func TestWhereNobodyCanBeAskedTheCallIsDenied(t *testing.T) {
	t.Parallel()
	b := newBench(t, toolScript)
	req := bound(t, b)
	events := b.run(req)
	want(t, events, `"I write it down."`, "meta tool_use", "tool_start write_file",
		"tool_complete write_file error", `"Done."`, "meta stop", "complete")
	if p := last[event.Complete](t, events).Payload; p.Denied != 1 {
		t.Errorf("%d denied", p.Denied)
	}
	if left := files(t, req.Workspace); len(left) != 0 {
		t.Errorf("written all the same: %v", left)
	}
}

func TestAPersonDecides(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer Confirmation
		status string
		again  string // of the same call in a second turn
	}{
		"once":         {Confirmation{Decision: event.Allow}, "success", "ask"},
		"for the chat": {Confirmation{Decision: event.AllowChat}, "success", "run"},
		"always":       {Confirmation{Decision: event.AllowAlways}, "success", "run"},
		"no":           {Confirmation{Decision: event.Deny, Reason: "not there"}, "error", "ask"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, `
responses:
  - step: 0
    calls: [{name: write_file, args: {path: notes/a.txt, content: "one\n"}}]
  - step: 1
    text: Done.
`)
			req := bound(t, b)
			req.CanConfirm = true
			id := b.start(req)
			asked := b.waitFor(id, event.TypeConfirmRequest).Body.(event.ConfirmRequest)
			if !strings.Contains(asked.Reason, req.Workspace) || asked.Tool != "write_file" {
				t.Errorf("asked %+v", asked)
			}
			if err := b.Confirm(t.Context(), id, Confirmation{ToolUseID: "other"}); fault.CodeOf(err) != fault.NotFound {
				t.Errorf("an answer to nothing: %v", err)
			}
			c.answer.ToolUseID = asked.ToolUseID
			if err := b.Confirm(t.Context(), id, c.answer); err != nil {
				t.Fatal(err)
			}
			events := b.follow(id)
			want(t, events, "meta tool_use", "confirm_request", "confirm_result", "tool_start write_file",
				"tool_complete write_file "+c.status, `"Done."`, "meta stop", "complete")
			if e := find[event.ToolComplete](events); c.answer.Reason != "" && !strings.Contains(e.Result, c.answer.Reason) {
				t.Errorf("the model isn't told why: %q", e.Result)
			}
			req = ask("again")
			req.Chat.Last, req.CanConfirm = true, true
			other := b.reopen()
			id = other.start(req)
			first := other.firstOf(id, event.TypeConfirmRequest, event.TypeToolComplete)
			if got := map[event.Type]string{event.TypeConfirmRequest: "ask", event.TypeToolComplete: "run"}[first.Type()]; got != c.again {
				t.Errorf("the next turn: %s, want %s", got, c.again)
			}
			other.Cancel(t.Context(), id)
			other.follow(id)
		})
	}
}

func (b *bench) firstOf(id TurnID, types ...event.Type) event.Event {
	b.t.Helper()
	for e, err := range b.Follow(context.Background(), id, 0) {
		if err != nil {
			b.t.Fatal(err)
		}
		for _, typ := range types {
			if e.Type() == typ {
				return e
			}
		}
	}
	b.t.Fatalf("none of %v came", types)
	return event.Event{}
}

func find[B event.Body](events []event.Event) (b B) {
	for _, e := range events {
		if got, ok := e.Body.(B); ok {
			return got
		}
	}
	return b
}

func TestCancelWhileAPersonIsAsked(t *testing.T) {
	t.Parallel()
	b := newBench(t, toolScript)
	req := bound(t, b)
	req.CanConfirm = true
	id := b.start(req)
	b.waitFor(id, event.TypeConfirmRequest)
	b.Cancel(t.Context(), id)
	want(t, b.follow(id), `"I write it down."`, "meta tool_use", "confirm_request",
		"tool_start write_file", "tool_complete write_file error", "cancelled")
}

func TestPolicy(t *testing.T) {
	t.Parallel()
	tool := toolset.Tool{
		ID: "write_file", InputSchema: json.RawMessage(`{"type":"object","required":["path","content"]}`),
	}
	confirms := tool
	confirms.RequiresConfirmation = true
	mine := &toolset.Workspace{Path: "/w", Bound: true}
	args := json.RawMessage(`{"path":"notes/a.md","content":"x","mode":3}`)
	for name, c := range map[string]struct {
		policy Policy
		tool   toolset.Tool
		ws     *toolset.Workspace
		want   verdict
	}{
		"nothing said":                      {Policy{}, tool, nil, runIt},
		"the tool asks":                     {Policy{}, confirms, nil, askFirst},
		"a folder of the user's":            {Policy{}, tool, mine, askFirst},
		"allowed":                           {Policy{Allow: []string{"write_file"}}, confirms, mine, runIt},
		"allowed by a glob":                 {Policy{Allow: []string{"write_*"}}, confirms, mine, runIt},
		"allowed for a path":                {Policy{Allow: []string{"write_file(path=notes/**)"}}, confirms, mine, runIt},
		"allowed for the main argument":     {Policy{Allow: []string{"write_file(notes/*.md)"}}, confirms, mine, runIt},
		"allowed for two arguments":         {Policy{Allow: []string{"write_file(path=notes/*, content=x)"}}, confirms, mine, runIt},
		"allowed for another path":          {Policy{Allow: []string{"write_file(path=src/**)"}}, confirms, mine, askFirst},
		"a star doesn't cross a slash":      {Policy{Allow: []string{"write_file(path=*)"}}, confirms, mine, askFirst},
		"an argument that is no string":     {Policy{Allow: []string{"write_file(mode=3)"}}, confirms, mine, askFirst},
		"another tool":                      {Policy{Allow: []string{"read_file"}}, confirms, mine, askFirst},
		"denied goes before allowed":        {Policy{Deny: []string{"write_*"}, Allow: []string{"*"}}, tool, nil, refuse},
		"denied goes before everything":     {Policy{Deny: []string{"*(path=notes/**)"}, AllowAll: true}, tool, nil, refuse},
		"asked where nobody else would":     {Policy{Ask: []string{"write_file"}}, tool, nil, askFirst},
		"allowed goes before asked":         {Policy{Ask: []string{"*"}, Allow: []string{"write_file"}}, tool, nil, runIt},
		"all allowed":                       {Policy{AllowAll: true}, confirms, mine, runIt},
		"braces with a comma":               {Policy{Allow: []string{"write_file(path={src,notes}/*)"}}, confirms, mine, runIt},
		"the rule made from this very call": {Policy{Allow: []string{RuleFor(tool, args)}}, confirms, mine, runIt},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := c.policy.Check(); err != nil {
				t.Fatal(err)
			}
			if got, why := c.policy.decide(c.tool, args, c.ws); got != c.want || got != runIt && why == "" {
				t.Errorf("verdict %v (%s), want %v", got, why, c.want)
			}
		})
	}
}

func TestRulesThatCantBeRead(t *testing.T) {
	t.Parallel()
	for _, rule := range []string{"", "write_file(path=x", "[", "write_file(path=[)", "(x)"} {
		if err := (Policy{Allow: []string{rule}}).Check(); err == nil {
			t.Errorf("%q was taken for a rule", rule)
		}
	}
}

// The rule that a remembered approval makes fits just the call it was made
// from, whatever characters that holds.
func TestARememberedApprovalIsExact(t *testing.T) {
	t.Parallel()
	tool := toolset.Tool{ID: "run", InputSchema: json.RawMessage(`{"type":"object","required":["command"]}`), RequiresConfirmation: true}
	commands := []string{
		"ls", "ls *", "rm {a,b}", `echo "\\"`, "a=b", "x(y)", "ls, rm", "[a]", "ls ; rm -rf ~", "!x", " ls", "ls ",
		"\tls", "ls\n", "  ", "a//b", "a/b", "/a", "a/", "a/**", "**", "a/c/b", `\`, `a\`, "a\nb", "(x", "x)", "=x", "[!a]", "é",
	}
	for _, made := range commands {
		args, _ := json.Marshal(map[string]string{"command": made})
		p := Policy{Allow: []string{RuleFor(tool, args)}}
		if err := p.Check(); err != nil {
			t.Errorf("%q makes a rule that can't be read: %v", made, err)
		}
		for _, asked := range commands {
			args, _ := json.Marshal(map[string]string{"command": asked})
			got, _ := p.decide(tool, args, nil)
			if (got == runIt) != (made == asked) {
				t.Errorf("the rule made from %q says %v of %q", made, got, asked)
			}
		}
	}
}
