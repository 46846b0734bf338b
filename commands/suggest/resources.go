package suggest

import (
	"context"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/toolset/gallery"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// resources are those of MCP servers that a question can name, as @SERVER:URI. Once
// one server alone can be meant it is asked, for a moment: there is no list of them
// that is kept.
func (c *completer) resources(cursor string) List {
	server, _, named := strings.Cut(cursor[1:], ":")
	var fitting []string
	all := c.mirror().Servers
	for i := range all {
		s := &all[i]
		if named && s.ID == server || !named && strings.HasPrefix(s.ID, server) {
			if s.Enabled && s.Unusable == "" {
				fitting = append(fitting, s.ID)
			}
		}
	}
	if len(fitting) == 1 {
		if found := c.resourcesOf(fitting[0]); len(found.Values) > 0 {
			return found
		}
	}
	var out List
	for _, id := range fitting {
		if !named {
			out.add("@"+id+":", aResource)
		}
	}
	return out
}

// resourcesOf asks a server for its resources.
func (c *completer) resourcesOf(server string) List {
	eng, err := c.rt.StoreEngine()
	if err != nil {
		return List{} // completion never fails
	}
	ctx, cancel := context.WithTimeout(c.ctx, resourcesTime)
	defer cancel()
	return List{Values: Resources(ctx, eng, server)}
}

// resourcesTime bounds a shell's wait for a server's list: it can't go on.
const resourcesTime = 3 * time.Second

// aResource is said of a server whose resources may be named.
const aResource = "a resource of the MCP server"

// Servers are the servers whose resources may be named, as @SERVER:.
func Servers(servers []registry.MirrorServer) []Value {
	var out []Value
	for i := range servers {
		if servers[i].Enabled && servers[i].Unusable == "" {
			out = append(out, Value{"@" + servers[i].ID + ":", aResource})
		}
	}
	return out
}

// Resources are the resources that a server lists, as they are named.
func Resources(ctx context.Context, eng *engine.Engine, server string) []Value {
	report, err := eng.MCPReport(ctx, server)
	if err != nil {
		return nil // completion never fails
	}
	var out []Value
	for _, r := range report.Resources {
		if !r.Template {
			out = append(out, Value{"@" + server + ":" + r.URI, r.Name})
		}
	}
	return out
}

// gallery suggests the toolsets that are part of the program, and files.
func (c *completer) gallery() List {
	out := List{Paths: "files"}
	for _, id := range gallery.IDs() {
		out.add(gallery.Ref(id), "a toolset that is part of fettle")
	}
	return out
}
