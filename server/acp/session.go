package acp

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

// session is a chat that an editor has open.
type session struct {
	id  string // the chat's
	cwd string // absolute

	mu sync.Mutex
	// begun tells that there is a chat; before that the first prompt makes it.
	begun bool
	// busy tells that a prompt runs.
	busy bool
	// model is the Ref that was chosen; empty leaves the choice to fettle.
	model string
	// answered is the model that spoke last.
	answered string
	// agent is an agent's id or engine.NoAgent.
	agent  string
	effort provider.Effort // empty is the configuration's, then the model's
	// inTerminal runs commands in the editor's terminal; shown are the terminals of calls
	// that have not ended, by the calls' ids.
	inTerminal bool
	shown      map[string]string
	// approvals is the chat's mode, plan that it is in plan mode; modeChosen is set once the
	// editor has chosen either.
	approvals  permission.Mode
	plan       bool
	modeChosen bool
	// denied are rules of calls that the person wants rejected without being asked.
	denied  []string
	servers []mcpServer

	// known tells that the editor has the session's id. The agent's mu guards it.
	known bool
	// listed says which list of models it was told when it was opened. It is of the
	// goroutine that opens sessions.
	listed int
}

// choice is what a session's prompts are asked with, at one moment.
type choice struct {
	model, answered, agent string
	effort                 provider.Effort
	inTerminal             bool
	approvals              permission.Mode
	plan, modeChosen       bool
}

func (s *session) choice() choice {
	s.mu.Lock()
	defer s.mu.Unlock()
	return choice{s.model, s.answered, s.agent, s.effort, s.inTerminal, s.approvals, s.plan, s.modeChosen}
}

// take gives the right to run a prompt. leave gives it back.
func (s *session) take() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy {
		return false
	}
	s.busy = true
	return true
}

func (s *session) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy = false
}

// chat says which chat a turn of the session belongs to.
func (s *session) chat() store.ChatRef {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.begun {
		return store.ChatRef{ID: s.id}
	}
	return store.ChatRef{New: s.id}
}

// began notes that there is a chat, and tells whether that is news.
func (s *session) began() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := !s.begun
	s.begun = true
	return first
}

// deny remembers a rule for as long as the session is open.
func (s *session) deny(rule string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if rule != "" && !slices.Contains(s.denied, rule) {
		s.denied = append(s.denied, rule)
	}
}

func (s *session) denies(rule string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return rule != "" && slices.Contains(s.denied, rule)
}

// rules are those that a turn is begun with.
func (s *session) rules() permission.Policy {
	s.mu.Lock()
	defer s.mu.Unlock()
	return permission.Policy{Deny: slices.Clone(s.denied)}
}

// session finds an open session.
func (a *agent) session(id string) (*session, error) {
	if id == "" {
		return nil, lacks("sessionId")
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.sessions[id]
	if s == nil {
		return nil, &rpcError{Code: codeNotFound, Message: "no session " + sanitize.Cut(sanitize.Line(id), maxShownName) + " is open; session/load opens one"}
	}
	return s, nil
}

func (a *agent) keep(s *session) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sessions[s.id] = s
}

// forget closes a session, and tells what it was.
func (a *agent) forget(id string) *session {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.sessions[id]
	delete(a.sessions, id)
	return s
}

// folder checks the folder of a session.
func (a *agent) folder(cwd string) (string, error) {
	switch {
	case cwd == "":
		return "", lacks("cwd")
	case !filepath.IsAbs(cwd):
		return "", &rpcError{Code: codeParams, Message: "params.cwd has to be an absolute path"}
	}
	cwd = filepath.Clean(cwd)
	if err := a.eng.CheckWorkspace(cwd); err != nil {
		var f *fault.Fault
		if errors.As(err, &f) {
			return "", f
		}
		return "", &rpcError{Code: codeParams, Message: "fettle can't work in this folder: " + sanitize.Line(err.Error()) + "; open the folder of a project"}
	}
	return cwd, nil
}

// sameFolder tells whether two paths are one folder.
func sameFolder(a, b string) bool {
	if a == b {
		return true
	}
	ia, errA := os.Stat(a)
	ib, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(ia, ib)
}

func (a *agent) newSession(r *request) (any, func(), error) {
	var p sessionParams
	if err := read(r.params, &p); err != nil {
		return nil, nil, err
	}
	cwd, err := a.folder(p.CWD)
	if err != nil {
		return nil, nil, err
	}
	servers, err := readServers(p.MCPServers)
	if err != nil {
		return nil, nil, err
	}
	s := &session{id: a.eng.NewChatID(), cwd: cwd, model: a.o.Model, agent: catalog.NoAgent, servers: servers}
	if err := a.startUsualAgent(r, s); err != nil {
		a.eng.DropChatID(s.id)
		return nil, nil, err
	}
	result, err := a.settings(r.ctx, s)
	if err != nil {
		a.eng.DropChatID(s.id)
		return nil, nil, err
	}
	result.SessionID = s.id
	a.keep(s)
	return result, func() { a.introduce(s) }, nil
}

// introduce says what belongs to a session, once the editor knows it.
func (a *agent) introduce(s *session) {
	a.mu.Lock()
	s.known = true
	a.mu.Unlock()
	a.sayCommands(s)
	if a.models.changed() != s.listed { // while nobody knew the session
		a.sayOptions(s)
	}
}

