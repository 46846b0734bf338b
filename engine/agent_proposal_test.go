package engine

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/kv"
)

// proposed is a chat in which a tool gave a payload of that type with that data.
func proposed(t *testing.T, kind, data string) *bench {
	t.Helper()
	b, _ := charted(t, `{"type":"`+kind+`","title":"An agent","agent_data":`+data+`}`)
	return b
}

func (b *bench) agentIDs() []string {
	b.t.Helper()
	all, err := b.AllAgents(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	var ids []string
	for _, a := range all.All() {
		ids = append(ids, a.ID)
	}
	return ids
}

// Accepting agent_create creates the agent, once; it can be used, changed and removed.
func TestAcceptingCreatesTheAgent(t *testing.T) {
	t.Parallel()
	b := proposed(t, "agent_create", `{"name":"Travel Planner","description":"Plans trips","instructions":"Plan.","tools":["x:show"]}`)
	done, err := b.Decide(t.Context(), accepting())
	if err != nil || done.Payload.Decision.AgentID != "travel-planner" {
		t.Fatalf("%+v, %v", done.Payload.Decision, err)
	}
	all, err := b.AllAgents(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	a, err := all.Find("travel-planner")
	if err != nil || a.Name != "Travel Planner" || a.Purpose != "Plans trips" || a.Prompt != "Plan." || !slices.Equal(a.Tools, []string{"x:show"}) || a.Source != "yours" {
		t.Fatalf("the agent is %+v, %v", a, err)
	}
	if again, err := b.Decide(t.Context(), accepting()); err != nil || !again.Again || again.Payload.Decision.AgentID != "travel-planner" {
		t.Errorf("again: %+v, %v", again, err)
	}
	req := ask("hi")
	req.Agent = "travel-planner"
	req.Policy.AllowAll = true
	b.run(req)
	prompt := "Plan better."
	if err := b.SetAgent(t.Context(), "travel-planner", catalog.AgentFields{Prompt: &prompt}); err != nil {
		t.Fatal(err)
	}
	if all, _ = b.AllAgents(t.Context()); all.Get("travel-planner").Prompt != prompt || all.Get("travel-planner").Purpose != "Plans trips" {
		t.Errorf("changed to %+v", all.Get("travel-planner"))
	}
	if err := b.RemoveAgent(t.Context(), "travel-planner"); err != nil || len(b.agentIDs()) != 0 {
		t.Errorf("it is there after its removal: %v, %v", b.agentIDs(), err)
	}
	if err := b.RemoveAgent(t.Context(), "travel-planner"); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("a second removal: %v", err)
	}
}

// A rejected proposal creates nothing.
func TestRejectingCreatesNoAgent(t *testing.T) {
	t.Parallel()
	b := proposed(t, "agent_create", `{"id":"a","prompt":"p"}`)
	no := accepting()
	no.Accept = false
	if _, err := b.Decide(t.Context(), no); err != nil || len(b.agentIDs()) != 0 {
		t.Errorf("agents are %v, %v", b.agentIDs(), err)
	}
}

// A proposal that can't be carried out is refused with its reason; no agent and no decision is
// stored, so that it can still be rejected.
func TestProposalsThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ kind, data, want string }{
		"unknown tool":     {"agent_create", `{"id":"a","prompt":"p","tools":["no_such_tool"]}`, "match nothing: no_such_tool"},
		"unknown handoff":  {"agent_create", `{"id":"a","prompt":"p","handoffs":["nobody"]}`, "does not exist: nobody"},
		"no prompt":        {"agent_create", `{"id":"a","name":"A"}`, "the agent a has no prompt"},
		"empty prompt":     {"agent_create", `{"id":"a","prompt":" "}`, "the prompt is empty"},
		"no name":          {"agent_create", `{"prompt":"p"}`, "is not an agent's id"},
		"id of none":       {"agent_create", `{"id":"none","prompt":"p"}`, `"none" is not an agent's id`},
		"toolset's id":     {"agent_create", `{"id":"x:a","prompt":"p"}`, `"x:a" is not an agent's id`},
		"long id":          {"agent_create", `{"id":"` + strings.Repeat("a", 65) + `","prompt":"p"}`, "is not an agent's id"},
		"unknown field":    {"agent_create", `{"id":"a","prompt":"p","temperature":1}`, "no field temperature"},
		"wrong type":       {"agent_create", `{"id":"a","prompt":["p"]}`, "prompt is not a text"},
		"tools as a text":  {"agent_create", `{"id":"a","prompt":"p","tools":"read_file"}`, "tools is not a list"},
		"given twice":      {"agent_create", `{"id":"a","prompt":"p","instructions":"q"}`, "prompt is given twice"},
		"model is a file":  {"agent_create", `{"id":"a","prompt":"p","model":"script/x.yaml"}`, "named as provider/model"},
		"history":          {"agent_create", `{"id":"a","prompt":"p","history":"some"}`, `history "some"`},
		"long prompt":      {"agent_create", `{"id":"a","prompt":"` + strings.Repeat("p", 64<<10+1) + `"}`, "prompt has 65537 bytes; the limit is 65536"},
		"many tools":       {"agent_create", `{"id":"a","prompt":"p","tools":["x"` + strings.Repeat(`,"x"`, 100) + `]}`, "tools are 101; the limit is 100"},
		"update of none":   {"agent_update", `{"id":"nobody","prompt":"p"}`, "you have made no agent with the id nobody"},
		"update of no one": {"agent_update", `{"id":"x:a","prompt":"p"}`, "is not an agent's id"},
		"nothing changes":  {"agent_update", `{"id":"a"}`, "names no field"},
		"configured":       {"agent_update", `{"id":"host","prompt":"p"}`, "described in the configuration"},
		"taken":            {"agent_create", `{"id":"host","prompt":"p"}`, "there is an agent host already"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := proposed(t, c.kind, c.data)
			var err error
			if b.o.Agents, err = catalog.NewAgents(store.Agent{ID: "host", Purpose: "Greets", Prompt: "Greet."}); err != nil {
				t.Fatal(err)
			}
			_, err = b.Decide(t.Context(), accepting())
			if fault.CodeOf(err) != fault.Usage && fault.CodeOf(err) != fault.NotFound || !strings.Contains(err.Error(), c.want) {
				t.Errorf("refused with %v, want %s", err, c.want)
			}
			if ids := b.agentIDs(); len(ids) != 1 {
				t.Errorf("agents are %v", ids)
			}
			no := accepting()
			no.Accept = false
			if done, err := b.Decide(t.Context(), no); err != nil || done.Again {
				t.Errorf("it can't be rejected any more: %+v, %v", done, err)
			}
		})
	}
}

