package server

import (
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/toolset/registry"
)

func serverRoutes() []route {
	const tag, path = "mcp servers", "/api/mcp-servers"
	return []route{
		{op: "list_mcp_servers", method: http.MethodGet, path: path, tag: tag, do: listServers, gives: serversJSON{}, summary: "The MCP servers that toolsets and the user brought, without their secrets"},
		{op: "enable_mcp_server", method: http.MethodPost, path: path + "/{server}/enable", tag: tag, do: enableServer, body: enableBody{}, takes: jsonBody(), gives: enabledJSON{}, summary: "Switch an MCP server on or off"},
		{op: "look_at_mcp_server", method: http.MethodPost, path: path + "/{server}/look", tag: tag, do: lookAtServer, slow: true, body: lookBody{}, takes: jsonBody(), gives: lookedJSON{}, summary: "Connect to an MCP server and list what it has; with the `approve` of an answer, the tools that it showed are taken instead"},
		{op: "remove_mcp_server", method: http.MethodPost, path: path + "/{server}/remove", tag: tag, do: removeServer, status: http.StatusNoContent, summary: "Remove an MCP server that the user added"},
	}
}

// serversJSON are the MCP servers.
type serversJSON struct {
	Servers []serverJSON `json:"servers"`
}

// serverJSON is an MCP server. What is or may be a secret in its entry is left out.
type serverJSON struct {
	ID         string   `json:"id"`
	Enabled    bool     `json:"enabled"`
	Own        bool     `json:"own"` // the user added it
	DeclaredBy []string `json:"declared_by"`
	Transport  string   `json:"transport"` // stdio, http or sse
	Command    string   `json:"command,omitempty"`
	Args       []string `json:"args,omitempty"`
	URL        string   `json:"url,omitempty"`
	Env        []string `json:"env"`     // names alone
	Headers    []string `json:"headers"` // names alone
	// Tools are those that were approved.
	Tools    []catalog.ListedTool `json:"tools"`
	PinnedAt *time.Time           `json:"pinned_at,omitempty"`
	// Waiting tells that its tools are others by now, and wait for an approval.
	Waiting bool   `json:"waiting"`
	Problem string `json:"problem,omitempty"`
}

func toServer(s engine.ListedServer) serverJSON {
	out := serverJSON{
		ID: s.ID, Enabled: !s.Off(), Own: s.Own, DeclaredBy: orEmpty(s.DeclaredBy), Transport: s.Transport,
		Command: s.Config.Command, Args: s.Config.Args, URL: s.Config.URL,
		Env: orEmpty(slices.Sorted(maps.Keys(s.Config.Env))), Headers: orEmpty(slices.Sorted(maps.Keys(s.Config.Headers))),
		Tools: []catalog.ListedTool{}, PinnedAt: s.PinnedAt, Waiting: s.Waiting, Problem: s.Problem,
	}
	if s.Enabled && (out.Problem == "" || s.Off()) {
		out.Problem = s.Unusable
	}
	for _, t := range s.Tools {
		out.Tools = append(out.Tools, catalog.ServerTool(&s.MirrorServer, t.Tool))
	}
	return out
}

func listServers(s *Server, w http.ResponseWriter, r *http.Request) error {
	all, err := s.eng.ListedServers(r.Context())
	if err != nil {
		return err
	}
	out := serversJSON{Servers: []serverJSON{}}
	for _, each := range all {
		out.Servers = append(out.Servers, toServer(each))
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}

func enableServer(s *Server, w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("server")
	return s.enable(w, r, id, func(on bool) (bool, error) { return s.eng.SwitchMCPServer(r.Context(), id, on) })
}

// lookBody says which tools are taken that a look has shown: its answer's approve.
type lookBody struct {
	Approve string `json:"approve,omitempty"`
}

// lookedJSON is what came of it. Waiting tells that the changes wait for an approval,
// and approve is what approves just them. Where that is what was asked for, nothing
// connects, so there is no name and no version.
type lookedJSON struct {
	Name    string               `json:"name"`
	Version string               `json:"version"`
	Tools   []catalog.ListedTool `json:"tools"`
	Changes []registry.Change    `json:"changes"`
	Waiting bool                 `json:"waiting"`
	Approve string               `json:"approve,omitempty"`
	Notes   []string             `json:"notes"`
}

func lookAtServer(s *Server, w http.ResponseWriter, r *http.Request) error {
	var body lookBody
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	id := r.PathValue("server")
	if body.Approve != "" {
		pinned, err := s.eng.ApproveSeen(r.Context(), id, body.Approve)
		if err != nil {
			return err
		}
		writeJSON(w, http.StatusOK, lookedJSON{Tools: pinned, Changes: []registry.Change{}, Notes: []string{}})
		return nil
	}
	looked, err := s.eng.LookAtMCPServer(r.Context(), id, false)
	if err != nil {
		return err
	}
	out := lookedJSON{
		Name: looked.Report.Name, Version: looked.Report.Version, Tools: orEmpty(looked.Tools), Changes: orEmpty(looked.Changes),
		Waiting: looked.Waiting, Approve: looked.Approve, Notes: orEmpty(looked.Report.Notes),
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}

func removeServer(s *Server, w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("server")
	all, err := s.eng.ListedServers(r.Context())
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(l engine.ListedServer) bool { return l.ID == id })
	switch {
	case i < 0:
		return fault.New(fault.NotFound, "there is no MCP server "+quoted(id))
	case !all[i].Own:
		return fault.New(fault.Usage, "the MCP server "+quoted(id)+" is a toolset's, and goes with that")
	}
	if err := s.eng.RemoveMCPServer(r.Context(), id); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
