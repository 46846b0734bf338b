package catalog

import (
	"context"
	"sync"

	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// Sources are what a Catalog gathers tools and agents from, in addition to the data directory.
type Sources struct {
	// Tools are the tools that belong to the program; nil has none.
	Tools *toolset.Set
	// Agents are those that belong to no toolset; nil has none. They may hand
	// over to agents of toolsets: see UncheckedAgents.
	Agents *Agents
	// Runner makes what runs a tool of an installed toolset. An error is why
	// that tool can't be used, and is no other's. Nil leaves installed toolsets
	// out.
	Runner func(*registry.MirrorToolset, *registry.MirrorTool) (toolset.Runner, error)
	// MCP reaches MCP servers; nil leaves them out. Whoever made it ends it,
	// after the Engine was closed.
	MCP MCP
	// Services are the tools that live on after their calls; nil has none.
	Services Services
}

// Catalog is what turns can use: tools, toolsets, agents, MCP servers and services. It is
// safe for concurrent use. Make it with New.
type Catalog struct {
	// Schemas keeps compiled schemas of tools.
	Schemas SchemaCache

	store *store.Store
	o     *Sources
	hold  func(context.Context) (_ context.Context, release func(), err error)

	mu  sync.Mutex
	box *Toolbox // as of the last look
	// usualBox is the toolbox of requests that choose no tools, where that isn't box.
	usualBox *Toolbox
}

// New returns the catalog of a data directory. It completes o, which may be changed
// until the catalog is used for the first time. hold keeps s open until release is called: it
// returns a context that ends when s is to be closed, or an error if that has begun.
func New(s *store.Store, o *Sources, hold func(context.Context) (_ context.Context, release func(), err error)) *Catalog {
	if o.Services == nil {
		o.Services = withoutServices{}
	}
	if o.Tools == nil {
		o.Tools, _ = toolset.NewSet() // no entries, nothing to refuse
	}
	return &Catalog{store: s, o: o, hold: hold}
}

// Tools are the tools that belong to the program, as they were given.
func (c *Catalog) Tools() *toolset.Set { return c.o.Tools }

// BuiltinIDs returns the ids of the tools that belong to no toolset.
func (c *Catalog) BuiltinIDs() (ids []string) {
	for entry := range c.o.Tools.All() {
		if entry.Tool.ToolsetID == "" {
			ids = append(ids, entry.Tool.ID)
		}
	}
	return ids
}
