package server

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/server/artifacts"
)

// The kinds of artifacts.
const (
	artifactHTML  = "html"
	artifactApp   = "mcp_app"
	artifactFrame = "frame"
)

// The sandbox attributes of frames. An artifact has no origin of its own; the proxy of
// an app has one, so that it can be told from what runs in it, and there is nothing
// on it.
const (
	sandboxArtifact = "allow-scripts"
	sandboxProxy    = "allow-scripts allow-same-origin"
)

// artifactJSON is a page of a stranger's, at an address on another origin.
type artifactJSON struct {
	Kind   string `json:"kind"` // html, mcp_app or frame
	ChatID string `json:"chat_id"`
	CallID string `json:"call_id,omitempty"`
	ToolID string `json:"tool_id,omitempty"`
	// URL goes into a frame whose attribute sandbox is Sandbox; Origin is whose
	// messages are the proxy's, for an app. The address ends at ExpiresAt.
	URL       string     `json:"url,omitempty"`
	Origin    string     `json:"origin,omitempty"`
	Sandbox   string     `json:"sandbox,omitempty"`
	ExpiresAt *time.Time `json:"expires_at,omitempty"`
	// Problem is why there is no URL.
	Problem string `json:"problem,omitempty"`
	// External is the address that the plan of a frame has, on this machine.
	External string   `json:"external_url,omitempty"`
	App      *appJSON `json:"app,omitempty"`
	// Service is set where the tool of a frame lives on, running or not.
	Service *serviceJSON `json:"service,omitempty"`
}

// appJSON is what the host of an MCP App tells its page.
type appJSON struct {
	ServerID    string `json:"server_id"`
	ResourceURI string `json:"resource_uri"`
	// HTML is for ui/notifications/sandbox-resource-ready.
	HTML string `json:"html"`
	// CSP are the origins that are granted; the proxy's headers hold them.
	CSP           appCSPJSON `json:"csp"`
	Permissions   []string   `json:"permissions"` // that it wants; none is granted
	PrefersBorder bool       `json:"prefers_border"`
	// Tool is MCP's Tool, ToolInput its arguments, ToolResult its CallToolResult.
	Tool       appToolInfoJSON `json:"tool"`
	ToolInput  json.RawMessage `json:"tool_input"`
	ToolResult json.RawMessage `json:"tool_result"`
	// Tools are the names of those that the page may call.
	Tools []string `json:"tools"`
}

type appCSPJSON struct {
	ConnectDomains  []string `json:"connectDomains"`
	ResourceDomains []string `json:"resourceDomains"`
	FrameDomains    []string `json:"frameDomains"`
	BaseURIDomains  []string `json:"baseUriDomains"`
}

