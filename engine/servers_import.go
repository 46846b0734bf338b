package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/fettle-cli/fettle/toolset/manifest"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// FoundMCPServer is a server in another tool's file.
type FoundMCPServer struct {
	Config   manifest.MCPServer
	Settings registry.ServerSettings
	// Notes are what of it isn't taken over, for people.
	Notes []string
}

// foreignServer is one entry of such a file: what Claude Desktop, Claude Code,
// Cursor, VS Code, Windsurf and others have in common, and by what they differ.
type foreignServer struct {
	Type      string            `json:"type"`
	Transport string            `json:"transport"`
	Command   json.RawMessage   `json:"command"`
	Args      []string          `json:"args"`
	Env       map[string]any    `json:"env"`
	URL       string            `json:"url"`
	ServerURL string            `json:"serverUrl"`
	Headers   map[string]string `json:"headers"`
	Disabled  bool              `json:"disabled"`
	CWD       string            `json:"cwd"`
	EnvFile   string            `json:"envFile"`
}

// maxForeign bounds how many servers of one file are taken.
const maxForeign = 200

// ReadMCPServers reads the mcpServers that other tools write, or VS Code's
// servers. Entries that can't be used are given with the reason, by name.
func ReadMCPServers(raw []byte) (found []FoundMCPServer, skipped map[string]string, err error) {
	var file struct {
		MCPServers map[string]json.RawMessage `json:"mcpServers"`
		Servers    map[string]json.RawMessage `json:"servers"`
		MCP        *struct {
			Servers map[string]json.RawMessage `json:"servers"`
		} `json:"mcp"`
		Context map[string]json.RawMessage `json:"context_servers"`
	}
	raw = withoutComments(bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf")))
	if err := json.Unmarshal(raw, &file); err != nil {
		return nil, nil, fmt.Errorf("it is no JSON of servers: %w", jsonError(err, lineIn(raw)))
	}
	all := map[string]json.RawMessage{}
	for _, list := range []map[string]json.RawMessage{file.Context, file.Servers, file.MCPServers} {
		maps.Copy(all, list)
	}
	if file.MCP != nil {
		maps.Copy(all, file.MCP.Servers)
	}
	if len(all) == 0 {
		return nil, nil, errors.New("it has no mcpServers and no servers")
	}
	if len(all) > maxForeign {
		return nil, nil, fmt.Errorf("it has %d servers; %d are taken at once", len(all), maxForeign)
	}
	skipped = map[string]string{}
	taken := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		f, err := readForeign(name, all[name])
		switch {
		case err != nil:
			skipped[name] = err.Error()
		case taken[f.Config.ID]:
			skipped[name] = "its name comes to " + f.Config.ID + ", as another one's"
		default:
			taken[f.Config.ID] = true
			found = append(found, f)
		}
	}
	return found, skipped, nil
}

// readForeign makes a server of one entry.
func readForeign(name string, raw json.RawMessage) (FoundMCPServer, error) {
	var in foreignServer
	if err := json.Unmarshal(raw, &in); err != nil {
		return FoundMCPServer{}, errors.New("it is no entry of a server")
	}
	out := FoundMCPServer{Config: manifest.MCPServer{ID: serverID(name), Args: in.Args, Headers: in.Headers, URL: in.URL}}
	if out.Config.ID != name {
		out.Notes = append(out.Notes, fmt.Sprintf("it was called %q", name))
	}
	if out.Config.URL == "" {
		out.Config.URL = in.ServerURL
	}
	if err := readCommand(in.Command, &out.Config); err != nil {
		return out, err
	}
	out.Settings.SSE = strings.EqualFold(in.Type, "sse") || strings.EqualFold(in.Transport, "sse")
	switch {
	case in.Disabled:
		return out, errors.New("it is disabled there")
	case out.Config.Command == "" && out.Config.URL == "":
		return out, errors.New("it has neither a command nor an address")
	case out.Config.Command != "" && out.Config.URL != "":
		return out, errors.New("it has both a command and an address")
	}
	if len(in.Env) > 0 {
		out.Config.Env = map[string]string{}
		for key, value := range in.Env {
			out.Config.Env[key] = fmt.Sprint(value)
		}
	}
	if out.Config.Command != "" {
		out.Config.Headers, out.Settings.SSE = nil, false
	} else {
		out.Config.Args, out.Config.Env = nil, nil
	}
	if in.EnvFile != "" {
		out.Notes = append(out.Notes, "its envFile is not read: "+in.EnvFile)
	}
	if in.CWD != "" {
		out.Notes = append(out.Notes, "it starts in the chat's folder, not in "+in.CWD)
		if filepath.IsAbs(in.CWD) {
			out.Settings.Read = append(out.Settings.Read, filepath.Clean(in.CWD))
		}
	}
	return out, translate(&out)
}

