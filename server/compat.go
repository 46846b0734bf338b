package server

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/models"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/server/dialect"
)

// agentHeader asks for an agent of fettle's in a compatible dialect, and
// agentModels begins the names of models that do: fettle/research is the agent
// research.
const (
	agentHeader = "X-Fettle-Agent"
	agentModels = "fettle/"
)

// estimateHeader marks an answer whose number of tokens is an estimate.
const estimateHeader = "X-Fettle-Estimate"

func chatCompletions(s *Server, w http.ResponseWriter, r *http.Request) error {
	return s.compat(w, r, dialect.OpenAI)
}

// createMessage is Anthropic's POST /v1/messages.
func createMessage(s *Server, w http.ResponseWriter, r *http.Request) error {
	return s.compat(w, r, dialect.Anthropic)
}

// countTokens is Anthropic's POST /v1/messages/count_tokens: the provider's own count where
// it has one, else an estimate, which a header marks.
func countTokens(s *Server, w http.ResponseWriter, r *http.Request) error {
	in, err := readWire(w, r, dialect.Anthropic)
	if err != nil {
		return err
	}
	req, err := s.compatTurn(r, in)
	if err != nil {
		return err
	}
	n, exact, err := s.eng.CountTokens(r.Context(), req)
	if err != nil {
		return refusedBy(in, err)
	}
	if !exact {
		w.Header().Set(estimateHeader, "true")
	}
	writeRaw(w, http.StatusOK, dialect.Anthropic.Form().ObjectType, dialect.AnthropicCount(n))
	return nil
}

func ollamaChat(s *Server, w http.ResponseWriter, r *http.Request) error {
	return s.compat(w, r, dialect.Ollama)
}

// compat answers a request whose client keeps the conversation: nothing of it
// stays here.
func (s *Server) compat(w http.ResponseWriter, r *http.Request, n dialect.Name) error {
	in, err := readWire(w, r, n)
	if err != nil {
		return err
	}
	if len(in.Messages) == 0 { // that is how Ollama's clients have a model loaded
		writeRaw(w, http.StatusOK, n.Form().ObjectType, dialect.OllamaLoaded(in.Options(), s.now()))
		return nil
	}
	req, err := s.compatTurn(r, in)
	if err != nil {
		return err
	}
	return s.answerTurn(w, r, in, req)
}

// compatTurn is the turn of a request whose client keeps the conversation.
func (s *Server) compatTurn(r *http.Request, in *dialect.Request) (engine.TurnRequest, error) {
	req, err := compatRequest(r, in)
	if err != nil {
		return req, err
	}
	req.Ephemeral = true
	s.prepareCompat(&req)
	return req, nil
}

// compatRequest makes the engine's request of one in a compatible dialect. A
// model is asked as the client says and with the client's tools alone; an agent
// has its own tools beside those.
func compatRequest(r *http.Request, in *dialect.Request) (engine.TurnRequest, error) {
	req, err := wireRequest(in)
	if err != nil {
		return req, err
	}
	req.System, req.Docs, req.TextAlone = systemOf(in), []string{}, true
	req.History = historyOf(in)
	if askAgent(r, &req); req.Agent == "" || req.Agent == catalog.NoAgent {
		req.Agent, req.Tools = catalog.NoAgent, []string{}
	}
	return req, nil
}

// askAgent takes an agent out of the header or the model's name.
func askAgent(r *http.Request, req *engine.TurnRequest) {
	name, ok := strings.CutPrefix(req.Model, agentModels)
	if ok {
		req.Agent, req.Model = name, ""
	}
	if asked := r.Header.Get(agentHeader); asked != "" {
		req.Agent = asked
	}
}

// prepareCompat fills in what the configuration says. Its prompt and its agent
// are for conversations that it knows: a client of another program's API says
// itself what the model is told.
func (s *Server) prepareCompat(req *engine.TurnRequest) {
	system, agent := req.System, req.Agent
	s.o.Prepare(req)
	req.System, req.Agent = system, agent
}

