package server

import (
	"context"
	"net/http"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/store"
)

// MCP serves clients of the Model Context Protocol; server/mcp's Host does. It
// begins turns by what it was made with.
type MCP interface {
	http.Handler
	// Close cancels what runs, and waits for it.
	Close()
}

// mcpRoutes are the two addresses of MCP. What is sent there is the protocol's.
func mcpRoutes() []route {
	const tag = "dialects"
	session := []param{{"session", "tells the workspaces of one client apart, where its protocol has no sessions", ""}}
	var out []route
	for _, at := range []struct{ name, path, about string }{
		{"mcp", "/mcp", "the tools and agents"},
		{"mcp_toolset", "/mcp/{toolset}", "the tools and agents of one toolset"},
	} {
		out = append(out,
			route{
				op: at.name, method: http.MethodPost, path: at.path, tag: tag, do: serveMCP, max: maxMCP, chunks: true, takes: jsonBody(), media: mediaSSE,
				query: session, body: mcpBody{}, maybe: []int{http.StatusAccepted}, summary: "A message of the Model Context Protocol, to " + at.about + "; the answer is JSON or a stream",
			},
			route{op: at.name + "_listen", method: http.MethodGet, path: at.path, tag: tag, do: serveMCP, media: mediaSSE, summary: "What a session of MCP is told between its requests"},
			route{op: at.name + "_end", method: http.MethodDelete, path: at.path, tag: tag, do: serveMCP, status: http.StatusNoContent, summary: "End a session of MCP"},
		)
	}
	return out
}

// maxMCP bounds a message: arguments may hold a whole file.
const maxMCP = 16 << 20

// mcpBody is a message of MCP, as far as all have it.
type mcpBody struct {
	JSONRPC string `json:"jsonrpc"`
	ID      any    `json:"id,omitempty"`
	Method  string `json:"method,omitempty"`
	Params  any    `json:"params,omitempty"`
}

func serveMCP(s *Server, w http.ResponseWriter, r *http.Request) error {
	if s.mcp == nil {
		return notFound()
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.streams, cancel)() // a client that listens would hold the server
	s.mcp.ServeHTTP(w, r.WithContext(ctx))
	return nil
}

// startMCP begins a turn of a client by MCP: counted and watched as all others.
func (s *Server) startMCP(ctx context.Context, req engine.TurnRequest) (store.TurnID, error) {
	id, _, err := s.start(ctx, req)
	return id, err
}
