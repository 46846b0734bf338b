package engine

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/schema"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/manifest"
	"github.com/fettle-cli/fettle/toolset/mcp"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// Apps is what is needed of MCP servers to show their pages (MCP Apps).
type Apps interface {
	// App gives the page for the calls of a tool, and what it may do.
	App(ctx context.Context, s mcp.Server, ws *toolset.Workspace, toolID string) (*mcp.App, error)
	// AppTool gives a tool that a page of the server may call.
	AppTool(ctx context.Context, s mcp.Server, ws *toolset.Workspace, name string) (toolset.Tool, error)
	// CallForApp calls it, and gives the CallToolResult in JSON.
	CallForApp(ctx context.Context, s mcp.Server, ws *toolset.Workspace, name string, args json.RawMessage) (json.RawMessage, error)
	// ReadForApp reads a resource, and gives the ReadResourceResult in JSON.
	ReadForApp(ctx context.Context, s mcp.Server, ws *toolset.Workspace, uri string) (json.RawMessage, error)
}

// OpenedApp is the page of an MCP server for one call, with what the page is told.
type OpenedApp struct {
	ChatID   string
	ToolID   string
	ServerID string
	*mcp.App
	// Input are the call's arguments, Result is its CallToolResult.
	Input, Result json.RawMessage
}

// appCall is a call whose server has a page, with where both are.
type appCall struct {
	call   *ToolCall
	chat   Chat
	server mcp.Server
}

// appOf finds the server of a call.
func (e *Engine) appOf(ctx context.Context, callID string) (*appCall, error) {
	call, err := e.toolCall(ctx, callID)
	if err != nil {
		return nil, err
	}
	id, _, ok := strings.Cut(call.ToolID, ":")
	if !ok || e.o.MCP == nil {
		return nil, fault.New(fault.NotFound, "call "+callID+" of "+call.ToolID+" is of no MCP server")
	}
	server, err := e.usableServer(ctx, id)
	if err != nil {
		return nil, err
	}
	chat, err := e.FindChat(ctx, ChatRef{ID: call.ChatID})
	if err != nil {
		return nil, err
	}
	return &appCall{call, chat, server}, nil
}

// inWorkspace does something with the server of a call as the call itself had it:
// with the chat's folder, where it is a process.
func (e *Engine) inWorkspace(a *appCall, do func(*toolset.Workspace) error) error {
	if a.server.URL != "" {
		return do(nil)
	}
	ws, err := e.openWorkspace(a.chat)
	if err != nil {
		return err
	}
	return errors.Join(do(ws), ws.Close())
}

// appFault words what keeps an app from something.
func appFault(a *appCall, err error) error {
	if errors.Is(err, mcp.ErrNoApp) {
		return fault.Wrap(fault.Approval, "the MCP server "+a.server.ID, err)
	}
	return serverFault(a.server.ID, err)
}

// OpenApp gives the page that the MCP server of a call has for it.
func (e *Engine) OpenApp(ctx context.Context, callID string) (*OpenedApp, error) {
	a, err := e.appOf(ctx, callID)
	if err != nil {
		return nil, err
	}
	out := &OpenedApp{ChatID: a.call.ChatID, ToolID: a.call.ToolID, ServerID: a.server.ID, Input: a.call.Args, Result: callResult(a.call)}
	err = e.inWorkspace(a, func(ws *toolset.Workspace) (err error) {
		out.App, err = e.o.MCP.App(ctx, a.server, ws, a.call.ToolID)
		return err
	})
	if errors.Is(err, mcp.ErrNoApp) {
		return nil, fault.Wrap(fault.NotFound, "the MCP server "+a.server.ID, err)
	}
	if err != nil {
		return nil, appFault(a, err)
	}
	return out, nil
}

// callResult is the record of a call as MCP has results.
func callResult(c *ToolCall) json.RawMessage {
	var kept struct {
		Text string          `json:"text"`
		Data json.RawMessage `json:"data"`
	}
	_ = json.Unmarshal(c.Result, &kept) // a result that is too long is not kept
	type block struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	out := struct {
		Content    any             `json:"content"`
		Structured json.RawMessage `json:"structuredContent,omitempty"`
		IsError    bool            `json:"isError,omitempty"`
	}{Content: []block{{"text", kept.Text}}, IsError: c.Error != ""}
	var parts struct {
		Content json.RawMessage `json:"content"`
	}
	var fields map[string]json.RawMessage
	switch {
	case json.Unmarshal(kept.Data, &fields) != nil || fields == nil:
	case len(fields) == 1 && json.Unmarshal(kept.Data, &parts) == nil && strings.HasPrefix(string(parts.Content), "["):
		out.Content = parts.Content // what a call keeps that gave more than text
	default:
		out.Structured = kept.Data
	}
	raw, err := json.Marshal(out)
	if err != nil { // strings and valid JSON can't fail
		return json.RawMessage(`{"content":[]}`)
	}
	return raw
}

// AppCall is a call that the page of an MCP server wants.
type AppCall struct {
	Name string
	Args json.RawMessage
	// Allowed is the Shown of an ask that a person has allowed, once. Where the tool
	// says something else of itself by now, it is asked about anew.
	Allowed string
	// OnWait is told whom it waits for. It may be nil.
	OnWait func(string)
}

