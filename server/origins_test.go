package server

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Origins that are named get to the API with the token and read what it says; others
// get nowhere, and nobody gets further without the token.
func TestAllowedOrigins(t *testing.T) {
	t.Parallel()
	const other, own = "https://example.org", "http://127.0.0.1:1"
	s, err := New(Options{Token: strings.Repeat("t", 40), AllowOrigins: []string{"https://Example.org:443/", "http://localhost:3000"}})
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
		{op: "read", method: http.MethodGet, path: "/api/x", do: answer},
		{op: "write", method: http.MethodPut, path: "/api/x", do: answer, takes: jsonBody()},
		{op: "hidden", method: http.MethodGet, path: "/api/h", do: answer, hidden: true},
		{op: "public", method: http.MethodGet, path: "/embed.js", do: answer, public: true},
		{op: "mine", method: http.MethodPost, path: "/api/owner", do: answer, owner: true},
	}, func(to *route) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _ = to.do(s, w, r) })
	})
	for name, c := range map[string]struct {
		method, path, origin, asks string
		token                      bool
		want                       int
		allows                     bool
	}{
		"with the token":                 {"GET", "/api/x", other, "", true, 200, true},
		"the other one":                  {"GET", "/api/x", "http://localhost:3000", "", true, 200, true},
		"without it, readable":           {"GET", "/api/x", other, "", false, 401, true},
		"a preflight brings none":        {"OPTIONS", "/api/x", other, "PUT", false, 204, true},
		"of a hidden route, too":         {"OPTIONS", "/api/h", other, "GET", false, 204, true},
		"a hidden route without a token": {"GET", "/api/h", other, "", false, 404, true},
		"a public file":                  {"GET", "/embed.js", other, "", false, 200, true},
		"what isn't there":               {"OPTIONS", "/api/none", other, "GET", false, 404, true},
		"the owner's":                    {"OPTIONS", "/api/owner", other, "POST", false, 405, true},
		"the owner's with the token":     {"POST", "/api/owner", other, "", true, 403, true},
		"another origin":                 {"GET", "/api/x", "https://evil.example", "", true, 403, false},
		"another origin's preflight":     {"OPTIONS", "/api/x", "https://evil.example", "PUT", false, 403, false},
		"its name within another":        {"GET", "/api/x", "https://example.org.evil.example", "", true, 403, false},
		"without the s":                  {"GET", "/api/x", "http://example.org", "", true, 403, false},
		"another port":                   {"GET", "/api/x", "https://example.org:8443", "", true, 403, false},
		"null":                           {"GET", "/api/x", "null", "", true, 403, false},
		"the server's own":               {"GET", "/api/x", own, "", true, 200, false},
		"no browser":                     {"GET", "/api/x", "", "", true, 200, false},
	} {
		r := httptest.NewRequest(c.method, own+c.path, strings.NewReader("{}"))
		r.Header.Set("Content-Type", "application/json")
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
			r.Header.Set("Sec-Fetch-Site", map[bool]string{true: "same-origin", false: "cross-site"}[c.origin == own])
		}
		if c.asks != "" {
			r.Header.Set("Access-Control-Request-Method", c.asks)
			r.Header.Set("Access-Control-Request-Private-Network", "true")
		}
		if c.token {
			r.Header.Set("Authorization", "Bearer "+strings.Repeat("t", 40))
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		h := w.Header()
		if got := h.Get("Access-Control-Allow-Origin"); w.Code != c.want || (got == c.origin && got != "") != c.allows || !c.allows && got != "" {
			t.Errorf("%s: %d, allowed is %q", name, w.Code, got)
		}
		if h.Get("Access-Control-Allow-Credentials") != "" || h.Get("Vary") != "Origin" {
			t.Errorf("%s: %v", name, h)
		}
		if preflight := w.Code == http.StatusNoContent; preflight != (h.Get("Access-Control-Allow-Headers") == allowedHeaders && h.Get("Access-Control-Allow-Private-Network") == "true" && w.Code == 204) {
			t.Errorf("%s: %v", name, h)
		}
	}
	for _, wrong := range []string{"*", "https://*", "example.org", "https://example.org/path", "http://example.org", "null", "file:///x", "https://a@example.org", "https://example.org?x", ""} {
		if _, err := New(Options{Token: "t", AllowOrigins: []string{wrong}}); err == nil {
			t.Errorf("%q is an origin", wrong)
		}
	}
}

// Pages of an allowed origin can send the headers of the official clients and of MCP.
func TestHeadersOfClientsAreAllowed(t *testing.T) {
	t.Parallel()
	const asked = "authorization, X-Stainless-Lang, anthropic-version, OpenAI-Beta, mcp-param-city, cookie, x-forwarded-for, bad header"
	got := allowedHeaders + clientHeaders(asked)
	for _, name := range []string{"x-stainless-lang", "anthropic-version", "openai-beta", "mcp-param-city", "X-Api-Key", "X-Fettle-Agent", "Mcp-Session-Id", "Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name"} {
		if !strings.Contains(got, name) {
			t.Errorf("%s is not allowed: %s", name, got)
		}
	}
	for _, name := range []string{"cookie", "forwarded", "bad header"} {
		if strings.Contains(got, name) {
			t.Errorf("%s is allowed: %s", name, got)
		}
	}
	for _, name := range []string{"Mcp-Session-Id", "X-Fettle-Ignored", "Retry-After"} {
		if !strings.Contains(exposedHeaders, name) {
			t.Errorf("%s is not exposed", name)
		}
	}
}
