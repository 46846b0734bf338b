package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/manifest"
	"github.com/fettle-cli/fettle/toolset/mcp"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// MCPServers are the MCP servers that there are, by id.
func (c *Catalog) MCPServers(ctx context.Context) ([]registry.MirrorServer, error) {
	want := registry.None()
	want.Server = nil
	m, err := c.mirrorOf(ctx, want)
	if err != nil {
		return nil, err
	}
	return m.Servers, nil
}

// MCPServer gives one of them.
func (c *Catalog) MCPServer(ctx context.Context, id string) (*registry.MirrorServer, error) {
	want := registry.None()
	want.Server = func(s *registry.IndexedServer) bool { return s.ID == id }
	m, err := c.mirrorOf(ctx, want)
	if err != nil {
		return nil, err
	}
	for i := range m.Servers {
		if m.Servers[i].ID == id {
			return &m.Servers[i], nil
		}
	}
	x, err := c.ToolsetIndex(ctx)
	if err != nil {
		return nil, err
	}
	var known []string
	for _, s := range x.Servers {
		known = append(known, s.ID)
	}
	return nil, store.MissingFault(&registry.NotFoundError{What: "MCP server", ID: id, Known: known})
}

// ReachedAs is how a recorded server is reached.
func (c *Catalog) ReachedAs(m *registry.MirrorServer) mcp.Server { return c.serverOf(m) }

// AddMCPServer adds a server of the user's own, or changes it.
func (c *Catalog) AddMCPServer(ctx context.Context, config manifest.MCPServer, set registry.ServerSettings) error {
	s := c.serverOf(&registry.MirrorServer{Server: registry.Server{ID: config.ID, Config: config, Settings: set, Own: true}})
	if err := s.Check(); err != nil {
		return fault.Wrap(fault.Usage, "add the MCP server", err, "fettle mcp add --help")
	}
	return c.store.ToolsetFault("add the MCP server "+config.ID, c.store.Installed().PutServer(ctx, config, set))
}

// RemoveMCPServer removes a server of the user's own.
func (c *Catalog) RemoveMCPServer(ctx context.Context, id string) error {
	if err := c.store.ToolsetFault("remove the MCP server "+id, c.store.Installed().RemoveServer(ctx, id)); err != nil {
		return err
	}
	if c.o.MCP != nil {
		c.o.MCP.Forget(id)
	}
	return nil
}

// SwitchMCPServer switches a server on or off, and tells whether it was
// otherwise before. One that is switched off is ended.
func (c *Catalog) SwitchMCPServer(ctx context.Context, id string, on bool) (bool, error) {
	changed, err := c.store.Installed().SetServerEnabled(ctx, id, on)
	if err == nil && !on && c.o.MCP != nil {
		c.o.MCP.Forget(id)
	}
	return changed, c.store.ToolsetFault("switch the MCP server "+id, err)
}

// endMCPServers ends the MCP servers that may not be used any more. Without the mirror it
// ends none: they are refused at the next turn.
func (c *Catalog) endMCPServers(ctx context.Context) {
	if c.o.MCP == nil {
		return
	}
	servers, err := c.MCPServers(ctx)
	if err != nil {
		return
	}
	for _, s := range servers {
		if s.Unusable != "" {
			c.o.MCP.Forget(s.ID)
		}
	}
}

// UnusableMCPServers returns which of some MCP servers may not be used any more: those that
// were removed or disabled, or whose toolset was, by this process or another. It does not
// open the store.
func (c *Catalog) UnusableMCPServers(ids []string) []string {
	m, err := registry.ReadMirror(c.store.Options.DataDir)
	if err != nil { // it is being written
		return nil
	}
	usable := map[string]bool{}
	for _, s := range m.Servers {
		usable[s.ID] = s.Unusable == ""
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return usable[id] })
}

// Looked is what came of looking at a server.
type Looked struct {
	Report *mcp.Report
	// Tools are those of the report as lists show them.
	Tools []ListedTool
	// Changes are what differs from what was approved; Waiting tells that they
	// wait for an approval.
	Changes []registry.Change
	Waiting bool
	// Approve stands for just these tools; see [Catalog.ApproveSeen]. It is empty where
	// nothing waits.
	Approve string
}