// AppAnswer is what came of it: the server's CallToolResult, or what a person has to
// be asked first.
type AppAnswer struct {
	Result json.RawMessage
	Ask    *AppAsk
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

// CallApp calls a tool for the page of a call, of the same server. The policy decides
// as about a model's call; what the call changes in the chat's folder is a step that
// Undo takes back.
func (e *Engine) CallApp(ctx context.Context, callID string, want AppCall) (*AppAnswer, error) {
	ctx, cancel := context.WithTimeout(ctx, defaultToolTimeout)
	defer cancel()
	a, err := e.appOf(ctx, callID)
	if err != nil {
		return nil, err
	}
	if len(want.Args) == 0 || string(want.Args) == "null" {
		want.Args = json.RawMessage("{}")
	}
	if !isObject(want.Args) {
		return nil, fault.New(fault.Usage, "the arguments are no JSON object")
	}
	var ask *AppAsk
	err = e.inWorkspace(a, func(ws *toolset.Workspace) error {
		tool, err := e.o.MCP.AppTool(ctx, a.server, ws, want.Name)
		if err != nil {
			return appFault(a, err)
		}
		ask, err = e.judgeApp(a, tool, ws, want)
		return err
	})
	if err != nil || ask != nil {
		return &AppAnswer{Ask: ask}, err
	}
	out := &AppAnswer{}
	out.Result, err = e.runForApp(ctx, a, want)
	return out, err
}

// judgeApp decides about a call, after its arguments are checked.
func (e *Engine) judgeApp(a *appCall, tool toolset.Tool, ws *toolset.Workspace, want AppCall) (*AppAsk, error) {
	s, err := e.schemas.compile(tool.InputSchema)
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
		policy = policy.With(e.granted(a.chat.ID))
	}
	switch v, why := policy.decide(tool, want.Args, ws); {
	case v == refuse:
		return nil, fault.New(fault.Approval, "denied: "+why)
	case v == askFirst && want.Allowed != shown:
		return &AppAsk{Tool: tool.BareID(), ToolID: tool.ID, Reason: why, Rule: RuleFor(tool, want.Args), Shown: shown}, nil
	}
	return nil, nil
}

func oneLineOf(s string) string { return strings.Join(strings.Fields(s), " ") }

// runForApp runs a call that may run. One of a process holds the chat's folder, with a
// state on both sides.
func (e *Engine) runForApp(ctx context.Context, a *appCall, want AppCall) (out json.RawMessage, err error) {
	run := func(ws *toolset.Workspace) (err error) {
		out, err = e.o.MCP.CallForApp(ctx, a.server, ws, want.Name, want.Args)
		if err != nil && ctx.Err() == nil {
			err = appFault(a, err)
		}
		return err
	}
	if a.server.URL != "" {
		return out, run(nil)
	}
	_, err = e.withFolder(ctx, RestoreRequest{Chat: ChatRef{ID: a.chat.ID}, OnWait: want.OnWait}, func(chat Chat, ws *toolset.Workspace) (*Restored, error) {
		before, err := e.takeIn(ctx, &chat, ws, taking{About: cas.About{Source: cas.External}})
		if err != nil {
			return nil, err
		}
		failed := run(ws)
		keep, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepTime)
		defer cancel()
		after, err := e.takeIn(keep, &chat, ws, taking{About: cas.About{Source: cas.Edit}})
		return &Restored{Chat: chat, Before: before, After: after}, errors.Join(failed, err)
	})
	return out, err
}

// keepTime bounds the snapshot after a call that was cancelled.
const keepTime = time.Minute

// AppResource is a ReadResourceResult in JSON.
type AppResource struct{ Result json.RawMessage }

// ReadApp reads a resource for the page of a call, of the same server.
func (e *Engine) ReadApp(ctx context.Context, callID, uri string) (*AppResource, error) {
	ctx, cancel := context.WithTimeout(ctx, defaultToolTimeout)
	defer cancel()
	a, err := e.appOf(ctx, callID)
	if err != nil {
		return nil, err
	}
	out := &AppResource{}
	err = e.inWorkspace(a, func(ws *toolset.Workspace) (err error) {
		out.Result, err = e.o.MCP.ReadForApp(ctx, a.server, ws, uri)
		return err
	})
	if err != nil {
		return nil, appFault(a, err)
	}
	return out, nil
}

// ListedServer is an MCP server as lists show it, without what may be a secret.
type ListedServer struct {
	registry.MirrorServer
	Transport string
	// Waiting tells that its tools have changed and wait for an approval.
	Waiting bool
}

// ListedServers are the MCP servers that there are. What is or may be a secret in
// their entries has become ${NAME}.
func (e *Engine) ListedServers(ctx context.Context) ([]ListedServer, error) {
	servers, err := e.MCPServers(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]ListedServer, len(servers))
	for i, s := range servers {
		shown, _ := (&manifest.Manifest{MCPServers: []manifest.MCPServer{s.Config}}).WithoutSecrets()
		s.Config = shown.MCPServers[0]
		out[i] = ListedServer{MirrorServer: s, Transport: "stdio", Waiting: len(s.Seen) > 0}
		switch {
		case s.Settings.SSE:
			out[i].Transport = "sse"
		case s.Config.URL != "":
			out[i].Transport = "http"
		}
	}
	return out, nil
}