type appToolInfoJSON struct {
	Name         string          `json:"name"`
	Title        string          `json:"title,omitempty"`
	Description  string          `json:"description,omitempty"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
}

// noArtifacts is why a page can't be shown.
const noArtifacts = "pages of tools need an origin of their own, and this server has none here; its option artifacts-url names one"

func getToolCall(s *Server, w http.ResponseWriter, r *http.Request) error {
	id, err := callOf(r)
	if err != nil {
		return err
	}
	call, err := s.eng.ViewCall(r.Context(), id)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, call)
	return nil
}

// callOf is the call of a path.
func callOf(r *http.Request) (string, error) {
	id := r.PathValue("call")
	if !isID(id) {
		return "", fault.New(fault.NotFound, "no tool call "+clean(id))
	}
	return id, nil
}

func openArtifact(s *Server, w http.ResponseWriter, r *http.Request) error {
	id, err := callOf(r)
	if err != nil {
		return err
	}
	shown, err := s.eng.RenderDocument(r.Context(), id)
	if err != nil {
		return err
	}
	out, err := s.artifactOf(shown)
	switch {
	case err != nil:
	case out.Kind == artifactApp:
		err = s.openApp(r, id, out)
	case out.Kind == artifactFrame:
		var c *engine.CallService
		if c, err = s.eng.CallService(r.Context(), id); err == nil {
			s.openService(r, c, out)
		}
	}
	if err != nil {
		return err
	}
	out.CallID, out.ToolID = id, shown.ToolID
	writeJSON(w, http.StatusOK, out)
	return nil
}

func openPayloadArtifact(s *Server, w http.ResponseWriter, r *http.Request) error {
	chat, p, err := s.payloadOf(r)
	if err != nil {
		return err
	}
	shown, err := s.eng.RenderPayload(r.Context(), chat, p)
	if err != nil {
		return err
	}
	out, err := s.artifactOf(shown)
	switch {
	case err != nil:
	case out.Kind == artifactApp:
		s.openPayloadApp(r, p, shown, out)
	case out.Kind == artifactFrame:
		var c *engine.CallService
		if c, err = s.eng.PayloadService(r.Context(), p, shown.Plan); err == nil {
			s.openService(r, c, out)
		}
	}
	if err != nil {
		return err
	}
	out.CallID = p.CallID
	writeJSON(w, http.StatusOK, out)
	return nil
}

// artifactOf gives the page of a plan an address, where it has one.
func (s *Server) artifactOf(shown *engine.RenderedCall) (*artifactJSON, error) {
	var plan struct {
		Renderer string `json:"renderer"`
		Config   struct {
			URL string `json:"url"`
		} `json:"config"`
		Error json.RawMessage `json:"error"`
	}
	out := &artifactJSON{ChatID: shown.ChatID}
	if json.Unmarshal(shown.Plan, &plan) != nil || len(plan.Error) > 0 {
		return nil, fault.New(fault.NotFound, "what failed has no page")
	}
	switch out.Kind = plan.Renderer; out.Kind {
	case artifactHTML:
		s.show(out, shown.Document, artifacts.Policy, sandboxArtifact)
	case artifactFrame:
		out.External = plan.Config.URL
		out.Problem = "its tool is no service of fettle's, so it is shown in a tab of its own"
		if out.External == "" {
			out.Problem = "the plan of this call names no address"
		}
	case artifactApp:
	default:
		return nil, fault.New(fault.NotFound, "it is shown as "+clean(plan.Renderer)+", which needs no page of its own")
	}
	return out, nil
}

// show gives a page an address, or says why it has none.
func (s *Server) show(out *artifactJSON, page []byte, policy, sandbox string) {
	origin := s.artifacts.Origin()
	if origin == "" { // it would have to be on this origin, where its scripts reach all
		out.Problem = noArtifacts
		return
	}
	address, expires := s.artifacts.Add(page, policy)
	out.URL, out.Origin, out.Sandbox, out.ExpiresAt = address, origin, sandbox, &expires
}

// renderJSON is how a call is shown. For the html renderer URL is the page, on
// another origin than this one, for a frame with sandbox="allow-scripts".
type renderJSON struct {
	ChatID    string          `json:"chat_id"`
	ToolID    string          `json:"tool_id"`
	Plan      json.RawMessage `json:"render_plan"`
	URL       string          `json:"url,omitempty"`
	ExpiresAt *time.Time      `json:"expires_at,omitempty"`
	// Problem is why there is no URL, where there should be one.
	Problem string `json:"problem,omitempty"`
}

func getRenderDocument(s *Server, w http.ResponseWriter, r *http.Request) error {
	id, err := callOf(r)
	if err != nil {
		return err
	}
	shown, err := s.eng.RenderDocument(r.Context(), id)
	if err != nil {
		return err
	}
	out := renderJSON{ChatID: shown.ChatID, ToolID: shown.ToolID, Plan: shown.Plan}
	if shown.Document != nil {
		var a artifactJSON
		s.show(&a, shown.Document, artifacts.Policy, sandboxArtifact)
		out.URL, out.ExpiresAt, out.Problem = a.URL, a.ExpiresAt, a.Problem
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}
