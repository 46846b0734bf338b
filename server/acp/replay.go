package acp

import (
	"context"
	"encoding/base64"
	"path/filepath"
	"strings"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

// maxReplayed bounds the diffs of a replay: those of the last calls are what
// somebody who comes back looks at.
const maxReplayed = 50

// replay tells all of a chat as it stands, as if it happened now: the person's
// messages, and what came of them.
func (a *agent) replay(ctx context.Context, s *session) error {
	conv, err := a.eng.Chat(ctx, store.ChatRef{ID: s.id})
	if err != nil {
		return err
	}
	records, err := a.eng.ToolCalls(ctx, s.id)
	if err != nil {
		return err
	}
	calls := map[string]chat.ToolCall{}
	for _, c := range records {
		calls[c.MessageID+" "+c.ToolUseID] = c
	}
	withDiffs := lastCalls(conv.Messages)
	facts := a.toolFacts(ctx)
	for _, m := range conv.Messages {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if m.Role == provider.User {
			a.replayQuestion(s, m)
			continue
		}
		t := &teller{s: s, turn: m.TurnID, facts: facts}
		p := replaying{agent: a, t: t, message: m, calls: calls, diffs: withDiffs, ctx: ctx}
		for _, u := range p.updates() {
			a.update(s, u)
		}
	}
	a.replayWorkflow(ctx, s, conv.Messages)
	a.update(s, update{Kind: "session_info_update", Title: sanitize.Line(conv.Chat.Title), UpdatedAt: stamp(conv.Chat.UpdatedAt)})
	return nil
}

// replayWorkflow says again how to go on with a workflow, where nothing was said
// since it stopped.
func (a *agent) replayWorkflow(ctx context.Context, s *session, messages []chat.Message) {
	i, err := a.eng.ChatWorkflow(ctx, s.id)
	if err != nil || i == nil || len(messages) == 0 || messages[len(messages)-1].TurnID != string(i.TurnID) {
		return // the conversation is what counts
	}
	if text := workflowStands(i); text != "" {
		a.say(s, "fettle.workflow."+i.ID, text)
	}
}

// lastCalls are the last calls of a conversation, which are shown with what they
// changed.
func lastCalls(messages []chat.Message) map[string]bool {
	var all []string
	for _, m := range messages {
		for _, p := range m.Parts {
			if p.Kind == provider.ToolCallPart && p.Call != nil {
				all = append(all, m.ID+" "+p.Call.ID)
			}
		}
	}
	out := map[string]bool{}
	for _, key := range all[max(0, len(all)-maxReplayed):] {
		out[key] = true
	}
	return out
}

// replayQuestion shows a person's message.
func (a *agent) replayQuestion(s *session, m chat.Message) {
	for _, p := range m.Parts {
		var b contentBlock
		switch p.Kind {
		case provider.TextPart:
			b = textBlock(p.Text)
		case provider.ImagePart:
			b = imageBlock(p)
		case provider.FilePart:
			text := p.Text
			b = contentBlock{Type: "resource", Resource: &resource{URI: s.uriOf(p.Name), Text: &text}}
		default:
			continue
		}
		a.update(s, update{Kind: "user_message_chunk", MessageID: m.ID, Content: &b})
	}
}

// uriOf is the address of a file that was sent along.
func (s *session) uriOf(name string) string {
	if path, ok := s.absolute(name); ok {
		return fileURI(path)
	}
	if filepath.IsAbs(name) {
		return fileURI(name)
	}
	return name
}

// replaying is one answer that is shown again.
type replaying struct {
	agent   *agent
	t       *teller
	message chat.Message
	calls   map[string]chat.ToolCall // by message and tool_use_id
	diffs   map[string]bool
	ctx     context.Context
}

// updates are those that the answer's events had.
func (p *replaying) updates() []update {
	var out []update
	results := map[string]*provider.ToolResult{}
	for _, part := range p.message.Parts {
		if part.Kind == provider.ToolResultPart && part.Result != nil {
			results[part.Result.ID] = part.Result
		}
	}
	for _, part := range p.message.Parts {
		switch part.Kind {
		case provider.TextPart:
			out = append(out, p.t.chunk(textChunk, part.Text)...)
		case provider.ReasoningPart, provider.AgentTextPart:
			out = append(out, p.t.chunk(thoughtChunk, part.Text)...)
		case provider.AgentStartPart:
			p.t.agent, p.t.open = part.Agent, ""
		case provider.HandoffPart:
			out = append(out, p.t.handedOver(event.Handoff{From: part.Agent, To: part.Name, Reason: part.Text})...)
		case provider.ImagePart:
			b := imageBlock(part)
			out = append(out, update{Kind: textChunk, MessageID: p.t.messageID(), Content: &b})
		case provider.ToolCallPart:
			if part.Call != nil {
				out = append(out, p.call(*part.Call, results[part.Call.ID])...)
			}
		}
	}
	out = append(out, p.t.citations(event.Annotations{Annotations: p.message.Citations})...)
	for _, note := range p.message.Notes {
		out = append(out, p.t.note(note)...)
	}
	if e := p.message.Error; e != nil {
		out = append(out, p.t.note("the turn failed: "+e.Message)...)
	}
	return out
}

func imageBlock(p provider.Part) contentBlock {
	return contentBlock{Type: "image", MIME: p.MIME, Data: base64.StdEncoding.EncodeToString(p.Data)}
}

// call shows a call with its end.
func (p *replaying) call(c provider.ToolCall, r *provider.ToolResult) []update {
	key := p.message.ID + " " + c.ID
	record := p.calls[key]
	out := p.t.call(c.ID, bareTool(c.Name), c.Name, c.Args)
	if r == nil && record.ID == "" {
		return append(out, update{Kind: "tool_call_update", ToolCallID: c.ID, Status: "failed"})
	}
	done := event.ToolComplete{ToolUseID: c.ID, Status: event.CallSuccess, Error: record.Error}
	if r != nil {
		done.Result = r.Text
	}
	if record.Status == event.CallError || r != nil && r.Error {
		done.Status = event.CallError
	}
	if p.diffs[key] && record.PreManifestID != "" && record.PreManifestID != record.PostManifestID {
		done.PreManifestID, done.PostManifestID = record.PreManifestID, record.PostManifestID
		done.Changes = []event.Change{{}} // there are some, which the states have
		p.t.diffs = func(pre, post string) ([]toolContent, []location) { return p.agent.diffs(p.ctx, p.t.s, pre, post) }
	}
	return append(out, p.t.completed(done)...)
}

// bareTool is a tool's name without that of its toolset.
func bareTool(id string) string { return id[strings.LastIndexByte(id, ':')+1:] }
