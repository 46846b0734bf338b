package engine

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/record"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/manifest"
	"github.com/fettle-cli/fettle/toolset/mcp"
	"github.com/fettle-cli/fettle/toolset/registry"
)

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
	call   *chat.ToolCall
	chat   chat.Chat
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
	server, err := e.UsableServer(ctx, id)
	if err != nil {
		return nil, err
	}
	chat, err := e.FindChat(ctx, store.ChatRef{ID: call.ChatID})
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
	ws, err := e.OpenWorkspace(a.chat)
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
	return catalog.ServerFault(a.server.ID, err)
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
func callResult(c *chat.ToolCall) json.RawMessage {
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
	raw, err := record.Marshal(out)
	if err != nil { // strings and valid JSON can't fail
		return json.RawMessage(`{"content":[]}`)
	}
	return raw
}

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
