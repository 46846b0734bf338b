package commands

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
)

// confirm asks the person at the terminal whether a call may run. Nothing is
// allowed by a stray Enter, and no answer is a no.
func confirm(ctx context.Context, rt *runtime, eng *engine.Engine, id engine.TurnID, ask event.ConfirmRequest) error {
	text := fmt.Sprintf("%s  %s\n  needs your approval: %s", ask.Tool, argLine(ask.Input), ask.Reason)
	answer := engine.Confirmation{ToolUseID: ask.ToolUseID, Decision: event.Deny}
	for {
		key, err := rt.streams.Ask(ctx, term.Question{Text: text + "\n", Choices: []term.Choice{
			{Key: 'y', Label: "once", Commits: true},
			{Key: 'c', Label: "this chat", Commits: true},
			{Key: 'a', Label: "always", Commits: true},
			{Key: 'n', Label: "no"},
			{Key: '?', Label: "details"},
		}})
		if ctx.Err() != nil {
			return err
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
			text = details(ask)
			continue
		}
		return eng.Confirm(ctx, id, answer)
	}
}

// details is the whole call, for somebody who wants to see all of it.
func details(ask event.ConfirmRequest) string {
	var fields map[string]json.RawMessage
	var b strings.Builder
	fmt.Fprintf(&b, "%s wants to run with", ask.ToolID)
	if json.Unmarshal(ask.Input, &fields) != nil {
		return b.String() + "\n" + string(ask.Input)
	}
	for _, name := range sortedKeys(fields) {
		var s string
		if json.Unmarshal(fields[name], &s) != nil {
			s = string(fields[name])
		}
		fmt.Fprintf(&b, "\n  %s:", name)
		if strings.Contains(s, "\n") {
			b.WriteString("\n    " + strings.ReplaceAll(s, "\n", "\n    "))
		} else {
			b.WriteString(" " + s)
		}
	}
	return b.String()
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// mainArgs are the names of arguments that say by themselves what a call is
// about, the strongest first.
func mainArgs() []string { return []string{"command", "path", "query", "pattern", "url", "filename"} }

// argLine shows a call's arguments on one line: the one that matters, or all,
// and no more of a long one than a line takes.
func argLine(input json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) != nil {
		return term.Clean(string(input))
	}
	for _, name := range mainArgs() {
		var s string
		if raw, ok := fields[name]; ok && json.Unmarshal(raw, &s) == nil {
			return term.CutEnd(term.Clean(s), 60)
		}
	}
	var parts []string
	for _, name := range sortedKeys(fields) {
		value := string(fields[name])
		var s string
		if json.Unmarshal(fields[name], &s) == nil {
			value = s
		}
		value = term.CutEnd(term.Clean(value), 60)
		if len(fields) > 1 {
			value = name + "=" + value
		}
		parts = append(parts, value)
	}
	return strings.Join(parts, " ")
}

// deniedFault says which calls were not allowed, and the flags that would.
func deniedFault(p event.ResponsePayload, n int) error {
	msg := "1 tool call needed an approval that nobody could give"
	if n > 1 {
		msg = fmt.Sprintf("%d tool calls needed an approval that nobody could give", n)
	}
	f := fault.New(fault.Approval, msg)
	var history []event.ToolHistory
	if p.CustomPayload != nil && json.Unmarshal(p.CustomPayload.Data, &history) == nil {
		seen := map[string]bool{}
		for _, h := range history {
			if h.Status == event.CallError && strings.Contains(h.Output, "nobody can be asked") && !seen[h.ToolID] {
				seen[h.ToolID] = true
				f.Hints = append(f.Hints, "--allow "+h.ToolID+"   lets it run")
			}
		}
	}
	return f
}