// agent_update changes the fields that it names and leaves the others.
func TestAcceptingChangesTheAgent(t *testing.T) {
	t.Parallel()
	b := proposed(t, "agent_update", `{"id":"a","changes":{"prompt":"New.","tools":null}}`)
	first, err := b.AgentChange(t.Context(), provider.Payload{
		Type: "agent_create", Data: json.RawMessage(`{"id":"a","name":"A","prompt":"Old.","tools":["x:show"]}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.KV.UpdateSync(t.Context(), func(tx *kv.Tx) error { return b.ApplyOwn(tx, first) }); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Decide(t.Context(), accepting()); err != nil {
		t.Fatal(err)
	}
	all, err := b.AllAgents(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if a := all.Get("a"); a == nil || a.Prompt != "New." || a.Name != "A" || !slices.Equal(a.Tools, []string{"x:show"}) {
		t.Errorf("the agent is %+v", a)
	}
}

// The decision and the agent are stored together: where the transaction fails, neither is.
func TestADecisionAndItsAgentAreOneTransaction(t *testing.T) {
	t.Parallel()
	b := proposed(t, "agent_create", `{"id":"a","prompt":"p"}`)
	_, all, err := b.Payloads(t.Context(), store.ChatRef{Number: 1})
	if err != nil {
		t.Fatal(err)
	}
	change, err := b.AgentChange(t.Context(), all[0].Payload)
	if err != nil {
		t.Fatal(err)
	}
	cut := errors.New("cut off")
	err = b.KV.UpdateSync(t.Context(), func(tx *kv.Tx) error {
		if err := b.ApplyOwn(tx, change); err != nil {
			return err
		}
		return cut
	})
	if !errors.Is(err, cut) || len(b.agentIDs()) != 0 {
		t.Errorf("agents are %v after %v", b.agentIDs(), err)
	}
	c := b.chat(1)
	_, _, err = b.keepDecision(t.Context(), chat.PayloadDecision{ChatID: c.Chat.ID + "x", PayloadID: all[0].ID, Decision: chat.Accepted}, change)
	if fault.CodeOf(err) != fault.NotFound || len(b.agentIDs()) != 0 {
		t.Errorf("a chat that is gone: %v, agents are %v", err, b.agentIDs())
	}
}