// readCommand takes a command as a text, or as Zed writes it, an object.
func readCommand(raw json.RawMessage, c *manifest.MCPServer) error {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	if json.Unmarshal(raw, &c.Command) == nil {
		return nil
	}
	var object struct {
		Path string            `json:"path"`
		Args []string          `json:"args"`
		Env  map[string]string `json:"env"`
	}
	if json.Unmarshal(raw, &object) != nil || object.Path == "" {
		return errors.New("its command is no text")
	}
	c.Command, c.Args, c.Env = object.Path, object.Args, object.Env
	return nil
}

// foreignVariable is how VS Code and Cursor write variables: ${env:NAME},
// ${input:name}, ${workspaceFolder}.
var foreignVariable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{(env|input):([^}]*)\}`) })

// translate makes our ${NAME} of other tools' variables. What only an editor
// knows can't be.
func translate(f *FoundMCPServer) error {
	var odd error
	one := func(text string) string {
		text = foreignVariable().ReplaceAllStringFunc(text, func(m string) string {
			parts := foreignVariable().FindStringSubmatch(m)
			name := strings.Map(func(r rune) rune {
				if r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
					return r
				}
				return '_'
			}, parts[2])
			if parts[1] == "input" {
				name = strings.ToUpper(name)
				f.Notes = append(f.Notes, "it asks for "+name+": fettle keys set "+name)
			}
			return "${" + name + "}"
		})
		for _, only := range []string{"${workspaceFolder", "${userHome}", "${file", "${cwd}", "${pathSeparator}"} {
			if strings.Contains(text, only) {
				odd = errors.New("it uses " + strings.TrimSuffix(only, "}") + "}, which only an editor knows")
			}
		}
		return text
	}
	c := &f.Config
	c.Command, c.URL = one(c.Command), one(c.URL)
	for i := range c.Args {
		c.Args[i] = one(c.Args[i])
	}
	for name, value := range c.Env {
		c.Env[name] = one(value)
	}
	for name, value := range c.Headers {
		c.Headers[name] = one(value)
	}
	return odd
}

// withoutComments takes comments and commas before a closing bracket out of
// JSON, as editors allow them. Texts stay as they are.
func withoutComments(in []byte) []byte {
	out := make([]byte, 0, len(in))
	for i := 0; i < len(in); {
		switch c := in[i]; {
		case c == '"':
			end := textEnd(in, i)
			out = append(out, in[i:end]...)
			i = end
		case c == '/' && i+1 < len(in) && in[i+1] == '/':
			for i < len(in) && in[i] != '\n' {
				i++
			}
		case c == '/' && i+1 < len(in) && in[i+1] == '*':
			end := bytes.Index(in[i+2:], []byte("*/"))
			if end < 0 {
				return out
			}
			i += end + 4
		case c == '}' || c == ']':
			if kept := bytes.TrimRight(out, " \t\r\n"); len(kept) > 0 && kept[len(kept)-1] == ',' {
				out = kept[:len(kept)-1]
			}
			out = append(out, c)
			i++
		default:
			out = append(out, c)
			i++
		}
	}
	return out
}

// textEnd is the place after a text that begins at i.
func textEnd(in []byte, i int) int {
	for i++; i < len(in); i++ {
		switch in[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(in)
}
