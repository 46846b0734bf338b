package registry

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/manifest"
)

// The kinds of items.
const (
	KindServer      = "server"
	KindNetwork     = "network"
	KindEnv         = "env"
	KindRead        = "read"
	KindRequirement = "requirement"
	KindTool        = "tool"
	KindAgent       = "agent"
	KindPage        = "page"
	KindPayload     = "payload"
	KindWorkflow    = "workflow"
)

// Item is one thing that a toolset brings or wants, and that is approved by
// itself.
type Item struct {
	Kind   string  `json:"kind"`
	Name   string  `json:"name"`
	SHA256 string  `json:"sha256"`
	Fields []Field `json:"fields,omitempty"`
}

// Field is one part of an item, as text.
type Field struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	// Pinned tells that the item's hash covers it.
	Pinned bool `json:"pinned"`
}

// Change is one item that differs from the installed version.
type Change struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Change is added, changed or removed.
	Change string        `json:"change"`
	Fields []FieldChange `json:"fields,omitempty"`
	// Asks tells that it has to be approved.
	Asks bool `json:"asks"`
}

// FieldChange is a field on both sides; one that isn't there is empty.
type FieldChange struct {
	Field string `json:"field"`
	Old   string `json:"old"`
	New   string `json:"new"`
}

// itemMaker gathers the fields of one item.
type itemMaker struct{ item Item }

func (b *itemMaker) pin(name, value string) *itemMaker {
	if value != "" {
		b.item.Fields = append(b.item.Fields, Field{Name: name, Value: value, Pinned: true})
	}
	return b
}

func (b *itemMaker) tell(name, value string) *itemMaker {
	if value != "" {
		b.item.Fields = append(b.item.Fields, Field{Name: name, Value: value})
	}
	return b
}

// done computes the pin.
func (b *itemMaker) done() Item {
	sum := sha256.New()
	enc := json.NewEncoder(sum)
	_ = enc.Encode([]string{"fettle item 1", b.item.Kind, b.item.Name}) // texts can always be encoded
	for _, f := range b.item.Fields {
		if f.Pinned {
			_ = enc.Encode([]string{f.Name, f.Value})
		}
	}
	b.item.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return b.item
}

func newItem(kind, name string) *itemMaker { return &itemMaker{Item{Kind: kind, Name: name}} }

// entryText returns what approving an entry agent means; it is empty for other agents.
func entryText(a manifest.Agent) string {
	if !a.Entry {
		return ""
	}
	return "new chats begin with it"
}

// itemsOf lists what a manifest brings and wants, the most dangerous first.
// files are those of the revision.
func itemsOf(m *manifest.Manifest, files []File) []Item {
	var out []Item
	for _, s := range m.MCPServers {
		out = append(out, serverItem(s, files))
	}
	for _, list := range []struct {
		kind  string
		names []string
	}{{KindNetwork, m.Permissions.Network}, {KindEnv, variableNames(m)}, {KindRead, m.Permissions.Read}, {KindRequirement, m.Requirements}} {
		for _, name := range list.names {
			out = append(out, newItem(list.kind, name).done())
		}
	}
	reaches := ReachesOf(m)
	for _, t := range m.Tools {
		out = append(out, toolItem(t, reaches[t.ID]))
	}
	for _, a := range m.Agents {
		out = append(out, newItem(KindAgent, a.ID).pin("purpose", a.Purpose).pin("prompt", a.Prompt).
			pin("tools", strings.Join(a.Tools, ", ")).pin("handoffs", strings.Join(a.Handoffs, ", ")).pin("model", a.Model).
			pin("entry", entryText(a)).tell("name", a.Name).tell("history", a.History).done())
	}
	for _, p := range m.Pages {
		out = append(out, newItem(KindPage, p.ID).pin("context", p.Context).pin("client_actions", jsonText(p.ClientActions)).
			tell("name", p.Name).tell("payloads", strings.Join(p.Payloads, ", ")).done())
	}
	for _, p := range m.Payloads {
		out = append(out, newItem(KindPayload, p.Type).pin("llm_instructions", p.LLMInstructions).pin("schema", jsonText(p.Schema)).
			tell("parser", p.Parser).tell("parse_marker", p.ParseMarker).tell("renderer", jsonText(p.Renderer)).
			tell("on_accept", jsonText(p.OnAccept)).tell("on_reject", jsonText(p.OnReject)).done())
	}
	for _, w := range m.Workflows {
		out = append(out, newItem(KindWorkflow, w.ID).pin("steps", jsonText(w.Steps)).tell("description", w.Description).
			tell("name", w.Name).tell("input_schema", jsonText(w.InputSchema)).done())
	}
	return out
}

// variableNames are the environment variables that anything of it gets.
func variableNames(m *manifest.Manifest) []string {
	var out []string
	for _, u := range m.Variables() {
		out = append(out, u.Name)
	}
	return out
}

// ReachesOf returns what calls of a manifest's tools can reach once its permissions are
// granted, by the tools' bare ids.
func ReachesOf(m *manifest.Manifest) map[string]toolset.Reach {
	out := map[string]toolset.Reach{}
	for _, t := range m.ToolRecords() {
		out[t.BareID()] = reachOf(t, m.Permissions, toolset.LevelReduced)
	}
	return out
}

// fieldReach is the field of a tool's item that describes what the tool can reach.
const fieldReach = "reach"

