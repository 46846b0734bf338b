package render

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/fettle-cli/fettle/toolset"
)

// Plan says how a call is shown: document 004's render_plan. Its JSON is kept
// with the call.
type Plan struct {
	// Renderer is code, document, html, table, frame or mcp_app; empty in a plan that has a Look alone.
	Renderer string          `json:"renderer"`
	Config   json.RawMessage `json:"config"` // an object
	// Look is how the card and the panel of a payload look; nil for calls.
	Look *Look `json:"look,omitempty"`
	// Problems are what could not be filled in, a line each.
	Problems []string `json:"problems,omitempty"`
	// Error is set for a call that failed.
	Error *Failure `json:"error,omitempty"`
}

// Look is what the registry of document 000 contains of a payload's type. A plan has it,
// so that results look the same without their toolset.
type Look struct {
	Icon        string `json:"icon,omitempty"`
	Colour      string `json:"colour,omitempty"`
	Label       string `json:"label,omitempty"`
	Editable    bool   `json:"editable,omitempty"`
	HeaderTitle string `json:"headerTitle,omitempty"`
	HeaderIcon  string `json:"headerIcon,omitempty"`
	PanelWidth  string `json:"panelWidth,omitempty"`
}

// Failure is how a call failed.
type Failure struct {
	Message   string `json:"message"`
	Traceback string `json:"traceback,omitempty"`
}

// Values are what expressions stand for. Args and Return are JSON; what is none
// is taken for nothing.
type Values struct {
	Args, Return json.RawMessage
	ChatID       string
	// Workspace and Toolset are absolute folders; Toolset is empty for a tool
	// that comes without files.
	Workspace, Toolset string
}

// MaxConfig bounds the config of a plan, in bytes: plans are kept in the store
// and sent to pages. What is larger belongs in a file of the workspace.
const MaxConfig = 4 << 20

// Make makes the plan of a call that succeeded. It never fails: what can't be
// filled in, or may not be, is null in the config and named among the problems.
func Make(renderer string, config json.RawMessage, v Values) Plan {
	for _, doc := range []*json.RawMessage{&v.Args, &v.Return} {
		if !json.Valid(*doc) {
			*doc = nil
		}
	}
	m := &maker{values: v}
	out, err := transform(config, 0, m.fill)
	switch {
	case err != nil:
		m.problem("the renderer's config can't be used: %v", err)
		out = nil
	case len(out) > MaxConfig:
		m.problem("it would have %d bytes, and a plan may have %d: put what is large into a file of the workspace", len(out), MaxConfig)
		out = nil
	}
	fields := map[string]json.RawMessage{}
	if out != nil && json.Unmarshal(out, &fields) != nil {
		m.problem("the renderer's config is no object")
	}
	m.check(renderer, config, fields)
	return Plan{Renderer: renderer, Config: json.RawMessage(compact(encode(fields))), Problems: m.problems}
}

// MakeFailed makes the plan of a call that failed: its message and traceback as
// code, whatever the tool's own renderer is, since that is for results.
func MakeFailed(f Failure) Plan {
	config := map[string]string{"content": cmp.Or(f.Traceback, f.Message), "language": "text"}
	return Plan{Renderer: toolset.RenderCode, Config: encode(config), Error: &f}
}

// maker fills in one plan.
type maker struct {
	values   Values
	problems []string
}

func (m *maker) problem(format string, args ...any) {
	m.problems = append(m.problems, fmt.Sprintf(format, args...))
}

// fill is what a string of the config becomes; nil leaves it.
func (m *maker) fill(s string) json.RawMessage {
	pieces := parse(s)
	if len(pieces) == 1 && pieces[0].ref != nil {
		value, ok := m.value(*pieces[0].ref)
		if !ok {
			return json.RawMessage("null")
		}
		return json.RawMessage(compact(value))
	}
	var b strings.Builder
	for _, p := range pieces {
		if p.ref == nil {
			b.WriteString(p.text)
			continue
		}
		if value, ok := m.value(*p.ref); ok {
			b.WriteString(asText(value))
		}
	}
	return encode(b.String())
}

// asText is how a value stands within a text.
func asText(value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) == nil && strings.HasPrefix(strings.TrimSpace(string(value)), `"`) {
		return s
	}
	if text := compact(value); text != "null" {
		return text
	}
	return ""
}

// value is what an expression stands for.
func (m *maker) value(r Ref) (json.RawMessage, bool) {
	v := m.values
	switch r.Root {
	case "chat_id":
		return encode(v.ChatID), true
	case "workspace":
		return encode(v.Workspace), true
	case "toolset":
		return encode(v.Toolset), true
	}
	doc := v.Args
	if r.Root == "return" {
		doc = v.Return
	}
	value, ok := Lookup(doc, r.Path)
	if !ok {
		m.problem("%s isn't there", r)
	}
	return value, ok
}

