package manifest

import (
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
			Args      []string                   `json:"args"`
			Env       map[string]string          `json:"env"`
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
	if err := json.Unmarshal(raw, &in); err != nil {
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
	for _, arg := range in.Server.Config.Args {
		s.Args = append(s.Args, f.fill(arg)...)
	}
	for _, name := range slices.Sorted(maps.Keys(in.Server.Config.Env)) {
		values := f.fill(in.Server.Config.Env[name])
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
	if known && !s.Required && !s.Sensitive {
		f.once(key, "setting %s is optional and was left out: %s", show(key), show(s.Title))
		return nil
	}
	name := variableName(key)
	if loaderVariable(name) || !compiled().match(patternEnv, name) {
		name = "SETTING_" + name
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
	var top map[string]json.RawMessage
	if json.Unmarshal(raw, &top) != nil {
		return
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(top)) {
		switch name {
		case "manifest_version", "dxt_version", "name", "display_name", "version", "description", "author", "license", "server", "user_config",
			"tools", "tools_generated", "compatibility", "$schema":
		default:
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		c.note("left out: %s", oneLine(strings.Join(names, ", "), 4*maxName))
	}
}
