package acp

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

// teller makes updates of what a turn does. It is one turn's, in the order of its
// events; nothing in it waits but diffs, which reads the files of two states.
type teller struct {
	s     *session
	turn  string
	facts map[string]toolFacts // by tool id
	// notices and compaction tell whether the editor shows such updates.
	notices, compaction bool
	// diffs gives what a call changed between two states.
	diffs func(pre, post string) ([]toolContent, []location)

	open    string // the kind of the message that goes on
	place   int    // its place among the turn's
	agent   string // who speaks, where there are several
	calls   map[string]*toldCall
	steps   []planEntry    // of a workflow
	stepAt  map[string]int // by the step's id
	cited   map[string]bool
	handoff int
	compact int
}

// toldCall is a call that the editor knows.
type toldCall struct {
	kind    string
	running bool
}

const (
	textChunk    = "agent_message_chunk"
	thoughtChunk = "agent_thought_chunk"
)

// tell gives the updates of one event.
func (t *teller) tell(e event.Event) []update {
	switch b := e.Body.(type) {
	case event.TextDelta:
		return t.chunk(textChunk, b.Text)
	case event.Reasoning:
		return t.chunk(thoughtChunk, b.Text)
	case event.AgentStart:
		t.agent, t.open = b.Agent, ""
	case event.Handoff:
		return t.handedOver(b)
	case event.ConfirmRequest:
		if b.Form != nil {
			return nil // its call is known, and runs
		}
		return t.call(b.ToolUseID, b.Tool, b.ToolID, b.Input)
	case event.ToolStart:
		return t.started(b)
	case event.ToolProgress:
		return t.progress(b, e.More)
	case event.ToolComplete:
		return t.completed(b)
	case event.Workflow:
		return t.workflow(b)
	case event.Annotations:
		return t.citations(b)
	case event.Meta:
		return t.usage(b)
	case event.Status:
		return t.notice("info", b.Message)
	case event.Footnote:
		return t.note(b.Text)
	case event.Summary:
		return t.summary(b)
	}
	return nil
}

// chunk goes on with the message of a kind, or begins the next one.
func (t *teller) chunk(kind, text string) []update {
	if text == "" {
		return nil
	}
	if t.open != kind {
		t.open = kind
		t.place++
	}
	b := textBlock(strings.ToValidUTF8(text, "\ufffd"))
	return []update{{Kind: kind, MessageID: t.messageID(), Content: &b, Meta: t.meta()}}
}

// messageID names the message that goes on.
func (t *teller) messageID() string { return t.turn + "." + strconv.Itoa(t.place) }

// meta says which agent it is that speaks, where there are several.
func (t *teller) meta() map[string]any {
	if t.agent == "" {
		return nil
	}
	return map[string]any{"fettle": map[string]string{"agent": sanitize.Line(t.agent)}}
}

func (t *teller) handedOver(b event.Handoff) []update {
	t.open = ""
	t.handoff++
	u := update{
		Kind: "tool_call", ToolCallID: fmt.Sprintf("%s.handoff.%d", t.turn, t.handoff), ToolKind: "switch_mode", Status: "completed",
		Title: sanitize.Cut(sanitize.Line(b.From), maxShownName) + " hands over to " + sanitize.Cut(sanitize.Line(b.To), maxShownName),
	}
	if b.Reason != "" {
		u.Outputs = []toolContent{shown(sanitize.Cut(sanitize.Text(b.Reason), maxShown))}
	}
	return []update{u}
}

// call tells of a call once, before it runs.
func (t *teller) call(useID, tool, toolID string, input json.RawMessage) []update {
	t.open = ""
	if t.calls[useID] != nil {
		return nil
	}
	if t.calls == nil {
		t.calls = map[string]*toldCall{}
	}
	f := t.facts[toolID]
	c := &toldCall{kind: f.kind(toolID)}
	t.calls[useID] = c
	return []update{{
		Kind: "tool_call", ToolCallID: useID, Title: callTitle(tool, input), Name: sanitize.Line(toolID), ToolKind: c.kind, Status: "pending",
		Locations: t.s.locations(input), RawInput: validRaw(input), Meta: t.meta(),
	}}
}

func (t *teller) started(b event.ToolStart) []update {
	out := t.call(b.ToolUseID, b.Tool, b.ToolID, b.Input)
	t.calls[b.ToolUseID].running = true
	return append(out, update{Kind: "tool_call_update", ToolCallID: b.ToolUseID, Status: "in_progress"})
}

// progress replaces what a running call shows. Where the next event is there
// already, the editor need not draw this one.
func (t *teller) progress(b event.ToolProgress, more bool) []update {
	text := sanitize.Line(b.Message)
	if text == "" {
		text = sanitize.Line(b.Stage)
	}
	if b.Progress != nil {
		text = strings.TrimSpace(fmt.Sprintf("%s %.0f %%", text, 100**b.Progress))
	}
	if c := t.calls[b.ToolUseID]; c == nil || !c.running || more || text == "" {
		return nil
	}
	return []update{{
		Kind: "tool_call_update", ToolCallID: b.ToolUseID, Status: "in_progress", Outputs: []toolContent{shown(sanitize.Cut(text, maxShownName))},
	}}
}