// check holds the fields that name places to the places that they may name.
func (m *maker) check(renderer string, config json.RawMessage, fields map[string]json.RawMessage) {
	switch renderer {
	case toolset.RenderCode, toolset.RenderDocument:
		m.confine(fields, "file", m.file)
	case toolset.RenderHTML, toolset.RenderApp:
		m.confine(fields, "artifact", func(s string) (string, error) { return m.artifact(s, config) })
	case toolset.RenderFrame:
		m.confine(fields, "url", func(s string) (string, error) { return frameURL(s, config) })
	case toolset.RenderTable:
	default:
		m.problem("unknown renderer %s; known are code, document, html, table, frame and mcp_app", strconv.Quote(renderer))
	}
}

// confine replaces a field by what a function makes of it, or by null.
func (m *maker) confine(fields map[string]json.RawMessage, name string, to func(string) (string, error)) {
	raw, ok := fields[name]
	if !ok || string(raw) == "null" {
		return
	}
	var s string
	err := json.Unmarshal(raw, &s)
	if err != nil {
		err = fmt.Errorf("it is no text: %s", cut(string(raw)))
	} else {
		s, err = to(s)
	}
	if err != nil {
		m.problem("%s: %v", name, err)
		fields[name] = json.RawMessage("null")
		return
	}
	fields[name] = encode(s)
}

// cut shortens a value for a message.
func cut(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// file is a path of the workspace, relative and with slashes.
func (m *maker) file(name string) (string, error) {
	return inside(m.values.Workspace, name, "the workspace")
}

// inside gives a path as relative to the folder that it has to be in.
func inside(dir, given, what string) (string, error) {
	name := given
	if filepath.IsAbs(name) {
		rel, err := filepath.Rel(dir, name)
		if dir == "" || err != nil {
			return "", fmt.Errorf("%s is not in %s", cut(given), what)
		}
		name = rel
	}
	if !filepath.IsLocal(filepath.FromSlash(name)) || strings.ContainsRune(name, 0) {
		return "", fmt.Errorf("%s is not in %s", cut(given), what)
	}
	return path.Clean(filepath.ToSlash(name)), nil
}

// artifact is the absolute path of a file of the toolset. Its name may be no
// value: a model or a tool would choose what is shown as the toolset's own.
func (m *maker) artifact(name string, config json.RawMessage) (string, error) {
	for _, p := range parse(textOf(config, "artifact")) {
		if p.ref != nil && p.ref.Root != "toolset" {
			return "", fmt.Errorf("%s may not choose it; it is a file of the toolset", p.ref)
		}
	}
	if m.values.Toolset == "" {
		return "", fmt.Errorf("the tool belongs to no toolset that could have %s", cut(name))
	}
	rel, err := inside(m.values.Toolset, name, "the toolset")
	if err != nil {
		return "", err
	}
	return filepath.Join(m.values.Toolset, filepath.FromSlash(rel)), nil
}

// textOf is a string field of the config as it was written.
func textOf(config json.RawMessage, name string) string {
	var fields map[string]json.RawMessage
	var s string
	if json.Unmarshal(config, &fields) == nil {
		_ = json.Unmarshal(fields[name], &s) // what is no string was told already
	}
	return s
}

// frameURL holds an address to this machine, and to the host that the config
// names: a value may choose the port and what follows, no more.
func frameURL(address string, config json.RawMessage) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", fmt.Errorf("%s is no address", cut(address))
	}
	host, written := u.Hostname(), textOf(config, "url")
	if pieces := parse(written); len(pieces) == 0 || pieces[0].ref != nil || !strings.HasPrefix(pieces[0].text, u.Scheme+"://"+bracketed(host)) {
		return "", fmt.Errorf("%s: the config itself has to name scheme and host, as in http://localhost:$return.port", cut(address))
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	switch ip := net.ParseIP(host); {
	case u.Scheme != "http" && u.Scheme != "https":
		return "", fmt.Errorf("%s is no http address", cut(address))
	case host != "localhost" && (ip == nil || !ip.IsLoopback()):
		return "", fmt.Errorf("%s is not on this machine", cut(address))
	case u.User != nil:
		return "", fmt.Errorf("%s names a user", cut(address))
	case u.Port() != "" && (err != nil || port == 0):
		return "", fmt.Errorf("%s has no port that there is", cut(address))
	}
	return u.String(), nil
}

func bracketed(host string) string {
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}
