package commands

import (
	"context"
	"strings"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/toolset/gallery"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// resources are those of MCP servers that a question can name, as @SERVER:URI. Once
// one server alone can be meant it is asked, for a moment: there is no list of them
// that is kept.
func (c *completer) resources(cursor string) suggestions {
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
		if found := c.resourcesOf(fitting[0]); len(found.list) > 0 {
			return found
		}
	}
	var out suggestions
	for _, id := range fitting {
		if !named {
			out.add("@"+id+":", aResource)
		}
	}
	return out
}

// resourcesOf asks a server for its resources.
func (c *completer) resourcesOf(server string) suggestions {
	eng, err := c.rt.StoreEngine()
	if err != nil {
		return suggestions{} // completion never fails
	}
	ctx, cancel := context.WithTimeout(c.ctx, completeResources)
	defer cancel()
	return suggestions{list: resourcesOf(ctx, eng, server)}
}

// aResource is said of a server whose resources may be named.
const aResource = "a resource of the MCP server"

// serversToName are the servers whose resources may be named, as @SERVER:.
func serversToName(servers []registry.MirrorServer) []suggestion {
	var out []suggestion
	for i := range servers {
		if servers[i].Enabled && servers[i].Unusable == "" {
			out = append(out, suggestion{"@" + servers[i].ID + ":", aResource})
		}
	}
	return out
}

// resourcesOf are the resources that a server lists, as they are named.
func resourcesOf(ctx context.Context, eng *engine.Engine, server string) []suggestion {
	report, err := eng.MCPReport(ctx, server)
	if err != nil {
		return nil // completion never fails
	}
	var out []suggestion
	for _, r := range report.Resources {
		if !r.Template {
			out = append(out, suggestion{"@" + server + ":" + r.URI, r.Name})
		}
	}
	return out
}

// gallery suggests the toolsets that are part of the program, and files.
func (c *completer) gallery() suggestions {
	out := suggestions{paths: "files"}
	for _, id := range gallery.IDs() {
		out.add(gallery.Ref(id), "a toolset that is part of fettle")
	}
	return out
}
