package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/models"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/sanitize"
	"github.com/fettle-cli/fettle/toolset"
)

// handoffPrefix begins the names of the tools by which agents hand over.
const handoffPrefix = "handoff_to_"

// handoffs are the tools by which the turn's agent hands over, by their names.
func (t *turn) handoffs() map[string]*store.Agent {
	if t.agent == nil {
		return nil
	}
	return t.handoffsOf(t.agent, t.names)
}

// handoffsOf are those of an agent whose tools have names.
func (t *turn) handoffsOf(a *store.Agent, names *toolset.Names) map[string]*store.Agent {
	out := map[string]*store.Agent{}
	for _, name := range a.Handoffs {
		to := t.box.Agents.Handoff(a, name)
		if to == nil {
			continue // NewAgents has looked
		}
		tool := handoffPrefix + strings.Map(catalog.WordRune, to.BareID())
		for {
			_, taken := names.Lookup(tool)
			if _, twice := out[tool]; !taken && !twice {
				break
			}
			tool += "_"
		}
		out[tool] = to
	}
	return out
}

// handoffSpecs offers the handoffs to the model.
func (t *turn) handoffSpecs() []provider.ToolSpec {
	all := t.handoffs()
	specs := make([]provider.ToolSpec, 0, len(all))
	for _, name := range sortedNames(all) {
		to := all[name]
		specs = append(specs, provider.ToolSpec{
			Name:        name,
			Description: "Hand over to the agent " + cmp.Or(to.Name, to.BareID()) + ", which goes on from here. " + to.Purpose,
			InputSchema: []byte(`{"type":"object","properties":{"reason":{"type":"string","description":"what it should do, in a sentence"}}}`),
		})
	}
	return specs
}

func sortedNames(m map[string]*store.Agent) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

const (
	// maxHandoffs bounds how often agents hand over in a turn that names no
	// bound: four rounds of the longest chain that documents show, and an end
	// for two agents that pass a question to and fro.
	maxHandoffs = 16
	// maxReason bounds what an agent says to the one that it hands over to.
	maxReason = 4 << 10
)

// handover is a handoff that a model asked for.
type handover struct {
	to     *store.Agent
	reason string
	// forgotten tells that the model asked for none, and the engine makes it.
	forgotten bool
}

// chooseAgent finds the agent that the turn enters by: the request's, else the
// chat's.
func (t *turn) chooseAgent(ctx context.Context, conv *store.OpenChat) error {
	name := t.req.Agent
	if name == "" {
		name = conv.Chat.Agent
	}
	if name == "" || name == catalog.NoAgent || len(t.req.Calls) > 0 {
		return nil
	}
	wider, err := t.widen(ctx)
	if t.unlimited = true; err == nil && (wider || len(t.leftOut) > 0) { // its agent chooses
		err = t.chooseTools()
	}
	if err != nil {
		return err
	}
	a, err := t.box.Agents.Find(name)
	if err != nil {
		return goneAgent(err, t.req.Agent == "")
	}
	t.agent, t.entry = a, a
	t.allTools = t.chosen
	if caller := t.caller(conv); caller != nil {
		t.agent = caller
	}
	t.useTools()
	return nil
}

// caller is the agent whose calls the request brings results of; nil where it
// brings none, or the agent is gone.
func (t *turn) caller(conv *store.OpenChat) *store.Agent {
	n := len(conv.Path)
	if n == 0 || !answeredCallsIn(t.req.Parts) {
		return nil
	}
	parts := conv.Path[n-1].Parts
	if i := lastStart(parts); i < len(parts) && parts[i].Kind == provider.AgentStartPart {
		return t.box.Agents.Handoff(t.entry, parts[i].Agent)
	}
	return nil
}

// goneAgent adds the way on to the fault of a chat whose agent isn't there any
// more: its toolset was removed, say.
func goneAgent(err error, chats bool) error {
	var f *fault.Fault
	if !chats || !errors.As(err, &f) {
		return err
	}
	out := *f
	out.Msg = "the chat goes on with an agent: " + f.Msg
	out.Hints = append([]string{"fettle ask -c --agent none …   goes on without it"}, f.Hints...)
	return &out
}

