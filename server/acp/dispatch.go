package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

// request is one of the editor's that is not answered yet.
type request struct {
	id     json.RawMessage
	method string
	params json.RawMessage
	// session is whose prompt it is; empty for other requests.
	session string
	ctx     context.Context
	cancel  context.CancelCauseFunc
	// turn is what the prompt has begun. The agent's mu guards it.
	turn store.TurnID
	// cancelled tells that somebody has cancelled it before.
	cancelled bool
}

// errCancel is the cause of a request that the editor has cancelled.
var errCancel = errors.New("cancelled by the editor")

// take reads one message, and passes requests on to work. Cancels are carried out
// at once, whatever waits.
func (a *agent) take(text []byte) {
	m, id, wrong := decode(text)
	switch {
	case wrong != nil:
		a.log.Warn("a message can't be read", "error", wrong.Message)
		a.conn.respond(id, nil, wrong)
	case m.isResponse():
		a.conn.deliver(m)
	case m.isRequest():
		a.admit(m)
	case m.method == "session/cancel":
		var p sessionOnly
		if json.Unmarshal(m.params, &p) == nil && p.SessionID != "" {
			a.cancelPrompt(p.SessionID)
		}
	case m.method == "$/cancel_request":
		var p cancelRequest
		if json.Unmarshal(m.params, &p) == nil && p.RequestID != nil {
			a.cancelRequest(p.RequestID)
		}
	}
}

func (a *agent) admit(m *message) {
	r := &request{id: m.id, method: m.method, params: m.params}
	if m.method == "session/prompt" {
		var p sessionOnly
		_ = json.Unmarshal(m.params, &p) // what is wrong with it is said when its turn comes
		r.session = p.SessionID
	}
	r.ctx, r.cancel = context.WithCancelCause(a.base)
	a.mu.Lock()
	_, twice := a.inFlight[string(m.id)]
	full := len(a.inFlight) >= maxInFlight
	if !twice && !full {
		a.inFlight[string(m.id)] = r
	}
	a.mu.Unlock()
	switch {
	case twice:
		r.cancel(nil)
		a.conn.respond(m.id, nil, &rpcError{Code: codeRequest, Message: "another request has this id and is not answered yet"})
	case full:
		r.cancel(nil)
		a.conn.respond(m.id, nil, &rpcError{Code: codeInternal, Message: "too many requests wait for an answer"})
	default:
		a.queue <- r // as long as inFlight: never blocks
	}
}

// cancelPrompt cancels what a session is at. A second time it waits for nothing.
func (a *agent) cancelPrompt(session string) {
	a.mu.Lock()
	var again []store.TurnID
	for _, r := range a.inFlight {
		if r.session != session || r.method != "session/prompt" {
			continue
		}
		if r.cancelled && r.turn != "" {
			again = append(again, r.turn)
		}
		r.cancelled = true
		r.cancel(errCancel)
	}
	a.mu.Unlock()
	for _, turn := range again {
		_ = a.eng.Cancel(a.base, turn) // one that has ended needs none
	}
}

func (a *agent) cancelRequest(id json.RawMessage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r := a.inFlight[string(id)]; r != nil {
		r.cancelled = true
		r.cancel(errCancel)
	}
}

// finish answers a request. What has to be said once the editor has the answer
// goes out right behind it.
func (a *agent) finish(r *request, result any, err error, after ...func()) {
	a.mu.Lock()
	delete(a.inFlight, string(r.id))
	a.mu.Unlock()
	cancelled := context.Cause(r.ctx) != nil
	r.cancel(nil)
	if err != nil {
		wrong := a.explain(err)
		if cancelled && errors.Is(err, context.Canceled) || errors.Is(err, errCancel) || errors.Is(err, errStopping) {
			wrong = &rpcError{Code: codeCancelled, Message: "the request was cancelled"}
		}
		a.conn.respond(r.id, nil, wrong)
		return
	}
	a.conn.respond(r.id, result, nil)
	for _, f := range after {
		f()
	}
}

// work carries requests out, one after another.
func (a *agent) work() {
	for r := range a.queue {
		if context.Cause(r.ctx) != nil && r.method != "session/prompt" {
			a.finish(r, nil, errCancel)
			continue
		}
		a.carryOut(r)
	}
}

func (a *agent) carryOut(r *request) {
	defer a.catch(r)
	if r.method == "session/prompt" && a.client != nil {
		a.prompt(r)
		return
	}
	result, after, err := a.handle(r)
	a.finish(r, result, err, after)
}

// catch answers a request whose handler panicked: one that fails must not take
// the other sessions along.
func (a *agent) catch(r *request) {
	if p := recover(); p != nil {
		a.finish(r, nil, fmt.Errorf("panic in %s: %v\n%s", r.method, p, debug.Stack()))
	}
}