// answerTurn begins a turn and answers with it. Clients of these dialects cancel
// by going away, so it ends with its client.
func (s *Server) answerTurn(w http.ResponseWriter, r *http.Request, in *dialect.Request, req engine.TurnRequest) error {
	id, chat, err := s.start(r.Context(), req)
	if err != nil {
		return refusedBy(in, err)
	}
	s.log.Info("turn begun", "turn", string(id), "dialect", string(in.Dialect), "request_id", requestID(r))
	defer s.cancelUnread(r.Context(), id)
	if !in.Stream {
		return s.answerWhole(w, r, id, in)
	}
	ignored, err := s.beginning(r.Context(), id)
	if err != nil {
		return unknownModel(in.Model, err)
	}
	setIgnored(w, in, ignored)
	return s.stream(w, r, wireStream(id, chat.ID, in))
}

// anthropicPrefill is the refusal of Anthropic's API, which its clients look for.
const anthropicPrefill = "This model does not support assistant message prefill. The conversation must end with a user message."

// refusedBy returns the error of a turn that did not begin, as the dialect has it: a model
// that does not take a last message of the assistant's or that does not exist is a mistake of
// the request.
func refusedBy(in *dialect.Request, err error) error {
	if !errors.Is(err, engine.ErrPrefill) {
		return unknownModel(in.Model, err)
	}
	problem := err.Error()
	if in.Dialect == dialect.Anthropic {
		problem = anthropicPrefill + " (" + problem + ")"
	}
	return fieldFault(fault.Usage, "messages", problem)
}

// unknownModel makes a failure because no model or agent has the name of a request what
// it is for these clients: a mistake of the request, with status 404. Other errors are
// returned unchanged.
func unknownModel(name string, err error) error {
	var pu *provider.UnknownError
	var f *fault.Fault
	if !errors.As(err, &f) {
		return err
	}
	agent := strings.HasPrefix(name, agentModels) && f.Code == fault.NotFound
	refused := f.Code == fault.Unavailable && f.HTTPStatus() == http.StatusNotFound // by the provider
	switch {
	case !agent && !refused && !errors.As(err, &pu) && !errors.Is(err, models.ErrNoModel):
		return err
	case name == "" && !refused:
		return fieldFault(fault.Usage, "model", "is missing, and the server has no model to ask")
	}
	out := *f
	out.Code, out.Status, out.Err = fault.NotFound, 0, &dialect.FieldError{Field: "model", Problem: f.Msg, Model: name}
	return &out
}

// cancelUnread cancels a turn whose client has gone away; ctx may have ended with it.
func (s *Server) cancelUnread(ctx context.Context, id store.TurnID) {
	if !s.runs(id) {
		return
	}
	if err := s.eng.Cancel(context.WithoutCancel(ctx), id); err != nil && fault.CodeOf(err) != fault.NotFound {
		s.log.Warn("a turn without a client can't be cancelled", "turn", string(id), "error", clean(err.Error()))
	}
}

// beginning waits for the beginning of a turn's answer. It returns the parameters that the
// provider leaves out, and the fault of a turn that only failed: then the status of the
// response can be that of the failure. It waits no longer than a stream may be silent.
func (s *Server) beginning(ctx context.Context, id store.TurnID) (ignored []string, _ error) {
	ctx, cancel := context.WithTimeout(ctx, s.o.KeepAlive)
	defer cancel()
	for e, err := range s.eng.Follow(ctx, id, 0) {
		if err != nil {
			return ignored, nil // the stream finds out itself
		}
		switch b := e.Body.(type) {
		case event.Footnote:
			ignored = append(ignored, b.Ignored...)
		case event.Status, event.AgentStart:
		case event.Error:
			return ignored, b.Fault()
		default:
			return ignored, nil
		}
	}
	return ignored, nil
}

