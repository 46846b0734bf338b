package manifest

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Use is one environment variable that a toolset asks for, and what gets it.
type Use struct {
	Name string `json:"name"`
	// Servers are the ids of the MCP servers that get it.
	Servers []string `json:"servers,omitempty"`
	// Tools tells that the Python tools may read it.
	Tools bool `json:"tools,omitempty"`
	// Optional means that no server needs it: each has it as ${NAME:-}.
	Optional bool `json:"optional,omitempty"`
}

// Variables lists the environment variables that the toolset asks for, by
// name: those of its permissions, and each ${NAME} of its MCP servers.
func (m *Manifest) Variables() []Use {
	uses := map[string]*Use{}
	use := func(name string) *Use {
		if uses[name] == nil {
			uses[name] = &Use{Name: name, Optional: true}
		}
		return uses[name]
	}
	for _, name := range m.Permissions.Env {
		u := use(name)
		u.Tools, u.Optional = true, false
	}
	for _, s := range m.MCPServers {
		for _, text := range slices.Concat(s.Args, slices.Collect(maps.Values(s.Env)), slices.Collect(maps.Values(s.Headers)), []string{s.URL}) {
			for _, name := range variables(text) {
				u := use(name)
				u.Optional = u.Optional && !strings.Contains(text, "${"+name+"}")
				if !slices.Contains(u.Servers, s.ID) {
					u.Servers = append(u.Servers, s.ID)
				}
			}
		}
	}
	out := make([]Use, 0, len(uses))
	for _, name := range slices.Sorted(maps.Keys(uses)) {
		out = append(out, *uses[name])
	}
	return out
}

// WithoutSecrets gives a copy in which values that are or may be secrets have
// become ${NAME}, and the names of those variables: what may be handed on. A
// value may be a secret by the name of its variable or header, or by its look.
// Other values are what the toolset's author wrote, and stay, so that a
// manifest without secrets is exported as it came.
func (m *Manifest) WithoutSecrets() (*Manifest, []string) {
	copied := new(Manifest)
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false) // or schemas would come back spelt otherwise
	err := enc.Encode(m)
	if err == nil {
		err = json.Unmarshal(buf.Bytes(), copied)
	}
	if err != nil { // a schema that isn't JSON; Marshal says so
		return m, nil
	}
	var hidden []string
	hide := func(table map[string]string) {
		for _, name := range slices.Sorted(maps.Keys(table)) {
			value := table[name]
			if len(variables(value)) > 0 || value == "" || !secretName(name) && !secretPattern().MatchString(value) {
				continue
			}
			variable := variableName(name)
			table[name] = "${" + variable + "}"
			hidden = append(hidden, variable)
		}
	}
	for i := range copied.MCPServers {
		s := &copied.MCPServers[i]
		hide(s.Env)
		hide(s.Headers)
		var found []string
		s.URL, found = withoutQuerySecrets(s.URL)
		hidden = append(hidden, found...)
		for k, arg := range s.Args {
			if secretPattern().MatchString(arg) {
				variable := variableName(s.ID) + "_SECRET"
				s.Args[k] = secretPattern().ReplaceAllString(arg, strings.ReplaceAll("${"+variable+"}", "$", "$$"))
				hidden = append(hidden, variable)
			}
		}
	}
	slices.Sort(hidden)
	return copied, slices.Compact(hidden)
}

// withoutQuerySecrets is an address whose parameters have ${NAME} where a value is
// or may be a secret, and the names.
func withoutQuerySecrets(address string) (shown string, hidden []string) {
	before, query, ok := strings.Cut(address, "?")
	if !ok {
		return address, nil
	}
	query, fragment, hasFragment := strings.Cut(query, "#")
	parts := strings.Split(query, "&")
	for i, part := range parts {
		name, value, _ := strings.Cut(part, "=")
		if value == "" || len(variables(value)) > 0 || !secretName(name) && !secretPattern().MatchString(value) {
			continue
		}
		variable := variableName(name)
		parts[i] = name + "=${" + variable + "}"
		hidden = append(hidden, variable)
	}
	shown = before + "?" + strings.Join(parts, "&")
	if hasFragment {
		shown += "#" + fragment
	}
	return shown, hidden
}
