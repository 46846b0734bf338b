package toolset

import (
	"path"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/manifest"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// wants shows all that a toolset brings and wants that isn't there yet.
func (v planView) wants(p *registry.Plan) {
	m := p.Manifest
	for _, s := range m.MCPServers {
		if s.Command != "" {
			v.Line("starts", registry.CommandLine(s), "an MCP server, with the network")
		} else {
			v.Line("connects", s.URL, "an MCP server")
		}
	}
	for _, host := range m.Permissions.Network {
		v.Line("network", host, "for its tools")
	}
	for _, u := range p.Variables {
		v.Line("reads env", u.Name, usedBy(u))
	}
	for _, dir := range m.Permissions.Read {
		v.Line("reads", dir, "outside the workspace")
	}
	for _, r := range m.Requirements {
		v.requirement(r)
	}
	v.tools(p)
	names(v, "agents", m.Agents, func(a manifest.Agent) string { return a.ID }, "their instructions go to the model")
	for _, a := range m.Agents {
		if a.Entry {
			v.Line("new chats", "begin with "+a.ID, "unless the setting agent names another")
		}
	}
	names(v, "workflows", m.Workflows, func(w manifest.Workflow) string { return w.ID }, "fixed steps of tools and agents")
	names(v, "pages", m.Pages, func(p manifest.Page) string { return p.ID }, "their texts go to the model")
	names(v, "payloads", m.Payloads, func(p manifest.Payload) string { return p.Type }, "their instructions go to the model")
	v.rendered(m)
	if n := len(m.Tests); n > 0 {
		v.Line("tests", term.Count(n, "test", "tests"), "run by fettle toolset test alone")
	}
	v.contents(p.Files)
}

// requirement shows a package without its hashes, of which it says that there
// are some.
func (v planView) requirement(r string) {
	name, hashes, hashed := strings.Cut(r, " --hash=")
	about := "a Python package, fetched from its index"
	if hashed {
		about = "a Python package, fetched from its index and held to " + term.Count(1+strings.Count(hashes, " --hash="), "hash", "hashes")
	}
	v.Line("package", name, about)
}

// tools shows the functions that run, of tools and of payloads. Tools of the same reach
// share a line.
func (v planView) tools(p *registry.Plan) {
	m := p.Manifest
	reaches := registry.ReachesOf(m)
	var texts, asking, parsers []string
	byText := map[string][]string{}
	for _, t := range m.Tools {
		text := reaches[t.ID].Text
		if byText[text] == nil {
			texts = append(texts, text)
		}
		byText[text] = append(byText[text], t.ID)
		if t.RequiresConfirmation {
			asking = append(asking, t.ID)
		}
	}
	for _, p := range m.Payloads {
		if p.Parser != "" && !slices.Contains(parsers, p.Parser) {
			parsers = append(parsers, p.Parser)
		}
	}
	for _, text := range texts {
		v.Line("tools", strings.Join(byText[text], ", "), text)
	}
	for _, l := range []struct {
		label string
		list  []string
		about string
	}{
		{"asks", asking, "before each call"}, {"parses", parsers, "Python, for what models write"},
	} {
		if len(l.list) > 0 {
			v.Line(l.label, strings.Join(l.list, ", "), l.about)
		}
	}
}

// rendered shows the pages and addresses that renderers of tools and payloads
// show to a person.
func (v planView) rendered(m *manifest.Manifest) {
	var shows, frames []string
	add := func(r *toolset.Renderer) {
		if r == nil {
			return
		}
		if name := path.Base(r.Artifact); r.Artifact != "" && !slices.Contains(shows, name) {
			shows = append(shows, name)
		}
		if r.URL != "" && !slices.Contains(frames, r.URL) {
			frames = append(frames, r.URL)
		}
	}
	for _, t := range m.Tools {
		add(t.Renderer)
	}
	for _, p := range m.Payloads {
		add(p.Renderer)
	}
	if len(shows) > 0 {
		v.Line("shows", strings.Join(shows, ", "), "in an isolated frame")
	}
	for _, url := range frames {
		v.Line("frames", url, "an address of this machine")
	}
}

// contents sums the files up.
func (v planView) contents(files []registry.File) {
	var size int64
	for _, f := range files {
		size += f.Size
	}
	v.Line("files", term.Count(len(files), "file", "files")+", "+term.Size(size), "")
}

// names writes the names of a list of things, if there are any.
func names[T any](v planView, label string, list []T, of func(T) string, about string) {
	var out []string
	for _, e := range list {
		out = append(out, of(e))
	}
	if len(out) > 0 {
		v.Line(label, strings.Join(out, ", "), about)
	}
}
