package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/record"
	"github.com/fettle-cli/fettle/internal/sanitize"
	"github.com/fettle-cli/fettle/internal/schema"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/mcp"
)

// AppCall is a call that the page of an MCP server wants.
type AppCall struct {
	Name string
	Args json.RawMessage
	// Allowed is the Shown of an ask that a person has allowed, once. Where the tool
	// says something else of itself by now, it is asked about anew.
	Allowed string
	// OnWait is told whom it waits for, and OnBegin that it waits no more and runs.
	// Both may be nil.
	OnWait  func(string)
	OnBegin func()
}

// AppAnswer is what came of it: the server's CallToolResult, or what a person has to
// be asked first.
type AppAnswer struct {
	Result json.RawMessage
	Ask    *AppAsk
	// CallID is the record of the call.
	CallID string
}

// AppAsk is a call that waits for a person.
type AppAsk struct {
	Tool   string `json:"tool"`
	ToolID string `json:"tool_id"`
	Reason string `json:"reason"`
	Rule   string `json:"rule"`
	// Shown stands for what the tool says of itself; see AppCall.Allowed.
	Shown string `json:"-"`
}

// appRun is what a turn runs for a page.
type appRun struct {
	of    *chat.ToolCall // whose page wants it
	offer *toolset.Set   // the tool alone
}

// CallApp calls a tool for the page of a call, of the same server. The policy decides
// as about a model's call. It is a turn of the chat that adds no message: the call is
// recorded with its states as all calls are, belongs to the message of the call whose
// page it is, and can be undone. It ends when ctx does.
func (e *Engine) CallApp(ctx context.Context, callID string, want AppCall) (*AppAnswer, error) {
	a, err := e.appOf(ctx, callID)
	if err != nil {
		return nil, err
	}
	if len(want.Args) == 0 || string(want.Args) == "null" {
		want.Args = json.RawMessage("{}")
	}
	if !record.IsObject(want.Args) {
		return nil, fault.New(fault.Usage, "the arguments are no JSON object")
	}
	tool, ask, err := e.judgedTool(ctx, a, want)
	if err != nil || ask != nil {
		return &AppAnswer{Ask: ask}, err
	}
	return e.runForApp(ctx, a, tool, want)
}

// judgedTool finds the tool that a page wants, and has the policy decide.
func (e *Engine) judgedTool(ctx context.Context, a *appCall, want AppCall) (tool toolset.Tool, ask *AppAsk, err error) {
	ctx, cancel := context.WithTimeout(ctx, defaultToolTimeout)
	defer cancel()
	err = e.inWorkspace(a, func(ws *toolset.Workspace) (err error) {
		if tool, err = e.o.MCP.AppTool(ctx, a.server, ws, want.Name); err != nil {
			return appFault(a, err)
		}
		ask, err = e.judgeApp(a, tool, ws, want)
		return err
	})
	return tool, ask, err
}

// judgeApp decides about a call, after its arguments are checked.
func (e *Engine) judgeApp(a *appCall, tool toolset.Tool, ws *toolset.Workspace, want AppCall) (*AppAsk, error) {
	s, err := e.Schemas.Compile(tool.InputSchema)
	if err != nil {
		return nil, fault.Wrap(fault.Failed, "the input_schema of "+tool.ID, err)
	}
	if problems := s.Validate(want.Args); len(problems) > 0 {
		return nil, fault.New(fault.Usage, "the arguments don't fit the input_schema of "+tool.ID+": "+oneLineOf(schema.Explain(problems)))
	}
	policy, shown := e.o.Policy, mcp.Fingerprint(tool)
	// What was allowed for later was allowed for a tool that was seen. One that is for
	// pages alone is never pinned, and may be another one each time.
	if slices.ContainsFunc(a.server.Pinned, func(t toolset.Tool) bool { return t.ID == tool.ID && mcp.Fingerprint(t) == shown }) {
		policy = policy.With(e.Granted(a.chat.ID))
	}
	policy.Approvals = cmp.Or(a.chat.Approvals, policy.Approvals)
	call := permission.Resolve(tool, want.Args, ws)
	switch v, why := policy.Decide(call); {
	case v == permission.Refuse:
		return nil, fault.New(fault.Approval, "denied: "+why)
	case a.chat.Plan && !permission.InPlan(toolset.ReachOf(tool, nil)):
		return nil, fault.New(fault.Approval, "denied: the chat is in plan mode, in which calls can only read the workspace")
	case v != permission.Run && want.Allowed != shown:
		return &AppAsk{Tool: tool.BareID(), ToolID: tool.ID, Reason: why, Rule: call.Rule(), Shown: shown}, nil
	}
	return nil, nil
}

