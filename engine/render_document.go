package engine

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/registry"
	"github.com/fettle-cli/fettle/toolset/render"
)

// RenderedCall is how a call is shown.
type RenderedCall struct {
	ChatID string          `json:"chat_id"`
	ToolID string          `json:"tool_id"`
	Plan   json.RawMessage `json:"render_plan"`
	// Document is the page of a plan for the html renderer, with its data in it
	// (document 004, §5.4), or a bundle's page for mcp_app, which gets its data by
	// messages; nil for other renderers.
	Document []byte `json:"-"`
}

// RenderDocument gives the render plan of a tool call that has ended, and the
// page that an html plan asks for. The page is a stranger's: whoever shows it
// keeps it away from everything else.
func (e *Engine) RenderDocument(ctx context.Context, callID string) (*RenderedCall, error) {
	call, err := e.toolCall(ctx, callID)
	if err != nil {
		return nil, err
	}
	out := &RenderedCall{ChatID: call.ChatID, ToolID: call.ToolID, Plan: call.RenderPlan}
	if len(call.RenderPlan) == 0 {
		return nil, fault.New(fault.NotFound, "call "+callID+" of "+call.ToolID+" has no render plan")
	}
	out.Document, err = e.PageOfPlan(ctx, call.ChatID, call.RenderPlan, "show call "+callID)
	return out, err
}

// RenderPayload gives the render plan of a payload of a chat, and its page as
// RenderDocument does.
func (e *Engine) RenderPayload(ctx context.Context, chat chat.Chat, p chat.ShownPayload) (*RenderedCall, error) {
	out := &RenderedCall{ChatID: chat.ID, Plan: e.PayloadPlan(ctx, chat, p.Payload)}
	var plan render.Plan
	if json.Unmarshal(out.Plan, &plan) != nil || plan.Renderer == "" {
		return nil, fault.New(fault.NotFound, "payloads of the type "+p.Type+" have no renderer")
	}
	var err error
	out.Document, err = e.PageOfPlan(ctx, chat.ID, out.Plan, "show payload "+p.ID)
	return out, err
}

// foldWait bounds the wait for the record of a call that has just ended: its
// turn may still run, and is folded only at its end.
const foldWait = 2 * time.Second

// toolCall reads the record of a call, or returns what is known of one that runs here.
func (e *Engine) toolCall(ctx context.Context, id string) (*chat.ToolCall, error) {
	ctx, cancel := context.WithTimeout(ctx, foldWait)
	defer cancel()
	var call *chat.ToolCall
	read := func() error {
		return e.View(ctx, func(tx *kv.Tx) (err error) {
			call, err = e.Tables.Calls.Get(tx, kv.Str(id))
			return err
		})
	}
	err := read()
	if errors.Is(err, kv.ErrNotFound) {
		if live := e.liveCall(id); live != nil {
			return live, nil
		}
		if _, err := e.Fold(ctx, store.FoldAll); err != nil {
			return nil, err
		}
		err = read()
	}
	if errors.Is(err, kv.ErrNotFound) {
		return nil, fault.New(fault.NotFound, "no tool call "+id+" in a turn that has ended or that runs in this process")
	}
	return call, err
}

// ToolPage gives the page of a tool's html renderer as its toolset has it, without
// data in it. The page is a stranger's, see RenderDocument.
func (e *Engine) ToolPage(ctx context.Context, toolID string) ([]byte, error) {
	set, err := e.ToolsetOfTool(ctx, toolID)
	if err != nil {
		return nil, err
	}
	if set == nil {
		set = new(registry.MirrorToolset)
	}
	for _, t := range set.Tools {
		r := t.Tool.Renderer
		if t.Tool.ID != toolID || r == nil || r.Type != toolset.RenderHTML {
			continue
		}
		page, err := e.Page(set.ID, set.Revision, strings.TrimPrefix(r.Artifact, "$toolset/"))
		if err != nil {
			return nil, fault.Wrap(fault.NotFound, "read the page of "+toolID, err)
		}
		return page, nil
	}
	return nil, fault.New(fault.NotFound, "no tool "+toolID+" has a page")
}
