package server

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A handler that panics answers with an error that tells nothing of it, and the log
// says where it was.
func TestAPanicIsFoundInTheLog(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s, err := New(Options{Token: strings.Repeat("t", 40), Log: slog.New(slog.NewJSONHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.endStreams)
	s.gate.addHost("http", "127.0.0.1:1")
	s.table = newTable([]route{{op: "break", method: "GET", path: "/break", public: true}}, func(*route) http.Handler {
		return http.HandlerFunc(func(http.ResponseWriter, *http.Request) { breakHere() })
	})
	w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/break", nil)
	r.Host = "127.0.0.1:1"
	s.ServeHTTP(w, r)
	if w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), "on purpose") {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
	var entry struct{ Error, Stack string }
	if err := json.Unmarshal(log.Bytes(), &entry); err != nil {
		t.Fatalf("%v: %s", err, &log)
	}
	if entry.Error != "panic: broken on purpose" || !strings.Contains(entry.Stack, "breakHere") {
		t.Errorf("the log says %q, %q", entry.Error, entry.Stack)
	}
}

func breakHere() { panic("broken on purpose") }
