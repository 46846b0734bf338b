package mcp

import (
	"maps"
	"slices"

	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/toolset/manifest"
	"github.com/fettle-cli/fettle/toolset/registry"
)

func sortedNames(table map[string]string) []string { return slices.Sorted(maps.Keys(table)) }

// withoutSecrets is a server's entry as it may be shown: what is or may be a
// secret has become ${NAME}.
func withoutSecrets(c manifest.MCPServer) manifest.MCPServer {
	m, _ := (&manifest.Manifest{MCPServers: []manifest.MCPServer{c}}).WithoutSecrets()
	return m.MCPServers[0]
}

// toolChanges shows what changed of a server's tools, and reports whether it left nothing
// out.
func toolChanges(v show.Labelled, changes []registry.Change) (whole bool) {
	whole = true
	for _, c := range changes {
		v.Line(c.Change, show.KindWords(c.Kind)+" "+c.Name, "")
		if c.Change == "removed" {
			continue
		}
		for _, f := range c.Fields {
			if c.Change == "changed" {
				whole = v.Change(f) && whole
			}
		}
	}
	return whole
}
