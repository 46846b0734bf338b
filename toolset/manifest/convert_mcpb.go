package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/internal/schema"
)

// mcpb is the manifest.json of an MCP bundle, versions 0.1 to 0.4 (`.mcpb`,
// and `.dxt` as it was called before).
type mcpb struct {
	ManifestVersion string `json:"manifest_version"`
	DXTVersion      string `json:"dxt_version"`
	Name            string `json:"name"`
	DisplayName     string `json:"display_name"`
	Version         string `json:"version"`
	Description     string `json:"description"`
	License         string `json:"license"`
	Author          struct {
		Name string `json:"name"`
	} `json:"author"`
	Server struct {
		Type   string `json:"type"`
		Config struct {
			Command   string                     `json:"command"`
			Args      []mcpbText                 `json:"args"`
			Env       map[string]mcpbText        `json:"env"`
			Platforms map[string]json.RawMessage `json:"platform_overrides"`
		} `json:"mcp_config"`
	} `json:"server"`
	Compatibility struct {
		Platforms []string `json:"platforms"`
	} `json:"compatibility"`
	UserConfig map[string]mcpbSetting `json:"user_config"`
	Prompts    []json.RawMessage      `json:"prompts"`
}

// mcpbSetting is one thing that the user is asked for.
type mcpbSetting struct {
	Title       string `json:"title"`
	Description string `json:"description"`
	Required    bool   `json:"required"`
	Sensitive   bool   `json:"sensitive"`
	Default     any    `json:"default"`
}

// mcpbText is a text, or a number or a boolean, which becomes its text as it is
// written. Null is absent.
type mcpbText struct {
	text   string
	absent bool
}

// UnmarshalJSON reads a scalar.
func (t *mcpbText) UnmarshalJSON(raw []byte) error {
	switch raw[0] {
	case '"':
		return json.Unmarshal(raw, &t.text)
	case '[', '{':
		return fmt.Errorf("expected a text, found %s", show(string(raw)))
	case 'n':
		t.absent = true
		return nil
	}
	t.text = string(raw)
	return nil
}

