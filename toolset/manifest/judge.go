package manifest

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/internal/didyoumean"
	"github.com/fettle-cli/fettle/internal/pystdlib"
	"github.com/fettle-cli/fettle/internal/schema"
	"github.com/fettle-cli/fettle/toolset"
)

// judge finds what is wrong with a manifest beyond its structure. Where a
// field is missing or bad, that has been said, and it is passed over.
type judge struct {
	*reader
	m *Manifest
	o Options

	inputs map[string]*schema.Schema // compiled input schemas by tool id
}

func (j *judge) all() {
	j.inputs = make(map[string]*schema.Schema, len(j.m.Tools))
	j.texts(j.root, "")
	for i := range j.m.Tools {
		j.tool(&j.m.Tools[i], item("/tools", i))
	}
	j.permissions()
	for i := range j.m.MCPServers {
		j.server(&j.m.MCPServers[i], item("/mcp_servers", i))
	}
	for i := range j.m.Payloads {
		j.payload(&j.m.Payloads[i], item("/payloads", i))
	}
	for i := range j.m.Agents {
		j.agent(&j.m.Agents[i], item("/agents", i))
		if first := slices.IndexFunc(j.m.Agents, func(a Agent) bool { return a.Entry }); j.m.Agents[i].Entry && first < i {
			j.fail(item("/agents", i)+"/entry", CodeDuplicateID, fmt.Sprintf("new chats begin with one agent, and %s is it already", j.m.Agents[first].ID))
		}
	}
	for i := range j.m.Pages {
		j.page(&j.m.Pages[i], item("/pages", i))
	}
	for i := range j.m.Workflows {
		j.workflow(&j.m.Workflows[i], item("/workflows", i))
	}
	for i := range j.m.Tests {
		j.test(&j.m.Tests[i], item("/tests", i))
	}
	j.duplicates()
	m := j.m
	if len(m.Tools)+len(m.MCPServers)+len(m.Agents)+len(m.Payloads)+len(m.Pages)+len(m.Workflows) == 0 && !j.sink.failed {
		j.warn("", CodeEmptyManifest, "the toolset has no tools, servers, agents or payloads")
	}
}

func (j *judge) fail(pointer, code, msg string) { j.say(pointer, LevelError, code, msg) }
func (j *judge) warn(pointer, code, msg string) { j.say(pointer, LevelWarning, code, msg) }

func (j *judge) say(pointer string, level Level, code, msg string) {
	if j.sink.full(level) {
		return
	}
	n := locate(j.root, pointer)
	j.sink.add(Problem{File: j.file, Line: n.Line, Column: n.Column, Pointer: pointer, Level: level, Code: code, Message: msg})
}

// missing reports a name that isn't one of known.
func (j *judge) missing(pointer, what, name string, known []string) {
	if j.sink.full(LevelError) {
		return
	}
	msg := "there is no " + what + " " + show(name)
	near := didyoumean.Of(name, known)
	switch {
	case near != "":
		msg += "; did you mean " + near + "?"
	case len(known) == 0:
		msg += ": the manifest has none"
	default:
		msg += "; there are " + strings.Join(known[:min(len(known), maxNamed)], ", ")
	}
	n := locate(j.root, pointer)
	j.sink.add(Problem{
		File: j.file, Line: n.Line, Column: n.Column, Pointer: pointer, Level: LevelError,
		Code: CodeUnknownName, Message: msg, Nearest: near,
	})
}

// maxNamed is how many known names a message lists.
const maxNamed = 12

func (j *judge) tool(t *Tool, at string) {
	j.schemas(t, at)
	if t.Renderer != nil {
		j.renderer(t.Renderer, at+"/renderer", &scope{args: t.InputSchema, returns: t.OutputSchema})
	}
	j.entry(t.Entrypoint, at+"/entrypoint")
	if pattern := injection(); pattern.MatchString(t.Description) {
		j.warn(at+"/description", CodeInjection, "the description gives orders that have nothing to do with calling the tool; read it before you allow it")
	}
}

