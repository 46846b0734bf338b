package mcp

import (
	"context"
	"fmt"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fettle-cli/fettle/internal/sanitize"
)

// served is one server of the SDK. It is for one session, or for all modern
// clients of an address.
type served struct {
	h      *Host
	filter string
	own    *session // nil where each request says whose it is
	sdk    *sdk.Server

	used     int64 // when it was used last, in the order of uses; the host's mu guards it
	attended bool  // a client began its session; so is this
	// once looks after the session of a legacy client.
	once sync.Once

	mu    sync.Mutex
	tools map[string]offered // by name, as the SDK has them
	pages map[string]string  // the tool that has it, by URI
	// prompts are the marks of the prompts that the SDK has, by name.
	prompts map[string]string
	// hasPrompts is set where the capability is declared.
	hasPrompts bool
}

// instructions tell a client's model what it has here.
const instructions = "The tools work in a folder of this session, whose files are the resources workspace:///PATH. " +
	"What a tool changes there can be undone by the user with `fettle undo`. Tools that begin with agent__ ask an agent of the user's, which may use tools itself."

// serve makes a server; own is the session that it is for.
func (h *Host) serve(filter string, own *session) *served {
	sv := &served{h: h, filter: filter, own: own, tools: map[string]offered{}, pages: map[string]string{}, prompts: map[string]string{}}
	nothing := func(context.Context, *sdk.SubscribeRequest) error { return nil } // the SDK keeps count
	o := &sdk.ServerOptions{
		Instructions: instructions, SubscribeHandler: nothing,
		UnsubscribeHandler: func(context.Context, *sdk.UnsubscribeRequest) error { return nil },
		SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) {
			c.CacheScope = "private" // files and tools are one user's
		},
		Capabilities: &sdk.ServerCapabilities{
			Tools:     &sdk.ToolCapabilities{ListChanged: true},
			Resources: &sdk.ResourceCapabilities{ListChanged: true, Subscribe: true},
		},
	}
	if h.offersPrompts(filter) {
		o.Capabilities.Prompts = &sdk.PromptCapabilities{ListChanged: true}
		o.CompletionHandler = sv.complete
	}
	more := func(*sdk.Server) {}
	if h.o.extend != nil {
		more = h.o.extend(o)
	}
	sv.hasPrompts = o.Capabilities.Prompts != nil
	sv.sdk = sdk.NewServer(&sdk.Implementation{Name: "fettle", Title: "fettle", Version: h.o.Version}, o)
	sv.addFiles()
	sv.sdk.AddReceivingMiddleware(sv.look)
	more(sv.sdk)
	return sv
}

// look brings the server up to date before what depends on it, and adds the files
// of the workspace to the list of resources.
func (sv *served) look(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		sv.h.mu.Lock()
		sv.h.uses++
		sv.used = sv.h.uses
		sv.h.mu.Unlock()
		switch method {
		case "initialize":
			sv.attend(req)
			sv.h.watch(sv)
		case "subscriptions/listen":
			sv.h.watch(sv)
		case "prompts/list", "prompts/get":
			if !sv.hasPrompts {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "no prompts are offered here"}
			}
			sv.mu.Lock()
			sv.refreshPrompts()
			sv.mu.Unlock()
		case "tools/list", "tools/call", "resources/list", "resources/read":
			if err := sv.refresh(ctx); err != nil {
				return nil, internal(err)
			}
		}
		res, err := next(ctx, method, req)
		if list, ok := res.(*sdk.ListResourcesResult); ok && err == nil && list.NextCursor == "" {
			if err := sv.listFiles(ctx, req, list); err != nil {
				return nil, internal(err)
			}
		}
		return res, err
	}
}

// attend notes a legacy client over HTTP, to let go of it when it is gone.
func (sv *served) attend(req sdk.Request) {
	ss, ok := req.GetSession().(*sdk.ServerSession)
	if !ok || sv.own == nil {
		return
	}
	sv.once.Do(func() {
		done, ok := sv.h.begin()
		if !ok {
			return
		}
		sv.h.mu.Lock()
		sv.h.open[sv], sv.attended = struct{}{}, true
		sv.h.mu.Unlock()
		go func() {
			defer done()
			_ = ss.Wait() // how it ended makes no difference
			sv.h.mu.Lock()
			delete(sv.h.open, sv)
			delete(sv.h.watched, sv)
			sv.h.mu.Unlock()
			sv.own.end()
		}()
	})
}

// close ends the connections of a server.
func (sv *served) close() {
	for ss := range sv.sdk.Sessions() {
		if err := ss.Close(); err != nil {
			sv.h.log.Debug("a client's connection ends badly", "error", sanitize.Line(err.Error()))
		}
	}
}

// refresh gives the SDK's server what is offered now. Clients that listen hear of
// a change.
func (sv *served) refresh(ctx context.Context) error {
	now, err := sv.h.offer(ctx, sv.filter)
	if err != nil {
		return err
	}
	sv.mu.Lock()
	defer sv.mu.Unlock()
	names, uris := map[string]bool{}, map[string]bool{}
	for _, t := range now.tools {
		names[t.tool.Name] = true
		if sv.tools[t.tool.Name].mark == t.mark {
			continue
		}
		if err := sv.add(t); err != nil {
			sv.h.log.Warn("a tool can't be offered to MCP clients", "tool", t.id, "error", sanitize.Line(err.Error()))
			sv.sdk.RemoveTools(t.tool.Name)
		}
		sv.tools[t.tool.Name] = t
	}
	for name := range sv.tools {
		if !names[name] {
			sv.sdk.RemoveTools(name)
			delete(sv.tools, name)
		}
	}
	for _, p := range now.pages {
		uris[p.uri] = true
		if sv.pages[p.uri] != p.toolID {
			sv.pages[p.uri] = p.toolID
			sv.addPage(p)
		}
	}
	for uri := range sv.pages {
		if !uris[uri] {
			sv.sdk.RemoveResources(uri)
			delete(sv.pages, uri)
		}
	}
	sv.refreshPrompts()
	return nil
}

// add gives the SDK's server a tool. It panics on schemas that it can't serve,
// such as one with a bad x-mcp-header, and these are strangers'.
func (sv *served) add(t offered) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	sv.sdk.AddTool(t.tool, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return sv.call(ctx, req, t)
	})
	return nil
}

// session is whose request it is.
func (sv *served) session(client *sdk.Implementation, extra *sdk.RequestExtra) *session {
	if sv.own != nil {
		return sv.own
	}
	name, named := "", ""
	if client != nil {
		name = client.Name
	}
	if extra != nil {
		named = extra.Header.Get(sessionHeader)
	}
	return sv.h.sessionOf(name, named)
}

// titleOf names the chat of a session.
func titleOf(client *sdk.Implementation) string {
	if client == nil || sanitize.Line(client.Name) == "" {
		return "MCP"
	}
	return "MCP: " + sanitize.Cut(sanitize.Line(client.Name), maxShownName)
}
