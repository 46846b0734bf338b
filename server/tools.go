package server

import (
	"errors"
	"net/http"
	"time"

	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/models"
	"github.com/fettle-cli/fettle/engine/provider"
)

// toolsJSON are tools in their groups: builtin, by toolset, by MCP server.
type toolsJSON struct {
	Groups []catalog.ToolGroup `json:"groups"`
}

func listTools(s *Server, w http.ResponseWriter, r *http.Request) error {
	groups, err := s.eng.ToolGroups(r.Context())
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, toolsJSON{orEmpty(groups)})
	return nil
}

// toolJSON is a tool with the group that it is of.
type toolJSON struct {
	Group string             `json:"group"`
	Kind  string             `json:"kind"`
	Tool  catalog.ListedTool `json:"tool"`
}

func getTool(s *Server, w http.ResponseWriter, r *http.Request) error {
	groups, err := s.eng.ToolGroups(r.Context())
	if err != nil {
		return err
	}
	g, t, err := catalog.FindTool(groups, r.PathValue("tool"))
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, toolJSON{g.ID, g.Kind, t})
	return nil
}

// getAvailableTools lists what a turn can be offered now: what is switched off or
// broken is left out.
func getAvailableTools(s *Server, w http.ResponseWriter, r *http.Request) error {
	groups, err := s.eng.ToolGroups(r.Context())
	if err != nil {
		return err
	}
	out := toolsJSON{Groups: []catalog.ToolGroup{}}
	for _, g := range groups {
		if !g.Enabled || g.Problem != "" {
			continue
		}
		usable := g
		usable.Tools = nil
		for _, t := range g.Tools {
			if t.Enabled && t.Problem == "" {
				usable.Tools = append(usable.Tools, t)
			}
		}
		if len(usable.Tools) > 0 {
			out.Groups = append(out.Groups, usable)
		}
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}

// modelsJSON are the models of all providers.
type modelsJSON struct {
	Models    []modelJSON    `json:"models"`
	Providers []providerJSON `json:"providers"`
}

// modelJSON is a model; what nobody told is null.
type modelJSON struct {
	Model         string `json:"model"` // provider/name
	Provider      string `json:"provider"`
	Name          string `json:"name"`
	ContextLength *int   `json:"context_length"`
	Tools         *bool  `json:"tools"`
	Images        *bool  `json:"images"`
	Thinking      *bool  `json:"thinking"`
	Schema        *bool  `json:"schema"`
	// Efforts are the reasoning levels that the model takes; left out where they are unknown.
	Efforts []provider.Effort `json:"efforts,omitempty"`
	Details string            `json:"details,omitempty"`
	Local   bool              `json:"local"`
}

// providerJSON is where models come from, or why none do.
type providerJSON struct {
	Provider string     `json:"provider"`
	Local    bool       `json:"local"`
	AskedAt  *time.Time `json:"asked_at,omitempty"`
	Error    string     `json:"error,omitempty"`
	NotReady string     `json:"not_ready,omitempty"`
}

func known(k provider.Known) *bool {
	if k == provider.Unknown {
		return nil
	}
	yes := k == provider.Yes
	return &yes
}

func toModel(m models.Model) modelJSON {
	out := modelJSON{
		Model: m.Ref(), Provider: m.Provider, Name: m.Name, Tools: known(m.Tools), Images: known(m.Images),
		Thinking: known(m.Thinking), Schema: known(m.Schema), Efforts: m.Efforts.List(), Details: m.Details, Local: m.Local,
	}
	if m.ContextLength > 0 {
		out.ContextLength = &m.ContextLength
	}
	return out
}

func listModels(s *Server, w http.ResponseWriter, r *http.Request) error {
	refresh, err := boolParam(r, "refresh")
	if err != nil {
		return err
	}
	lists, err := s.models.List(r.Context(), models.Query{Providers: r.URL.Query()["provider"], Refresh: refresh})
	var unknown *provider.UnknownError
	if errors.As(err, &unknown) {
		return fault.Wrap(fault.NotFound, "list the models", err)
	}
	if err != nil {
		return err
	}
	out := modelsJSON{Models: []modelJSON{}, Providers: []providerJSON{}}
	for _, l := range lists {
		p := providerJSON{Provider: l.Provider, Local: l.Local, NotReady: l.NotReady}
		if !l.Asked.IsZero() {
			p.AskedAt = &l.Asked
		}
		if l.Err != nil && l.NotReady == "" {
			_, body := explain(models.Explain(l.Provider+"/", l.Err))
			p.Error = body.Message
		}
		out.Providers = append(out.Providers, p)
		for _, m := range l.Models {
			out.Models = append(out.Models, toModel(m))
		}
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}
