package engine

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/payloads"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
)

// sums makes a model that sums up as NOTES, and else does what stream does.
func sums(r **rogue, stream func(step int, req *provider.Request) []provider.Delta) streamFunc {
	return func(_ context.Context, step int, yield func([]provider.Delta, error) bool) {
		req := (*r).requests()[step]
		if isSummary(req) {
			yield([]provider.Delta{says("NOTES"), stops("stop")}, nil)
			return
		}
		yield(append(stream(step, req), stops("stop")), nil)
	}
}

// compact has a chat summed up whole, and gives what was asked for that.
func (b *bench) compact(r *rogue, ref store.ChatRef) string {
	b.t.Helper()
	if _, err := b.CompactChat(b.t.Context(), CompactRequest{Chat: ref}); err != nil {
		b.t.Fatalf("sum up: %v", err)
	}
	return textOf(lastRequest(r))
}

func lastRequest(r *rogue) *provider.Request {
	all := r.requests()
	return all[len(all)-1]
}

// has holds a request to what has to be in it, and what must not.
func has(t *testing.T, what, text string, want, not []string) {
	t.Helper()
	for _, s := range want {
		if !strings.Contains(text, s) {
			t.Errorf("%s lacks %q:\n%s", what, s, text)
		}
	}
	for _, s := range not {
		if strings.Contains(text, s) {
			t.Errorf("%s has %q:\n%s", what, s, text)
		}
	}
}

// The agent of a step sees its prompt alone, also in a chat whose older messages
// were summed up, before and while the workflow waits. What it said is in the
// chat like any answer.
func TestAStepInAChatWithASummary(t *testing.T) {
	t.Parallel()
	var r *rogue
	f := newFlow(t, sums(&r, func(_ int, req *provider.Request) []provider.Delta {
		if strings.Contains(textOf(req), "For rain") {
			return []provider.Delta{says("Take a.")}
		}
		return []provider.Delta{says("Chatter.")}
	}))
	r = f.r
	id, turn := f.begin("seek", `{"what":"rain"}`)
	f.follow(turn)
	f.run(goesOn("what do you make of it?"))
	f.compact(r, store.ChatRef{Number: 1})
	last[event.Complete](t, f.act(id, "continue"))
	has(t, "the step", textOf(lastRequest(r)), []string{"For rain: a is best"}, []string{"NOTES", "Chatter", "what do you make"})
	if got := instanceStates(f.instance(id)); got != "complete: done done done" {
		t.Errorf("the instance is %s", got)
	}
	f.run(goesOn("and now?"))
	has(t, "the next question", textOf(lastRequest(r)), []string{"NOTES", "Take a.", "and now?"}, []string{"Chatter"})
	f.compact(r, store.ChatRef{Number: 1})
	again, turn := f.begin("plain", `{}`)
	f.follow(turn)
	if got := instanceStates(f.instance(again)); got != "complete: done done" {
		t.Errorf("the other instance is %s", got)
	}
}

