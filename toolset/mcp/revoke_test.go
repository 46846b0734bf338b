package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fettle-cli/fettle/toolset/mcp"
)

// guarded is an MCP server that wants a sign-in, with its authorization server.
type guarded struct {
	*httptest.Server
	revocation string // the path or address of the endpoint; empty has none
	refuses    string // the kind of token that it fails to end
	secret     string // given to whoever registers

	mu    sync.Mutex
	moved bool
	ended []string // what came to the endpoint
}

func newGuarded(t *testing.T, g *guarded) *guarded {
	t.Helper()
	inner := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return newServer("normal") }, &sdk.StreamableHTTPOptions{Stateless: true})
	mux := http.NewServeMux()
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer access" {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+g.URL+`/about"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		inner.ServeHTTP(w, r)
	})
	say := func(path string, what func(r *http.Request) map[string]any) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(what(r))
		})
	}
	say("/about", func(*http.Request) map[string]any {
		return map[string]any{"resource": g.URL + "/mcp", "authorization_servers": []string{g.URL}}
	})
	say("/.well-known/oauth-authorization-server", func(*http.Request) map[string]any { return g.metadata() })
	say("/register", func(r *http.Request) map[string]any {
		var asked map[string]any
		_ = json.NewDecoder(r.Body).Decode(&asked)
		asked["client_id"], asked["token_endpoint_auth_method"] = "me", "none"
		if g.secret != "" {
			asked["client_secret"], asked["token_endpoint_auth_method"] = g.secret, "client_secret_basic"
		}
		return asked
	})
	mux.HandleFunc("/authorize", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		w.Header().Set("Location", q.Get("redirect_uri")+"?code=c&state="+q.Get("state"))
		w.WriteHeader(http.StatusFound)
	})
	say("/token", func(*http.Request) map[string]any {
		return map[string]any{"access_token": "access", "token_type": "Bearer", "refresh_token": "refresh", "expires_in": 3600}
	})
	mux.HandleFunc("/revoke", g.revoke)
	g.Server = httptest.NewServer(mux)
	t.Cleanup(g.Close)
	return g
}

func (g *guarded) metadata() map[string]any {
	g.mu.Lock()
	defer g.mu.Unlock()
	m := map[string]any{
		"issuer": g.URL, "authorization_endpoint": g.URL + "/authorize", "token_endpoint": g.URL + "/token", "registration_endpoint": g.URL + "/register",
		"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"},
		"token_endpoint_auth_methods_supported": []string{"none", "client_secret_basic"},
	}
	if g.moved {
		m["token_endpoint"] = g.URL + "/another"
	}
	if strings.HasPrefix(g.revocation, "/") {
		m["revocation_endpoint"] = g.URL + g.revocation
	} else if g.revocation != "" {
		m["revocation_endpoint"] = g.revocation
	}
	return m
}

// revoke is the endpoint that ends tokens.
func (g *guarded) revoke(w http.ResponseWriter, r *http.Request) {
	line := fmt.Sprintf("%s %s %s", r.PostFormValue("token_type_hint"), r.PostFormValue("token"), r.PostFormValue("client_id"))
	if user, password, ok := r.BasicAuth(); ok {
		line += "[" + user + ":" + password + "]"
	}
	g.mu.Lock()
	g.ended = append(g.ended, line)
	g.mu.Unlock()
	if r.PostFormValue("token_type_hint") == g.refuses {
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(w, `{"error":"busy","error_description":"come\u001b[31m back\nlater"}`)
	}
}

