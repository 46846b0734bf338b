package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fettle-cli/fettle/toolset"
)

// What MCP Apps (io.modelcontextprotocol/ui, 2026-01-26) call things.
const (
	appsExtension = "io.modelcontextprotocol/ui"
	appType       = "text/html"
	appProfile    = "mcp-app"
	appScheme     = "ui://"
	// maxAppPage bounds the page of an app, maxAppWords what it says of itself.
	maxAppPage  = 8 << 20
	maxAppWords = 64
)

// App is the page that a server has for the calls of a tool. All of it is a
// stranger's: whoever shows it keeps it away from everything else.
type App struct {
	URI  string `json:"resource_uri"`
	HTML string `json:"html"`
	// CSP are the origins that the page wants to reach, as it names them: whoever
	// shows it judges them.
	CSP AppCSP `json:"csp"`
	// Permissions are what it wants of the browser, such as camera.
	Permissions   []string `json:"permissions"`
	PrefersBorder bool     `json:"prefers_border"`
	Tool          AppTool  `json:"tool"`
	// Tools are the names of the tools that it may call.
	Tools []string `json:"tools"`
}

// AppCSP is what _meta.ui.csp has.
type AppCSP struct {
	ConnectDomains  []string `json:"connectDomains"`
	ResourceDomains []string `json:"resourceDomains"`
	FrameDomains    []string `json:"frameDomains"`
	BaseURIDomains  []string `json:"baseUriDomains"`
}