// startUsualAgent makes a new session begin with the agent that the configuration or a
// toolset has for new chats, if there is one.
func (a *agent) startUsualAgent(r *request, s *session) error {
	id := a.o.Agent
	if id == "" {
		var err error
		if id, err = a.eng.EntryAgent(r.ctx); err != nil {
			return err
		}
	}
	return a.startAgent(r, s, id)
}

// startAgent sets the agent of a session, if there is such a one.
func (a *agent) startAgent(r *request, s *session, id string) error {
	if id == "" || id == catalog.NoAgent {
		return nil
	}
	all, err := a.eng.AllAgents(r.ctx)
	if err != nil {
		return err
	}
	found, err := all.Find(id)
	if err != nil {
		return err
	}
	s.agent = found.ID
	return nil
}

// loadSession opens the session of a chat that is there, and replays it where the
// editor wants that.
func (a *agent) loadSession(r *request, replay bool) (any, func(), error) {
	var p sessionParams
	if err := read(r.params, &p); err != nil {
		return nil, nil, err
	}
	if p.SessionID == "" {
		return nil, nil, lacks("sessionId")
	}
	cwd, err := a.folder(p.CWD)
	if err != nil {
		return nil, nil, err
	}
	servers, err := readServers(p.MCPServers)
	if err != nil {
		return nil, nil, err
	}
	s, err := a.opened(r, p.SessionID, cwd)
	if err != nil {
		return nil, nil, err
	}
	s.mu.Lock()
	s.servers = servers
	s.mu.Unlock()
	if replay && s.chat().New == "" {
		if err := a.replay(r.ctx, s); err != nil {
			return nil, nil, err
		}
	}
	result, err := a.settings(r.ctx, s)
	if err != nil {
		return nil, nil, err
	}
	a.keep(s)
	return result, func() { a.introduce(s) }, nil
}

// opened gives the session of an id: one that is open already, or one of a chat.
func (a *agent) opened(r *request, id, cwd string) (*session, error) {
	a.mu.Lock()
	s := a.sessions[id]
	a.mu.Unlock()
	if s != nil {
		if !sameFolder(s.cwd, cwd) {
			return nil, elsewhere(s.cwd)
		}
		return s, nil
	}
	chat, err := a.bound(r, id, cwd)
	if err != nil {
		return nil, err
	}
	s = &session{id: chat.ID, cwd: chat.Workspace, begun: true, model: chat.Model, agent: catalog.NoAgent, approvals: chat.Approvals, plan: chat.Plan}
	if err := a.startAgent(r, s, chat.Agent); err != nil {
		a.log.Warn("the chat's agent is gone", "chat", chat.Number, "error", err.Error())
	}
	return s, nil
}

func elsewhere(dir string) error {
	return &rpcError{Code: codeParams, Message: "the session works in another folder: " + sanitize.Line(dir)}
}

// bound finds the chat of a session, which has to work in the editor's folder.
func (a *agent) bound(r *request, id, cwd string) (chat.Chat, error) {
	chat, err := a.eng.FindChat(r.ctx, store.ChatRef{ID: id})
	switch {
	case fault.CodeOf(err) == fault.NotFound && !strings.Contains(err.Error(), "deleted"):
		return chat, &rpcError{Code: codeNotFound, Message: "there is no session " + sanitize.Cut(sanitize.Line(id), maxShownName)}
	case err != nil:
		return chat, err
	case chat.Workspace == "":
		return chat, &rpcError{Code: codeParams, Message: "the chat works in a folder of its own, not in one that an editor can open"}
	case !sameFolder(chat.Workspace, cwd):
		return chat, elsewhere(chat.Workspace)
	}
	return chat, nil
}

// closeSession ends what a session is at, and forgets it here. Its chat stays.
func (a *agent) closeSession(r *request) (any, error) {
	var p sessionOnly
	if err := read(r.params, &p); err != nil {
		return nil, err
	}
	s, err := a.session(p.SessionID)
	if err != nil {
		return nil, err
	}
	a.forget(s.id)
	a.cancelPrompt(s.id)
	if s.chat().New != "" && !s.working() {
		a.eng.DropChatID(s.id)
	}
	return struct{}{}, nil
}

func (s *session) working() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.busy
}

// deleteSession puts the chat of a session among those that can be restored
// (fettle chats restore).
func (a *agent) deleteSession(r *request) (any, error) {
	var p sessionOnly
	if err := read(r.params, &p); err != nil {
		return nil, err
	}
	if p.SessionID == "" {
		return nil, lacks("sessionId")
	}
	a.mu.Lock()
	open := a.sessions[p.SessionID]
	a.mu.Unlock()
	if open != nil && open.working() {
		return nil, &rpcError{Code: codeRequest, Message: "the session has a prompt that runs; session/cancel ends it"}
	}
	if open != nil && open.chat().New != "" { // nothing was asked in it
		a.forget(open.id)
		a.eng.DropChatID(open.id)
		return struct{}{}, nil
	}
	chat, err := a.eng.FindChat(r.ctx, store.ChatRef{ID: p.SessionID})
	if err != nil {
		if fault.CodeOf(err) == fault.NotFound {
			return struct{}{}, nil // gone already, which is what was wanted
		}
		return nil, err
	}
	if chat.Workspace == "" {
		return nil, &rpcError{Code: codeNotFound, Message: "there is no session " + sanitize.Cut(sanitize.Line(p.SessionID), maxShownName)}
	}
	if err := a.eng.DeleteChats(r.ctx, chat); err != nil {
		return nil, err
	}
	a.forget(p.SessionID)
	return struct{}{}, nil
}
