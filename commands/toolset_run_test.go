package commands_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/commands/commandtest"
	"github.com/fettle-cli/fettle/internal/needtest"
)

// A toolset of strangers from its import to the undo of what it did: its tools
// run in a turn and by themselves, each call with its plan and its states.
func TestAToolsetAtWork(t *testing.T) {
	t.Parallel()
	needtest.Program(t, "python3")
	w := newWorld(t, `{responses: [
  {when: analyze, step: 0, calls: [{name: analyze_data, args: {filename: a.csv}}]},
  {when: "", text: Done.}]}`)
	w.Env = append(w.Env, "FETTLE_MODEL=script/m.yaml")
	folder := filepath.Join(w.Dir, "tables")
	commandtest.Put(t, filepath.Join(folder, "a.csv"), "a,b\n1,2\n3,4\n")
	w.Run(0, "toolset", "import", commandtest.Toolset(t, "my-toolset"), "--yes")

	out, _ := w.Run(0, "ask", "--no-stdin", "--yes", "-w", folder, "-o", "events", "analyze it")
	var end struct {
		ToolID     string          `json:"tool_id"`
		Status     string          `json:"status"`
		Error      string          `json:"error"`
		RenderPlan json.RawMessage `json:"render_plan"`
		Changes    []struct{ Path string }
	}
	for line := range strings.Lines(out) {
		if strings.Contains(line, `"type":"tool_complete"`) {
			if err := json.Unmarshal([]byte(line), &end); err != nil {
				t.Fatal(err)
			}
		}
	}
	if end.Status != "success" || end.ToolID != "my-toolset:analyze_data" || len(end.Changes) != 1 || end.Changes[0].Path != "output.json" {
		t.Fatalf("the call: %+v\n%s", end, out)
	}
	if plan := string(end.RenderPlan); !strings.Contains(plan, `"renderer":"html"`) || !strings.Contains(plan, `"rows":2`) {
		t.Errorf("its plan: %s", plan)
	}
	w.Run(0, "undo")
	if _, err := os.Stat(filepath.Join(folder, "output.json")); err == nil {
		t.Error("undo left what the tool wrote")
	}

	out, _ = w.Run(0, "tool", "call", "analyze_data", `{"filename":"a.csv"}`, "-w", folder)
	if !strings.Contains(out, `"summary":"Processed 2 rows"`) {
		t.Errorf("tool call printed %s", out)
	}
	_, errs := w.Run(1, "tool", "call", "my-toolset:analyze_data", `{"filename":"none.csv"}`, "-w", folder)
	if !strings.Contains(errs, "FileNotFoundError") || !strings.Contains(errs, "tools/analyze.py") {
		t.Errorf("a call that failed says %s", errs)
	}
	w.Run(0, "tool", "disable", "my-toolset:analyze_data")
	if _, errs = w.Run(1, "tool", "call", "my-toolset:analyze_data", `{}`); !strings.Contains(errs, "fettle tool enable") {
		t.Errorf("a disabled tool: %s", errs)
	}
	w.Run(0, "toolset", "disable", "my-toolset")
	if _, errs = w.Run(1, "tool", "call", "my-toolset:transform_file", `{}`); !strings.Contains(errs, "its toolset is disabled") {
		t.Errorf("a tool of a disabled toolset: %s", errs)
	}
}

// Document 003's agents run from their toolset: both tools, three agents, and a
// second answer from memory.
func TestTheAgentsOfAToolset(t *testing.T) {
	t.Parallel()
	needtest.Program(t, "python3")
	w := newWorld(t, "{}")
	w.Run(0, "toolset", "import", commandtest.Toolset(t, "chaoscontext"), "--yes")
	out, _ := w.Run(0, "agents", "list")
	for _, id := range []string{"chaoscontext:interface\t", "chaoscontext:scavenger\t", "chaoscontext:synthesizer\t"} {
		if !strings.Contains(out, id) {
			t.Errorf("agents list lacks %s: %s", id, out)
		}
	}
	if out, _ = w.Run(0, "agents", "show", "interface"); !strings.Contains(out, "scavenger") {
		t.Errorf("agents show: %s", out)
	}
	if out, _ = w.Run(0, "tool", "call", "read_slack_mock", `{"query":"login"}`); !strings.Contains(out, "[Slack | #engineering | CEO | 2026-02-27]") {
		t.Errorf("read_slack_mock: %s", out)
	}
	if _, errs := w.Run(1, "ask", "--no-stdin", "--agent", "nobody", "hi"); !strings.Contains(errs, "no agent nobody") {
		t.Errorf("an unknown agent: %s", errs)
	}
}