// AppTool is a tool as an app is told of it: MCP's Tool, in its own words.
type AppTool struct {
	Name         string          `json:"name"`
	Title        string          `json:"title,omitempty"`
	Description  string          `json:"description,omitempty"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
}

// ErrNoApp says that a tool has no page, or that an app may not call a tool.
var ErrNoApp = errors.New("no app")

// uiMeta is what _meta.ui has, of tools and of resources.
type uiMeta struct {
	ResourceURI   string                     `json:"resourceUri"`
	Visibility    []string                   `json:"visibility"`
	CSP           AppCSP                     `json:"csp"`
	Permissions   map[string]json.RawMessage `json:"permissions"`
	PrefersBorder *bool                      `json:"prefersBorder"`
}

// uiOf reads _meta.ui. What isn't of its shape is as if it weren't there.
func uiOf(meta sdk.Meta) (ui uiMeta, ok bool) {
	raw, there := meta["ui"]
	if there {
		ok = json.Unmarshal(marshal(raw), &ui) == nil
	}
	if !ok {
		ui = uiMeta{}
	}
	if flat, _ := meta["ui/resourceUri"].(string); ui.ResourceURI == "" {
		ui.ResourceURI = flat // the name that it had before
	}
	return ui, ok
}

// appPage is the address of a tool's page; empty where it has none.
func appPage(meta sdk.Meta) string {
	ui, _ := uiOf(meta)
	if !strings.HasPrefix(ui.ResourceURI, appScheme) || len(ui.ResourceURI) > maxMessageText || plain(ui.ResourceURI, maxMessageText) != ui.ResourceURI {
		return ""
	}
	return ui.ResourceURI
}

// forApps tells whether an app may call a tool: unless it says otherwise it may.
func forApps(meta sdk.Meta) bool {
	ui, _ := uiOf(meta)
	return ui.Visibility == nil || slices.Contains(ui.Visibility, "app")
}

// rawTools lists the tools of a server anew, as it has them.
func (c *conn) rawTools(ctx context.Context) ([]*sdk.Tool, error) {
	var out []*sdk.Tool
	_, err := c.eachTool(ctx, func(t *sdk.Tool) bool {
		if len(out) < MaxTools {
			out = append(out, t)
		}
		return len(out) == MaxTools
	})
	return out, err
}

// App gives the page for the calls of a tool, and what it may do. ErrNoApp is a tool
// without one.
func (m *Manager) App(ctx context.Context, s Server, ws *toolset.Workspace, toolID string) (*App, error) {
	var out *App
	err := m.on(ctx, s, ws, func(ctx context.Context, c *conn) error {
		tools, err := c.rawTools(ctx)
		if err != nil {
			return err
		}
		app := &App{Tools: []string{}, Permissions: []string{}}
		for _, t := range tools {
			if forApps(t.Meta) && plain(t.Name, maxTitle) == t.Name {
				app.Tools = append(app.Tools, t.Name)
			}
			if s.ID+":"+ToolName(t.Name) == toolID && app.URI == "" {
				app.URI, app.Tool = appPage(t.Meta), appTool(t)
			}
		}
		if app.URI == "" {
			return nil
		}
		out = app
		return c.readApp(ctx, app)
	})
	if err == nil && out == nil {
		err = fmt.Errorf("%w: the tool %s has no page", ErrNoApp, toolID)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

func appTool(t *sdk.Tool) AppTool {
	out := AppTool{Name: t.Name, Title: plain(t.Title, maxTitle), Description: visible(t.Description, maxDescription), InputSchema: marshal(t.InputSchema)}
	if t.OutputSchema != nil {
		out.OutputSchema = marshal(t.OutputSchema)
	}
	return out
}

// readApp reads the page itself.
func (c *conn) readApp(ctx context.Context, app *App) error {
	res, err := c.session.ReadResource(ctx, &sdk.ReadResourceParams{URI: app.URI})
	if err != nil {
		return err
	}
	for _, r := range res.Contents {
		if r == nil || !isAppPage(r.MIMEType) {
			continue
		}
		if app.HTML = r.Text; r.Blob != nil {
			app.HTML = string(r.Blob)
		}
		if len(app.HTML) > maxAppPage {
			return fmt.Errorf("its page %s has %d bytes; %d are allowed", plain(app.URI, maxTitle), len(app.HTML), maxAppPage)
		}
		app.HTML = strings.ToValidUTF8(app.HTML, "\ufffd")
		ui, ok := uiOf(r.Meta)
		if !ok { // what the content says counts, and the list's word where it says nothing
			ui = c.listedUI(ctx, app.URI)
		}
		app.say(ui)
		return nil
	}
	return fmt.Errorf("its resource %s is no page of the type %s;profile=%s", plain(app.URI, maxTitle), appType, appProfile)
}

// isAppPage tells whether a type is that of an app's page.
func isAppPage(kind string) bool {
	media, params, err := mime.ParseMediaType(kind)
	return err == nil && media == appType && params["profile"] == appProfile
}

// listedUI is what the list of resources says of one. A list that can't be had says
// nothing, and so nothing is granted.
func (c *conn) listedUI(ctx context.Context, uri string) uiMeta {
	ctx, cancel := context.WithTimeout(ctx, c.m.o.List)
	defer cancel()
	n := 0
	for r, err := range c.session.Resources(ctx, nil) {
		if err != nil || n == maxEntries {
			break
		}
		if n++; r.URI == uri {
			ui, _ := uiOf(r.Meta)
			return ui
		}
	}
	return uiMeta{}
}

// say takes over what a page says of itself, within bounds.
func (a *App) say(ui uiMeta) {
	a.PrefersBorder = ui.PrefersBorder == nil || *ui.PrefersBorder
	for name := range ui.Permissions {
		if len(a.Permissions) < maxAppWords && plain(name, maxTitle) == name {
			a.Permissions = append(a.Permissions, name)
		}
	}
	slices.Sort(a.Permissions)
	bound := func(list []string) []string {
		return append([]string{}, list[:min(len(list), maxAppWords)]...)
	}
	a.CSP = AppCSP{bound(ui.CSP.ConnectDomains), bound(ui.CSP.ResourceDomains), bound(ui.CSP.FrameDomains), bound(ui.CSP.BaseURIDomains)}
}

// AppTool gives a tool that an app of the server may call, as policy knows tools.
// ErrNoApp is one that it may not.
func (m *Manager) AppTool(ctx context.Context, s Server, ws *toolset.Workspace, name string) (toolset.Tool, error) {
	var out toolset.Tool
	found := false
	err := m.on(ctx, s, ws, func(ctx context.Context, c *conn) error {
		tools, err := c.rawTools(ctx)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(tools, func(t *sdk.Tool) bool { return t.Name == name && forApps(t.Meta) })
		if i < 0 {
			return nil
		}
		// One that a model may call, too, is held back like a model's call.
		if !appOnly(tools[i].Meta) {
			if _, err := c.find(s.ID + ":" + ToolName(name)); err != nil {
				return err
			}
		}
		l := &lister{server: s.ID, ids: map[string]bool{}}
		tool, why := l.convert(tools[i])
		if why != "" {
			return errors.New("its tool can't be called: " + why)
		}
		// It may say something else by now than in the listing that was judged.
		if !appOnly(tools[i].Meta) && !c.approved(tool) {
			return &HeldError{Server: s.ID, Why: "what it says of itself has changed since it was approved"}
		}
		out, found = tool, true
		return nil
	})
	if err == nil && !found {
		err = fmt.Errorf("%w: its page may not call %s", ErrNoApp, plain(name, maxTitle))
	}
	return out, err
}

// AppResult is what a tool gave that was called for an app.
type AppResult struct {
	// Raw is the server's CallToolResult as it came, in JSON: the page is the
	// server's own.
	Raw json.RawMessage
	// Result is the same as calls have it, and Failed why it has none.
	Result toolset.Result
	Failed error
}

// CallForApp calls a tool for an app.
func (m *Manager) CallForApp(ctx context.Context, s Server, name string, call toolset.Call) (*AppResult, error) {
	var out *AppResult
	err := m.on(ctx, s, call.Workspace, func(ctx context.Context, c *conn) error {
		res, err := c.call(ctx, remote{name: name}, call)
		if err != nil {
			return err
		}
		if res.NeedsInput() {
			return errors.New("it wants to know something of a person, who can't be asked here")
		}
		got := &AppResult{Raw: marshal(res)}
		if err := tooLong(got.Raw); err != nil {
			return err
		}
		got.Result, got.Failed = c.result(toolset.Tool{}, res)
		out = got
		return nil
	})
	return out, err
}

// ReadForApp reads a resource for an app, and gives the ReadResourceResult in JSON.
func (m *Manager) ReadForApp(ctx context.Context, s Server, ws *toolset.Workspace, uri string) (json.RawMessage, error) {
	var out json.RawMessage
	err := m.on(ctx, s, ws, func(ctx context.Context, c *conn) error {
		res, err := c.session.ReadResource(ctx, &sdk.ReadResourceParams{URI: uri})
		if err != nil {
			return err
		}
		out = marshal(res)
		return tooLong(out)
	})
	return out, err
}

// tooLong refuses what is too much to pass on.
func tooLong(raw json.RawMessage) error {
	if len(raw) > 2*maxAppPage { // a page in base64
		return fmt.Errorf("what it gave has %d bytes; %d are allowed", len(raw), 2*maxAppPage)
	}
	return nil
}