// A sign-out has the authorization server end the tokens where it can be told, and
// they are gone from here in any case.
func TestSignOutEndsTokens(t *testing.T) {
	t.Parallel()
	other := newGuarded(t, &guarded{revocation: "/revoke"})
	for _, c := range []struct {
		name    string
		server  *guarded
		moves   bool
		ended   string
		revoked bool
		failed  string
	}{
		{name: "the refresh token first", server: &guarded{revocation: "/revoke"}, ended: "refresh_token refresh me, access_token access me", revoked: true},
		{name: "as the client that registered", server: &guarded{revocation: "/revoke", secret: "s:1"}, ended: "refresh_token refresh [me:s%3A1], access_token access [me:s%3A1]", revoked: true},
		{name: "no endpoint", server: &guarded{}},
		{name: "it refuses", server: &guarded{revocation: "/revoke", refuses: "refresh_token"}, ended: "refresh_token refresh me", failed: "it answered 503 Service Unavailable busy come[31m back later"},
		{name: "an endpoint of a stranger", server: &guarded{revocation: other.URL + "/revoke"}, failed: "people sign in elsewhere now, where the tokens aren't sent"},
		{name: "another authorization server", server: &guarded{revocation: "/revoke"}, moves: true, failed: "people sign in elsewhere now, where the tokens aren't sent"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g := newGuarded(t, c.server)

			w := newWorld(t, mcp.Options{Tokens: &memory{}, SignIn: &mcp.SignIn{RedirectURL: "http://localhost:3000/callback", Fetch: follow}})
			s := mcp.Server{ID: "docs", URL: g.URL + "/mcp", Own: true}
			if res, err := w.call(t, s, "echo", `{}`); err != nil || res.Text != "you said {}" {
				t.Fatalf("signed in: %q, %v", res.Text, err)
			}
			g.mu.Lock()
			g.moved = c.moves
			g.mu.Unlock()
			out, err := w.SignOut(t.Context(), s)
			if err != nil || !out.Was || out.Revoked != c.revoked {
				t.Errorf("signed out: %+v, %v", out, err)
			}
			if failed := fmt.Sprint(out.Failed); c.failed == "" && out.Failed != nil || c.failed != "" && failed != c.failed {
				t.Errorf("failed with %v, want %q", out.Failed, c.failed)
			}
			g.mu.Lock()
			defer g.mu.Unlock()
			if got := strings.Join(g.ended, ", "); got != c.ended {
				t.Errorf("it was told %q, want %q", got, c.ended)
			}
			if mark, err := w.SignInMark(t.Context(), s); err != nil || mark != "" {
				t.Errorf("%q is kept, %v", mark, err)
			}
			if out, err := w.SignOut(t.Context(), s); err != nil || out != (mcp.SignedOut{}) {
				t.Errorf("a second time: %+v, %v", out, err)
			}
		})
	}
	t.Cleanup(func() { // when all have run
		if len(other.ended) > 0 {
			t.Errorf("a stranger got %q", other.ended)
		}
	})
}

// What is kept is found by the address that a variable makes, and a server that is
// gone costs nothing but its word.
func TestSignOutOfAServerThatIsGone(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, &guarded{revocation: "/revoke"})
	look := func(_ context.Context, name string) (string, bool, error) { return g.URL, name == "WHERE", nil }
	w := newWorld(t, mcp.Options{Tokens: &memory{}, Lookup: look, SignIn: &mcp.SignIn{RedirectURL: "http://localhost:3000/callback", Fetch: follow}})
	s := mcp.Server{ID: "docs", URL: "${WHERE}/mcp", Own: true}
	if _, err := w.call(t, s, "echo", `{}`); err != nil {
		t.Fatal(err)
	}
	if mark, err := w.SignInMark(t.Context(), s); err != nil || mark == "" {
		t.Fatalf("%q is kept, %v", mark, err)
	}
	g.CloseClientConnections()
	g.Listener.Close()
	out, err := w.SignOut(t.Context(), s)
	if err != nil || !out.Was || out.Revoked || out.Failed == nil || strings.Contains(out.Failed.Error(), "\n") {
		t.Errorf("signed out: %+v, %v", out, err)
	}
	if mark, err := w.SignInMark(t.Context(), s); err != nil || mark != "" {
		t.Errorf("%q is kept, %v", mark, err)
	}
}