// Each example toolset passes its own tests, and has nothing to be found but
// what document 004 itself leaves open.
func TestTheExamplesPassTheirTests(t *testing.T) {
	t.Parallel()
	needtest.Program(t, "python3")
	w := newWorld(t, "{}")
	for _, name := range []string{"app-builder", "chaoscontext", "data-analysis", "my-toolset", "research", "research-streams", "reviews"} {
		t.Run(name, func(t *testing.T) {
			w := &world{w.Copy()}
			w.T = t
			out, _ := w.Run(0, "toolset", "test", commandtest.Toolset(t, name))
			if !strings.HasSuffix(out, " passed\n") {
				t.Errorf("toolset test: %s", out)
			}
			w.Run(0, "toolset", "validate", commandtest.Toolset(t, name))
		})
	}
}

// Each toolset of the gallery passes its own tests and the strict validation, and its tools run
// in a whole turn after an import from the program: from the model's call to the answer. PubMed
// gives its sample here; the tests of the workbench have a server in its place.
func TestTheGalleryAtWork(t *testing.T) {
	t.Parallel()
	needtest.Program(t, "python3")
	for _, c := range []struct{ id, script, question, want string }{
		{"reviews", `{responses: [
  {when: bakery, step: 0, calls: [{name: analyze_reviews, args: {business_name: Blue Door Bakery, source: all}}]}, {when: "", text: Read them.}]}`,
			"the bakery", `"type":"review_analysis"`},
		{"research", `{responses: [
  {when: naps, step: 0, calls: [{name: deep_research, args: {question: What helps?, aspects: [planned naps], sources: [workspace]}}]}, {when: "", text: Found.}]}`,
			"naps", `"address":"naps.md"`},
		{"my-toolset", `{responses: [
  {when: analyze, step: 0, calls: [{name: analyze_data, args: {filename: a.csv}}]}, {when: "", text: Done.}]}`,
			"analyze it", `"summary":"Processed 1 rows"`},
		{"chaoscontext", "{}", "", ""}, // its turn: TestTheDemoScriptOfTheDocument
		{"research-streams", `{responses: [
  {when: naps, step: 0, calls: [{name: search_pubmed, args: {query: night shift, source: sample}}]}, {when: "", text: Found.}]}`,
			"naps", `"type":"pubmed_search_results"`},
	} {
		t.Run(c.id, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, c.script)
			w.Run(0, "toolset", "validate", "--strict", filepath.Join(needtest.Root(t), "toolset", "gallery", c.id))
			out, _ := w.Run(0, "toolset", "test", filepath.Join(needtest.Root(t), "toolset", "gallery", c.id))
			if !strings.HasSuffix(out, " passed\n") {
				t.Errorf("toolset test: %s", out)
			}
			w.Run(0, "toolset", "import", "gallery:"+c.id, "--yes")
			if c.question == "" {
				return
			}
			folder := filepath.Join(w.Dir, "folder")
			commandtest.Put(t, filepath.Join(folder, "a.csv"), "a,b\n1,2\n")
			commandtest.Put(t, filepath.Join(folder, "naps.md"), "# Naps\n\nPlanned naps lowered errors on night shifts from 4.1 to 2.6 percent.\n")
			if out, _ = w.Run(0, "ask", "--no-stdin", "--yes", "-w", folder, "-o", "events", c.question); !strings.Contains(out, `"status":"success"`) || !strings.Contains(out, c.want) {
				t.Errorf("the turn: %s", out)
			}
		})
	}
}
