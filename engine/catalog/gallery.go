package catalog

import (
	"context"
	"strings"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/toolset/gallery"
	"github.com/fettle-cli/fettle/toolset/manifest"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// GallerySet is a toolset that is part of the program, and whether it is installed.
type GallerySet struct {
	ID string `json:"id"`
	// Ref is what import takes.
	Ref         string   `json:"ref"`
	Name        string   `json:"name"`
	Version     string   `json:"version"`
	Description string   `json:"description"`
	Tools       []string `json:"tools"`
	Agents      []string `json:"agents"`
	Workflows   []string `json:"workflows"`
	Pages       []string `json:"pages"`
	// Reaches are the network hosts of its tools and the commands and addresses of its MCP
	// servers. Without any its tools have the chat's workspace alone.
	Reaches []string `json:"reaches"`
	// EntryAgent is the agent that new chats begin with once it is installed.
	EntryAgent string `json:"entry_agent,omitempty"`
	Installed  bool   `json:"installed"`
	// InstalledVersion is the version of the toolset of this id that is installed, wherever
	// it came from.
	InstalledVersion string `json:"installed_version,omitempty"`
}

// GalleryRef returns what [Catalog.PlanToolset] takes for a toolset of the gallery.
func GalleryRef(id string) string { return gallery.Ref(id) }

// Gallery returns the toolsets that are part of the program, sorted by id.
func (c *Catalog) Gallery(ctx context.Context) ([]GallerySet, error) {
	sets, err := gallery.All()
	if err != nil {
		return nil, fault.Wrap(fault.Failed, "read the gallery", err)
	}
	index, err := c.ToolsetIndex(ctx)
	if err != nil {
		return nil, err
	}
	versions := map[string]string{}
	for _, t := range index.Toolsets {
		versions[t.ID] = t.Version
	}
	out := make([]GallerySet, 0, len(sets))
	for _, s := range sets {
		g := gallerySet(s)
		g.InstalledVersion, g.Installed = versions[g.ID]
		out = append(out, g)
	}
	return out, nil
}

func gallerySet(s gallery.Set) GallerySet {
	m := s.Manifest
	out := GallerySet{
		ID: m.ID, Ref: s.Ref, Name: m.Name, Version: m.Version, Description: strings.TrimSpace(m.Description),
		Tools:     idsOf(m.Tools, func(t manifest.Tool) string { return t.ID }),
		Agents:    idsOf(m.Agents, func(a manifest.Agent) string { return a.ID }),
		Workflows: idsOf(m.Workflows, func(w manifest.Workflow) string { return w.ID }),
		Pages:     idsOf(m.Pages, func(p manifest.Page) string { return p.ID }),
		Reaches:   append([]string{}, m.Permissions.Network...),
	}
	for _, server := range m.MCPServers {
		if server.Command != "" {
			out.Reaches = append(out.Reaches, registry.CommandLine(server))
		} else {
			out.Reaches = append(out.Reaches, server.URL)
		}
	}
	for _, a := range m.Agents {
		if a.Entry {
			out.EntryAgent = a.ID
		}
	}
	return out
}

func idsOf[T any](list []T, id func(T) string) []string {
	out := make([]string, 0, len(list))
	for _, v := range list {
		out = append(out, id(v))
	}
	return out
}