// LookAtMCPServer connects to a server, lists what it has, and pins its tools:
// at the first look, or with approved. What differs later waits until then. A
// server that can't be reached has that as its problem.
func (c *Catalog) LookAtMCPServer(ctx context.Context, id string, approved bool) (*Looked, error) {
	m, err := c.MCPServer(ctx, id)
	if err != nil {
		return nil, err
	}
	if c.o.MCP == nil {
		return nil, fault.New(fault.Failed, "MCP servers can't be reached here")
	}
	if m.Unusable != "" && m.Unusable != registry.SwitchedOff {
		return nil, fault.New(fault.Failed, "the MCP server "+id+" can't be used: "+m.Unusable)
	}
	report, err := c.o.MCP.Look(ctx, c.serverOf(m), nil) // which bounds each of its steps
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		if noted := c.store.Installed().ServerProblem(ctx, id, fault.FirstLine(err)); noted != nil {
			c.store.Options.Notice("the problem of the MCP server " + id + " is not noted: " + fault.FirstLine(noted))
		}
		return nil, ServerFault(id, err)
	}
	changes, err := c.store.Installed().PinServer(ctx, id, report.Tools, approved)
	if err != nil {
		return nil, c.store.ToolsetFault("pin the tools of "+id, err)
	}
	out := &Looked{Report: report, Changes: changes, Waiting: m.PinnedAt != nil && len(changes) > 0 && !approved}
	for _, t := range report.Tools {
		out.Tools = append(out.Tools, ServerTool(m, t))
	}
	if out.Waiting {
		out.Approve = registry.SumOf(id, registry.Pinned(report.Tools))
	}
	return out, nil
}

// ApproveSeen pins the tools that a look has shown, by what it gave for them, and
// gives them. Nothing connects: what the server says by now is not what was shown.
func (c *Catalog) ApproveSeen(ctx context.Context, id, approve string) ([]ListedTool, error) {
	pinned, err := c.store.Installed().ApproveSeen(ctx, id, approve)
	if err != nil {
		return nil, c.store.ToolsetFault("approve the tools of "+id, err)
	}
	m, err := c.MCPServer(ctx, id)
	if err != nil {
		return nil, err
	}
	out := make([]ListedTool, len(pinned))
	for i, t := range pinned {
		out[i] = ServerTool(m, t.Tool)
	}
	return out, nil
}

// ApproveMCPServer pins tools as they were looked at and shown to a person: by now
// the server may say something else.
func (c *Catalog) ApproveMCPServer(ctx context.Context, id string, tools []toolset.Tool) error {
	if _, err := c.store.Installed().PinServer(ctx, id, tools, true); err != nil {
		return c.store.ToolsetFault("pin the tools of "+id, err)
	}
	return nil
}

// ServerFault words what keeps a server from being used.
func ServerFault(id string, err error) error {
	var in *mcp.SignInError
	var unset *mcp.UnsetError
	var uncontained *toolset.UncontainedError
	switch {
	case errors.As(err, &in):
		return fault.Wrap(fault.Unauthorised, "the MCP server "+id, err, "fettle mcp login "+id)
	case errors.As(err, &unset):
		return fault.Wrap(fault.Config, "the MCP server "+id, err, "export "+unset.Name+"=…", "fettle keys set "+unset.Name)
	case errors.As(err, &uncontained):
		return fault.Wrap(fault.Failed, "the MCP server "+id, err, "fettle doctor")
	}
	return fault.Wrap(fault.Failed, "the MCP server "+id, err, "fettle mcp show "+id)
}

// NoteServerTools keeps which tools a server was seen to have, where these are
// others than those that are pinned. They wait for an approval. Once the engine is closed
// nothing is recorded: the next connection compares the tools with the pins again.
func (c *Catalog) NoteServerTools(ctx context.Context, id string, now []toolset.Tool) {
	ctx, release, err := c.hold(ctx)
	if err != nil {
		return
	}
	defer release()
	m, err := c.MCPServer(ctx, id)
	if err != nil || m.PinnedAt == nil {
		return // a session's, or removed meanwhile
	}
	if len(m.Seen) > 0 && len(registry.ServerChanges(m.Seen, registry.Pinned(now))) == 0 {
		return // that is known
	}
	changes, err := c.store.Installed().PinServer(ctx, id, now, false)
	switch {
	case ctx.Err() != nil: // the engine or the connection is being closed
	case err != nil:
		c.store.Options.Notice("what changed at the MCP server " + id + " is not noted: " + fault.FirstLine(err))
	case len(changes) > 0:
		c.store.Options.Notice(fmt.Sprintf("the MCP server %s changed %s since it was approved; fettle mcp test %s shows the change and asks", id, fault.Plural(len(changes), "tool"), id))
	}
}

