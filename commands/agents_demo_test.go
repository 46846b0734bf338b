package commands_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fettle-cli/fettle/commands/commandtest"
	"github.com/fettle-cli/fettle/engine/provider/providertest"
	"github.com/fettle-cli/fettle/internal/needtest"
)

// seen is an event as document 003 names its parts.
type seen struct {
	Type, Agent, From, To, Tool, Text, Result string
	ToolUseID                                 string `json:"tool_use_id"`
	Said                                      bool
	Input                                     struct{ Query string }
	Payload                                   struct{ Message string }
}

// frame is the event in the words of document 003's section 8; "" for one that
// the table doesn't have.
func (e seen) frame() string {
	switch e.Type {
	case "agent_start":
		return fmt.Sprintf("agent_start { agent: %q }", e.Agent)
	case "handoff":
		return fmt.Sprintf("handoff { from: %q, to: %q }", e.From, e.To)
	case "tool_start":
		return fmt.Sprintf("tool_call { agent: %q, tool: %q, query: %q }", e.Agent, e.Tool, e.Input.Query)
	case "text_delta":
		return "token"
	case "complete":
		return "done"
	case "error", "cancelled":
		return e.Type
	}
	return ""
}

// turnOf are the events of a turn.
func turnOf(t *testing.T, out string) []seen {
	t.Helper()
	var all []seen
	lines := bufio.NewScanner(strings.NewReader(out))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e seen
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatalf("%s: %v", lines.Bytes(), err)
		}
		all = append(all, e)
	}
	return all
}

// framesOf are the frames of a turn, the tokens as one, and their text.
func framesOf(t *testing.T, events []seen) (frames []string, tokens int, text string) {
	t.Helper()
	for _, e := range events {
		f := e.frame()
		if f == "token" {
			tokens++
			text += e.Text
			if e.Agent != "interface" {
				t.Errorf("a token is of %q", e.Agent)
			}
			if frames[len(frames)-1] == "token" {
				continue
			}
		}
		if f != "" {
			frames = append(frames, f)
		}
	}
	return frames, tokens, text
}

// Section 8 of document 003, event for event: the example toolset is installed,
// its tools run in their sandbox, and the model is the demo's recording.
func TestTheDemoScriptOfTheDocument(t *testing.T) {
	t.Parallel()
	needtest.Program(t, "python3")
	w := newWorld(t, "{}")
	w.Run(0, "toolset", "import", "gallery:chaoscontext", "--yes")
	ask := func(args ...string) []seen {
		out, _ := w.Run(0, append([]string{"ask", "--no-stdin", "-o", "events"}, args...)...)
		return turnOf(t, out)
	}

	first := ask("-m", "script/:demo", "I'm starting on the login system. What's the final spec?")
	frames, tokens, answer := framesOf(t, first)
	if diff := cmp.Diff(commandtest.DocumentFrames(), frames); diff != "" {
		t.Errorf("the first turn (- the document, + fettle):\n%s", diff)
	}
	if tokens < 2 || !strings.Contains(answer, "Google OAuth only") {
		t.Errorf("%d tokens: %s", tokens, answer)
	}
	checkResults(t, first)
	checkSaid(t, first, answer)

	second := ask("-c", "What library should I use for that?")
	frames, tokens, answer = framesOf(t, second)
	if diff := cmp.Diff([]string{`agent_start { agent: "interface" }`, `token`, `done`}, frames); diff != "" {
		t.Errorf("the second turn (- the document, + fettle):\n%s", diff)
	}
	if tokens < 2 || !strings.Contains(answer, "react-oauth/google") || !strings.Contains(answer, "authlib") {
		t.Errorf("%d tokens: %s", tokens, answer)
	}
}

// checkResults looks for what each tool gave: behind its call, before the next
// agent, and as the document has it.
func checkResults(t *testing.T, events []seen) {
	t.Helper()
	called, results := map[string]string{}, map[string]string{}
	for _, e := range events {
		switch e.Type {
		case "tool_start":
			called[e.ToolUseID] = e.Tool
		case "tool_complete":
			if called[e.ToolUseID] != e.Tool {
				t.Errorf("%s ends and never began", e.Tool)
			}
			results[e.Tool] = e.Result
		case "handoff":
			if len(called) != len(results) {
				t.Errorf("%s hands over while a tool runs", e.From)
			}
		}
	}
	want := map[string]string{
		"read_notion_mock": "[Notion | MVP Authentication Specs | Last updated: 2026-01-15] For the MVP, we will implement a standard Email and Password authentication system. Do not use third-party providers yet to save time.",
		"read_slack_mock":  "[Slack | #engineering | CEO | 2026-02-27] Hey team, scrap the email/password login for the MVP. It's taking too long to secure. Let's just drop in Google OAuth and call it a day.",
	}
	if diff := cmp.Diff(want, results); diff != "" {
		t.Errorf("the tools' results:\n%s", diff)
	}
}

