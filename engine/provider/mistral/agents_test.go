package mistral

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/chatcompletions"
	"github.com/fettle-cli/fettle/engine/provider/providertest"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// cast is document 003's three agents.
func cast() []provider.NativeAgent {
	search := func(name string) provider.ToolSpec {
		return provider.ToolSpec{Name: name, Description: "Searches.", InputSchema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}`)}
	}
	return []provider.NativeAgent{
		{ID: "c:interface", Purpose: "Answers.", Prompt: "You answer.", Model: "m", Handoffs: map[string]string{"handoff_to_scavenger": "c:scavenger"}},
		{
			ID: "c:scavenger", Purpose: "Reads.", Prompt: "You read.", Model: "m",
			Tools:    []provider.ToolSpec{search("read_notion_mock"), search("read_slack_mock")},
			Handoffs: map[string]string{"handoff_to_synthesizer": "c:synthesizer"},
		},
		{ID: "c:synthesizer", Purpose: "Compares.", Prompt: "You compare.", Model: "m", Handoffs: map[string]string{"handoff_to_interface": "c:interface"}},
	}
}

// theChain plays them.
func theChain(agent string, entries []providertest.Entry) providertest.Reply {
	results, compared := 0, false
	for _, e := range entries {
		if e.Type == "function.result" {
			results++
		}
		compared = compared || e.Agent == "c:synthesizer"
	}
	switch {
	case agent == "c:interface" && compared:
		return providertest.Reply{Text: []string{"Google ", "OAuth."}}
	case agent == "c:interface":
		return providertest.Reply{HandOff: "c:scavenger"}
	case agent == "c:scavenger" && results == 2:
		return providertest.Reply{HandOff: "c:synthesizer"}
	case agent == "c:scavenger":
		return providertest.Reply{Calls: []providertest.Entry{
			{Name: "read_notion_mock", Arguments: `{"query":"login system"}`}, {Name: "read_slack_mock", Arguments: `{"query":"login system auth"}`},
		}}
	}
	return providertest.Reply{Text: []string{"Google wins."}, HandOff: "c:interface"}
}

// talking makes a provider that keeps its agents at a server.
func talking(t *testing.T, s *providertest.AgentServer, file string) *Provider {
	t.Helper()
	p, err := New(Options{Options: wire.Options{BaseURL: s.URL}, AgentFile: file})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.CloseIdleConnections)
	return p
}

// said is one response as a line.
func said(t *testing.T, p *Provider, req *provider.Request) (line string, calls []provider.ToolCall, err error) {
	t.Helper()
	var deltas []provider.Delta
	for batch, failed := range p.Stream(t.Context(), req) {
		err = failed
		for _, d := range batch {
			deltas = append(deltas, d)
			switch d.Kind {
			case provider.Content:
				line += d.Text
			case provider.CallDelta:
				line += " " + d.Call.Name + string(d.Call.Args)
				calls = append(calls, *d.Call)
			case provider.Meta:
				line += " [" + d.Meta.StopReason + "]"
			}
		}
	}
	providertest.CheckResponse(t, deltas, err)
	return strings.TrimSpace(line), calls, err
}

func question() *provider.Request {
	return &provider.Request{
		Model: "m", Messages: []provider.Message{providertest.User(providertest.Words("What's the final spec?"))},
		Native: &provider.Native{Provider: "mistral", Agents: cast(), Agent: "c:interface", System: "Be brief."},
	}
}

// A turn is one conversation: begun with the entry agent, appended to with the
// results of calls and after each handoff.
func TestAgentsTalkInOneConversation(t *testing.T) {
	t.Parallel()
	s := providertest.NewAgentServer(t, theChain)
	file := filepath.Join(t.TempDir(), "agents", "mistral.json")
	p := talking(t, s, file)
	req := question()
	for i, want := range []string{
		"handoff_to_scavenger{} [tool_use]",
		`read_notion_mock{"query":"login system"} read_slack_mock{"query":"login system auth"} [tool_use]`,
		"handoff_to_synthesizer{} [tool_use]",
		"Google wins. handoff_to_interface{} [tool_use]",
		"Google OAuth. [stop]",
	} {
		got, calls, err := said(t, p, req)
		if err != nil || got != want {
			t.Fatalf("response %d is %q, %v; want %q", i, got, err, want)
		}
		for _, c := range calls {
			switch to, isHandoff := strings.CutPrefix(c.Name, "handoff_to_"); {
			case isHandoff:
				req.Native.Agent = "c:" + to
			default: // the engine gives a call another id where one was taken
				req.Native.Results = append(req.Native.Results, provider.ToolResult{ID: c.ID + "-2", Name: c.Name, Text: "found"})
			}
		}
	}
	want := []string{
		"POST /v1/agents", "POST /v1/agents", "POST /v1/agents",
		"PATCH /v1/agents/ID", "PATCH /v1/agents/ID", "PATCH /v1/agents/ID",
		"POST /v1/conversations", "POST /v1/conversations/ID", "POST /v1/conversations/ID", "POST /v1/conversations/ID", "POST /v1/conversations/ID",
	}
	if diff := cmp.Diff(want, s.Asked()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	scavenger := s.Agent("c:scavenger")
	if len(scavenger.Tools) != 2 || scavenger.Instructions != "You read." || !slices.Equal(scavenger.Handoffs, []string{s.Agent("c:synthesizer").ID}) {
		t.Errorf("the scavenger is %+v", scavenger)
	}
	if !slices.Equal(s.Agent("c:synthesizer").Handoffs, []string{s.Agent("c:interface").ID}) {
		t.Error("the chain isn't wired round")
	}
}

// Ids are kept between programs and checked: what is still as it was is used,
// what is gone is made again, what changed is brought up to date.
func TestAgentsAreKept(t *testing.T) {
	t.Parallel()
	s := providertest.NewAgentServer(t, func(string, []providertest.Entry) providertest.Reply {
		return providertest.Reply{Text: []string{"Hi."}}
	})
	file := filepath.Join(t.TempDir(), "mistral.json")
	ask := func(p *Provider, req *provider.Request) []string {
		t.Helper()
		if got, _, err := said(t, p, req); err != nil || got != "Hi. [stop]" {
			t.Fatalf("it says %q, %v", got, err)
		}
		asked := s.Asked()
		return asked[:len(asked)-1] // the conversation
	}
	first := talking(t, s, file)
	ask(first, question())
	if got := ask(first, question()); len(got) != 0 {
		t.Errorf("a second turn asks again: %v", got)
	}
	get, patch, post := "GET /v1/agents/ID", "PATCH /v1/agents/ID", "POST /v1/agents"
	if diff := cmp.Diff([]string{get, get, get}, ask(talking(t, s, file), question())); diff != "" {
		t.Errorf("another program:\n%s", diff)
	}
	s.Forget("c:scavenger")
	if diff := cmp.Diff([]string{get, get, post, get, patch, patch}, ask(talking(t, s, file), question())); diff != "" {
		t.Errorf("one is gone:\n%s", diff)
	}
	changed := question()
	changed.Native.Agents[2].Prompt = "You compare well."
	if diff := cmp.Diff([]string{get, get, get, patch}, ask(talking(t, s, file), changed)); diff != "" {
		t.Errorf("one changed:\n%s", diff)
	}
	if got := s.Agent("c:synthesizer").Instructions; got != "You compare well." {
		t.Errorf("it was told %q", got)
	}
	if err := os.WriteFile(file, []byte("{broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := ask(talking(t, s, file), question()); !slices.Contains(got, post) {
		t.Errorf("a broken file: %v", got)
	}
}

// After a failure, and where another agent goes on than the one that it was
// handed to, a conversation is begun that says all that is known.
func TestAConversationIsBegunAgain(t *testing.T) {
	t.Parallel()
	cut := true
	var begun [][]providertest.Entry
	s := providertest.NewAgentServer(t, func(agent string, entries []providertest.Entry) providertest.Reply {
		begun = append(begun, entries)
		if agent == "c:synthesizer" && cut {
			cut = false
			return providertest.Reply{Text: []string{"Goo"}, Cut: true}
		}
		if agent == "c:interface" && len(entries) == 1 {
			return providertest.Reply{HandOff: "c:scavenger"}
		}
		return providertest.Reply{Text: []string{"Done."}}
	})
	p := talking(t, s, filepath.Join(t.TempDir(), "mistral.json"))
	req := question()
	if _, _, err := said(t, p, req); err != nil {
		t.Fatal(err)
	}
	req.Native.Agent = "c:synthesizer" // not whom it was handed to
	req.Messages = append([]provider.Message{providertest.User(providertest.Words("scavenger found two"))}, req.Messages...)
	if _, _, err := said(t, p, req); err == nil {
		t.Fatal("half of a response was taken")
	}
	if got, _, err := said(t, p, req); err != nil || got != "Done. [stop]" {
		t.Fatalf("it says %q, %v", got, err)
	}
	asked := s.Asked()
	if diff := cmp.Diff([]string{"POST /v1/conversations", "POST /v1/conversations", "POST /v1/conversations"}, asked[len(asked)-3:]); diff != "" {
		t.Errorf("requests:\n%s", diff)
	}
	last := begun[len(begun)-1]
	if text, _ := last[0].Content.(string); len(last) != 1 || !strings.HasPrefix(text, "Be brief.\n\nscavenger found two") {
		t.Errorf("it is begun with %+v", last)
	}
}

// A history with calls is told as entries that the rules take.
func TestEntriesOfAHistory(t *testing.T) {
	t.Parallel()
	s := providertest.NewAgentServer(t, func(_ string, entries []providertest.Entry) providertest.Reply {
		var kinds []string
		for _, e := range entries {
			kinds = append(kinds, e.Type+"/"+e.Role)
		}
		return providertest.Reply{Text: []string{strings.Join(kinds, " ")}}
	})
	p := talking(t, s, filepath.Join(t.TempDir(), "mistral.json"))
	req := question()
	req.Messages = []provider.Message{
		providertest.User(providertest.Words("list")),
		{Role: provider.Assistant, Parts: []provider.Part{providertest.Called("call_1", "list_files", "{}")}},
		{Role: provider.Tool, Parts: []provider.Part{providertest.Answered("call_1", "list_files", "a.txt", false)}},
		{Role: provider.Assistant, Parts: []provider.Part{providertest.Words("One file.")}},
		providertest.User(providertest.Words("and now?")),
	}
	got, _, err := said(t, p, req)
	want := "message.input/user function.call/ function.result/ message.input/assistant message.input/user [stop]"
	if err != nil || got != want {
		t.Errorf("it is told %q, %v", got, err)
	}
}

// What isn't asked to keep agents itself goes on as ever.
func TestAgentsOfOtherProviders(t *testing.T) {
	t.Parallel()
	s := providertest.NewAgentServer(t, theChain)
	p, err := New(Options{Options: wire.Options{BaseURL: s.URL}})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := said(t, p, question()); err == nil {
		t.Error("the stand-in has no chat completions")
	}
	if got := s.Asked(); len(got) != 0 {
		t.Errorf("it was asked %v", got)
	}
}

func FuzzTalk(f *testing.F) {
	f.Add("data: {\"type\":\"conversation.response.started\",\"conversation_id\":\"c\"}\n\ndata: {\"type\":\"message.output.delta\",\"content\":[{\"type\":\"text\",\"text\":\"a\"}]}\n\ndata: {\"type\":\"conversation.response.done\"}\n\n")
	f.Add("event: function.call.delta\ndata: {\"name\":\"read_slack_mock\",\"tool_call_id\":\"x\",\"arguments\":\"{\"}\n\nevent: response.done\ndata: {\"usage\":{}}\n\n")
	f.Add("data: {\"type\":\"agent.handoff.done\",\"next_agent_id\":\"ag_2\"}\n\ndata: {\"type\":\"conversation.response.done\"}\n\n")
	f.Add("data: {\"type\":\"conversation.response.error\",\"message\":\"no\",\"code\":500}\n\n")
	f.Fuzz(func(t *testing.T, stream string) {
		tk := &talk{agents: cast(), ids: map[string]string{"c:scavenger": "ag_2"}, now: "c:interface"}
		tk.Decoder = chatcompletions.NewDecoder(strings.NewReader(stream), chatcompletions.DecoderOptions{Names: tk.names(), Chunks: true, InStream: inStream, NewID: newID})
		var deltas []provider.Delta
		for range 1000 {
			read, err := tk.Read(nil)
			deltas = append(deltas, read.Deltas...)
			if err != nil || read.Done {
				if read.Done {
					providertest.CheckResponse(t, deltas, nil)
				}
				return
			}
		}
	})
}
