package follow

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/server/client"
)

// confirm asks the person at the terminal whether a call may run. Nothing is
// allowed by a stray Enter, and no answer is a no.
func confirm(ctx context.Context, rt *workbench.Runtime, eng client.Turns, id engine.TurnID, ask event.ConfirmRequest) error {
	if ask.Form != nil {
		return answerForm(ctx, rt, eng, id, ask)
	}
	if rt.Approve != nil {
		if asked, err := rt.Approve(ctx, id, ask); asked || err != nil {
			return err
		}
	}
	width := rt.PromptWidth()
	text := approvalText(ask, width)
	answer := engine.Confirmation{ToolUseID: ask.ToolUseID, Decision: event.Deny}
	for {
		key, err := rt.Streams.Ask(ctx, term.Question{Text: text, Choices: approvalChoices(ask, width)})
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			answer.Reason = "nobody answered"
		}
		switch key {
		case 'y':
			answer.Decision = event.Allow
		case 'c':
			answer.Decision = event.AllowChat
		case 'a':
			answer.Decision = event.AllowAlways
		case '?':
			text = CallDetails(ask, width)
			continue
		}
		return eng.Confirm(ctx, id, answer)
	}
}

func approvalChoices(ask event.ConfirmRequest, width int) []term.Choice {
	always := "always"
	if ask.Rule != "" {
		always += ": " + term.CutMiddle(term.Clean(ask.Rule), max(width-16, 16))
	}
	return []term.Choice{
		{Key: 'y', Label: "once", Commits: true},
		{Key: 'c', Label: "this chat", Commits: true},
		{Key: 'a', Label: always, Commits: true},
		{Key: 'n', Label: "no"},
		{Key: '?', Label: "details"},
	}
}

// askedLines is how much of a long call stands above the question; the rest is
// among the details.
const askedLines = 5

// approvalText shows the call and why it is asked about.
func approvalText(ask event.ConfirmRequest, width int) string {
	var b strings.Builder
	lines := term.Wrap(term.Clean(ask.Tool)+"  "+show.ArgLine(ask.Input), width-4)
	if len(lines) > askedLines {
		lines = append(lines[:askedLines-1], "… and more: ? shows all of it")
	}
	for i, line := range lines {
		if i == 0 {
			fmt.Fprintf(&b, "→ %s\n", line)
		} else {
			fmt.Fprintf(&b, "    %s\n", line)
		}
	}
	for _, line := range term.Wrap("needs your approval: "+term.Clean(ask.Reason), width-2) {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	return b.String()
}

// CallDetails is the whole call, for somebody who wants to see all of it.
func CallDetails(ask event.ConfirmRequest, width int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s wants to run with\n", term.Clean(ask.ToolID))
	var fields map[string]json.RawMessage
	if json.Unmarshal(ask.Input, &fields) != nil {
		show.Detail(&b, "  ", string(ask.Input), width)
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		var s string
		if json.Unmarshal(fields[name], &s) != nil {
			s = string(fields[name])
		}
		if !strings.Contains(s, "\n") && term.Cells(name)+term.Cells(s) < width-4 {
			fmt.Fprintf(&b, "  %s: %s\n", show.OneLine(name), term.Clean(s))
			continue
		}
		fmt.Fprintf(&b, "  %s:\n", show.OneLine(name))
		show.Detail(&b, "    ", s, width)
	}
	if ask.Rule != "" {
		b.WriteString("c and a allow from now on\n")
		show.Detail(&b, "  ", ask.Rule, width)
	}
	return b.String()
}

// deniedFault says which calls were not allowed, and what would allow them.
func deniedFault(p event.ResponsePayload) error {
	f := fault.New(fault.Approval, term.Count(p.Denied, "tool call", "tool calls")+" needed an approval that nobody could give")
	var allow []string
	for _, h := range p.ToolHistory {
		if h.Status != event.CallError || !strings.Contains(h.Output, "nobody can be asked") {
			continue
		}
		if len(f.Detail) < askedLines {
			f.Detail = append(f.Detail, term.CutEnd(show.OneLine(h.ToolID)+"  "+show.ArgLine(h.Input), 76))
		}
		if flag := "--allow " + h.ToolID; !slices.Contains(allow, flag) {
			allow = append(allow, flag)
		}
	}
	flags := strings.Join(allow, " ")
	switch {
	case flags == "":
	case p.ConversationID > 0:
		f.Hints = []string{fmt.Sprintf("fettle ask --chat %d %s \"go on\"", p.ConversationID, flags)}
	default:
		f.Hints = []string{"fettle ask " + flags + " …   runs them"}
	}
	return f
}