func oneLineOf(s string) string { return strings.Join(strings.Fields(s), " ") }

// runForApp runs a call that may run, as a turn, and waits for its end.
func (e *Engine) runForApp(ctx context.Context, a *appCall, tool toolset.Tool, want AppCall) (*AppAnswer, error) {
	var got atomic.Pointer[mcp.AppResult] // a call that was left behind may still write it
	tool.Enabled = true
	offer, err := toolset.NewSet(toolset.Entry{Tool: tool, Runner: e.appRunner(a, want.Name, &got)})
	if err != nil {
		return nil, fault.Wrap(fault.Failed, "call "+tool.ID, err)
	}
	id, err := e.Start(ctx, TurnRequest{
		Chat: store.ChatRef{ID: a.chat.ID}, Calls: []DirectCall{{Tool: tool.ID, Args: want.Args}}, Docs: []string{},
		app: &appRun{a.call, offer}, OnWait: want.OnWait,
	})
	if err != nil {
		return nil, err
	}
	if want.OnBegin != nil {
		want.OnBegin()
	}
	end, err := e.endOfApp(ctx, id)
	if err != nil {
		return nil, err
	}
	if res := got.Load(); res != nil && (end.Status == event.CallSuccess || res.Failed != nil && end.PostManifestID != "") {
		return &AppAnswer{Result: res.Raw, CallID: end.CallID}, nil
	}
	return nil, fault.New(fault.Failed, tool.ID+": "+oneLineOf(end.Error))
}

// appRunner calls the server, and keeps what the page is told: its own result, of
// which the record has what records have.
func (e *Engine) appRunner(a *appCall, name string, got *atomic.Pointer[mcp.AppResult]) toolset.RunnerFunc {
	return func(ctx context.Context, call toolset.Call) (toolset.Result, error) {
		res, err := e.o.MCP.CallForApp(ctx, a.server, name, call)
		switch {
		case err != nil && ctx.Err() != nil:
			return toolset.Result{}, context.Cause(ctx)
		case err != nil:
			return toolset.Result{}, toolset.Errorf("the MCP server %s: %w", a.server.ID, err)
		}
		got.Store(res)
		out := res.Result
		if len(out.Data) > chat.MaxData { // pages read large things, which no model would be given
			out.Data, out.Text = nil, sanitize.Clip(out.Text, maxResult)+"\n[the rest of the result is too large to keep]"
		}
		return out, res.Failed
	}
}

// endOfApp waits for the end of a page's turn, and gives that of its call. Where ctx
// ends first, the turn is cancelled.
func (e *Engine) endOfApp(ctx context.Context, id store.TurnID) (event.ToolComplete, error) {
	defer context.AfterFunc(ctx, func() { _ = e.Cancel(context.WithoutCancel(ctx), id) })() // one that has ended can't be
	var end event.ToolComplete
	for ev, err := range e.Follow(context.WithoutCancel(ctx), id, 0) { // every turn ends
		if err != nil {
			return end, err
		}
		switch b := ev.Body.(type) {
		case event.ToolComplete:
			end = b
		case event.Cancelled:
			if ctx.Err() != nil {
				return end, context.Cause(ctx)
			}
			return end, fault.New(fault.Interrupted, "the call was cancelled")
		case event.Error:
			return end, fault.New(fault.Code(b.Code), b.Message, b.Hints...)
		}
	}
	return end, nil
}
