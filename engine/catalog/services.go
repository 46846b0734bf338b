package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/url"
	"slices"

	"github.com/fettle-cli/fettle/engine/chat"
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

func (withoutServices) Services() []toolset.Service { return nil }

func (withoutServices) ServiceOf(string) (toolset.Service, bool) { return toolset.Service{}, false }

func (withoutServices) DialService(context.Context, string, int) (net.Conn, error) {
	return nil, errors.New("there are no services here")
}

// maxServicePath bounds what an address says beyond its port.
const maxServicePath = 2000

// Running lists the services that run, of one chat or, without one, all.
func (c *Catalog) Running(chatID string) []toolset.Service {
	all := c.o.Services.Services()
	return slices.DeleteFunc(all, func(s toolset.Service) bool { return chatID != "" && s.ChatID != chatID })
}

// DialService connects to a port of a service.
func (c *Catalog) DialService(ctx context.Context, id string, port int) (net.Conn, error) {
	return c.o.Services.DialService(ctx, id, port)
}

// AddressOf takes the address of a frame's plan apart.
func AddressOf(raw json.RawMessage) (path string, port int) {
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

// IsService tells whether a tool is a service, and whether it can be called.
func (c *Catalog) IsService(ctx context.Context, toolID string) (is, usable bool, err error) {
	if c.o.Runner == nil {
		return false, false, nil
	}
	set, err := c.ToolsetOfTool(ctx, toolID)
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

// EndOrphans ends services whose chat or toolset no longer exists, and MCP servers that
// may not be used any more.
func (c *Catalog) EndOrphans(ctx context.Context) {
	c.endMCPServers(ctx)
	gone := map[string]string{} // why, by the service's id
	for _, s := range c.o.Services.Services() {
		if why := c.orphaned(ctx, s); why != "" {
			gone[s.ID] = why
		}
	}
	for id, why := range gone {
		c.o.Services.EndServices(why, func(s toolset.Service) bool { return s.ID == id })
	}
}

// orphaned says why a service has to end; "" is that it may go on, or that nothing
// can be told just now.
func (c *Catalog) orphaned(ctx context.Context, s toolset.Service) string {
	set, err := c.oneToolset(ctx, s.ToolsetID)
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
	err = c.store.View(ctx, func(tx *kv.Tx) (err error) {
		chat, err = c.store.Tables.Chats.Get(tx, kv.Str(s.ChatID))
		return err
	})
	if err == nil && chat.DeletedAt != nil {
		return "its chat was deleted"
	}
	return "" // a chat whose first turn isn't folded has no record yet
}
