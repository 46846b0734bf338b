package server

import (
	"context"
	"net/http"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/server/artifacts"
	"github.com/fettle-cli/fettle/toolset"
)

// The states of a service.
const (
	serviceRunning = "running"
	serviceEnded   = "ended"
)

// serviceJSON is the tool of a call that lives on after it.
type serviceJSON struct {
	ChatID string `json:"chat_id"`
	CallID string `json:"call_id"`
	ToolID string `json:"tool_id"`
	State  string `json:"state"` // running or ended
	Why    string `json:"why,omitempty"`
	Port   int    `json:"port,omitempty"`
	// OwnNetwork tells whether nobody but this server reaches it.
	OwnNetwork bool `json:"own_network"`
	// Again tells whether the call can be made anew, by restart_service.
	Again bool `json:"again"`
}

func serviceOf(c *engine.CallService) *serviceJSON {
	out := &serviceJSON{ChatID: c.ChatID, CallID: c.CallID, ToolID: c.ToolID, State: serviceEnded, Why: c.Why, Port: c.Port, OwnNetwork: c.Own, Again: c.Again}
	if c.Running {
		out.State = serviceRunning
	}
	return out
}

// openService gives the frame of a call the address of its service, if it is one.
func (s *Server) openService(r *http.Request, c *engine.CallService, out *artifactJSON) {
	if c == nil {
		return
	}
	out.Service, out.External, out.Problem = serviceOf(c), "", ""
	if !c.Running {
		out.Problem = "the service has ended: " + c.Why
		return
	}
	origin := s.forwards.Open(artifacts.Target{ID: c.ID, Port: c.Port, Hosts: c.Hosts}, s.hostOf(r))
	if origin == "" {
		out.Problem = noServices
		return
	}
	out.URL, out.Origin, out.Sandbox = origin+c.Path, origin, artifacts.ServiceSandbox
}

// noServices is why a service isn't shown.
const noServices = "services are shown where fettle serve and the browser are on one machine, and fettle has no certificate there: each needs a name of its own"

// callService is the service of a path's call.
func (s *Server) callService(r *http.Request) (*engine.CallService, error) {
	id, err := callOf(r)
	if err != nil {
		return nil, err
	}
	c, err := s.eng.CallService(r.Context(), id)
	if err == nil && c == nil {
		err = fault.New(fault.NotFound, "call "+id+" is of no service")
	}
	return c, err
}

func getService(s *Server, w http.ResponseWriter, r *http.Request) error {
	c, err := s.callService(r)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, serviceOf(c))
	return nil
}

func stopService(s *Server, w http.ResponseWriter, r *http.Request) error {
	c, err := s.callService(r)
	if err != nil {
		return err
	}
	if _, err := s.eng.EndService(r.Context(), c.CallID); err != nil {
		return err
	}
	if c, err = s.eng.CallService(r.Context(), c.CallID); err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, serviceOf(c))
	return nil
}

// restartBody is how a person wants a call made anew.
type restartBody struct {
	// Allow are rules of calls that need no approval. Confirm says that the client
	// answers approvals.
	Allow   []string `json:"allow,omitempty"`
	Confirm bool     `json:"confirm,omitempty"`
}

func restartService(s *Server, w http.ResponseWriter, r *http.Request) error {
	id, err := callOf(r)
	if err != nil {
		return err
	}
	var body restartBody
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	req, err := s.eng.CallAgain(r.Context(), id)
	if err != nil {
		return err
	}
	req.Policy, req.CanConfirm = permission.Policy{Allow: body.Allow}, body.Confirm
	turn, chat, err := s.startBy(r.Context(), func(ctx context.Context, onWait func(string)) (store.TurnID, error) {
		req.OnWait = onWait
		return s.eng.Start(ctx, req)
	})
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, s.turnJSON(turn, chat))
	return nil
}

// servicesJSON are the services that run.
type servicesJSON struct {
	Services []toolset.Service `json:"services"`
}

func listServices(s *Server, w http.ResponseWriter, r *http.Request) error {
	chat := r.URL.Query().Get("chat_id")
	if chat != "" && !isID(chat) {
		return fault.New(fault.NotFound, "no chat "+clean(chat))
	}
	writeJSON(w, http.StatusOK, servicesJSON{orEmpty(s.eng.Running(chat))})
	return nil
}
