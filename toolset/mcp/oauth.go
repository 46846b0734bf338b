package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

const (
	// signInTime is how long a person has in the browser.
	signInTime = 5 * time.Minute
	// callbackPath is where the browser comes back to.
	callbackPath = "/callback"
	// maxCallback bounds the address that it comes back with.
	maxCallback = 16 << 10
	// tokenTime bounds getting a new access token.
	tokenTime = 30 * time.Second
)

// Tokens keeps what servers gave at sign-in, where keys are kept.
type Tokens interface {
	// Load gives what is kept under a name; empty where nothing is.
	Load(ctx context.Context, name string) (string, error)
	Save(ctx context.Context, name, text string) error
	// Remove is no error where nothing is kept.
	Remove(ctx context.Context, name string) error
}

// SignIn is how a person signs in at a server.
type SignIn struct {
	// Show tells the person which address to visit, and may open it.
	Show func(ctx context.Context, address string) error
	// Fetch visits an address and gives the one that the browser was sent back
	// to, below RedirectURL. Nil shows the address and listens on this machine.
	Fetch       func(ctx context.Context, address string) (string, error)
	RedirectURL string
	// Document is the https address of a client id metadata document; empty
	// registers with each server.
	Document string
}

// SignInError says that a server wants a person to sign in first.
type SignInError struct{ Server string }

// Error returns what the user has to do.
func (e *SignInError) Error() string {
	return "the user has to sign in to it"
}

// TokenName is the name under which a server's tokens are kept. It has a hash of
// the address, so that a server which moves gets no other's token.
func TokenName(s Server) string {
	sum := sha256.Sum256([]byte(s.URL))
	return "mcp-" + s.ID + "-" + hex.EncodeToString(sum[:4])
}

// kept is what is kept of a sign-in.
type kept struct {
	Version      int       `json:"fettle_mcp_token"`
	ClientID     string    `json:"client_id"`
	ClientSecret string    `json:"client_secret,omitempty"`
	TokenURL     string    `json:"token_url"`
	AuthStyle    int       `json:"auth_style,omitempty"`
	Scopes       []string  `json:"scopes,omitempty"`
	AccessToken  string    `json:"access_token"`
	TokenType    string    `json:"token_type,omitempty"`
	RefreshToken string    `json:"refresh_token,omitempty"`
	Expiry       time.Time `json:"expiry,omitzero"`
}

func (k *kept) token() *oauth2.Token {
	return &oauth2.Token{AccessToken: k.AccessToken, TokenType: k.TokenType, RefreshToken: k.RefreshToken, Expiry: k.Expiry}
}

func (k *kept) config() *oauth2.Config {
	return &oauth2.Config{
		ClientID: k.ClientID, ClientSecret: k.ClientSecret, Scopes: k.Scopes,
		Endpoint: oauth2.Endpoint{TokenURL: k.TokenURL, AuthStyle: oauth2.AuthStyle(k.AuthStyle)},
	}
}

func keptOf(cfg *oauth2.Config, t *oauth2.Token) *kept {
	return &kept{
		Version: 1, ClientID: cfg.ClientID, ClientSecret: cfg.ClientSecret, TokenURL: cfg.Endpoint.TokenURL,
		AuthStyle: int(cfg.Endpoint.AuthStyle), Scopes: cfg.Scopes, AccessToken: t.AccessToken, TokenType: t.TokenType,
		RefreshToken: t.RefreshToken, Expiry: t.Expiry,
	}
}

// signIn makes what puts tokens on requests: kept ones, and new ones where a
// person can sign in.
func (m *Manager) signIn(s Server, client *http.Client) (auth.OAuthHandler, error) {
	h := &handler{m: m, server: s, client: client}
	var err error
	if h.source, err = h.load(m.life); err != nil {
		return nil, err
	}
	if m.o.SignIn == nil {
		return h, nil
	}
	if h.flow, err = h.newFlow(*m.o.SignIn); err != nil {
		return nil, err
	}
	return h, nil
}

// handler is the SDK's idea of signing in, with our store.
type handler struct {
	m      *Manager
	server Server
	client *http.Client
	flow   *auth.AuthorizationCodeHandler // nil where nobody can sign in now

	mu     sync.Mutex
	source oauth2.TokenSource
}

// load makes a source of what is kept; nil where nothing is.
func (h *handler) load(ctx context.Context) (oauth2.TokenSource, error) {
	if h.m.o.Tokens == nil {
		return nil, nil
	}
	text, err := h.m.o.Tokens.Load(ctx, TokenName(h.server))
	if err != nil || text == "" {
		return nil, err
	}
	var k kept
	if json.Unmarshal([]byte(text), &k) != nil || k.Version != 1 || k.AccessToken == "" {
		return nil, nil // another fettle's, or damaged: signing in replaces it
	}
	return h.keeping(k.config(), k.token()), nil
}

// keeping is a source whose new tokens are kept.
func (h *handler) keeping(cfg *oauth2.Config, t *oauth2.Token) oauth2.TokenSource {
	ctx := context.WithValue(h.m.life, oauth2.HTTPClient, &http.Client{Transport: h.client.Transport, CheckRedirect: h.client.CheckRedirect, Timeout: tokenTime})
	return &keeper{handler: h, cfg: cfg, next: cfg.TokenSource(ctx, t), last: t.AccessToken}
}

// supervisor keeps each new token that its source gives.
type keeper struct {
	handler *handler
	cfg     *oauth2.Config
	next    oauth2.TokenSource
	mu      sync.Mutex
	last    string
}

