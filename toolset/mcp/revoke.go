package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

const (
	// revokeTime bounds telling an authorization server that its tokens are done
	// with: somebody waits for it, and the tokens are gone from here already.
	revokeTime = 15 * time.Second
	// maxRevokeAnswer bounds what is read of its answer: an error in one line.
	maxRevokeAnswer = 4 << 10
)

// SignedOut is what came of a sign-out.
type SignedOut struct {
	// Was tells that a sign-in was kept. It is no more.
	Was bool
	// Revoked tells that the authorization server has ended the tokens.
	Revoked bool
	// Failed is why it could not be told to; nil where it was, and where it has no
	// way to be told.
	Failed error
}

// SignOut removes what is kept of a sign-in, then has the authorization server end
// the tokens (RFC 7009) where it has an endpoint for that. What fails there is told in
// the outcome: the tokens are gone from here all the same.
func (m *Manager) SignOut(ctx context.Context, s Server) (SignedOut, error) {
	s, text, err := m.kept(ctx, s)
	if err != nil || text == "" {
		return SignedOut{}, err
	}
	if err := m.o.Tokens.Remove(ctx, TokenName(s)); err != nil {
		return SignedOut{}, err
	}
	out := SignedOut{Was: true}
	var k kept
	if json.Unmarshal([]byte(text), &k) != nil || k.Version != 1 {
		return out, nil // nobody knows whose they were
	}
	ctx, cancel := context.WithTimeoutCause(ctx, revokeTime, fmt.Errorf("it did not answer within %s", revokeTime))
	defer cancel()
	out.Revoked, out.Failed = revoke(ctx, s, &k)
	switch {
	case out.Failed == nil:
	case ctx.Err() != nil:
		out.Failed = context.Cause(ctx)
	default: // it may hold words of theirs
		out.Failed = errors.New(plain(out.Failed.Error(), maxMessageText))
	}
	return out, nil
}

// SignInMark is a mark of the sign-in that is kept for a server: another one for each,
// and empty where there is none.
func (m *Manager) SignInMark(ctx context.Context, s Server) (string, error) {
	_, text, err := m.kept(ctx, s)
	return text, err
}

// kept is the text that is kept of a sign-in, and the server with its real address,
// which the text is kept under.
func (m *Manager) kept(ctx context.Context, s Server) (Server, string, error) {
	if s.URL == "" || m.o.Tokens == nil {
		return s, "", nil
	}
	address, err := s.fill(ctx, m.o.Lookup, s.URL)
	if err != nil {
		return s, "", err
	}
	s.URL, s.Headers = address, nil // no key is wanted to ask where people sign in
	text, err := m.o.Tokens.Load(ctx, TokenName(s))
	return s, text, err
}

// revoke ends the tokens at the authorization server, the one that makes new ones
// first. It tells whether that was done; no endpoint is no error.
func revoke(ctx context.Context, s Server, k *kept) (bool, error) {
	client, idle := newHTTP(s, newGuard(nil), nil)
	defer idle()
	meta, err := authServer(ctx, s, client)
	if err != nil {
		return false, err
	}
	if meta == nil || meta.RevocationEndpoint == "" {
		return false, nil
	}
	// The tokens go nowhere but to where they came from, whatever the server names
	// today.
	if meta.TokenEndpoint != k.TokenURL || !sameOrigin(meta.RevocationEndpoint, k.TokenURL) {
		return false, errors.New("people sign in elsewhere now, where the tokens aren't sent")
	}
	for _, t := range []struct{ kind, token string }{{"refresh_token", k.RefreshToken}, {"access_token", k.AccessToken}} {
		if t.token == "" {
			continue
		}
		if err := revokeOne(ctx, client, meta, k, url.Values{"token": {t.token}, "token_type_hint": {t.kind}}); err != nil {
			return false, err
		}
	}
	return true, nil
}

// authServer finds the authorization server of a server as signing in does: by what
// its refusal names, by its metadata, and else at its own address.
func authServer(ctx context.Context, s Server, client *http.Client) (*oauthex.AuthServerMeta, error) {
	address, err := url.Parse(s.URL)
	if err != nil {
		return nil, err
	}
	root := &url.URL{Scheme: address.Scheme, Host: address.Host}
	issuer := root.String()
	for _, at := range []struct{ metadata, resource string }{
		{challenged(ctx, s, client), s.URL},
		{root.JoinPath("/.well-known/oauth-protected-resource", address.Path).String(), s.URL},
		{root.JoinPath("/.well-known/oauth-protected-resource").String(), root.String()},
	} {
		if at.metadata == "" {
			continue
		}
		prm, err := oauthex.GetProtectedResourceMetadata(ctx, at.metadata, at.resource, client)
		if err == nil && prm != nil && len(prm.AuthorizationServers) > 0 {
			issuer = prm.AuthorizationServers[0]
			break
		}
	}
	return auth.GetAuthServerMetadata(ctx, issuer, client)
}

// challenged asks a server without a token, and gives the address that its refusal
// names.
func challenged(ctx context.Context, s Server, client *http.Client) string {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL, nil)
	if err != nil {
		return ""
	}
	req.Header.Set("Accept", "text/event-stream")
	resp, err := client.Do(req)
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	challenges, err := oauthex.ParseWWWAuthenticate(resp.Header.Values("WWW-Authenticate"))
	if err != nil || resp.StatusCode != http.StatusUnauthorized {
		return ""
	}
	for _, c := range challenges {
		if address := c.Params["resource_metadata"]; address != "" {
			return address
		}
	}
	return ""
}

// revokeOne ends one token. A server answers 200 for one that it doesn't know, too.
func revokeOne(ctx context.Context, client *http.Client, meta *oauthex.AuthServerMeta, k *kept, form url.Values) error {
	inHeader := k.ClientSecret != "" && oauth2.AuthStyle(k.AuthStyle) != oauth2.AuthStyleInParams
	if !inHeader {
		form.Set("client_id", k.ClientID)
		if k.ClientSecret != "" {
			form.Set("client_secret", k.ClientSecret)
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, meta.RevocationEndpoint, strings.NewReader(form.Encode()))
	if err != nil {
		return errors.New("its endpoint for ending tokens has no address")
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	if inHeader {
		req.SetBasicAuth(url.QueryEscape(k.ClientID), url.QueryEscape(k.ClientSecret))
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	raw, _ := io.ReadAll(io.LimitReader(resp.Body, maxRevokeAnswer))
	if resp.StatusCode/100 == 2 {
		return nil
	}
	var told struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	_ = json.Unmarshal(raw, &told) // what is no JSON says nothing
	return errors.New(plain(strings.Join([]string{"it answered", resp.Status, told.Error, told.Description}, " "), maxMessageText))
}

// sameOrigin tells whether two addresses are of one server, which is reached safely:
// by https, or on this machine.
func sameOrigin(a, b string) bool {
	ua, errA := url.Parse(a)
	ub, errB := url.Parse(b)
	if errA != nil || errB != nil || ua.Scheme != ub.Scheme || !strings.EqualFold(ua.Host, ub.Host) {
		return false
	}
	return ua.Scheme == "https" || ua.Scheme == "http" && loopback(ua.Hostname())
}

// loopback tells the names of this machine.
func loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}
