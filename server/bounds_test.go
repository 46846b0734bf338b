package server

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/engine/store"
)

// More requests than are taken at once are told to come back, and are let in again
// at their rate.
func TestRequestsAreTakenAtARate(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_000_000, 0)
	s, err := New(Options{Token: strings.Repeat("t", 40), Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.endStreams)
	s.gate.addHost("http", "127.0.0.1:1")
	ask := func() *httptest.ResponseRecorder {
		w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/healthz", nil)
		r.Host = "127.0.0.1:1"
		s.ServeHTTP(w, r)
		return w
	}
	for i := range requestsAtOnce {
		if w := ask(); w.Code != 200 {
			t.Fatalf("request %d: status %d", i, w.Code)
		}
	}
	if w := ask(); w.Code != 429 || w.Header().Get("Retry-After") == "" {
		t.Errorf("one more: status %d, retry after %q", w.Code, w.Header().Get("Retry-After"))
	}
	now = now.Add(2 * time.Second / requestsPerSecond)
	for i, want := range []int{200, 200, 429} {
		if w := ask(); w.Code != want {
			t.Errorf("a little later, request %d: status %d, want %d", i, w.Code, want)
		}
	}
}

// No more turns live at once than there may be, those that are being started
// counted; one that isn't started gives its place back.
func TestTurnsAreBounded(t *testing.T) {
	t.Parallel()
	s, err := New(Options{Token: strings.Repeat("t", 40)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.endStreams)
	none := func(context.Context, func(string)) (store.TurnID, error) { return "", nil }
	for range 2 * maxTurns {
		if _, _, err := s.startBy(t.Context(), none); err != nil {
			t.Fatalf("nothing lives, and: %v", err)
		}
	}
	for range maxTurns {
		if !s.live.reserve() {
			t.Fatal("there is no place for as many as there may be")
		}
	}
	_, _, err = s.startBy(t.Context(), none)
	if err == nil {
		t.Fatal("there is one more than there may be")
	}
	if status, _ := explain(err); status != 429 {
		t.Errorf("status %d: %v", status, err)
	}
}
