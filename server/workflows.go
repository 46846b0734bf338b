package server

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/engine/store"
)

// workflowsJSON are the workflows that can be started.
type workflowsJSON struct {
	Workflows []store.Workflow `json:"workflows"`
}

func listWorkflows(s *Server, w http.ResponseWriter, r *http.Request) error {
	all, err := s.eng.AllWorkflows(r.Context())
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, workflowsJSON{orEmpty(all)})
	return nil
}

func getWorkflow(s *Server, w http.ResponseWriter, r *http.Request) error {
	found, err := s.eng.FindWorkflow(r.Context(), r.PathValue("workflow"))
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, found)
	return nil
}

// instancesJSON are the workflows that were started, the last one first.
type instancesJSON struct {
	Instances []store.WorkflowInstance `json:"instances"`
}

func listInstances(s *Server, w http.ResponseWriter, r *http.Request) error {
	all, err := s.eng.WorkflowInstances(r.Context())
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, instancesJSON{orEmpty(all)})
	return nil
}

func getInstance(s *Server, w http.ResponseWriter, r *http.Request) error {
	id, err := instanceOf(r)
	if err != nil {
		return err
	}
	i, err := s.eng.WorkflowInstance(r.Context(), id)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, i)
	return nil
}

// instanceOf is the instance of a path. What people call one otherwise is for
// the shell.
func instanceOf(r *http.Request) (string, error) {
	id := r.PathValue("instance")
	if !isID(id) {
		return "", fault.New(fault.NotFound, "no workflow instance "+clean(id))
	}
	return id, nil
}

// workflowBody is what a workflow is started with.
type workflowBody struct {
	Input json.RawMessage `json:"input,omitempty"`
	// ConversationID is the number of the chat that it runs in, ChatID its id;
	// neither begins a chat.
	ConversationID int64  `json:"conversation_id,omitempty"`
	ChatID         string `json:"chat_id,omitempty"`
	stepChoices
}

// stepChoices are what the turn of a workflow's steps may choose.
type stepChoices struct {
	Model   string   `json:"model,omitempty"`
	Allow   []string `json:"allow,omitempty"`
	Confirm bool     `json:"confirm,omitempty"`
	Reviews bool     `json:"reviews,omitempty"`
}

func (c stepChoices) request() engine.TurnRequest {
	return engine.TurnRequest{Model: c.Model, Policy: permission.Policy{Allow: c.Allow}, CanConfirm: c.Confirm, CanReview: c.Confirm && c.Reviews}
}

// instanceJSON is a workflow that was started or goes on, and the turn that runs
// its steps.
type instanceJSON struct {
	InstanceID string   `json:"instance_id"`
	Turn       turnJSON `json:"turn"`
}

func startWorkflow(s *Server, w http.ResponseWriter, r *http.Request) error {
	var body workflowBody
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	req := body.request()
	switch {
	case body.ConversationID != 0 && body.ChatID != "":
		return fault.New(fault.Usage, "conversation_id and chat_id name a chat twice")
	case body.ChatID != "" && !isID(body.ChatID):
		return fault.New(fault.NotFound, "no chat "+clean(body.ChatID))
	}
	req.Chat = store.ChatRef{Number: body.ConversationID, ID: body.ChatID}
	return s.runSteps(w, r, req, func(ctx context.Context, req engine.TurnRequest) (string, store.TurnID, error) {
		return s.eng.StartWorkflow(ctx, r.PathValue("workflow"), body.Input, req)
	})
}

// actBody is how a workflow goes on.
type actBody struct {
	Action string `json:"action"` // continue or retry
	stepChoices
}

func actWorkflow(s *Server, w http.ResponseWriter, r *http.Request) error {
	var body actBody
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	instance, err := instanceOf(r)
	if err != nil {
		return err
	}
	req := body.request()
	// The chat is the instance's: what only begins one is left out.
	req.Chat = store.ChatRef{ID: instance}
	return s.runSteps(w, r, req, func(ctx context.Context, req engine.TurnRequest) (string, store.TurnID, error) {
		id, err := s.eng.ActWorkflow(ctx, instance, body.Action, req)
		return instance, id, err
	})
}

// runSteps begins the turn of a workflow and says where its stream is.
func (s *Server) runSteps(
	w http.ResponseWriter, r *http.Request, req engine.TurnRequest,
	begin func(context.Context, engine.TurnRequest) (string, store.TurnID, error),
) error {
	s.o.Prepare(&req)
	instance := ""
	id, chat, err := s.startBy(r.Context(), func(ctx context.Context, onWait func(string)) (id store.TurnID, err error) {
		req.OnWait = onWait
		instance, id, err = begin(ctx, req)
		return id, err
	})
	if err != nil {
		return err
	}
	s.log.Info("workflow runs", "instance", instance, "turn", string(id), "chat", chat.Number, "request_id", requestID(r))
	turn := s.turnJSON(id, chat)
	w.Header().Set("Location", turn.Events)
	writeJSON(w, http.StatusAccepted, instanceJSON{instance, turn})
	return nil
}

func cancelWorkflow(s *Server, w http.ResponseWriter, r *http.Request) error {
	id, err := instanceOf(r)
	if err != nil {
		return err
	}
	i, err := s.eng.CancelWorkflow(r.Context(), id)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, i)
	return nil
}
