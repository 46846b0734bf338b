package engine

import (
	"fmt"
	"strings"

	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/provider"
)

// agentSystem is the system prompt of the agent that is asked: its own, and
// then what the chat says to all.
func (a assembly) agentSystem() string {
	return strings.Trim(a.agent.Prompt+"\n\n"+a.system, "\n")
}

// seesTurn tells whether the agent sees the question alone.
func (a assembly) seesTurn() bool { return a.agent != nil && a.agent.History == catalog.HistoryTurn }

// seen are the messages of the conversation that the agent sees.
func (a assembly) seen() []chat.Message {
	if a.seesTurn() && len(a.history) > 0 {
		return a.history[len(a.history)-1:]
	}
	return a.history
}

// hasAgents tells whether several spoke in an answer, or could have.
func hasAgents(m chat.Message) bool {
	for _, p := range m.Parts {
		if p.Kind == provider.AgentStartPart {
			return true
		}
	}
	return false
}

// answerAlone is an old answer of several agents as each of them remembers it:
// what the person was told. How it came about belonged to its turn, and to
// agents with other tools.
func (a assembly) answerAlone(m chat.Message) []provider.Message {
	var b strings.Builder
	for _, p := range m.Parts {
		switch p.Kind {
		case provider.TextPart:
			b.WriteString(p.Text)
		case provider.PayloadPart:
			for _, told := range a.cards.again(p) {
				b.WriteString(told.Text)
			}
		}
	}
	if strings.TrimSpace(b.String()) == "" {
		return nil
	}
	return []provider.Message{{Role: provider.Assistant, Parts: []provider.Part{{Kind: provider.TextPart, Text: b.String()}}}}
}

// lastStart is where the part of an answer begins that the agent has given
// which speaks now.
func lastStart(parts []provider.Part) int {
	for i := len(parts) - 1; i >= 0; i-- {
		if parts[i].Kind == provider.AgentStartPart {
			return i
		}
	}
	return 0
}

// own is what the agent that speaks now has said and called since it began. What
// it said counts as said, also where the person doesn't get it as an answer.
func (a assembly) own() chat.Message {
	m := *a.answer
	if a.agent == nil {
		return m
	}
	m.Parts = nil
	for _, p := range a.answer.Parts[lastStart(a.answer.Parts):] {
		if p.Kind == provider.AgentTextPart {
			p.Kind = provider.TextPart
		}
		m.Parts = append(m.Parts, p)
	}
	return m
}

// workResult is what the next agent is told of a result of the one before it: the text.
func (a assembly) workResult(r provider.ToolResult) string {
	return mediaLeftOut(a.fit.trimmed(r), r.Media, "since only the agent that called the tool gets them")
}

// work is what agents have done in this turn before the one that is asked: a
// message of its own before the question.
func (a assembly) work() []provider.Message {
	if a.agent == nil || a.answer == nil {
		return nil
	}
	var b strings.Builder
	results := map[string]provider.ToolResult{}
	speaks := lastStart(a.answer.Parts)
	parts := a.answer.Parts[min(a.begins, speaks):speaks]
	for _, p := range parts {
		if p.Result != nil {
			results[p.Result.ID] = *p.Result
		}
	}
	for _, p := range parts {
		switch p.Kind {
		case provider.TextPart, provider.AgentTextPart:
			fmt.Fprintf(&b, "%s said:\n%s\n\n", p.Agent, strings.TrimSpace(p.Text))
		case provider.ToolCallPart:
			fmt.Fprintf(&b, "%s called %s with %s:\n%s\n\n", p.Agent, chat.BareID(p.Call.Name), p.Call.Args, strings.TrimSpace(a.workResult(results[p.Call.ID])))
		case provider.HandoffPart:
			fmt.Fprintf(&b, "%s handed over to %s", p.Agent, p.Name)
			if p.Text != "" {
				fmt.Fprintf(&b, ": %s", p.Text)
			}
			b.WriteString("\n\n")
		}
	}
	if b.Len() == 0 {
		return nil
	}
	block := fileBlock(provider.Part{Name: "work of the agents on the question that follows", Text: strings.TrimSpace(b.String())})
	return []provider.Message{{Role: provider.User, Parts: []provider.Part{{Kind: provider.TextPart, Text: block}}}}
}
