package server

import (
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
)

// agentsJSON are the agents that a turn can enter by.
type agentsJSON struct {
	Agents []store.Agent `json:"agents"`
	// Unusable are agents that are described and can't be used.
	Unusable []unusableAgentJSON `json:"unusable"`
}

// unusableAgentJSON is an agent that can't be used, and why.
type unusableAgentJSON struct {
	ID      string `json:"id"`
	Problem string `json:"problem"`
}

func listAgents(s *Server, w http.ResponseWriter, r *http.Request) error {
	agents, err := s.eng.AllAgents(r.Context())
	if err != nil {
		return err
	}
	out := agentsJSON{orEmpty(agents.All()), []unusableAgentJSON{}}
	for _, id := range slices.Sorted(maps.Keys(agents.Unusable())) {
		out.Unusable = append(out.Unusable, unusableAgentJSON{id, agents.Unusable()[id]})
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}

// findAgent returns the agent that a request names.
func (s *Server) findAgent(r *http.Request) (*store.Agent, error) {
	agents, err := s.eng.AllAgents(r.Context())
	if err != nil {
		return nil, err
	}
	return agents.Find(r.PathValue("agent"))
}

func getAgent(s *Server, w http.ResponseWriter, r *http.Request) error {
	a, err := s.findAgent(r)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, a)
	return nil
}

func updateAgent(s *Server, w http.ResponseWriter, r *http.Request) error {
	var body catalog.AgentFields
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	if body == (catalog.AgentFields{}) {
		return fault.New(fault.Usage, "the request changes no field; an agent has "+strings.Join(catalog.AgentFieldNames(), ", "))
	}
	if err := s.eng.SetAgent(r.Context(), r.PathValue("agent"), body); err != nil {
		return err
	}
	return getAgent(s, w, r)
}

func deleteAgent(s *Server, w http.ResponseWriter, r *http.Request) error {
	if err := s.eng.RemoveAgent(r.Context(), r.PathValue("agent")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func exportAgent(s *Server, w http.ResponseWriter, r *http.Request) error {
	a, err := s.findAgent(r)
	if err != nil {
		return err
	}
	text, err := catalog.AgentConfiguration(a)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/yaml")
	_, err = io.WriteString(w, text)
	return err
}
