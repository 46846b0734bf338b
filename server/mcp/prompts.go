package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fettle-cli/fettle/engine/prompts"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

const (
	// maxPromptText bounds a filled prompt, in bytes: it is sent as one message.
	maxPromptText = 8 << 20
	// watchEvery is the time between two looks at the folders of prompts while clients
	// are connected. A look reads the names, sizes and times of the files.
	watchEvery = time.Second
	// neverRefreshed is the stamp of a server that the next look refreshes. No library has it.
	neverRefreshed = "-"
)

// offeredPrompt is a named prompt as clients see it.
type offeredPrompt struct {
	prompt *sdk.Prompt
	mark   string // changes where anything of the prompt changes that clients see
}

// offersPrompts reports whether a filter includes the user's prompts. They belong to no
// toolset, so a filter that names toolsets leaves them out.
func (h *Host) offersPrompts(filter string) bool {
	return h.o.Library != nil && filter == "" && len(h.o.Toolsets) == 0
}

// prompts returns the prompts of a filter, by name. Files that cannot be used, and those
// that a project's prompt hides, are left out.
func (h *Host) prompts(filter string) ([]offeredPrompt, error) {
	if !h.offersPrompts(filter) {
		return nil, nil
	}
	library, err := h.o.Library()
	if err != nil {
		return nil, err
	}
	entries, err := library.List()
	if err != nil {
		return nil, err
	}
	var out []offeredPrompt
	for _, e := range entries {
		if e.Err != nil || e.Hidden {
			continue
		}
		p := promptOf(e.Prompt)
		raw, err := json.Marshal(p)
		if err != nil { // it consists of strings
			return nil, err
		}
		out = append(out, offeredPrompt{p, string(raw)})
	}
	return out, nil
}

// promptOf describes a prompt. Its variables are the arguments; what else it is about is
// the argument input, which the prompt's text may or may not require.
func promptOf(p *prompts.Prompt) *sdk.Prompt {
	out := &sdk.Prompt{Name: p.Name, Description: sanitize.Text(p.Description)}
	input := sdk.PromptArgument{Name: prompts.InputName, Description: "What the prompt is about."}
	for _, v := range p.Variables {
		if v.Name == prompts.InputName {
			input.Required = v.Required
			input.Description = cmp.Or(sanitize.Text(v.Description), input.Description)
			continue
		}
		arg := &sdk.PromptArgument{Name: v.Name, Description: sanitize.Text(v.Description), Required: v.Required}
		if v.Default != "" {
			arg.Description = strings.TrimSpace(arg.Description + " (default: " + sanitize.Cut(sanitize.Line(v.Default), maxShownName) + ")")
		}
		out.Arguments = append(out.Arguments, arg)
	}
	out.Arguments = append(out.Arguments, &input)
	return out
}

// getPrompt carries out prompts/get. The file is read again, so the answer is what the
// prompt is now.
func (sv *served) getPrompt(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
	p, err := sv.loadPrompt(req.Params.Name)
	if err != nil {
		return nil, err
	}
	values := prompts.Values{Vars: map[string]string{}}
	for name, value := range req.Params.Arguments {
		if name == prompts.InputName {
			values.Input, values.Tail = value, value
		} else {
			values.Vars[name] = value
		}
	}
	text, err := p.Fill(values)
	if err == nil && len(text) > maxPromptText {
		err = fmt.Errorf("prompt %s is %d bytes long when it is filled; the limit is %d", p.Name, len(text), maxPromptText)
	}
	if err != nil {
		return nil, badArguments(err)
	}
	return &sdk.GetPromptResult{
		Description: sanitize.Text(p.Description),
		Messages:    []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: text}}},
	}, nil
}

// badArguments is an error for values that a prompt does not take.
func badArguments(err error) error {
	text := err.Error()
	var missing *prompts.MissingError
	if errors.As(err, &missing) {
		names := make([]string, len(missing.Vars))
		for i, v := range missing.Vars {
			names[i] = v.Name
		}
		text = fmt.Sprintf("prompt %s requires the arguments that are missing: %s", missing.Prompt, strings.Join(names, ", "))
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: sanitize.Line(text)}
}

// loadPrompt reads a prompt that is offered.
func (sv *served) loadPrompt(name string) (*prompts.Prompt, error) {
	if !sv.h.offersPrompts(sv.filter) {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "no prompts are offered here"}
	}
	library, err := sv.h.o.Library()
	if err != nil {
		return nil, internal(err)
	}
	p, err := library.Load(name)
	var none *prompts.NotFoundError
	switch {
	case errors.As(err, &none):
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: sanitize.Line(err.Error())}
	case err != nil:
		return nil, internal(err)
	}
	return p, nil
}

// complete carries out completion/complete: the default of a prompt's variable, where it
// begins with what was typed. Everything else has no known values.
func (sv *served) complete(_ context.Context, req *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
	out := &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: []string{}}}
	if req.Params.Ref.Type != "ref/prompt" {
		return out, nil
	}
	p, err := sv.loadPrompt(req.Params.Ref.Name)
	if err != nil {
		return nil, err
	}
	for _, v := range p.Variables {
		if v.Name == req.Params.Argument.Name && v.Default != "" && strings.HasPrefix(v.Default, req.Params.Argument.Value) {
			out.Completion.Values = append(out.Completion.Values, v.Default)
		}
	}
	out.Completion.Total = len(out.Completion.Values)
	return out, nil
}

// refreshPrompts updates the prompts of the SDK's server. The caller holds sv.mu.
func (sv *served) refreshPrompts() {
	now, err := sv.h.prompts(sv.filter)
	if err != nil {
		sv.h.log.Warn("the prompts cannot be listed", "error", sanitize.Line(err.Error()))
		return
	}
	names := map[string]bool{}
	for _, p := range now {
		names[p.prompt.Name] = true
		if sv.prompts[p.prompt.Name] != p.mark {
			sv.sdk.AddPrompt(p.prompt, sv.getPrompt)
			sv.prompts[p.prompt.Name] = p.mark
		}
	}
	for name := range sv.prompts {
		if !names[name] {
			sv.sdk.RemovePrompts(name)
			delete(sv.prompts, name)
		}
	}
}

// watch makes changes to prompts known to the clients of a server, which is why a client
// may rely on notifications and need not list again.
func (h *Host) watch(sv *served) {
	if !h.offersPrompts(sv.filter) {
		return
	}
	h.mu.Lock()
	h.watched[sv] = neverRefreshed // its client may list before a change and be notified of it
	first := !h.watching && !h.closed
	if first {
		h.watching = true
		h.calls.Add(1)
	}
	h.mu.Unlock()
	if first {
		go func() {
			defer h.calls.Done()
			h.watchPrompts()
		}()
	}
}

// watchPrompts refreshes the watched servers after each change to the prompts, until the
// host ends.
func (h *Host) watchPrompts() {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-h.base.Done():
			return
		case <-tick.C:
		}
		for _, sv := range h.outdated(h.promptStamp()) {
			sv.mu.Lock()
			sv.refreshPrompts()
			sv.mu.Unlock()
		}
	}
}

// outdated returns the watched servers that were last refreshed at another stamp, and
// notes the new one.
func (h *Host) outdated(stamp string) (all []*served) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for sv, last := range h.watched {
		if last != stamp {
			all = append(all, sv)
			h.watched[sv] = stamp
		}
	}
	return all
}

// promptStamp changes where a file of the library does.
func (h *Host) promptStamp() string {
	library, err := h.o.Library()
	if err != nil {
		return ""
	}
	return library.Stamp()
}