// FromMCPB makes a toolset of an MCP bundle's manifest.json: one with one MCP
// server, whose files lie in [ConvertedFolder]. What the user is asked for
// becomes an environment variable where there is no default; what is optional
// and has none is left out.
func FromMCPB(raw []byte) (*Converted, error) {
	const file = "manifest.json"
	if len(raw) > 1<<20 {
		return nil, fmt.Errorf("convert %s: it has %d bytes", file, len(raw))
	}
	if _, err := schema.Decode(raw); err != nil {
		return nil, fmt.Errorf("convert %s: %w", file, err)
	}
	var in mcpb
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber() // or large defaults would come out with an exponent
	if err := dec.Decode(&in); err != nil {
		return nil, fmt.Errorf("convert %s: it is no MCP bundle's: %w", file, err)
	}
	version := in.ManifestVersion
	if version == "" {
		version = in.DXTVersion
	}
	switch {
	case !strings.HasPrefix(version, "0."):
		return nil, fmt.Errorf("convert %s: manifest_version %s is not known; 0.1 to 0.4 are", file, show(version))
	case in.Name == "" || in.Server.Config.Command == "":
		return nil, fmt.Errorf("convert %s: name or server.mcp_config.command is missing", file)
	case strings.Contains(in.Server.Config.Command, "${") || strings.ContainsAny(in.Server.Config.Command, `/\`):
		return nil, fmt.Errorf("convert %s: its server %s is a program inside the bundle, which can't be looked through; only servers that an installed program runs can be taken over", file, show(in.Server.Config.Command))
	}
	c := &converter{}
	name := in.DisplayName
	if name == "" {
		name = in.Name
	}
	c.m.ID = slug(in.Name, "mcp")
	c.m.Name = oneLine(name, maxName)
	c.m.Version = c.version(in.Version)
	c.m.Description = c.bounded(in.Description, "the description", maxDescription)
	if c.m.Description == "" {
		c.m.Description = c.m.Name
	}
	c.server(&in)
	c.leftOut(raw, &in)
	return c.finish(file)
}

func (c *converter) server(in *mcpb) {
	f := filler{converter: c, settings: in.UserConfig, asked: map[string]bool{}}
	s := MCPServer{ID: c.m.ID, Command: strings.TrimSuffix(in.Server.Config.Command, ".exe")}
	for i, arg := range in.Server.Config.Args {
		if arg.absent {
			c.note("server.mcp_config.args: entry %d is null, and was left out", i+1)
			continue
		}
		s.Args = append(s.Args, f.fill(arg.text)...)
	}
	f.env = true
	for _, name := range slices.Sorted(maps.Keys(in.Server.Config.Env)) {
		value := in.Server.Config.Env[name]
		if value.absent {
			c.note("server.mcp_config.env.%s: it is null, and was left out", name)
			continue
		}
		values := f.fill(value.text)
		if len(values) == 0 {
			continue
		}
		if loaderVariable(name) {
			c.note("the variable %s was left out: a bundle can't set it", show(name))
			continue
		}
		if s.Env == nil {
			s.Env = map[string]string{}
		}
		s.Env[name] = strings.Join(values, ",")
	}
	c.m.MCPServers = []MCPServer{s}
}

// filler replaces the variables of an MCP bundle by what a manifest has.
type filler struct {
	*converter
	settings map[string]mcpbSetting
	asked    map[string]bool
	env      bool // the text is the value of a variable
}

// fill gives the values that a text stands for: none where it needs a setting
// that is optional and has no default, several for a list.
func (f *filler) fill(text string) []string {
	text = strings.NewReplacer(
		"${__dirname}", ConvertedFolder, "${/}", "/", "${pathSeparator}", "/",
		"${DESKTOP}", "${HOME}/Desktop", "${DOCUMENTS}", "${HOME}/Documents", "${DOWNLOADS}", "${HOME}/Downloads",
	).Replace(text)
	return f.expand(text)
}

const settingMark = "${user_config."

// expand puts settings in; of several lists in one text, each with each, up to
// as many as a server may have arguments.
func (f *filler) expand(text string) []string {
	before, after, ok := strings.Cut(text, settingMark)
	if !ok {
		return []string{text}
	}
	key, rest, _ := strings.Cut(after, "}")
	var out []string
	for _, v := range f.setting(key) {
		for _, tail := range f.expand(rest) {
			if len(out) == maxEntries {
				return out
			}
			out = append(out, before+v+tail)
		}
	}
	return out
}

// setting is what stands for a setting of the user's.
func (f *filler) setting(key string) []string {
	s, known := f.settings[key]
	if list, ok := s.Default.([]any); ok && len(list) > 0 && !s.Sensitive {
		var out []string
		for _, v := range list[:min(len(list), maxEntries)] {
			out = append(out, f.plain(fmt.Sprint(v)))
		}
		f.once(key, "setting %s is fixed to its default", show(key))
		return out
	}
	_, isList := s.Default.([]any)
	if s.Default != nil && !isList && !s.Sensitive {
		f.once(key, "setting %s is fixed to its default %s", show(key), show(fmt.Sprint(s.Default)))
		return []string{f.plain(fmt.Sprint(s.Default))}
	}
	if known && !s.Required && (!s.Sensitive || !f.env) {
		f.once(key, "setting %s is optional and was left out: %s", show(key), show(s.Title))
		return nil
	}
	name := variableName(key)
	if loaderVariable(name) || !compiled().match(patternEnv, name) {
		name = "SETTING_" + name
	}
	if known && !s.Required {
		f.once(key+" in a variable", "it takes the environment variable %s where it is set: %s", name, show(strings.TrimSpace(s.Title+" "+s.Description)))
		return []string{"${" + name + optionalMark + "}"}
	}
	f.once(key, "it needs the environment variable %s: %s", name, show(strings.TrimSpace(s.Title+" "+s.Description)))
	return []string{"${" + name + "}"}
}

// plain keeps a default from being a variable that we don't know.
func (f *filler) plain(v string) string {
	if strings.Contains(v, settingMark) {
		return ""
	}
	return strings.Join(f.fill(v), "")
}

func (f *filler) once(key, format string, args ...any) {
	if !f.asked[key] {
		f.asked[key] = true
		f.note(format, args...)
	}
}

func variableName(key string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '_'
	}, strings.ToUpper(key))
}

// leftOut says what has no place in a toolset.
func (c *converter) leftOut(raw []byte, in *mcpb) {
	if in.Author.Name != "" || in.License != "" {
		c.note("by %s, licence %s", show(in.Author.Name), show(in.License))
	}
	if len(in.Compatibility.Platforms) > 0 {
		c.note("made for %s", oneLine(strings.Join(in.Compatibility.Platforms, ", "), maxName))
	}
	for _, p := range slices.Sorted(maps.Keys(in.Server.Config.Platforms)) {
		c.note("what it does otherwise on %s was left out", oneLine(p, maxName))
	}
	var top any
	if json.Unmarshal(raw, &top) != nil {
		return
	}
	for _, name := range unread(top, mcpbKnown(), "") {
		c.note("left out, since a toolset has no such field: %s", oneLine(name, 4*maxName))
	}
}

// keys are the fields of an object that the conversion reads, or that contain nothing
// which a toolset would need. The fields of an object in it are listed below their
// name; * means any name; nil means that all fields below are covered.
type keys map[string]keys

// mcpbKnown returns the known fields of an MCP bundle's manifest.json.
func mcpbKnown() keys {
	setting := keys{"type": nil, "title": nil, "description": nil, "required": nil, "sensitive": nil, "default": nil, "multiple": nil}
	return keys{
		"$schema": nil, "manifest_version": nil, "dxt_version": nil, "name": nil, "display_name": nil, "version": nil, "description": nil,
		"license": nil, "author": {"name": nil}, "tools": nil, "tools_generated": nil,
		"server": {
			"type": nil, "entry_point": nil,
			"mcp_config": {"command": nil, "args": nil, "env": nil, "platform_overrides": nil},
		},
		"compatibility": {"platforms": nil},
		"user_config":   {"*": setting},
	}
}

// unread returns the paths of the fields that are not known; null is absent.
func unread(v any, known keys, at string) []string {
	object, ok := v.(map[string]any)
	if !ok || known == nil {
		return nil
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(object)) {
		below, has := known[name]
		if !has {
			below, has = known["*"]
		}
		switch {
		case object[name] == nil:
		case !has:
			out = append(out, at+name)
		default:
			out = append(out, unread(object[name], below, at+name+".")...)
		}
	}
	return out
}