// A document is told once, where a message names it. A summary stands for it
// afterwards, and the chat still has it by its name, when the stored one is gone
// or another has taken the name.
func TestDocumentsAndSummaries(t *testing.T) {
	t.Parallel()
	var r *rogue
	b, r := newRogue(t, sums(&r, func(int, *provider.Request) []provider.Delta { return []provider.Delta{says("Yes.")} }))
	if _, err := b.AddDocuments(t.Context(), textDoc("guide", "the bird is blue")); err != nil {
		t.Fatal(err)
	}
	first := goesOn("is doc:guide right?")
	first.Chat = store.ChatRef{}
	b.run(first)
	has(t, "what is summed up", b.compact(r, store.ChatRef{Number: 1}), []string{`<document id="guide">`, "the bird is blue"}, nil)
	b.run(goesOn("why?"))
	has(t, "the next question", textOf(lastRequest(r)), []string{"NOTES", "why?"}, []string{"the bird is blue"})
	if _, err := b.DeleteDocuments(t.Context(), "guide"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.AddDocuments(t.Context(), textDoc("guide", "the bird is green")); err != nil {
		t.Fatal(err)
	}
	fork := goesOn("read doc:guide again")
	fork.Chat.Fork = true
	for what, req := range map[string]TurnRequest{"the chat": goesOn("read doc:guide again"), "a fork": fork} {
		last[event.Complete](t, b.run(req))
		has(t, what, textOf(lastRequest(r)), []string{"NOTES", "the bird is blue"}, []string{"green"})
	}
	fresh := goesOn("is doc:guide right?")
	fresh.Chat = store.ChatRef{}
	b.run(fresh)
	has(t, "another chat", textOf(lastRequest(r)), []string{"the bird is green"}, []string{"blue"})
	unknown := goesOn("is doc:guides right?")
	_, err := b.Start(t.Context(), unknown)
	var f *fault.Fault
	if !errors.As(err, &f) || f.Code != fault.NotFound || !strings.Contains(f.Msg, "no document guides") {
		t.Errorf("a document that isn't there: %v", err)
	}
}

// A summary is made of what the model showed and of what became of that; a
// decision that comes after it is told with the next question, once, and in a
// fork too.
func TestDecisionsAndSummaries(t *testing.T) {
	t.Parallel()
	var r *rogue
	b, r := showroom(t, sums(&r, func(_ int, req *provider.Request) []provider.Delta {
		if strings.Contains(textOf(lastOf(req)), "propose") {
			return []provider.Delta{says("Here: SCHEMA_PROPOSAL: " + proposal + " Shall I?")}
		}
		return []provider.Delta{says("Fine.")}
	}), nil, "research-streams")
	b.run(onEdit("propose"))
	decide := func(number int, accept bool, remark string) {
		t.Helper()
		d := store.Deciding{Chat: store.ChatRef{Number: 1}, Number: number, Accept: accept, Remark: remark, Policy: permission.Policy{AllowAll: true}}
		if _, err := b.Decide(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	on := func(prompt string) TurnRequest {
		req := onEdit(prompt)
		req.Chat.Number = 1
		return req
	}
	b.run(on("propose another"))
	decide(1, false, "too short")
	b.run(on("go on"))
	has(t, "what is summed up", b.compact(r, store.ChatRef{Number: 1}), []string{"SCHEMA_PROPOSAL", `"confidence":"high"`, "too short"}, nil)
	decide(2, true, "the second")
	fork, err := b.ForkChat(t.Context(), store.ChatRef{Number: 1}, 0)
	if err != nil {
		t.Fatal(err)
	}
	forked := onEdit("and in a fork?")
	forked.Chat.Number = fork.Number
	beside := on("beside it?")
	beside.Chat.Fork = true
	for _, req := range []TurnRequest{on("what now?"), forked, beside} {
		b.run(req)
		text := textOf(lastRequest(r))
		has(t, textOf(lastOf(lastRequest(r))), text, []string{"NOTES", "the second"}, []string{"too short"})
		if n := strings.Count(text, "the second"); n != 1 {
			t.Errorf("it is told %d times", n)
		}
	}
	b.run(on("and then?"))
	asked := lastRequest(r)
	if text := textOf(lastOf(asked)); strings.Contains(text, "the second") || strings.Count(textOf(asked), "the second") != 1 {
		t.Errorf("the question after it is told\n%s", textOf(asked))
	}
	has(t, "what is summed up again", b.compact(r, store.ChatRef{Number: 1}), []string{"NOTES", "the second"}, []string{"too short"})
	b.run(on("at last"))
	has(t, "the last question", textOf(lastRequest(r)), []string{"NOTES"}, []string{"the second", "too short"})
}

// Without agent mode a model still shows payloads: they are text, and no calls.
func TestPayloadsWithoutAgentMode(t *testing.T) {
	t.Parallel()
	b, r := showroom(t, answers([]string{"Here: SCHEMA_PRO", "POSAL: " + proposal, " Shall I?"}), nil, "research-streams")
	off := false
	req := onEdit("propose")
	req.AgentMode = &off
	events := b.run(req)
	if got := shownAs(events); len(got) != 1 || !strings.HasPrefix(got[0], "schema_proposal of model") {
		t.Errorf("shown: %q", got)
	}
	if text := answerText(events); strings.Contains(text, "PROPOSAL") || strings.Contains(text, "confidence") {
		t.Errorf("the answer is %q", text)
	}
	asked := lastRequest(r)
	if len(asked.Tools) > 0 || !strings.Contains(asked.System, "SCHEMA_PROPOSAL") {
		t.Errorf("%d tools, and the system prompt says\n%s", len(asked.Tools), asked.System)
	}
}

// A payload that an agent showed is told as it wrote it to whoever sees the whole
// conversation, also once the chat is forked, and to nobody who sees the turn alone.
func TestPayloadsOfAgents(t *testing.T) {
	t.Parallel()
	for _, history := range []string{catalog.HistoryFull, catalog.HistoryTurn} {
		play := playPair()
		play["b"] = func(*provider.Request) []provider.Delta {
			return []provider.Delta{says("See SUGGESTED_VALUES: [{\"label\":\"Blue\",\"value\":\"the blue one\"}]"), stops("stop")}
		}
		b, c := castOf(t, play, pair(store.Agent{History: history})...)
		req := ask("which bird?")
		req.Agent, req.Suggestions = "a", true
		done := last[event.Complete](t, b.run(req))
		if !strings.Contains(string(mustJSON(t, done.Payload.SuggestedValues)), "the blue one") {
			t.Fatalf("nothing is suggested: %+v", done.Payload)
		}
		fork, err := b.ForkChat(t.Context(), store.ChatRef{Number: 1}, 0)
		if err != nil || fork.Agent != "a" {
			t.Fatalf("the fork enters by %q, %v", fork.Agent, err)
		}
		again := ask("and then?")
		again.Chat.Number, again.Suggestions = fork.Number, true
		last[event.Complete](t, b.run(again))
		all := c.requests()
		entry, other := all[len(all)-2], all[len(all)-1]
		has(t, "the entry agent", textOf(entry), []string{"which bird?", "See"}, nil)
		if got := strings.Contains(textOf(other), "which bird?"); got != (history == catalog.HistoryFull) {
			t.Errorf("history %q: the other agent is told\n%s", history, textOf(other))
		}
		for _, req := range all {
			for i, m := range req.Messages {
				if m.Role == provider.Assistant && len(m.Parts) == 0 || i == 0 && m.Role != provider.User {
					t.Errorf("message %d of a request is %+v", i, m)
				}
			}
		}
	}
}

// A fork of a chat with all of it (an agent, a document, a payload with its
// decision, a summary) goes on as the chat would.
func TestAForkOfAChatWithEverything(t *testing.T) {
	t.Parallel()
	var r *rogue
	b, r := showroom(t, sums(&r, func(int, *provider.Request) []provider.Delta {
		return []provider.Delta{says("Here: SCHEMA_PROPOSAL: " + proposal + " Shall I?")}
	}), nil, "research-streams")
	agents, err := catalog.NewAgents(store.Agent{ID: "clerk", Prompt: "You are the clerk."})
	if err != nil {
		t.Fatal(err)
	}
	b.o.Agents = agents
	if _, err := b.AddDocuments(t.Context(), textDoc("guide", "the bird is blue")); err != nil {
		t.Fatal(err)
	}
	first := onEdit("propose by doc:guide")
	first.Agent = "clerk"
	last[event.Complete](t, b.run(first))
	b.compact(r, store.ChatRef{Number: 1})
	on := onEdit("another")
	on.Chat.Number = 1
	b.run(on)
	d := store.Deciding{Chat: store.ChatRef{Number: 1}, Accept: true, Remark: "good", Policy: permission.Policy{AllowAll: true}}
	if _, err := b.Decide(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	fork, err := b.ForkChat(t.Context(), store.ChatRef{Number: 1}, 0)
	if err != nil {
		t.Fatal(err)
	}
	conv, err := b.Chat(t.Context(), store.ChatRef{Number: fork.Number})
	if err != nil || len(conv.Messages) != 4 || conv.Messages[1].Summary == nil || conv.Chat.Agent != "clerk" ||
		len(conv.Decisions) != 1 || conv.Decisions[0].Remark != "good" {
		t.Fatalf("%d messages, agent %q, decisions %+v, %v", len(conv.Messages), conv.Chat.Agent, conv.Decisions, err)
	}
	if !slices.ContainsFunc(conv.Messages[0].Parts, func(p provider.Part) bool { return p.Doc == "guide" }) {
		t.Error("the fork has no document")
	}
	var asked []string
	for _, number := range []int64{1, fork.Number} {
		next := onEdit("and doc:guide?")
		next.Chat.Number = number
		last[event.Complete](t, b.run(next))
		req := lastRequest(r)
		asked = append(asked, req.System+"\n"+textOf(req))
	}
	has(t, "the chat", asked[0], []string{"You are the clerk.", "NOTES", "SCHEMA_PROPOSAL: {", "good", "the bird is blue"}, nil)
	if asked[0] != asked[1] {
		t.Errorf("the fork is told\n%s\nand the chat\n%s", asked[1], asked[0])
	}
	_, shown, err := b.Payloads(t.Context(), store.ChatRef{Number: fork.Number})
	if err != nil || len(shown) != 3 || shown[1].Decision == nil || shown[0].Source != payloads.FromModel {
		t.Errorf("the fork's payloads: %+v, %v", shown, err)
	}
}

// lastOf is a request's last message alone.
func lastOf(req *provider.Request) *provider.Request {
	return &provider.Request{Messages: req.Messages[len(req.Messages)-1:]}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
