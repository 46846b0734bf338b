package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"time"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/render"
)

// Services are the processes of tools that live on after their calls. Whoever made
// it ends it, after the Engine was closed.
type Services interface {
	store.FolderServices
	// Services lists those that live, the oldest first.
	Services() []toolset.Service
	// ServiceOf finds the one that served a call, also for a while after its end.
	ServiceOf(callID string) (toolset.Service, bool)
	// DialService connects to a port that a result of the service has named.
	DialService(ctx context.Context, id string, port int) (net.Conn, error)
}

// withoutServices is for engines without any.
type withoutServices struct{ store.NoServices }

func (withoutServices) Services() []toolset.Service              { return nil }
func (withoutServices) ServiceOf(string) (toolset.Service, bool) { return toolset.Service{}, false }
func (withoutServices) DialService(context.Context, string, int) (net.Conn, error) {
	return nil, errors.New("there are no services here")
}

const (
	// servicesLook is how often it is looked whether the chats and toolsets of
	// services are still there: another process may have removed them.
	servicesLook = 3 * time.Second
	// maxServicePath bounds what an address says beyond its port.
	maxServicePath = 2000
)

// CallService is what has become of the service of a call.
type CallService struct {
	CallID, ChatID, ToolID string
	// Running tells whether it can be reached now; ID and Port are by what.
	Running bool
	ID      string
	Port    int
	// Why says why it isn't running.
	Why string
	// Path is the way from its root that the call's plan names, with its query.
	Path string
	// Own and Hosts are the service's.
	Own   bool
	Hosts []string
	// Again tells whether the same call can be made anew.
	Again bool
}

// Running lists the services that run, of one chat or, without one, all.
func (e *Engine) Running(chatID string) []toolset.Service {
	all := e.o.Services.Services()
	return slices.DeleteFunc(all, func(s toolset.Service) bool { return chatID != "" && s.ChatID != chatID })
}

// DialService connects to a port of a service.
func (e *Engine) DialService(ctx context.Context, id string, port int) (net.Conn, error) {
	return e.o.Services.DialService(ctx, id, port)
}

// CallService returns the service of a call, at the address that the call's plan names;
// nil where its tool is not a service.
func (e *Engine) CallService(ctx context.Context, callID string) (*CallService, error) {
	return e.serviceAt(ctx, callID, nil)
}

// PayloadService returns the service of the call that gave a payload, at the address that
// the payload's plan names; nil where there is none.
func (e *Engine) PayloadService(ctx context.Context, p chat.ShownPayload, plan json.RawMessage) (*CallService, error) {
	if p.CallID == "" {
		return nil, nil
	}
	return e.serviceAt(ctx, p.CallID, plan)
}

// serviceAt returns the service of a call at the address of a plan; nil is the call's own.
func (e *Engine) serviceAt(ctx context.Context, callID string, plan json.RawMessage) (*CallService, error) {
	call, err := e.toolCall(ctx, callID)
	if err != nil {
		return nil, err
	}
	if plan == nil {
		plan = call.RenderPlan
	}
	isService, usable, err := e.isService(ctx, call.ToolID)
	s, known := e.o.Services.ServiceOf(callID)
	if err != nil || !isService && !known {
		return nil, err
	}
	out := &CallService{CallID: callID, ChatID: call.ChatID, ToolID: call.ToolID, Again: usable, Own: s.Own, Hosts: s.Hosts}
	port := 0
	out.Path, port = addressOf(plan)
	out.ID, out.Port = s.ID, s.Port(callID)
	switch {
	case !known:
		out.Why = "it ended with the fettle that ran it"
	case s.Ended != nil:
		out.Why = s.Ended.Why
	case out.Port == 0:
		out.Why = "its result named no port"
	case port != 0 && port != out.Port && !slices.Contains(s.Ports, port):
		out.Why = fmt.Sprintf("its renderer shows port %d, which no result of it has named", port)
	default:
		out.Running = true
		if port != 0 {
			out.Port = port
		}
	}
	return out, nil
}

// addressOf takes the address of a frame's plan apart.
func addressOf(raw json.RawMessage) (path string, port int) {
	var plan render.Plan
	var config struct {
		URL string `json:"url"`
	}
	if json.Unmarshal(raw, &plan) != nil || plan.Renderer != toolset.RenderFrame || json.Unmarshal(plan.Config, &config) != nil {
		return "/", 0
	}
	u, ok := toolset.LocalAddress(config.URL)
	if !ok {
		return "/", 0
	}
	port, _ = toolset.ServicePort(json.RawMessage(`{"port":"` + u.Port() + `"}`))
	at := url.URL{Path: u.Path, RawPath: u.RawPath, RawQuery: u.RawQuery, Fragment: u.Fragment}
	if path = at.String(); len(path) > maxServicePath || len(path) == 0 || path[0] != '/' {
		return "/", port
	}
	return path, port
}

