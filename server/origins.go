package server

import (
	"net/http"
	"strings"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/server/weborigin"
)

// The headers of requests of other origins that are let through, those of answers
// that their pages may read, and how long a browser remembers that.
const (
	allowedHeaders = "Authorization, Content-Type, Last-Event-ID, If-Match, If-None-Match, Range, X-Request-Id, " +
		"X-Api-Key, X-Fettle-Agent, Idempotency-Key, User-Agent, Mcp-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name"
	exposedHeaders = "Content-Disposition, Content-Range, ETag, Location, Retry-After, Retry-After-Ms, X-Fettle-Chat, X-Fettle-Estimate, X-Fettle-Ignored, " +
		"X-Fettle-Turn, X-Request-Id, X-Should-Retry, Mcp-Protocol-Version, Mcp-Session-Id, WWW-Authenticate"
	allowedMethods = "GET, HEAD, POST, PUT, PATCH, DELETE"
	allowedAge     = "600"
)

// allowOrigin writes what CORS has: for the one origin that is trusted, on its one
// route, and for those that were named, which bring the token.
func (s *Server) allowOrigin(h http.Header, r *http.Request, c caller) {
	if c.trusted { // also of a failure, which the page could not read otherwise
		h.Set("Access-Control-Allow-Origin", s.gate.trust)
		h.Set("Access-Control-Allow-Methods", "POST")
		h.Set("Access-Control-Allow-Headers", "*")
		h.Set("Vary", "Origin")
		return
	}
	if len(s.gate.allow) == 0 {
		return
	}
	h.Set("Vary", "Origin") // also for others: what is kept for one is not for them
	if c.allowed == "" {
		return
	}
	h.Set("Access-Control-Allow-Origin", c.allowed)
	h.Set("Access-Control-Expose-Headers", exposedHeaders)
	if r.Method != http.MethodOptions {
		return
	}
	h.Set("Access-Control-Allow-Methods", allowedMethods)
	h.Set("Access-Control-Allow-Headers", allowedHeaders+clientHeaders(r.Header.Get("Access-Control-Request-Headers")))
	h.Set("Access-Control-Max-Age", allowedAge)
	if r.Header.Get("Access-Control-Request-Private-Network") == "true" {
		h.Set("Access-Control-Allow-Private-Network", "true")
	}
}

// clientHeaders returns those of the requested headers that the official clients and MCP
// send in addition to allowedHeaders, each after a comma. Their names differ by version.
func clientHeaders(requested string) string {
	var out strings.Builder
	for name := range strings.SplitSeq(requested, ",") {
		name = strings.ToLower(strings.TrimSpace(name))
		if len(name) > 100 || strings.ContainsFunc(name, func(r rune) bool { return r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') }) {
			continue
		}
		for _, prefix := range []string{"x-stainless-", "x-fettle-", "openai-", "anthropic-", "mcp-"} {
			if strings.HasPrefix(name, prefix) && out.Len() < 2000 {
				out.WriteString(", " + name)
			}
		}
	}
	return out.String()
}

// originOf is the origin of an http address that may be trusted: of this machine
// alone, since whoever can stand between could be any page.
func originOf(address string) (string, error) {
	u, ok := weborigin.Read(address)
	if !ok {
		return "", fault.New(fault.Usage, quoted(address)+" is no origin", fault.Run("fettle serve --trust-origin http://localhost:5173"))
	}
	if !weborigin.IsLoopback(u.Hostname()) {
		return "", fault.New(fault.Usage, quoted(address)+" is not on this machine", fault.Run("fettle serve --trust-origin http://localhost:5173"))
	}
	return weborigin.Text(u), nil
}

// originsOf are the origins whose pages may use the API with the token. One without
// a certificate may be on this machine alone: whoever stands between would have the
// token.
func originsOf(addresses []string) (map[string]bool, error) {
	const example = "fettle serve --allow-origin https://example.org"
	out := map[string]bool{}
	for _, address := range addresses {
		u, ok := weborigin.Read(address)
		if !ok {
			return nil, fault.New(fault.Usage, quoted(address)+" is no origin", fault.Run(example))
		}
		if !TokenSafe(u) {
			return nil, fault.New(fault.Usage, quoted(address)+" has no certificate, so others could come in as it", fault.Run(example))
		}
		out[weborigin.Text(u)] = true
	}
	return out, nil
}