// handle carries out what isn't a prompt. after is what follows the answer.
func (a *agent) handle(r *request) (result any, after func(), err error) {
	none := func() {}
	if a.client == nil && r.method != "initialize" {
		return nil, none, &rpcError{Code: codeRequest, Message: "the first request has to be initialize"}
	}
	switch r.method {
	case "initialize":
		result, err = a.initialize(r.params)
	case "authenticate":
		err = &rpcError{Code: codeParams, Message: "there is no way to authenticate: fettle stores the keys of providers itself"}
	case "session/new":
		return a.newSession(r)
	case "session/load":
		return a.loadSession(r, true)
	case "session/resume":
		return a.loadSession(r, false)
	case "session/list":
		result, err = a.listSessions(r)
	case "session/close":
		result, err = a.closeSession(r)
	case "session/delete":
		result, err = a.deleteSession(r)
	case "session/set_mode":
		return a.setMode(r)
	case "session/set_config_option":
		return a.setOption(r)
	default:
		err = &rpcError{Code: codeMethod, Message: "there is no method " + sanitize.Cut(sanitize.Line(r.method), maxShownName)}
	}
	return result, none, err
}

func (a *agent) initialize(params json.RawMessage) (any, error) {
	var p initializeParams
	if err := read(params, &p); err != nil {
		return nil, err
	}
	if p.ProtocolVersion == nil {
		return nil, lacks("protocolVersion")
	}
	if _, err := p.ProtocolVersion.Int64(); err != nil {
		return nil, &rpcError{Code: codeParams, Message: "protocolVersion has to be a whole number"}
	}
	if a.client != nil {
		return nil, &rpcError{Code: codeRequest, Message: "initialize was answered before"}
	}
	a.client = &p.Capabilities
	if c := p.ClientInfo; c != nil {
		a.log.Info("an editor is here", "name", sanitize.Cut(sanitize.Line(c.Name), maxShownName), "version", sanitize.Cut(sanitize.Line(c.Version), maxShownName))
	}
	a.models.refresh(a)
	out := initializeResult{
		ProtocolVersion: protocolVersion, AuthMethods: []struct{}{},
		AgentInfo: implementation{Name: "fettle", Title: "fettle", Version: a.o.Version},
	}
	out.Capabilities.LoadSession = true
	out.Capabilities.Prompt.Image, out.Capabilities.Prompt.EmbeddedContext = true, true
	out.Capabilities.MCP.HTTP, out.Capabilities.MCP.SSE = true, true
	return out, nil
}

// read takes the parameters of a request.
func read(params json.RawMessage, into any) error {
	if len(params) == 0 || params[0] != '{' {
		return &rpcError{Code: codeParams, Message: "params has to be an object"}
	}
	err := json.Unmarshal(params, into)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong):
		return &rpcError{Code: codeParams, Message: "params." + sanitize.Cut(sanitize.Line(wrong.Field), maxShownName) + " has the wrong type: it is a " + sanitize.Line(wrong.Value)}
	case err != nil:
		return &rpcError{Code: codeParams, Message: "params can't be read"}
	}
	return nil
}

func lacks(field string) error {
	return &rpcError{Code: codeParams, Message: "params." + field + " is missing"}
}

// failure is the data of an error: what a program can go by.
type failure struct {
	Code   string   `json:"code"`
	Detail []string `json:"detail,omitempty"`
	Hints  []string `json:"hints,omitempty"`
}

// explain makes a response's error. The text of what is no fault may hold
// anything, so it is for the log alone.
func (a *agent) explain(err error) *rpcError {
	var known *rpcError
	if errors.As(err, &known) {
		return known
	}
	var f *fault.Fault
	if !errors.As(err, &f) {
		a.log.Error("a request failed", "error", err.Error())
		return &rpcError{Code: codeInternal, Message: "something went wrong here; the log on standard error says what"}
	}
	out := &rpcError{
		Code: codeInternal, Message: faultText(f.Error(), f.Detail, advice(f)),
		Data: failure{Code: string(f.Code), Detail: f.Detail, Hints: advice(f)},
	}
	switch f.Code {
	case fault.NotFound:
		out.Code = codeNotFound
	case fault.Usage:
		out.Code = codeParams
	case fault.Interrupted:
		out.Code = codeCancelled
	}
	return out
}

// faultText is a fault for a person: editors show the message of an error, and
// nothing else of it.
func faultText(msg string, detail, hints []string) string {
	for _, d := range detail {
		msg += "\n" + d
	}
	if len(hints) > 0 {
		msg += "\nnext: " + hints[0]
	}
	return msg
}