func (t *teller) completed(b event.ToolComplete) []update {
	t.open = ""
	c := t.calls[b.ToolUseID]
	if c == nil {
		return nil
	}
	c.running = false
	u := update{Kind: "tool_call_update", ToolCallID: b.ToolUseID, Status: "completed", Outputs: []toolContent{}}
	if b.Status != event.CallSuccess {
		u.Status = "failed"
	}
	u.RawOutput = rawOutput(b)
	if b.PreManifestID != b.PostManifestID && len(b.Changes) > 0 && t.diffs != nil {
		u.Outputs, u.Locations = t.diffs(b.PreManifestID, b.PostManifestID)
	}
	if text := b.Result; strings.TrimSpace(text) != "" && (len(u.Outputs) == 0 || u.Status == "failed" || c.kind == "execute") {
		u.Outputs = append([]toolContent{shown(asOutput(c.kind, text))}, u.Outputs...)
	}
	if id := t.s.takeShown(b.ToolUseID); id != "" {
		u.Outputs = append([]toolContent{{Type: "terminal", TerminalID: id}}, u.Outputs...)
	}
	return []update{u}
}

// rawOutput is a call's structured result, else its text.
func rawOutput(b event.ToolComplete) json.RawMessage {
	if len(b.Data) > 0 {
		return validRaw(b.Data)
	}
	text := b.Result
	if text == "" {
		text = b.Error
	}
	raw, err := json.Marshal(map[string]string{"text": sanitize.Cut(strings.ToValidUTF8(text, "\ufffd"), maxRawShown)})
	if err != nil { // strings can't fail
		return nil
	}
	return raw
}

// asOutput is what a call gave, for a reader of Markdown: what a command or a file
// holds is no Markdown.
func asOutput(kind, text string) string {
	text = sanitize.Cut(sanitize.Text(text), maxShown)
	switch kind {
	case "execute", "read", "search":
		fence := "```"
		for strings.Contains(text, fence) {
			fence += "`"
		}
		return fence + "\n" + strings.TrimSuffix(text, "\n") + "\n" + fence
	}
	return text
}

// workflow shows the steps of a workflow as a plan.
func (t *teller) workflow(b event.Workflow) []update {
	at, ok := t.stepAt[b.Step]
	if !ok {
		return nil // of the instance as a whole
	}
	switch b.State {
	case "running":
		t.steps[at].Status = "in_progress"
	case "done", "failed":
		t.steps[at].Status = "completed"
	default:
		return nil
	}
	return t.plan()
}

func (t *teller) plan() []update {
	if len(t.steps) == 0 {
		return nil
	}
	return []update{{Kind: "plan", Entries: append([]planEntry{}, t.steps...)}}
}

// maxCited bounds the sources that a turn shows.
const maxCited = 30

// citations are links behind the text, each once.
func (t *teller) citations(b event.Annotations) []update {
	var out []update
	for _, raw := range b.Annotations {
		u := citedAs(raw)
		if u.URI == "" || t.cited[u.URI] || len(t.cited) >= maxCited {
			continue
		}
		if t.cited == nil {
			t.cited = map[string]bool{}
		}
		t.cited[u.URI] = true
		if t.open != textChunk {
			t.open = textChunk
			t.place++
		}
		out = append(out, update{Kind: textChunk, MessageID: t.messageID(), Content: &u})
	}
	return out
}

// citedAs reads a citation as providers write it: {type, url_citation: {url, title}},
// or with the two at its top.
func citedAs(raw json.RawMessage) contentBlock {
	type source struct {
		URL   string `json:"url"`
		Title string `json:"title"`
	}
	var c struct {
		source
		Inner source `json:"url_citation"`
	}
	if json.Unmarshal(raw, &c) != nil {
		return contentBlock{}
	}
	if c.Inner.URL != "" {
		c.source = c.Inner
	}
	if !strings.HasPrefix(c.URL, "https://") && !strings.HasPrefix(c.URL, "http://") || len(c.URL) > maxURI {
		return contentBlock{}
	}
	name := sanitize.Cut(sanitize.Line(c.Title), maxShownName)
	if name == "" {
		name = sanitize.Cut(sanitize.Line(c.URL), maxShownName)
	}
	return contentBlock{Type: "resource_link", URI: sanitize.Line(c.URL), Name: name}
}

// usage tells how full the model's context is, where that is known.
func (t *teller) usage(b event.Meta) []update {
	if b.Usage == nil || b.ContextLength <= 0 {
		return nil
	}
	used, size := max(b.Usage.InputTokens, 0)+max(b.Usage.OutputTokens, 0), int64(b.ContextLength)
	return []update{{Kind: "usage_update", Used: &used, Size: &size}}
}

func (t *teller) notice(severity, text string) []update {
	if text = sanitize.Line(text); text == "" || !t.notices {
		return nil
	}
	return []update{{Kind: "notice", Severity: severity, Title: sanitize.Cut(text, maxNotice)}}
}

// note is a remark that a person should see. An editor without notices gets it as
// a message of its own.
func (t *teller) note(text string) []update {
	if out := t.notice("warning", text); out != nil {
		return out
	}
	t.open = ""
	out := t.chunk(textChunk, "Note: "+sanitize.Line(text))
	t.open = ""
	return out
}

func (t *teller) summary(b event.Summary) []update {
	if !t.compaction {
		return t.notice("info", fmt.Sprintf("%d earlier messages are summed up for the model", b.Messages))
	}
	t.compact++
	u := update{Kind: "compaction_update", CompactionID: fmt.Sprintf("%s.compaction.%d", t.turn, t.compact), Status: "completed"}
	if b.Text != "" {
		u.Summary = []contentBlock{textBlock(sanitize.Cut(sanitize.Text(b.Text), maxShown))}
	}
	return []update{u}
}