// useTools offers the tools of the turn's agent, as far as the request lets it.
func (t *turn) useTools() {
	t.offer = t.withClients(t.agent.ToolsIn(t.allTools))
	t.names = t.offer.Names()
}

// answers tells whether what the model says now is part of the answer.
func (t *turn) answers() bool {
	switch {
	case t.agent == nil:
		return true
	case t.agent.Answers != nil:
		return *t.agent.Answers
	}
	return t.agent == t.entry || len(t.agent.Handoffs) == 0
}

// speaker is the agent as events name it; empty where there is none.
func (t *turn) speaker() string {
	if t.agent == nil {
		return ""
	}
	return t.agent.BareID()
}

// announce says which agent the turn enters by.
func (t *turn) announce() error {
	if t.agent == nil {
		return nil
	}
	return t.emit(event.AgentStart{Agent: t.speaker()})
}

// takeHandoff splits a handoff from the calls of a response. Only the first
// counts: an agent can't go on in two.
func (t *turn) takeHandoff(calls []provider.ToolCall) (rest []provider.ToolCall, next *handover, err error) {
	known := t.handoffs()
	for _, c := range calls {
		to := known[c.Name]
		switch {
		case to == nil:
			rest = append(rest, c)
		case next != nil:
			note := fmt.Sprintf("%s handed over to %s too; only the first handoff counts", t.speaker(), to.BareID())
			err = t.emit(event.Footnote{Text: note})
		default:
			next = &handover{to: to, reason: handoffReason(c.Args)}
		}
	}
	if err == nil && len(calls) == 0 {
		next, err = t.forgotten()
	}
	return rest, next, err
}

func handoffReason(args json.RawMessage) string {
	var given struct {
		Reason string `json:"reason"`
	}
	_ = json.Unmarshal(args, &given) // a handoff without a reason is one all the same
	return sanitize.Clip(clean(strings.TrimSpace(given.Reason)), maxReason)
}

// forgotten is the handoff of an agent that neither answers nor handed over,
// as small models do: without it the person would get no answer at all.
func (t *turn) forgotten() (*handover, error) {
	if t.answers() {
		return nil, nil
	}
	to := t.entry
	if len(t.agent.Handoffs) == 1 {
		to = t.box.Agents.Handoff(t.agent, t.agent.Handoffs[0])
	}
	return &handover{to: to, forgotten: true}, t.emit(event.Footnote{Text: t.speaker() + " ended without handing over; " + to.BareID() + " goes on"})
}

// handOff lets another agent go on.
func (t *turn) handOff(next *handover) error {
	t.handed = append(t.handed, t.speaker())
	limit := t.req.MaxHandoffs
	if limit <= 0 {
		limit = maxHandoffs
	}
	if len(t.handed) > limit {
		shown := append(t.handed[max(0, len(t.handed)-4):], next.to.BareID())
		return fault.New(fault.TurnLimit, fmt.Sprintf("the agents handed over %d times and found no end: … %s",
			limit, strings.Join(shown, " → ")), "fettle agents show "+t.agent.ID)
	}
	from := t.speaker()
	if err := t.emit(event.Handoff{From: from, To: next.to.BareID(), Reason: next.reason}, event.AgentStart{Agent: next.to.BareID()}); err != nil {
		return err
	}
	t.agent = next.to
	t.useTools()
	return t.agentModel()
}

// agentModel chooses the model of the turn's agent: its own, else the turn's.
func (t *turn) agentModel() error {
	ref := t.agent.Model
	if ref == "" {
		ref = t.base
	}
	if ref == t.model.ref {
		return nil
	}
	c, err := t.eng.choose(t.ctx, ref, t.req.Fallback)
	if err != nil {
		return models.Explain(ref, err)
	}
	c.since = t.red.Step
	t.useModel(c)
	return t.noteLeftOut()
}