// importLook bounds how long an import waits for the servers that it brought.
const importLook = 20 * time.Second

// lookAtNew looks once at the servers that an import brought and that nobody has
// looked at, side by side. What can't be reached is noted as the server's
// problem, and never as the import's.
func (c *Catalog) lookAtNew(ctx context.Context, toolsetID string) {
	if c.o.MCP == nil {
		return
	}
	servers, err := c.MCPServers(ctx)
	if err != nil {
		c.store.Options.Notice("the MCP servers of " + toolsetID + " are not looked at: " + fault.FirstLine(err))
		return
	}
	whole := ctx
	ctx, cancel := context.WithTimeoutCause(whole, importLook, fmt.Errorf("it did not answer within %s", importLook))
	defer cancel()
	var wg sync.WaitGroup
	for _, s := range servers {
		if !slices.Contains(s.DeclaredBy, toolsetID) || !s.Enabled || s.PinnedAt != nil || s.Unusable != "" {
			continue
		}
		wg.Go(func() {
			looked, err := c.LookAtMCPServer(ctx, s.ID, true)
			if err != nil && ctx.Err() != nil && whole.Err() == nil { // too late, and that is its problem
				err = errors.Join(ServerFault(s.ID, err), c.store.Installed().ServerProblem(whole, s.ID, fault.FirstLine(err)))
			}
			var unset *mcp.UnsetError
			switch {
			case errors.As(err, &unset): // the plan of the import lists all such variables
				return
			case err != nil:
				c.store.Options.Notice(fault.FirstLine(err) + "; fettle mcp test " + s.ID + " tries again")
				return
			}
			c.store.Options.Notice("the MCP server " + s.ID + " has " + fault.Plural(len(looked.Report.Tools), "tool"))
		})
	}
	wg.Wait()
}

// MCPReport connects to a server and lists what it has. Nothing of it is pinned or
// noted.
func (c *Catalog) MCPReport(ctx context.Context, id string) (*mcp.Report, error) {
	return askServer(ctx, c, id, func(s mcp.Server) (*mcp.Report, error) { return c.o.MCP.Look(ctx, s, nil) })
}

// ReadMCP reads a resource of a server, outside of any turn.
func (c *Catalog) ReadMCP(ctx context.Context, id, uri string) ([]mcp.Content, error) {
	return askServer(ctx, c, id, func(s mcp.Server) ([]mcp.Content, error) { return c.o.MCP.Read(ctx, s, nil, uri) })
}

// FillMCP fills a prompt of a server.
func (c *Catalog) FillMCP(ctx context.Context, id, prompt string, args map[string]string) ([]mcp.Content, error) {
	return askServer(ctx, c, id, func(s mcp.Server) ([]mcp.Content, error) { return c.o.MCP.Fill(ctx, s, nil, prompt, args) })
}

// askServer asks a server that can be used.
func askServer[T any](ctx context.Context, c *Catalog, id string, ask func(mcp.Server) (T, error)) (T, error) {
	var none T
	s, err := c.UsableServer(ctx, id)
	if err != nil {
		return none, err
	}
	out, err := ask(s)
	if err != nil && ctx.Err() == nil {
		return none, ServerFault(id, err)
	}
	return out, err
}

// UsableServer gives a server as it is connected to.
func (c *Catalog) UsableServer(ctx context.Context, id string) (mcp.Server, error) {
	m, err := c.MCPServer(ctx, id)
	if err != nil {
		return mcp.Server{}, err
	}
	switch {
	case c.o.MCP == nil:
		return mcp.Server{}, fault.New(fault.Failed, "MCP servers can't be reached here")
	case m.Unusable != "":
		return mcp.Server{}, fault.New(fault.Failed, "the MCP server "+id+" can't be used: "+m.Unusable, "fettle mcp show "+id)
	}
	return c.serverOf(m), nil
}
