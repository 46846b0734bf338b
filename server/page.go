package server

import (
	"context"
	"net/http"

	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/engine/store"
)

// pageRoutes are the page, which needs no token and holds no secret, and what it asks
// for first.
func pageRoutes() []route {
	const tag = "page"
	return []route{
		{op: "get_front_page", method: http.MethodGet, path: "/{$}", tag: tag, do: getFrontPage, public: true, media: "text/html", summary: "The page"},
		{op: "get_chat_page", method: http.MethodGet, path: "/c/{chat}", tag: tag, do: getFrontPage, public: true, media: "text/html", summary: "The page, at a chat"},
		{op: "get_asset", method: http.MethodGet, path: "/assets/{path...}", tag: tag, do: getAsset, public: true, media: anyType, maybe: []int{http.StatusNotModified}, summary: "A file of the page"},
		{op: "get_embed", method: http.MethodGet, path: "/embed.js", tag: tag, do: getPageFile, public: true, media: "text/javascript", maybe: []int{http.StatusNotModified}, summary: "The web component <fettle-chat>, for pages of origins that are allowed"},
		{op: "get_icon", method: http.MethodGet, path: "/favicon.svg", tag: tag, do: getPageFile, public: true, media: "image/svg+xml", maybe: []int{http.StatusNotModified}, summary: "The page's icon"},
		{op: "get_page", method: http.MethodGet, path: "/api/page", tag: tag, do: getPage, gives: pageJSON{}, summary: "What the page needs at its start"},
		{op: "get_settings", method: http.MethodGet, path: "/api/settings", tag: tag, do: getSettings, gives: Effective{}, summary: "The configuration in force, without its secrets"},
		{op: "list_payload_types", method: http.MethodGet, path: "/api/payload-types", tag: tag, do: listPayloadTypes, gives: payloadTypesJSON{}, summary: "The payload types and pages that there are, with how they look"},
	}
}

// getFrontPage gives the page at each of its own addresses. What they mean is told
// by its scripts.
func getFrontPage(s *Server, w http.ResponseWriter, r *http.Request) error {
	s.page.ServeIndex(w, r, []string{s.artifacts.Origin(), s.forwards.Pattern()})
	return nil
}

func getAsset(s *Server, w http.ResponseWriter, r *http.Request) error {
	return s.pageFile(w, r, "assets/"+r.PathValue("path"))
}

func getPageFile(s *Server, w http.ResponseWriter, r *http.Request) error {
	return s.pageFile(w, r, r.URL.Path[1:])
}

// filePolicy is for files of the page. It is a worker's own, too, whose script may
// be in pieces.
const filePolicy = "default-src 'none'; script-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

func (s *Server) pageFile(w http.ResponseWriter, r *http.Request, name string) error {
	if !s.page.Has(name) {
		return refuse(http.StatusNotFound, "not_found", "the page has no file "+quoted(name))
	}
	w.Header().Set("Content-Security-Policy", filePolicy)
	s.page.ServeFile(w, r, name)
	return nil
}

// pageJSON is what the page needs at its start.
type pageJSON struct {
	Version string `json:"version"`
	// ArtifactOrigin is where strangers' pages are shown from; empty where they
	// can't be.
	ArtifactOrigin string `json:"artifact_origin"`
	Demo           bool   `json:"demo"`
	// Model and Agent answer where a question names none. An empty model is chosen
	// at the first question.
	Model string `json:"model"`
	Agent string `json:"agent"`
	// Approvals is the mode of chats that have none of their own.
	Approvals   permission.Mode `json:"approvals"`
	Limits      limitsJSON      `json:"limits"`
	Suggestions []Suggestion    `json:"suggestions"`
	Renderers   []string        `json:"renderers"`
}

// limitsJSON bounds bodies, in bytes.
type limitsJSON struct {
	Turn     int64 `json:"turn_bytes"`
	JSON     int64 `json:"json_bytes"`
	Upload   int64 `json:"upload_bytes"`
	Bundle   int64 `json:"bundle_bytes"`
	Document int64 `json:"document_bytes"`
}

// Suggestion is something to try on an empty page.
type Suggestion struct {
	Title   string `json:"title"`
	Message string `json:"message"`
	Agent   string `json:"agent,omitempty"` // none is the chat without one
	Model   string `json:"model,omitempty"`
	// Uploads go with the question.
	Uploads []SuggestedFile `json:"uploads,omitempty"`
}

// SuggestedFile is a file that goes with a suggestion, as start_turn takes it.
type SuggestedFile struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

func getPage(s *Server, w http.ResponseWriter, r *http.Request) error {
	agent, err := s.usualAgent(r.Context())
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, pageJSON{
		Version: s.o.Version, ArtifactOrigin: s.artifacts.Origin(), Demo: s.o.Demo, Model: s.o.Model, Agent: agent, Approvals: s.eng.Mode(chat.Chat{}),
		Limits:      limitsJSON{Turn: maxTurn, JSON: maxJSON, Upload: maxUpload, Bundle: maxBundle, Document: store.MaxDocumentSize},
		Suggestions: orEmpty(s.o.Suggestions),
		Renderers:   []string{"code", "document", "html", "table", "frame", "mcp_app"},
	})
	return nil
}

// usualAgent returns the agent that new chats begin with; empty for none.
func (s *Server) usualAgent(ctx context.Context) (string, error) {
	switch s.o.Agent {
	case "":
		return s.eng.EntryAgent(ctx)
	case catalog.NoAgent:
		return "", nil
	}
	return s.o.Agent, nil
}

// Effective is the configuration in force, as it may be shown.
type Effective struct {
	Profile  string    `json:"profile,omitempty"`
	Files    []string  `json:"files"`
	Settings []Setting `json:"settings"`
}

// Setting is one of its values; a secret has none that could be read.
type Setting struct {
	Key    string   `json:"key"`
	Value  any      `json:"value"`
	Secret bool     `json:"secret,omitempty"`
	Origin []string `json:"origin"` // where it comes from, in words
}

func getSettings(s *Server, w http.ResponseWriter, _ *http.Request) error {
	out := Effective{Files: []string{}, Settings: []Setting{}}
	if s.o.Effective != nil {
		out = s.o.Effective()
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}

// payloadTypesJSON are the types of payloads and the pages of toolsets.
type payloadTypesJSON struct {
	Types []catalog.PayloadType `json:"types"`
	Pages []catalog.Page        `json:"pages"`
	// Problems are why a toolset's type can't be used, or not by all.
	Problems []payloadProblemJSON `json:"problems"`
}

type payloadProblemJSON struct {
	ToolsetID string `json:"toolset_id"`
	Message   string `json:"message"`
}

func listPayloadTypes(s *Server, w http.ResponseWriter, r *http.Request) error {
	types, problems, err := s.eng.PayloadTypes(r.Context())
	if err != nil {
		return err
	}
	pages, err := s.eng.Pages(r.Context())
	if err != nil {
		return err
	}
	out := payloadTypesJSON{Types: orEmpty(types), Pages: orEmpty(pages), Problems: []payloadProblemJSON{}}
	for _, p := range problems {
		out.Problems = append(out.Problems, payloadProblemJSON{p.Set, p.String()})
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}