// entry warns of a module that works only as a part of the tools package.
func (j *judge) entry(s, at string) {
	e, err := ParseEntrypoint(s)
	if err != nil {
		return // reported by its own check, or missing
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(e.Module, "tools."), ".")
	if pystdlib.Standard(first) {
		j.warn(at, CodeEntrypoint, fmt.Sprintf("tools/%s.py has the name of a module of Python's own; inside it, import %s may mean itself", first, first))
	}
}

func (j *judge) schemas(t *Tool, at string) {
	if s := j.compile(t.InputSchema, at+"/input_schema"); s != nil {
		j.inputs[t.ID] = s
		if top := properties(t.InputSchema); slices.Contains(top, "workspace") {
			j.fail(at+"/input_schema/properties/workspace", CodeSchema, "an input can't be called workspace: the function gets the folder by that name")
		}
	}
	j.compile(t.OutputSchema, at+"/output_schema")
}

// compile checks a JSON Schema; nil where there is none that can be used.
func (j *judge) compile(raw json.RawMessage, at string) *schema.Schema {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	if !j.portable(raw, at) {
		return nil
	}
	s, err := schema.Compile(raw)
	if err == nil {
		return s
	}
	ce, ok := err.(*schema.CompileError)
	if !ok {
		j.fail(at, CodeSchema, err.Error())
		return nil
	}
	for _, p := range ce.Problems {
		msg := p.Message
		if p.Pointer != "" {
			msg = p.String()
		}
		j.fail(at+p.Pointer, CodeSchema, "not a usable JSON Schema: "+msg)
	}
	return nil
}

