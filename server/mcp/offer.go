package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

// offer is what a filter comes to.
type offer struct {
	made  time.Time
	known bool // the filter names groups that there are
	tools []offered
	pages []page
}

// offered is a tool of ours as clients see it.
type offered struct {
	tool *sdk.Tool
	// mark changes where anything of the tool does.
	mark string
	// id is the tool's, agent that of an agent; one is set.
	id, agent string
	// data says that the tool promises structured content.
	data bool
	page string // the URI of its page, if it has one
}

// page is the html renderer of one tool or more.
type page struct {
	uri, toolID, name string
}

// offerAge is how long an offer is taken for new: listing is a read of the store,
// and a client that begins asks for several lists at once.
const offerAge = 500 * time.Millisecond

// offer gives what the filter comes to now.
func (h *Host) offer(ctx context.Context, filter string) (*offer, error) {
	now := h.o.Now()
	h.mu.Lock()
	have := h.offers[filter]
	h.mu.Unlock()
	if have != nil && now.Sub(have.made) < offerAge && !now.Before(have.made) {
		return have, nil
	}
	groups, err := h.eng.ToolGroups(ctx)
	if err != nil {
		return nil, err
	}
	agents, err := h.eng.AllAgents(ctx)
	if err != nil {
		return nil, err
	}
	out := h.makeOffer(filter, groups, agents)
	out.made = now
	if out.known { // what a client makes up is not remembered
		h.mu.Lock()
		h.offers[filter] = out
		h.mu.Unlock()
	}
	return out, nil
}

// wanted tells whether a filter has a group: all that Options name, and of these
// the one that an address names.
func (h *Host) wanted(filter, kind, id string) bool {
	if len(h.o.Toolsets) > 0 && !slices.Contains(h.o.Toolsets, id) {
		return false
	}
	if filter != "" {
		return filter == id
	}
	return len(h.o.Toolsets) > 0 || kind != "mcp_server"
}

func (h *Host) makeOffer(filter string, groups []catalog.ToolGroup, agents *catalog.Agents) *offer {
	out := &offer{known: filter == ""}
	var tools []catalog.ListedTool
	for _, g := range groups {
		if !h.wanted(filter, g.Kind, g.ID) {
			continue
		}
		out.known = true
		if !g.Enabled || g.Problem != "" {
			continue
		}
		for _, t := range g.Tools {
			if t.Enabled && t.Problem == "" {
				tools = append(tools, t)
			}
		}
	}
	slices.SortFunc(tools, func(a, b catalog.ListedTool) int { return cmp.Compare(a.ID, b.ID) })
	taken := map[string]bool{}
	has := func(name string) bool { return taken[name] }
	for i := range tools {
		name := uniqueName("", tools[i].ID, has)
		taken[name] = true
		if t, ok := out.toolOf(&tools[i], name); ok {
			out.tools = append(out.tools, t)
		}
	}
	for _, a := range sortedAgents(agents) {
		if !h.wanted(filter, "agent", a.ToolsetID) {
			continue
		}
		out.known = true
		name := uniqueName(agentPrefix, a.ID, has)
		taken[name] = true
		out.tools = append(out.tools, agentTool(&a, name))
	}
	return out
}

func sortedAgents(agents *catalog.Agents) []store.Agent {
	all := slices.Clone(agents.All())
	slices.SortFunc(all, func(a, b store.Agent) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// toolOf is a tool for clients. ok is false for one whose schema no client could
// use, which its toolset's check has told.
func (o *offer) toolOf(t *catalog.ListedTool, name string) (offered, bool) {
	input, ok := objectSchema(t.InputSchema)
	if !ok {
		return offered{}, false
	}
	yes := func(b bool) *bool { return &b }
	out := offered{id: t.ID, tool: &sdk.Tool{
		Name: name, Title: sanitize.Line(t.Name), Description: sanitize.Text(t.Description), InputSchema: input,
		Annotations: &sdk.ToolAnnotations{
			Title: sanitize.Line(t.Name), ReadOnlyHint: !t.Reach.Writes, DestructiveHint: yes(t.Reach.Destructive),
			IdempotentHint: t.Annotations.Idempotent, OpenWorldHint: yes(t.Reach.Outside()),
		},
	}}
	if promise, ok := objectSchema(t.OutputSchema); ok && len(t.OutputSchema) > 0 && saysObject(t.OutputSchema) {
		out.tool.OutputSchema, out.data = promise, true
	}
	if r := t.Renderer; r != nil && r.Type == "html" && r.Artifact != "" && t.ToolsetID != "" {
		out.page = o.pageOf(t, r.Artifact)
		out.tool.Meta = sdk.Meta{
			"ui":             map[string]any{"resourceUri": out.page, "visibility": []string{"model", "app"}},
			"ui/resourceUri": out.page, // as hosts read it that are older than the field before
		}
	}
	return out.marked(), true
}

func (o offered) marked() offered {
	raw, err := json.Marshal(o.tool)
	if err != nil { // it is made of strings and of JSON that was read before
		raw = nil
	}
	o.mark = string(raw) + o.id + o.agent
	return o
}

// pageOf gives the address of a tool's page, and notes the page.
func (o *offer) pageOf(t *catalog.ListedTool, artifact string) string {
	name := strings.TrimPrefix(artifact, "$toolset/")
	if !strings.HasSuffix(name, ".html") {
		name += ".html"
	}
	uri := (&url.URL{Scheme: "ui", Host: t.ToolsetID, Path: "/" + name}).String()
	if !slices.ContainsFunc(o.pages, func(p page) bool { return p.uri == uri }) {
		o.pages = append(o.pages, page{uri: uri, toolID: t.ID, name: t.ToolsetID + "/" + name})
	}
	return uri
}

// objectSchema is a schema as MCP wants it: one that says that it is an object.
func objectSchema(raw json.RawMessage) (json.RawMessage, bool) {
	if saysObject(raw) {
		return raw, true
	}
	fields := map[string]json.RawMessage{}
	if len(raw) > 0 && json.Unmarshal(raw, &fields) != nil {
		return nil, false
	}
	if fields == nil || fields["type"] != nil {
		return nil, false // another type, and so no arguments
	}
	fields["type"] = json.RawMessage(`"object"`)
	out, err := json.Marshal(fields)
	return out, err == nil
}

func saysObject(raw json.RawMessage) bool {
	var s struct {
		Type any `json:"type"`
	}
	return json.Unmarshal(raw, &s) == nil && s.Type == "object"
}

// messageSchema is what an agent is called with.
const messageSchema = `{"type":"object","properties":{"message":{"type":"string","minLength":1,` +
	`"description":"What the agent is asked. It knows what was said to it before in this session."}},` +
	`"required":["message"],"additionalProperties":false}`

// agentTool is an agent for clients.
func agentTool(a *store.Agent, name string) offered {
	title := sanitize.Line(cmp.Or(a.Name, a.BareID()))
	yes := true
	return offered{agent: a.ID, tool: &sdk.Tool{
		Name: name, Title: title, InputSchema: json.RawMessage(messageSchema),
		Description: sanitize.Text(cmp.Or(a.Purpose, "Ask the agent "+title+".")),
		Annotations: &sdk.ToolAnnotations{Title: title, DestructiveHint: &yes, OpenWorldHint: &yes},
	}}.marked()
}
