package acp

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

// mcpServer is a server that the editor wants the session's tools to have.
type mcpServer struct {
	// Kind is stdio, http or sse.
	Kind string
	Name string
	// Command, Args and Env start one of stdio; the command is an absolute path.
	Command string
	Args    []string
	Env     []nameValue
	// URL and Headers reach another.
	URL     string
	Headers []nameValue
}

// nameValue is a variable of the environment, or a header.
type nameValue struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// maxServers bounds the MCP servers of a session: people have a dozen.
const maxServers = 64

// readServers reads the mcpServers of a session.
func readServers(raw json.RawMessage) ([]mcpServer, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var all []struct {
		Type    string      `json:"type"`
		Name    string      `json:"name"`
		Command string      `json:"command"`
		Args    []string    `json:"args"`
		Env     []nameValue `json:"env"`
		URL     string      `json:"url"`
		Headers []nameValue `json:"headers"`
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, &rpcError{Code: codeParams, Message: "params.mcpServers can't be read"}
	}
	if len(all) > maxServers {
		return nil, &rpcError{Code: codeParams, Message: fmt.Sprintf("params.mcpServers has more than %d servers", maxServers)}
	}
	var out []mcpServer
	for i, s := range all {
		m := mcpServer{
			Kind: s.Type, Name: sanitize.Line(s.Name), Command: s.Command, Args: s.Args, Env: s.Env, URL: s.URL, Headers: s.Headers,
		}
		if m.Kind == "" {
			m.Kind = "stdio"
		}
		if wrong := m.wrong(); wrong != "" {
			return nil, &rpcError{Code: codeParams, Message: fmt.Sprintf("params.mcpServers[%d]%s", i, wrong)}
		}
		out = append(out, m)
	}
	return out, nil
}

// wrong says what a server lacks.
func (m mcpServer) wrong() string {
	if m.Name == "" {
		return " has no name"
	}
	for _, v := range append(append([]nameValue{}, m.Env...), m.Headers...) {
		if v.Name == "" {
			return " has a variable or a header without a name"
		}
	}
	switch m.Kind {
	case "stdio":
		if m.Command == "" || !filepath.IsAbs(m.Command) && filepath.Base(m.Command) != m.Command {
			return ".command has to be an absolute path or the name of a program"
		}
	case "http", "sse":
		u, err := url.Parse(m.URL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return ".url has to be an http or https address"
		}
	default:
		return ".type has to be stdio, http or sse"
	}
	return ""
}

// offerServers hands a session's MCP servers to a turn, which starts those that it
// has to list the tools of.
func (s *session) offerServers(req *engine.TurnRequest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.servers {
		req.MCP = append(req.MCP, catalog.MCPServer{
			Name: m.Name, Command: m.Command, Args: m.Args, Env: byName(m.Env),
			URL: m.URL, Headers: byName(m.Headers), SSE: m.Kind == "sse",
		})
	}
}

func byName(list []nameValue) map[string]string {
	if len(list) == 0 {
		return nil
	}
	out := make(map[string]string, len(list))
	for _, v := range list {
		out[v.Name] = v.Value
	}
	return out
}