func properties(raw json.RawMessage) []string {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(raw, &s) != nil {
		return nil
	}
	var names []string
	for name := range s.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (j *judge) permissions() {
	for i, name := range j.m.Permissions.Env {
		if keyVariable(name) {
			j.warn(item("/permissions/env", i), CodeSecretName, show(name)+" holds a key; a tool that reads it can use it")
		}
	}
	for i, p := range j.m.Permissions.Read {
		if keyPath(p) {
			j.warn(item("/permissions/read", i), CodeSecretName, show(p)+" is where keys and passwords lie; a tool that reads them can use them")
		}
	}
}

func (j *judge) agent(a *Agent, at string) {
	agents := ids(j.m.Agents, func(a Agent) string { return a.ID })
	for i, to := range a.Handoffs {
		pointer := item(at+"/handoffs", i)
		switch {
		case to == "":
		case to == a.ID:
			j.fail(pointer, CodeUnknownName, "an agent can't hand over to itself")
		case !slices.Contains(agents, to):
			j.missing(pointer, "agent", to, agents)
		}
	}
	for i, tool := range a.Tools {
		j.toolName(tool, item(at+"/tools", i))
	}
}

// toolName checks the name of a tool that may be one of ours or a builtin; of
// globs and of other toolsets' tools nothing is known.
func (j *judge) toolName(name, at string) {
	if name != "" {
		if err := toolset.CheckGlob(name); err != nil {
			j.fail(at, CodeUnknownName, show(name)+" can't be used: "+err.Error())
			return
		}
	}
	own := ids(j.m.Tools, func(t Tool) string { return t.ID })
	if bare, ok := strings.CutPrefix(name, j.m.ID+":"); ok && j.m.ID != "" {
		name = bare
		if !strings.ContainsAny(name, "*?[{") && !slices.Contains(own, name) {
			j.missing(at, "tool", name, own)
		}
		return
	}
	if name == "" || strings.ContainsAny(name, "*?[{:") || slices.Contains(own, name) || len(j.o.Builtins) == 0 {
		return
	}
	if !slices.Contains(j.o.Builtins, name) {
		j.missing(at, "tool", name, append(own, j.o.Builtins...))
	}
}

func (j *judge) test(t *Test, at string) {
	own := ids(j.m.Tools, func(t Tool) string { return t.ID })
	if t.Tool != "" && !slices.Contains(own, t.Tool) {
		j.missing(at+"/tool", "tool", t.Tool, own)
	}
	if s := j.inputs[t.Tool]; s != nil {
		args := t.Args
		if len(args) == 0 {
			args = json.RawMessage("{}")
		}
		for _, p := range s.Validate(args) {
			j.fail(at+"/args"+p.Pointer, CodeTest, "the arguments don't fit input_schema: "+p.String())
		}
	}
	for _, files := range []struct {
		at    string
		files map[string]string
	}{{at + "/files", t.Files}, {at + "/expect/files", t.Expect.Files}} {
		for name := range files.files {
			if !cleanPath(name) {
				j.fail(under(files.at, name), CodePath, "expected a path inside the workspace, such as data/in.csv, found "+show(name))
			}
		}
	}
	if t.Expect.Error != "" && len(t.Expect.Return) > 0 {
		j.fail(at+"/expect/error", CodeTest, "a call that fails returns nothing; expect error or return")
	}
}

func ids[T any](list []T, of func(T) string) []string {
	out := make([]string, 0, len(list))
	for _, v := range list {
		if id := of(v); id != "" {
			out = append(out, id)
		}
	}
	return out
}

// duplicates wants ids to be told apart, also where case doesn't count.
func (j *judge) duplicates() {
	distinct(j, "/tools", "/id", j.m.Tools, func(t Tool) string { return t.ID })
	distinct(j, "/mcp_servers", "/id", j.m.MCPServers, func(s MCPServer) string { return s.ID })
	distinct(j, "/agents", "/id", j.m.Agents, func(a Agent) string { return a.ID })
	distinct(j, "/payloads", "/type", j.m.Payloads, func(p Payload) string { return p.Type })
	distinct(j, "/payloads", "/parse_marker", j.m.Payloads, func(p Payload) string { return p.ParseMarker })
	distinct(j, "/pages", "/id", j.m.Pages, func(p Page) string { return p.ID })
	distinct(j, "/workflows", "/id", j.m.Workflows, func(w Workflow) string { return w.ID })
	for i, w := range j.m.Workflows {
		distinct(j, item("/workflows", i)+"/steps", "/id", w.Steps, func(s Step) string { return s.ID })
	}
	for i, p := range j.m.Pages {
		distinct(j, item("/pages", i)+"/client_actions", "/action", p.ClientActions, func(a ClientAction) string { return a.Action })
	}
}

func distinct[T any](j *judge, list, field string, entries []T, of func(T) string) {
	first := map[string]int{}
	for i, e := range entries {
		name := of(e)
		if name == "" {
			continue
		}
		key := strings.ToLower(name)
		k, twice := first[key]
		if !twice {
			first[key] = i
			continue
		}
		msg := show(name) + " is there twice"
		if of(entries[k]) != name {
			msg = show(name) + " differs from " + show(of(entries[k])) + " only in case"
		}
		j.fail(item(list, i)+field, CodeDuplicateID, fmt.Sprintf("%s, first in line %d", msg, locate(j.root, item(list, k)+field).Line))
	}
}

// Files are the paths of the bundle that the manifest names, each with the
// pointer of the value that names it. Of several in one entry, one must be
// there.
func (m *Manifest) Files() []FileRef {
	var out []FileRef
	entry := func(s, pointer string) {
		if e, err := ParseEntrypoint(s); err == nil {
			out = append(out, FileRef{Pointer: pointer, Paths: e.Files(), Function: e.Function})
		}
	}
	artifact := func(p, pointer string) {
		if clean := BundlePath(p); clean != "" {
			out = append(out, FileRef{Pointer: pointer, Paths: []string{path.Clean(clean)}})
		}
	}
	for i, t := range m.Tools {
		entry(t.Entrypoint, item("/tools", i)+"/entrypoint")
		if t.Renderer != nil && t.Renderer.Artifact != "" {
			artifact(t.Renderer.Artifact, item("/tools", i)+"/renderer/artifact")
		}
	}
	for i, p := range m.Payloads {
		if p.Parser != "" {
			entry(p.Parser, item("/payloads", i)+"/parser")
		}
		if p.Renderer != nil && p.Renderer.Artifact != "" {
			artifact(p.Renderer.Artifact, item("/payloads", i)+"/renderer/artifact")
		}
	}
	return out
}

// FileRef is a place of the manifest that needs a file of the bundle.
type FileRef struct {
	// Pointer is the JSON pointer of the value.
	Pointer string
	// Paths are alternatives, the likeliest first.
	Paths []string
	// Function is what a Python file must define; empty for artifacts.
	Function string
}
