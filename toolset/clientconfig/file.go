package clientconfig

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/toolset/manifest"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// maxServers bounds how many servers of one file are taken.
const maxServers = 200

// Options are what Read is given about a file in addition to its content.
type Options struct {
	// Name is the file's name: its ending selects YAML or TOML over JSON.
	Name string
	// Dir is the absolute folder of the file, for variables such as ${extensionPath};
	// empty where it is not known.
	Dir string
}

// Server is a server of another program's file.
type Server struct {
	Config   manifest.MCPServer
	Settings registry.ServerSettings
	// Notes name what was read differently or left out, one field a line.
	Notes []string
}

// Result holds what a file contains.
type Result struct {
	Servers []Server
	// Skipped holds, by name, why a server can't be used.
	Skipped map[string]string
	// Notes concern the file as a whole.
	Notes []string
}

// Read reads the servers of another program's configuration file.
func Read(raw []byte, o Options) (*Result, error) {
	d := &decoder{}
	top, err := d.decode(raw, o.Name)
	if err != nil {
		return nil, err
	}
	if top.kind != objectKind {
		return nil, fmt.Errorf("expected an object with mcpServers or servers, found %s", top.kind)
	}
	f := &file{
		o: o, inputs: map[string]*object{}, excluded: map[string]string{}, taken: map[string]bool{},
		out: &Result{Skipped: map[string]string{}, Notes: d.notes},
	}
	f.collect(top)
	if len(f.found) == 0 {
		return nil, errors.New("no MCP servers in it: expected mcpServers, servers, context_servers, mcp_servers or mcp")
	}
	if len(f.found) > maxServers {
		return nil, fmt.Errorf("%d MCP servers in it; at most %d are taken at once", len(f.found), maxServers)
	}
	for _, e := range f.found {
		f.take(e)
	}
	f.noteInputs()
	return f.out, nil
}

// file is a file while its servers are read.
type file struct {
	o        Options
	found    []entry
	inputs   map[string]*object // what VS Code asks the user for, by id
	asked    map[string]bool    // inputs that a server uses
	excluded map[string]string  // names of servers that the file turns off, with the key that does
	only     map[string]bool    // names of the servers that it allows, if it lists any
	taken    map[string]bool    // ids
	out      *Result
}

// entry is one server as a file has it.
type entry struct {
	name    string
	project string // the folder that it is for, or empty
	raw     *value
}

func (f *file) note(format string, args ...any) {
	f.out.Notes = append(f.out.Notes, fmt.Sprintf(format, args...))
}

// collect finds the lists of servers, and notes the other keys of the file.
func (f *file) collect(top *value) {
	o := newObject(top)
	for _, key := range []string{"context_servers", "servers", "mcp_servers", "mcpServers", "amp.mcpServers", "mcp.servers"} {
		f.list(o.take(key), key, "")
	}
	f.readInputs(o.take("inputs"))
	if mcp := o.take("mcp"); mcp != nil {
		f.mcp(mcp)
	}
	f.exclude(o.take("excludeMCPServers"), "excludeMCPServers")
	f.allow(o.take("allowMCPServers"))
	if projects := o.take("projects"); projects != nil {
		f.projects(projects)
	}
	if len(f.found) == 0 && f.plain(top) {
		f.list(top, "", "")
		return
	}
	if left := o.rest(); len(left) > 0 {
		f.note("keys that are not about MCP servers were left out: %s", strings.Join(left, ", "))
	}
}

// plain reports whether an object is a list of servers itself, as plugins of Claude
// Code have it in .mcp.json.
func (f *file) plain(top *value) bool {
	for _, v := range top.fields {
		if v.kind != objectKind || v.fields["command"] == nil && v.fields["url"] == nil && v.fields["httpUrl"] == nil {
			return false
		}
	}
	return len(top.fields) > 0
}

// list adds the servers of one list: an object by name, or a list with names in it.
func (f *file) list(v *value, key, project string) {
	switch {
	case v == nil:
	case v.kind == objectKind:
		for _, name := range slices.Sorted(maps.Keys(v.fields)) {
			f.found = append(f.found, entry{name, project, v.fields[name]})
		}
	case v.kind == listKind:
		for i, e := range v.list {
			name := fmt.Sprintf("%s %d", key, i+1)
			if e.kind == objectKind && e.fields["name"] != nil && e.fields["name"].scalar() {
				name = e.fields["name"].text
				e.fields = maps.Clone(e.fields)
				delete(e.fields, "name")
			}
			f.found = append(f.found, entry{name, project, e})
		}
	default:
		f.note("%s: expected servers by name, found %s; it was left out", key, v.kind)
	}
}