func toolItem(t manifest.Tool, reach toolset.Reach) Item {
	annotations := ""
	if t.Annotations != nil {
		annotations = jsonText(t.Annotations)
	}
	b := newItem(KindTool, t.ID).pin("description", t.Description).pin("name", t.Name).
		pin("input_schema", jsonText(t.InputSchema)).pin("output_schema", jsonText(t.OutputSchema)).
		pin("requires_confirmation", yes(t.RequiresConfirmation)).pin("annotations", annotations).pin("service", yes(t.Service)).
		tell(fieldReach, reach.Text).tell("entrypoint", t.Entrypoint).tell("category", t.Category).tell("streaming", yes(t.Streaming))
	if t.Timeout > 0 {
		b.tell("timeout", t.Timeout.String())
	}
	if t.Renderer != nil {
		b.tell("renderer", jsonText(t.Renderer))
	}
	return b.done()
}

func yes(on bool) string {
	if on {
		return "true"
	}
	return ""
}

// serverItem pins a server's command in full. One that runs files of the bundle
// has their hashes in its pin, too.
func serverItem(s manifest.MCPServer, files []File) Item {
	b := newItem(KindServer, s.ID).pin("command", CommandLine(s)).pin("url", s.URL).
		pin("env", tableText(s.Env)).pin("headers", tableText(s.Headers)).tell("name", s.Name).tell("description", s.Description)
	if s.AutoEnabled != nil && !*s.AutoEnabled {
		b.tell("auto_enabled", "false")
	}
	if s.Command != "" && namesFile(s.Args, files) {
		sum := sha256.New()
		for _, f := range files {
			if f.Path != manifest.FileName {
				fmt.Fprintf(sum, "%s %s\n", f.SHA256, f.Path)
			}
		}
		b.pin("files", hex.EncodeToString(sum.Sum(nil)))
	}
	return b.done()
}

// pinsFiles tells whether the items of a manifest may depend on the files.
func pinsFiles(m *manifest.Manifest) bool {
	return slices.ContainsFunc(m.MCPServers, func(s manifest.MCPServer) bool { return s.Command != "" && len(s.Args) > 0 })
}

// namesFile tells whether an argument names a file or folder of the bundle.
func namesFile(args []string, files []File) bool {
	for _, arg := range args {
		if _, value, ok := strings.Cut(arg, "="); ok {
			arg = value
		}
		arg = strings.TrimSuffix(strings.TrimPrefix(arg, "./"), "/")
		for _, f := range files {
			if f.Path == arg || strings.HasPrefix(f.Path, arg+"/") {
				return arg != ""
			}
		}
		if arg == "." {
			return true
		}
	}
	return false
}

// CommandLine shows a server's command as one line, with quotes where a word
// would not be one otherwise. It is for people; no shell ever sees it.
func CommandLine(s manifest.MCPServer) string {
	if s.Command == "" {
		return ""
	}
	words := []string{s.Command}
	for _, arg := range s.Args {
		if arg == "" || strings.ContainsAny(arg, " \t\n\"'\\|&;<>()*?[]#~`!") {
			raw, _ := json.Marshal(arg) // a text can always be encoded
			arg = string(raw)
		}
		words = append(words, arg)
	}
	return strings.Join(words, " ")
}

func tableText(table map[string]string) string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(table)) {
		lines = append(lines, name+"="+table[name])
	}
	return strings.Join(lines, "\n")
}

// jsonText is a value as indented JSON, the same for the same value whether it
// has been through the store or not; empty for nothing.
func jsonText(v any) string {
	raw, err := json.Marshal(v)
	if err != nil || string(raw) == "null" || len(raw) == 0 {
		return ""
	}
	var buf bytes.Buffer
	if json.Indent(&buf, raw, "", "  ") != nil {
		return string(raw)
	}
	return buf.String()
}

// compare lists what differs between two versions; approved are the pins that
// the user has approved, by kind and name.
func compare(before, after []Item, approved map[[2]string]string) []Change {
	old := map[[2]string]Item{}
	for _, it := range before {
		old[[2]string{it.Kind, it.Name}] = it
	}
	var out []Change
	for _, it := range after {
		key := [2]string{it.Kind, it.Name}
		asks := approved[key] != it.SHA256
		was, there := old[key]
		delete(old, key)
		fields := fieldChanges(was.Fields, it.Fields)
		if there { // the permission that a tool's reach follows from is a change by itself
			fields = slices.DeleteFunc(fields, func(f FieldChange) bool { return f.Field == fieldReach })
		}
		switch {
		case !there:
			out = append(out, Change{Kind: it.Kind, Name: it.Name, Change: "added", Fields: fields, Asks: asks})
		case len(fields) > 0 || asks:
			out = append(out, Change{Kind: it.Kind, Name: it.Name, Change: "changed", Fields: fields, Asks: asks})
		}
	}
	for _, it := range before {
		if _, gone := old[[2]string{it.Kind, it.Name}]; gone {
			out = append(out, Change{Kind: it.Kind, Name: it.Name, Change: "removed", Fields: fieldChanges(it.Fields, nil)})
		}
	}
	return out
}

func fieldChanges(before, after []Field) []FieldChange {
	var out []FieldChange
	find := func(list []Field, name string) string {
		for _, f := range list {
			if f.Name == name {
				return f.Value
			}
		}
		return ""
	}
	for _, f := range after {
		if old := find(before, f.Name); old != f.Value {
			out = append(out, FieldChange{Field: f.Name, Old: old, New: f.Value})
		}
	}
	for _, f := range before {
		if find(after, f.Name) == "" {
			out = append(out, FieldChange{Field: f.Name, Old: f.Value})
		}
	}
	return out
}
