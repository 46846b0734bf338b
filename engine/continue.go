package engine

import (
	"github.com/fettle-cli/fettle/engine/provider"
)

// continuation are document 002's four conditions on which a turn goes on with
// another response of the model.
type continuation struct {
	agentMode bool // agent mode is active
	completed bool // the response came to its end
	toolUse   bool // it stopped for tools
	settled   bool // each of its calls has a result
}

// goesOn tells whether all four hold.
func (c continuation) goesOn() bool { return c.agentMode && c.completed && c.toolUse && c.settled }

// whyNot is why the calls of a whole response aren't run: nothing could be made
// of their results. It is empty where they are.
func (c continuation) whyNot(stopReason string) string {
	switch {
	case !c.agentMode:
		return "it did not run: agent mode is off"
	case !c.toolUse:
		return "it did not run: the response ended with " + stopReason + ", and not for a tool"
	}
	return ""
}

// agentMode tells whether the model may call tools and go on: as the request
// says, else as the chat has it, else yes.
func (t *turn) agentMode() bool {
	if mode := t.accept.Chat.AgentMode; mode != nil {
		return *mode
	}
	return true
}

// responded are the conditions after a whole response; what its calls come to is
// yet to be seen. A handoff that the engine makes by itself, for an agent that
// forgot to, is no call and needs no response that stopped for one.
func (t *turn) responded(next *handover) continuation {
	return continuation{
		agentMode: t.agentMode(), completed: true,
		toolUse: t.red.Answer.StopReason == provider.StopToolUse || next != nil && next.forgotten,
	}
}

// wouldGoOn tells whether the turn goes on once the calls have settled.
func (t *turn) wouldGoOn(calls []provider.ToolCall, next *handover) bool {
	c := t.responded(next)
	c.settled = true
	return c.goesOn() && (len(calls) > 0 || next != nil)
}

// useCalls runs the calls of a response, if the turn can go on after them, and
// tells whether it does. It doesn't where the client has to run some of them.
func (t *turn) useCalls(calls []provider.ToolCall, next *handover) (bool, error) {
	if !t.wouldGoOn(calls, next) {
		t.refuseCalls(calls, t.responded(next).whyNot(t.red.Answer.StopReason))
		return false, t.broken
	}
	c := t.responded(next)
	ours, clients := t.splitClients(calls)
	if err := t.runCalls(ours); err != nil {
		return false, err // one that did not settle has an error for its result
	}
	if len(clients) > 0 {
		return false, t.passOn(clients, next)
	}
	c.settled = true
	return c.goesOn(), nil
}
