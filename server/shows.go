package server

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	// showTime is how long the address of a page lasts: a page that is shown
	// loads at once, and asks for another address when it is shown again.
	showTime = 5 * time.Minute
	// maxShows and maxShown bound what waits to be shown, in pages and bytes; the
	// oldest give way.
	maxShows = 256
	maxShown = 64 << 20
)

// shows are the pages of tools (render documents) under addresses that nobody can
// guess, on a listener of their own: another origin, so that what runs in them
// reaches nothing of this server.
type shows struct {
	mu    sync.Mutex
	now   func() time.Time
	base  string // of the listener; empty without one
	pages map[string]*show
	order []string // by age
	size  int
}

type show struct {
	page    []byte
	expires time.Time
}

func newShows(now func() time.Time) *shows {
	return &shows{now: now, pages: map[string]*show{}}
}

// add gives a page an address, and tells when that ends.
func (s *shows) add(page []byte) (address string, expires time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := rand.Text()
	expires = s.now().Add(showTime)
	s.pages[id] = &show{page, expires}
	s.order = append(s.order, id)
	s.size += len(page)
	for len(s.order) > 1 && (len(s.order) > maxShows || s.size > maxShown || s.pages[s.order[0]].expires.Before(s.now())) {
		s.size -= len(s.pages[s.order[0]].page)
		delete(s.pages, s.order[0])
		s.order = s.order[1:]
	}
	return s.base + "/show/" + id, expires
}

func (s *shows) get(id string) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pages[id]
	if p == nil || p.expires.Before(s.now()) {
		return nil, false
	}
	return p.page, true
}

// artifactPolicy is what a tool's page may do: run its own scripts, and reach
// nothing. The sandbox holds also where its address is opened by itself.
const artifactPolicy = "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; " +
	"img-src data: blob:; font-src data:; connect-src 'none'; frame-src 'none'; form-action 'none'; base-uri 'none'"

// ServeHTTP is the listener of pages. There is nothing else on it.
func (s *shows) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	id, ok := strings.CutPrefix(r.URL.Path, "/show/")
	page, found := s.get(id)
	if !ok || !found || r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
		http.Error(w, "nothing is shown here", http.StatusNotFound)
		return
	}
	h.Set("Content-Security-Policy", artifactPolicy)
	h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=(), display-capture=(), usb=(), serial=(), clipboard-read=()")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	h.Set("Content-Type", "text/html; charset=utf-8")
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(jsonTime)) // a server that can't has none to set
	_, _ = w.Write(page)
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
	id := r.PathValue("call")
	if !isID(id) {
		return notFound()
	}
	shown, err := s.tools.RenderDocument(r.Context(), id)
	if err != nil {
		return err
	}
	out := renderJSON{ChatID: shown.ChatID, ToolID: shown.ToolID, Plan: shown.Plan}
	switch {
	case shown.Document == nil:
	case s.shows.base == "":
		// The page would have to be on this origin, where its scripts reach all.
		out.Problem = "the page of this call is shown where fettle serve is reached over plain HTTP on its own machine; here it has no address of its own"
	default:
		address, expires := s.shows.add(shown.Document)
		out.URL, out.ExpiresAt = address, &expires
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}