// answerWhole answers with one object when the turn has ended.
func (s *Server) answerWhole(w http.ResponseWriter, r *http.Request, id store.TurnID, in *dialect.Request) error {
	out := dialect.NewObject(in.Dialect, in.Options())
	var ignored []string
	for e, err := range s.eng.Follow(r.Context(), id, 0) {
		if err != nil {
			return err
		}
		if note, ok := e.Body.(event.Footnote); ok {
			ignored = append(ignored, note.Ignored...)
		}
		if out.Add(e) != nil {
			break // its body says why
		}
	}
	setIgnored(w, in, ignored)
	// The turn took as long as it took; writing has a time of its own.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(jsonTime))
	w.Header().Set("X-Fettle-Turn", string(id))
	if f := out.Failed(); f != nil {
		return unknownModel(in.Model, f)
	}
	status, body := out.Body()
	writeRaw(w, status, in.Dialect.Form().ObjectType, body)
	return nil
}

// partOf is a part as the engine has it; ok is false for one that says nothing,
// or that only an address tells of.
func partOf(p dialect.Part) (provider.Part, bool) {
	text := strings.ToValidUTF8(p.Text, "\ufffd")
	switch p.Kind {
	case dialect.Text:
		return provider.Part{Kind: provider.TextPart, Text: text, Name: clean(p.Name)}, text != ""
	case dialect.Reasoning:
		return provider.Part{Kind: provider.ReasoningPart, Text: text, Details: p.Details}, text != "" || len(p.Details) > 0
	case dialect.Image:
		return provider.Part{Kind: provider.ImagePart, Name: clean(p.Name), MIME: clean(p.MIME), Data: p.Data}, p.URL == "" && strings.HasPrefix(p.MIME, "image/")
	case dialect.File:
		return provider.Part{Kind: provider.FilePart, Name: clean(p.Name), Text: strings.ToValidUTF8(string(p.Data), "\ufffd")}, p.URL == ""
	case dialect.Call:
		name := chat.ClientToolset + ":" + p.Call.Name
		if p.Call.Ours {
			name = p.Call.Name
		}
		return provider.Part{Kind: provider.ToolCallPart, Call: &provider.ToolCall{
			ID: p.Call.ID, Name: name, Args: p.Call.Args, Extra: p.Call.Extra,
		}}, true
	case dialect.Result:
		return provider.Part{Kind: provider.ToolResultPart, Result: &provider.ToolResult{
			ID: p.Result.ID, Name: p.Result.Name, Text: strings.ToValidUTF8(p.Result.Text, "\ufffd"), Error: p.Result.Error,
			Media: resultImages(p.Result.Images),
		}}, true
	}
	return provider.Part{}, false
}

// resultImages are the images of a result as the engine has them. Those that only an
// address names are left out.
func resultImages(all []dialect.Part) []provider.Part {
	var out []provider.Part
	for _, p := range all {
		if image, ok := partOf(p); ok && image.Kind == provider.ImagePart {
			out = append(out, provider.Part{Kind: image.Kind, MIME: image.MIME, Data: image.Data})
		}
	}
	return out
}

// clientTools are the tools that came with a request, as far as its choice lets
// the model call them.
func clientTools(in *dialect.Request) []engine.ClientTool {
	var out []engine.ClientTool
	for _, t := range in.Tools {
		if in.Choice.Mode == "none" || in.Choice.Mode == "tool" && in.Choice.Name != t.Name {
			continue
		}
		out = append(out, engine.ClientTool{
			Name: t.Name, Description: t.Description, Schema: t.Schema, Strict: t.Strict, Form: in.CallForms[t.Name].JSON(),
		})
	}
	return out
}

// mustCall is what a request wants to have called, as the engine names it.
func mustCall(in *dialect.Request) string {
	switch in.Choice.Mode {
	case "required":
		return provider.AnyTool
	case "tool":
		return chat.ClientToolset + ":" + in.Choice.Name
	}
	return ""
}

// fieldFault is a fault about a field, which OpenAI's errors name.
func fieldFault(code fault.Code, field, problem string) error {
	f := fault.New(code, problem)
	f.Err = &dialect.FieldError{Field: field, Problem: problem}
	return f
}
