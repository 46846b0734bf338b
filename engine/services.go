package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/toolset"
)

const (
	// servicesLook is how often it is looked whether the chats and toolsets of
	// services are still there: another process may have removed them.
	servicesLook = 3 * time.Second
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
	isService, usable, err := e.IsService(ctx, call.ToolID)
	s, known := e.o.Services.ServiceOf(callID)
	if err != nil || !isService && !known {
		return nil, err
	}
	out := &CallService{CallID: callID, ChatID: call.ChatID, ToolID: call.ToolID, Again: usable, Own: s.Own, Hosts: s.Hosts}
	port := 0
	out.Path, port = catalog.AddressOf(plan)
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
	if is, _, err := e.IsService(ctx, call.ToolID); err != nil || !is {
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
			if e.EndOrphans(e.base); e.stopMinding() {
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
