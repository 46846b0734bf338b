package commands_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/commands/commandtest"
	"github.com/fettle-cli/fettle/internal/needtest"
)

// turnEvent is an event as a program reads it: the fields that documents 000 and
// 001 name.
type turnEvent struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Tool      string          `json:"tool"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Index     *int            `json:"index"`
	Stage     string          `json:"stage"`
	Message   string          `json:"message"`
	Progress  *float64        `json:"progress"`
	Data      json.RawMessage `json:"data"`
	Kind      string          `json:"payload_type"`
	Source    string          `json:"source"`
	Payload   json.RawMessage `json:"payload"`
}

// response is document 000's ChatResponsePayload.
type response struct {
	Message          string
	ConversationID   int64             `json:"conversation_id"`
	SuggestedValues  []json.RawMessage `json:"suggested_values"`
	SuggestedActions []struct{ Type string }
	CustomPayload    *struct {
		Type string
		Data json.RawMessage
	} `json:"custom_payload"`
	WorkspacePayload *struct {
		Type, Title, Content string
		Data                 json.RawMessage
	} `json:"workspace_payload"`
	ToolHistory []struct {
		ToolName         string `json:"tool_name"`
		Input            json.RawMessage
		Output           string
		WorkspacePayload json.RawMessage `json:"workspace_payload"`
		Payload          json.RawMessage
	} `json:"tool_history"`
}

// turnOf asks with -o events and gives the events, and the response at the end.
func (w *world) turnOf(args ...string) ([]turnEvent, response) {
	w.T.Helper()
	out, errs := w.Run(0, append([]string{"ask", "--no-stdin", "-o", "events"}, args...)...)
	var events []turnEvent
	for line := range strings.Lines(out) {
		var e turnEvent
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			w.T.Fatalf("%v in %s", err, line)
		}
		events = append(events, e)
	}
	var r response
	if n := len(events); n == 0 || events[n-1].Type != "complete" {
		w.T.Fatalf("the turn ended with %s\n%s", out, errs)
	} else if err := json.Unmarshal(events[n-1].Payload, &r); err != nil {
		w.T.Fatal(err)
	}
	return events, r
}

// flow is a stream in words; text that comes in pieces is one.
func flow(events []turnEvent) []string {
	var out []string
	for _, e := range events {
		s := e.Type
		switch e.Type {
		case "text_delta":
			if n := len(out); n > 0 && strings.HasPrefix(out[n-1], "text ") {
				out[n-1] += e.Text
				continue
			}
			s = "text " + e.Text
		case "tool_start", "tool_complete":
			s += " " + e.Tool
		case "tool_progress":
			s += " " + e.Stage
		case "payload":
			s += " " + e.Kind + " by the " + e.Source
		}
		out = append(out, s)
	}
	return out
}

func wantFlow(t *testing.T, events []turnEvent, want ...string) {
	t.Helper()
	if got := flow(events); !reflect.DeepEqual(got, want) {
		t.Errorf("the events are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Document 000's flow, with its own example: a streaming tool that reports its
// stages, a marker where it stood, its workspace payload at the end.
func TestDocument000OnReviews(t *testing.T) {
	t.Parallel()
	needtest.Program(t, "python3")
	w := newWorld(t, `{responses: [
  {when: good, step: 0, text: "Let me look.", calls: [{name: analyze_reviews, args: {business_name: Northside Movers, location: "Portland, OR", source: yelp}}]},
  {when: good, text: "I analyzed the reviews: [[tool:0]] is no card."}
]}`)
	w.Run(0, "toolset", "import", commandtest.Toolset(t, "reviews"), "--yes")
	events, r := w.turnOf("is Northside Movers good?")
	wantFlow(t, events, "text Let me look.", "meta", "tool_start analyze_reviews",
		"tool_progress phase1_overview", "tool_progress phase2_negative", "tool_progress phase2_negative", "tool_progress phase3_positive",
		"tool_progress phase4_verdict", "tool_complete analyze_reviews", "text I analyzed the reviews: [[tool:0]] is no card.", "meta", "complete")
	for _, e := range events {
		switch e.Type {
		case "tool_start":
			if e.ToolUseID == "" || !strings.Contains(string(e.Input), `"business_name":"Northside Movers"`) {
				t.Errorf("tool_start: %s by %q", e.Input, e.ToolUseID)
			}
		case "tool_progress":
			if e.Message == "" || len(e.Data) == 0 || e.Stage != "phase1_overview" && (e.Progress == nil || *e.Progress <= 0 || *e.Progress > 1) {
				t.Errorf("tool_progress: %+v", e)
			}
		case "tool_complete":
			if e.Index == nil || *e.Index != 0 {
				t.Errorf("tool_complete has the index %v", e.Index)
			}
		}
	}
	if r.Message != `Let me look.[[tool:0]]I analyzed the reviews: \[\[tool:0]] is no card.` || r.ConversationID != 1 {
		t.Errorf("message %q of conversation %d", r.Message, r.ConversationID)
	}
	ws := r.WorkspacePayload
	if ws == nil || ws.Type != "review_analysis" || ws.Title != "Review Analysis: Northside Movers" || ws.Content == "" || !strings.Contains(string(ws.Data), `"verdict"`) {
		t.Errorf("workspace_payload: %+v", ws)
	}
	if r.CustomPayload == nil || r.CustomPayload.Type != "tool_history" {
		t.Fatalf("custom_payload: %+v", r.CustomPayload)
	}
	history := r.ToolHistory
	if err := json.Unmarshal(r.CustomPayload.Data, &history); err != nil || !reflect.DeepEqual(history, r.ToolHistory) || len(history) != 1 {
		t.Fatalf("tool_history: %+v beside %+v, %v", history, r.ToolHistory, err)
	}
	if h := history[0]; h.ToolName != "analyze_reviews" || h.Output == "" || !strings.Contains(string(h.WorkspacePayload), `"type":"review_analysis"`) ||
		!strings.Contains(string(h.Input), `"source":"yelp"`) {
		t.Errorf("tool_history: %+v", h)
	}
	if len(r.SuggestedValues) == 0 {
		t.Error("no suggested_values")
	}
	for _, kind := range []string{"review_analysis", "entity_verification", "review_collection"} {
		if out, _ := w.Run(0, "payloads", "types", kind); !strings.Contains(out, `"type": "object"`) {
			t.Errorf("the schema of %s: %s", kind, out)
		}
	}
}

// A plan that the model wrote is accepted, and its tool does the research.
func TestResearchFromPlanToReport(t *testing.T) {
	t.Parallel()
	needtest.Program(t, "python3")
	w := newWorld(t, `{responses: [
  {when: plan, text: 'A plan: RESEARCH_PLAN: {"question": "What lowers fatigue on night shifts?", "aspects": [" planned naps", "bright light"], "sources": ["workspace"]}'},
  {when: sum up, text: Naps help.}]}`)
	w.Run(0, "toolset", "import", commandtest.Toolset(t, "research"), "--yes")
	folder := filepath.Join(w.Dir, "notes")
	commandtest.Put(t, filepath.Join(folder, "naps.md"), "# Naps\n\nPlanned naps lowered fatigue on night shifts in two wards. Nurses who took planned naps made fewer errors.\n")
	events, r := w.turnOf("-w", folder, "plan it")
	wantFlow(t, events, "text A plan:", "payload research by the model", "meta", "complete")
	if r.CustomPayload == nil || r.CustomPayload.Type != "research" || !strings.Contains(string(r.CustomPayload.Data), `"aspects":["planned naps","bright light"]`) {
		t.Errorf("custom_payload: %+v", r.CustomPayload)
	}
	out, errs := w.Run(0, "payloads", "accept", "--yes")
	if !strings.HasPrefix(out, "accepted payload 1 of chat 1, Research Plan\n") || !strings.Contains(out, "The report is in research.md") {
		t.Errorf("accepting says %s%s", out, errs)
	}
	if report, err := os.ReadFile(filepath.Join(folder, "research.md")); err != nil || !strings.Contains(string(report), "Planned naps lowered fatigue") {
		t.Errorf("the report: %s, %v", report, err)
	}
	if out, _ := w.Run(0, "payloads", "accept", "-o", "json"); !strings.Contains(out, `"again": true`) {
		t.Errorf("the second time: %s", out)
	}
	if _, r := w.turnOf("-c", "sum up"); r.Message != "Naps help." {
		t.Errorf("the next answer: %+v", r)
	}
	out, _ = w.Run(0, "chats", "export", "1", "-o", "json")
	if !strings.Contains(out, `"research_result"`) || !strings.Contains(out, `"decision": "accepted"`) && !strings.Contains(out, `"decision":"accepted"`) {
		t.Error("the export lacks the result or the decision")
	}
}

// Document 001's pages and payloads, with the toolset's own parsers and tools.
func TestDocument001OnResearchStreams(t *testing.T) {
	t.Parallel()
	needtest.Program(t, "python3")
	w := newWorld(t, `{responses: [
  {when: both, step: 0, text: 'My proposal: SCHEMA_PROPOSAL: {"proposed_changes": {"topics": ["naps"]}, "reasoning": "{they} ask for it"} First I look.', calls: [{name: get_pubmed_article, args: {pmid: "99000006", source: sample}}]},
  {when: both, text: Found.},
  {when: wrong, text: 'Well: SCHEMA_PROPOSAL: {"proposed_changes": {}} So.'},
  {when: group, text: 'PRESENTATION_CATEGORIES: {"categories": [{"name": "Naps", "topics": ["naps"]}], "reasoning": "one"}'}]}`)
	w.Run(0, "toolset", "import", commandtest.Toolset(t, "research-streams"), "--yes")
	commandtest.Put(t, filepath.Join(w.Dir, "page.json"), `{"stream": {"stream_name": "Sleep"}}`)
	page := []string{"--page", "edit_research_stream", "--context", "page.json", "--tab"}

	events, r := w.turnOf(append(page, "semantic", "both")...)
	wantFlow(t, events, "text My proposal:", "payload schema_proposal by the model", "text  First I look.", "meta",
		"tool_start get_pubmed_article", "tool_complete get_pubmed_article", "payload pubmed_article by the tool", "text Found.", "meta", "complete")
	if p := r.CustomPayload; p == nil || p.Type != "pubmed_article" || !strings.Contains(string(p.Data), `"pmid":"99000006"`) {
		t.Errorf("custom_payload: %+v", p)
	}
	if p := r.WorkspacePayload; p == nil || p.Type != "pubmed_article" || p.Title != "PubMed Article" || p.Content != "" {
		t.Errorf("workspace_payload: %+v", p)
	}
	if len(r.ToolHistory) != 1 || !strings.HasPrefix(r.ToolHistory[0].Output, "These are invented") {
		t.Errorf("tool_history: %+v", r.ToolHistory)
	}
	for _, e := range events { // its parser made this good
		if e.Kind == "schema_proposal" && !strings.Contains(string(e.Data), `"confidence":"medium"`) {
			t.Errorf("the proposal: %s", e.Data)
		}
	}

	events, r = w.turnOf(append(page, "semantic", "wrong")...)
	wantFlow(t, events, `text Well: SCHEMA_PROPOSAL: {"proposed_changes": {}}`, "footnote", "text  So.", "meta", "complete")
	why := ""
	for _, e := range events {
		if e.Type == "footnote" {
			why = e.Text
		}
	}
	if r.CustomPayload != nil || !strings.Contains(why, "proposed_changes has to name at least one field") {
		t.Errorf("%q, %+v", why, r.CustomPayload)
	}

	events, _ = w.turnOf(append(page, "presentation", "group")...)
	wantFlow(t, events, "payload presentation_categories by the model", "meta", "complete")
	events, _ = w.turnOf(append(page, "semantic", "group")...)
	if got := flow(events); len(got) != 3 || !strings.HasPrefix(got[0], "text PRESENTATION_CATEGORIES:") {
		t.Errorf("on another tab: %q", got)
	}
}