// mcp reads the key mcp: VS Code's settings, Gemini's policy, or opencode's servers.
func (f *file) mcp(v *value) {
	if v.kind != objectKind {
		f.note("mcp: expected an object, found %s; it was left out", v.kind)
		return
	}
	o := newObject(v)
	f.list(o.take("servers"), "mcp.servers", "")
	f.readInputs(o.take("inputs"))
	f.exclude(o.take("excluded"), "mcp.excluded")
	f.allow(o.take("allowed"))
	for _, name := range o.rest() {
		if v.fields[name].kind == objectKind {
			f.found = append(f.found, entry{name, "", v.fields[name]})
			continue
		}
		f.note("mcp.%s: not known, and left out", name)
	}
}

// projects reads the servers that Claude Code keeps for single folders.
func (f *file) projects(v *value) {
	left := map[string]bool{}
	for _, folder := range slices.Sorted(maps.Keys(v.fields)) {
		p := v.fields[folder]
		if p.kind != objectKind {
			left[folder] = true
			continue
		}
		o := newObject(p)
		f.list(o.take("mcpServers"), "mcpServers of "+folder, folder)
		for _, key := range o.rest() {
			left[key] = true
		}
	}
	if len(left) > 0 {
		f.note("keys of projects that are not about MCP servers were left out: %s", strings.Join(slices.Sorted(maps.Keys(left)), ", "))
	}
}

func (f *file) exclude(v *value, key string) {
	if v == nil {
		return
	}
	for _, e := range v.list {
		f.excluded[e.text] = key
	}
}

func (f *file) allow(v *value) {
	if v == nil || v.kind != listKind {
		return
	}
	f.only = map[string]bool{}
	for _, e := range v.list {
		f.only[e.text] = true
	}
}

// take reads one server and gives it a unique name.
func (f *file) take(e entry) {
	label := e.name
	if e.project != "" {
		label += " of " + e.project
	}
	if _, twice := f.out.Skipped[label]; twice {
		label += " (again)"
	}
	id := ID(e.name)
	if f.taken[id] && e.project != "" {
		id = ID(e.name + "-" + path.Base(filepath.ToSlash(e.project)))
	}
	switch key := f.excluded[e.name]; {
	case f.taken[id]:
		f.out.Skipped[label] = "its name is read as " + id + ", which another server of the file has"
		return
	case key != "":
		f.out.Skipped[label] = "it is turned off there by " + key
		return
	case f.only != nil && !f.only[e.name]:
		f.out.Skipped[label] = "it is turned off there, since the list of allowed servers does not name it"
		return
	}
	r := &reader{file: f, id: id}
	if id != e.name {
		r.note("name: it is called %q there", e.name)
	}
	if err := r.read(e.raw); err != nil {
		f.out.Skipped[label] = err.Error()
		return
	}
	if e.project != "" {
		r.note("projects: it is for the folder %s there, and for every chat here", e.project)
	}
	f.taken[id] = true
	f.out.Servers = append(f.out.Servers, r.out)
}

// ID makes a server's id of its name elsewhere.
func ID(name string) string {
	id := strings.Map(func(r rune) rune {
		if letter(r) || r == '-' {
			return r
		}
		return '-'
	}, name)
	if id = strings.Trim(id, "-"); id == "" {
		id = "server"
	}
	const longest = 48
	return id[:min(len(id), longest)]
}

// letter reports whether a character may be in the name of a variable.
func letter(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_'
}

// readInputs reads what VS Code asks the user for.
func (f *file) readInputs(v *value) {
	if v == nil {
		return
	}
	for i, e := range v.list {
		if e.kind != objectKind {
			f.note("inputs: %s is not an input, and was left out", e.short())
			continue
		}
		o := newObject(e)
		id := o.text("id")
		if id == "" {
			id = fmt.Sprint(i + 1)
		}
		f.inputs[id] = o
	}
}

// noteInputs notes the inputs that no server uses, and what of the others is left out.
func (f *file) noteInputs() {
	for _, id := range slices.Sorted(maps.Keys(f.inputs)) {
		if !f.asked[id] {
			f.note("inputs.%s: no server uses it, and it was left out (%s)", id, strings.Join(slices.Sorted(maps.Keys(f.inputs[id].fields)), ", "))
		}
	}
}