// isService tells whether a tool is a service, and whether it can be called.
func (e *Engine) isService(ctx context.Context, toolID string) (is, usable bool, err error) {
	if e.o.Runner == nil {
		return false, false, nil
	}
	set, err := e.toolsetOfTool(ctx, toolID)
	if err != nil || set == nil {
		return false, false, err
	}
	for j := range set.Tools {
		if t := &set.Tools[j]; t.Tool.ID == toolID {
			return t.Service, set.Usable() && t.Usable(), nil
		}
	}
	return false, false, nil
}

// EndService ends the service of a call, for a person who wants that. It tells
// whether it ran.
func (e *Engine) EndService(ctx context.Context, callID string) (bool, error) {
	if _, err := e.toolCall(ctx, callID); err != nil {
		return false, err
	}
	s, known := e.o.Services.ServiceOf(callID)
	if !known || s.Ended != nil {
		return false, nil
	}
	ended := e.o.Services.EndServices("you stopped it", func(other toolset.Service) bool { return other.ID == s.ID })
	return len(ended) > 0, nil
}

// CallAgain is the turn that makes a call of a service anew, as the person's own
// doing; policy decides as ever.
func (e *Engine) CallAgain(ctx context.Context, callID string) (TurnRequest, error) {
	call, err := e.toolCall(ctx, callID)
	if err != nil {
		return TurnRequest{}, err
	}
	if is, _, err := e.isService(ctx, call.ToolID); err != nil || !is {
		return TurnRequest{}, errors.Join(err, fault.New(fault.Usage, call.ToolID+" is no service"))
	}
	return TurnRequest{
		Chat: store.ChatRef{ID: call.ChatID}, Title: call.ToolID, Calls: []DirectCall{{Tool: call.ToolID, Args: call.Args}},
	}, nil
}

// mindServices looks after the services that there are, as long as there are any.
func (e *Engine) mindServices() {
	if len(e.o.Services.Services()) == 0 {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed || e.minding {
		return
	}
	e.minding = true
	e.wg.Add(1)
	go func() {
		defer e.wg.Done()
		look := time.NewTicker(servicesLook)
		defer look.Stop()
		for {
			select {
			case <-e.base.Done():
				return
			case <-look.C:
			}
			if e.endOrphans(e.base); e.stopMinding() {
				return
			}
		}
	}()
}

// stopMinding tells whether there is nothing left to look after.
func (e *Engine) stopMinding() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.minding = len(e.o.Services.Services()) > 0
	return !e.minding
}

// endOrphans ends services whose chat or toolset no longer exists, and MCP servers that
// may not be used any more.
func (e *Engine) endOrphans(ctx context.Context) {
	e.endMCPServers(ctx)
	gone := map[string]string{} // why, by the service's id
	for _, s := range e.o.Services.Services() {
		if why := e.orphaned(ctx, s); why != "" {
			gone[s.ID] = why
		}
	}
	for id, why := range gone {
		e.o.Services.EndServices(why, func(s toolset.Service) bool { return s.ID == id })
	}
}

// orphaned says why a service has to end; "" is that it may go on, or that nothing
// can be told just now.
func (e *Engine) orphaned(ctx context.Context, s toolset.Service) string {
	set, err := e.oneToolset(ctx, s.ToolsetID)
	switch {
	case err != nil:
		return ""
	case set == nil:
		return "its toolset was removed"
	case !set.Usable():
		return "its toolset was switched off"
	case set.Revision != s.Revision:
		return "its toolset was updated"
	}
	for _, t := range set.Tools {
		if t.Tool.ID == s.ToolID && !t.Usable() {
			return "its tool was switched off"
		}
	}
	var chat *chat.Chat
	err = e.View(ctx, func(tx *kv.Tx) (err error) {
		chat, err = e.Tables.Chats.Get(tx, kv.Str(s.ChatID))
		return err
	})
	if err == nil && chat.DeletedAt != nil {
		return "its chat was deleted"
	}
	return "" // a chat whose first turn isn't folded has no record yet
}
