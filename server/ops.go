package server

import (
	"bytes"
	"net/http"
)

// mediaSSE is the content type of streams.
const mediaSSE = "text/event-stream"

// healthJSON tells that the process answers.
type healthJSON struct {
	Status string `json:"status"`
}

func getHealth(_ *Server, w http.ResponseWriter, _ *http.Request) error {
	writeJSON(w, http.StatusOK, healthJSON{"ok"})
	return nil
}

// readyJSON tells whether turns can begin. It names nothing of the machine: no
// token is needed to read it.
type readyJSON struct {
	Status string `json:"status"` // ok, draining or store
}

func getReady(s *Server, w http.ResponseWriter, r *http.Request) error {
	switch {
	case s.draining.Load():
		writeJSON(w, http.StatusServiceUnavailable, readyJSON{"draining"})
	case !s.storeReady(r):
		writeJSON(w, http.StatusServiceUnavailable, readyJSON{"store"})
	default:
		writeJSON(w, http.StatusOK, readyJSON{"ok"})
	}
	return nil
}

// storeReady looks whether the store answers: by folding, which is what a store
// does here anyway.
func (s *Server) storeReady(r *http.Request) bool {
	_, err := s.eng.Fold(r.Context(), foldTime)
	return err == nil
}

func getMetrics(s *Server, w http.ResponseWriter, _ *http.Request) error {
	var b bytes.Buffer
	ids, _, _ := s.live.all()
	s.count.write(&b, len(ids))
	if s.o.Spans != nil {
		sent, dropped := s.o.Spans()
		page{&b}.one("spans_sent_total", "counter", "Spans that their receiver has taken.", sent)
		page{&b}.one("spans_dropped_total", "counter", "Spans that are lost: refused, or more than the queue holds.", dropped)
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write(b.Bytes())
	return nil
}

func getOpenAPI(s *Server, w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, _ = w.Write(s.openapi())
	return nil
}
