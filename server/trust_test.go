package server

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// The one origin that is trusted gets to the routes that say so, without a token,
// and to nothing else; any other origin gets nowhere.
func TestATrustedOrigin(t *testing.T) {
	t.Parallel()
	const trusted = "http://localhost:5173"
	s, err := New(Options{Token: strings.Repeat("t", 40), TrustOrigin: trusted + "/"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.endStreams()
	s.gate.addHost("http", "127.0.0.1:1")
	answer := func(_ *Server, w http.ResponseWriter, _ *http.Request) error {
		writeJSON(w, http.StatusOK, healthJSON{"ok"})
		return nil
	}
	s.table = newTable([]route{
		{op: "open", method: http.MethodPost, path: "/open", do: answer, takes: jsonBody(), trusted: true},
		{op: "closed", method: http.MethodPost, path: "/closed", do: answer, takes: jsonBody()},
	}, func(to *route) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _ = to.do(s, w, r) })
	})
	for name, c := range map[string]struct {
		method, path, origin string
		want                 int
		allows               bool
	}{
		"the trusted one":         {"POST", "/open", trusted, 200, true},
		"its preflight":           {"OPTIONS", "/open", trusted, 204, true},
		"elsewhere":               {"POST", "/closed", trusted, 403, false},
		"another port":            {"POST", "/open", "http://localhost:5174", 403, false},
		"preflight elsewhere":     {"OPTIONS", "/closed", trusted, 403, false},
		"another preflight":       {"OPTIONS", "/open", "http://localhost:5174", 403, false},
		"another name of it":      {"POST", "/open", "http://127.0.0.1:5173", 403, false},
		"null":                    {"POST", "/open", "null", 403, false},
		"no origin and no token":  {"POST", "/open", "", 401, false},
		"the server's own origin": {"POST", "/open", "http://127.0.0.1:1", 401, false},
	} {
		r := httptest.NewRequest(c.method, "http://127.0.0.1:1"+c.path, strings.NewReader("{}"))
		r.Header.Set("Content-Type", "application/json")
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
			r.Header.Set("Sec-Fetch-Site", "same-site")
			if c.method == "OPTIONS" {
				r.Header.Set("Access-Control-Request-Method", "POST")
			}
			if c.origin == "http://127.0.0.1:1" {
				r.Header.Set("Sec-Fetch-Site", "same-origin")
			}
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != c.want || (w.Header().Get("Access-Control-Allow-Origin") == trusted) != c.allows {
			t.Errorf("%s: %d with %q", name, w.Code, w.Header().Get("Access-Control-Allow-Origin"))
		}
	}
}