// checkSaid looks that what the synthesizer wrote is thought, and no answer.
func checkSaid(t *testing.T, events []seen, answer string) {
	t.Helper()
	said := ""
	for _, e := range events {
		if e.Type == "reasoning" && e.Said {
			said += e.Text
			if e.Agent != "synthesizer" {
				t.Errorf("%s said %q", e.Agent, e.Text)
			}
		}
	}
	if !strings.HasPrefix(said, "Source of Truth: ") || strings.Contains(answer, "Source of Truth") {
		t.Errorf("the synthesizer said %q, the answer is %q", said, answer)
	}
	last := events[len(events)-1]
	if last.Payload.Message != "[[tool:0]][[tool:1]]"+answer {
		t.Errorf("the whole answer is %q", last.Payload.Message)
	}
}

// onMistral plays the demo's agents at Mistral.
func onMistral(agent string, entries []providertest.Entry) providertest.Reply {
	results, compared, question := 0, false, ""
	for _, e := range entries {
		switch {
		case e.Type == "function.result":
			results++
		case e.Type == "message.input" && e.Role == "user":
			if text, _ := e.Content.(string); strings.HasSuffix(text, "?") {
				question = text
			}
		}
		compared = compared || e.Agent == "chaoscontext:synthesizer"
	}
	switch bare := strings.TrimPrefix(agent, "chaoscontext:"); {
	case bare == "interface" && strings.Contains(question, "library"):
		return providertest.Reply{Text: []string{"react-oauth/google ", "and authlib."}}
	case bare == "interface" && compared:
		return providertest.Reply{Text: []string{"Google OAuth ", "only."}}
	case bare == "interface":
		return providertest.Reply{HandOff: "chaoscontext:scavenger"}
	case bare == "scavenger" && results < 2:
		return providertest.Reply{Calls: []providertest.Entry{
			{Name: "read_notion_mock", Arguments: `{"query":"login system"}`},
			{Name: "read_slack_mock", Arguments: `{"query":"login system auth"}`},
		}}
	case bare == "scavenger":
		return providertest.Reply{HandOff: "chaoscontext:synthesizer"}
	}
	return providertest.Reply{Text: []string{"Source of Truth: Google OAuth."}, HandOff: "chaoscontext:interface"}
}

// The same turns, with the agents and their conversation kept at Mistral.
func TestTheDemoScriptOnMistral(t *testing.T) {
	t.Parallel()
	needtest.Program(t, "python3")
	s := providertest.NewAgentServer(t, onMistral)
	w := newWorld(t, "{}")
	commandtest.Put(t, filepath.Join(w.Dir, "config", "config.yaml"), "providers:\n  mistral: {base_url: \""+s.URL+"\", agents: native, key: a-key-of-no-one-at-all}\n")
	w.Run(0, "toolset", "import", commandtest.Toolset(t, "chaoscontext"), "--yes")
	ask := func(args ...string) []seen {
		out, errs := w.Run(0, append([]string{"ask", "--no-stdin", "-o", "events"}, args...)...)
		if errs != "" {
			t.Errorf("it says %s", errs)
		}
		return turnOf(t, out)
	}
	first := ask("-m", "mistral/mistral-medium-latest", "--agent", "interface", "I'm starting on the login system. What's the final spec?")
	frames, tokens, answer := framesOf(t, first)
	if diff := cmp.Diff(commandtest.DocumentFrames(), frames); diff != "" {
		t.Errorf("the first turn (- the document, + fettle):\n%s", diff)
	}
	if tokens < 1 || answer != "Google OAuth only." {
		t.Errorf("%d tokens: %s", tokens, answer)
	}
	checkResults(t, first)
	checkSaid(t, first, answer)
	want := []string{
		"POST /v1/agents", "POST /v1/agents", "POST /v1/agents",
		"PATCH /v1/agents/ID", "PATCH /v1/agents/ID", "PATCH /v1/agents/ID",
		"POST /v1/conversations", "POST /v1/conversations/ID", "POST /v1/conversations/ID", "POST /v1/conversations/ID", "POST /v1/conversations/ID",
	}
	if diff := cmp.Diff(want, s.Asked()); diff != "" {
		t.Errorf("its requests:\n%s", diff)
	}
	frames, _, answer = framesOf(t, ask("-c", "What library should I use for that?"))
	if diff := cmp.Diff([]string{`agent_start { agent: "interface" }`, `token`, `done`}, frames); diff != "" || answer != "react-oauth/google and authlib." {
		t.Errorf("the second turn says %q:\n%s", answer, diff)
	}
	if diff := cmp.Diff([]string{"GET /v1/agents/ID", "GET /v1/agents/ID", "GET /v1/agents/ID", "POST /v1/conversations"}, s.Asked()); diff != "" {
		t.Errorf("the second turn's requests:\n%s", diff)
	}
}
