package acp_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fettle-cli/fettle/toolset/registry"
)

const flowManifest = `manifest_version: "1"
id: flow
name: Flow
version: 1.0.0
description: A workflow of a test.
workflows:
  - id: keep
    name: Look and keep
    input_schema: {type: object, properties: {topic: {type: string}}, required: [topic]}
    steps:
      - {id: look, name: Look around, tool: list_files, checkpoint: true}
      - {id: save, tool: write_file, args: {path: kept.txt, content: $args.topic}}
`

// flow installs a toolset with a workflow.
func (h *house) flow() {
	h.t.Helper()
	dir := h.t.TempDir()
	must(h.t, os.WriteFile(filepath.Join(dir, "toolset.yaml"), []byte(flowManifest), 0o600))
	p, err := h.eng.PlanToolset(h.t.Context(), dir, registry.PlanOptions{})
	must(h.t, err)
	defer p.Close()
	_, err = h.eng.ImportToolset(h.t.Context(), p, registry.ApplyOptions{Approved: true})
	must(h.t, err)
}

// plan is how far the steps are that were told last.
func (e *editor) plan() string {
	all := e.updates("plan")
	if len(all) == 0 {
		return ""
	}
	var out []string
	for _, entry := range all[len(all)-1]["entries"].([]any) {
		out = append(out, entry.(obj)["status"].(string))
	}
	return strings.Join(out, " ")
}

// A workflow that stands at a checkpoint says what it waits for and what to type, also
// to an editor that comes back; what is typed carries it on, does a step again that
// failed, or ends it.
func TestAWorkflowIsGoneOnWith(t *testing.T) {
	t.Parallel()
	h := open(t, usual)
	h.flow()
	e := h.connect()
	var allow atomic.Bool
	e.answer = func(method string, params json.RawMessage) (any, *wireError) {
		if allow.Load() {
			return choose("allow")(method, params)
		}
		return choose("reject")(method, params)
	}
	e.initialize()
	s := e.newSession(h.project)
	says := func(prompt, wants string, parts ...string) {
		t.Helper()
		e.forget()
		id := e.send("session/prompt", obj{"sessionId": s, "prompt": []any{obj{"type": "text", "text": prompt}}})
		m := e.response(id)
		if wants == "error" && m.Error == nil || wants != "error" && !strings.Contains(m.line, `"stopReason":"`+wants+`"`) {
			t.Errorf("%s is answered with %s", prompt, m.line)
		}
		got := e.text("agent_message_chunk")
		for _, part := range parts {
			if !strings.Contains(got, part) {
				t.Errorf("%s lacks %q: %q", prompt, part, got)
			}
		}
	}
	says("/workflow continue", "end_turn", "No workflow was started in this session")
	says(`/workflow keep {"topic":"tea"}`, "end_turn",
		"The workflow Look and keep waits behind Look around, 1 of 2 steps, for you to look at it. Next is save.",
		"`/workflow continue`  goes on with save", "`/workflow cancel`")
	if got := e.plan(); got != "completed pending" {
		t.Errorf("the plan is %s", got)
	}
	says("/workflow", "end_turn", "`/workflow flow:keep`", "waits behind Look around")
	says("/workflow retry", "end_turn", "There is nothing to retry", "/workflow continue")
	says("/workflow continue now", "end_turn", "takes nothing behind it")

	again := h.connect()
	again.answer = e.answer
	again.initialize()
	again.call("session/load", obj{"sessionId": s, "cwd": h.project, "mcpServers": []any{}}, nil)
	if got := again.text("agent_message_chunk"); !strings.Contains(got, "`/workflow continue`") {
		t.Errorf("who comes back hears %q", got)
	}
	e = again

	says("/workflow continue", "error", "Look and keep failed at save, 1 of 2 steps", "`/workflow retry`  does save again")
	if got := e.plan(); !strings.HasPrefix(got, "completed ") {
		t.Errorf("the plan is %s", got)
	}
	allow.Store(true)
	says("/workflow retry", "end_turn")
	if on, err := os.ReadFile(filepath.Join(h.project, "kept.txt")); err != nil || string(on) != "tea" {
		t.Errorf("the file has %q, %v", on, err)
	}
	if got := e.text("agent_message_chunk"); strings.Contains(got, "/workflow") || e.plan() != "completed completed" {
		t.Errorf("at the end it says %q and the plan is %s", got, e.plan())
	}
	says("/workflow continue", "end_turn", "is complete: there is nothing to continue")

	says(`/workflow keep {"topic":"milk"}`, "end_turn", "waits behind Look around")
	says("/workflow cancel", "end_turn", "Look and keep is ended")
	says("/workflow cancel", "end_turn", "is cancelled: there is nothing to cancel")
}