// Token gives a token that holds still.
func (k *keeper) Token() (*oauth2.Token, error) {
	t, err := k.next.Token()
	if err != nil {
		return nil, &SignInError{k.handler.server.ID} // it can't be made new any more
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if t.AccessToken != k.last {
		k.last = t.AccessToken
		if err := k.handler.save(k.cfg, t); err != nil {
			k.handler.m.log(k.handler.server.ID, "its new token is not kept: "+err.Error())
		}
	}
	return t, nil
}

func (h *handler) save(cfg *oauth2.Config, t *oauth2.Token) error {
	if h.m.o.Tokens == nil {
		return nil
	}
	raw, err := json.Marshal(keptOf(cfg, t))
	if err != nil {
		return err
	}
	return h.m.o.Tokens.Save(h.m.life, TokenName(h.server), string(raw))
}

// TokenSource gives what puts tokens on requests.
func (h *handler) TokenSource(ctx context.Context) (oauth2.TokenSource, error) {
	if h.flow != nil {
		source, err := h.flow.TokenSource(ctx)
		if source != nil || err != nil {
			return source, err
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.source == nil {
		return nil, nil
	}
	return h.source, nil
}

// Authorize is called where a server refuses a request for want of a token, or
// of one that allows more.
func (h *handler) Authorize(ctx context.Context, req *http.Request, resp *http.Response) error {
	if h.flow == nil {
		resp.Body.Close()
		return &SignInError{h.server.ID}
	}
	return h.flow.Authorize(ctx, req, resp)
}

var _ auth.OAuthHandler = (*handler)(nil)

// newFlow is the authorization code flow with PKCE of the SDK, which finds the
// authorization server, registers, and checks issuer, state and resource.
func (h *handler) newFlow(in SignIn) (*auth.AuthorizationCodeHandler, error) {
	fetch := in.Fetch
	if fetch == nil {
		l, err := newLanding(h.m.life)
		if err != nil {
			return nil, err
		}
		in.RedirectURL = l.address()
		context.AfterFunc(h.m.life, l.close)
		fetch = func(ctx context.Context, address string) (string, error) {
			if err := in.Show(ctx, address); err != nil {
				return "", err
			}
			return l.wait(ctx)
		}
	}
	cfg := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL: in.RedirectURL, Client: h.client, RequestRefreshToken: true, InitialTokenSource: h.source,
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "fettle", RedirectURIs: []string{in.RedirectURL},
			GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		}},
		AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			return visit(ctx, fetch, args.URL)
		},
		NewTokenSource: func(_ context.Context, cfg *oauth2.Config, t *oauth2.Token) (oauth2.TokenSource, error) {
			return h.keeping(cfg, t), h.save(cfg, t)
		},
	}
	if in.Document != "" {
		cfg.ClientIDMetadataDocumentConfig = &auth.ClientIDMetadataDocumentConfig{URL: in.Document}
	}
	if h.server.ClientID != "" {
		cfg.ClientIDMetadataDocumentConfig = nil // what was registered beforehand comes first
		cfg.PreregisteredClient = &oauthex.ClientCredentials{ClientID: h.server.ClientID}
		if h.server.ClientSecret != "" {
			cfg.PreregisteredClient.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: h.server.ClientSecret}
		}
	}
	return auth.NewAuthorizationCodeHandler(cfg)
}

// visit sends a person to an address and takes the code from where they come
// back to.
func visit(ctx context.Context, fetch func(context.Context, string) (string, error), address string) (*auth.AuthorizationResult, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return nil, errors.New("it wants a sign-in at an address that no browser should open")
	}
	ctx, cancel := context.WithTimeout(ctx, signInTime)
	defer cancel()
	back, err := fetch(ctx, address)
	if err != nil {
		return nil, fmt.Errorf("sign in: %w", err)
	}
	u, err = url.Parse(back)
	if err != nil {
		return nil, errors.New("sign in: the browser came back with no address")
	}
	q := u.Query()
	if what := q.Get("error"); what != "" {
		return nil, fmt.Errorf("sign in: it was refused: %s", plain(what+" "+q.Get("error_description"), maxMessageText))
	}
	if q.Get("code") == "" {
		return nil, errors.New("sign in: the browser came back without a code")
	}
	return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
}

// landing is where the browser comes back to, on this machine.
type landing struct {
	listener net.Listener
	server   *http.Server
	back     chan string
}

func newLanding(life context.Context) (*landing, error) {
	var lc net.ListenConfig
	listener, err := lc.Listen(life, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the browser's return: %w", err)
	}
	l := &landing{listener: listener, back: make(chan string, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+callbackPath, l.land)
	l.server = &http.Server{Handler: mux, ReadHeaderTimeout: dialTime, MaxHeaderBytes: maxCallback}
	go func() { _ = l.server.Serve(listener) }() // ends with close, which the manager's end calls
	return l, nil
}

func (l *landing) address() string { return "http://" + l.listener.Addr().String() + callbackPath }

// land takes the first return that has a code or an error.
func (l *landing) land(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("Cache-Control", "no-store")
	if r.Host != l.listener.Addr().String() || r.URL.Query().Get("state") == "" {
		http.Error(w, "This is not where fettle waits for.", http.StatusBadRequest)
		return
	}
	select {
	case l.back <- r.URL.String():
	default: // a second one is nobody's
	}
	fmt.Fprintln(w, "fettle has heard. You can close this page.")
}

func (l *landing) wait(ctx context.Context) (string, error) {
	select {
	case back := <-l.back:
		return back, nil
	case <-ctx.Done():
		return "", fmt.Errorf("nobody came back from the browser: %w", context.Cause(ctx))
	}
}

func (l *landing) close() { _ = l.server.Close() }
