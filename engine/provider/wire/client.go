package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	// connectLimit bounds dialling: an address that takes longer is taken for
	// one where nobody listens.
	connectLimit = 15 * time.Second
	// readBuffer is what one network read may bring; with net/http's own 4 KB
	// a burst of chunks would be many batches.
	readBuffer = 32 << 10
	// maxHead bounds the head of a response; what is longer is no model's.
	maxHead = 1 << 20
	// maxRedirects is enough for a path that moved on the same host.
	maxRedirects = 3
)

// Client makes an HTTP client for model requests from c, which may be nil and
// is not changed. It follows redirects only where they stay on the same host
// and keep the method, and has no time limit of its own.
func Client(c *http.Client) *http.Client {
	var out http.Client
	if c != nil {
		out = *c
	}
	if out.Transport == nil {
		out.Transport = transport()
	}
	out.CheckRedirect = stay
	return &out
}

func transport() *http.Transport {
	d := net.Dialer{Timeout: connectLimit, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            d.DialContext,
		ForceAttemptHTTP2:      true,
		MaxIdleConnsPerHost:    8,
		IdleConnTimeout:        90 * time.Second,
		TLSHandshakeTimeout:    connectLimit,
		ExpectContinueTimeout:  time.Second,
		ReadBufferSize:         readBuffer,
		MaxResponseHeaderBytes: maxHead,
		OnProxyConnectResponse: proxyAnswer,
		DisableCompression:     true, // compressed streams arrive in lumps
	}
}

// proxyError is why a proxy leads nowhere.
type proxyError struct{ host, status string }

func (e *proxyError) Error() string {
	return fmt.Sprintf("the proxy %s leads nowhere: %s", e.host, e.status)
}

// proxyAnswer gives a proxy's refusal a type of its own; net/http has only its
// words. Its address is told without a password.
func proxyAnswer(_ context.Context, proxy *url.URL, _ *http.Request, resp *http.Response) error {
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	return &proxyError{host: proxy.Host, status: resp.Status}
}

// redirectError is why a redirect was not followed.
type redirectError struct{ to string }

func (e *redirectError) Error() string {
	return fmt.Sprintf("it redirects to %s, which is not followed; if that is right, set it as the address", e.to)
}

// stay allows a redirect on the same host, or from http to https there.
func stay(req *http.Request, via []*http.Request) error {
	from := via[len(via)-1]
	sameHost := req.URL.Scheme == from.URL.Scheme && req.URL.Host == from.URL.Host
	upgrade := from.URL.Scheme == "http" && req.URL.Scheme == "https" && req.URL.Hostname() == from.URL.Hostname()
	if !(sameHost || upgrade) || req.Method != from.Method || len(via) > maxRedirects {
		return &redirectError{to: Address(req.URL)}
	}
	return nil
}

// Address is the scheme, host and port of u: what may be shown of it.
func Address(u *url.URL) string { return (&url.URL{Scheme: u.Scheme, Host: u.Host}).String() }

// NewRequest makes a request with a JSON body, or none where body is nil.
func NewRequest(ctx context.Context, method string, u *url.URL, body []byte) (*http.Request, error) {
	var r io.Reader
	if body != nil {
		r = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), r)
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("User-Agent", "fettle")
	return req, nil
}

// WithQuery returns u with the parameters of a configuration in its query.
func WithQuery(u *url.URL, params map[string]string) *url.URL {
	if len(params) == 0 {
		return u
	}
	out := *u
	q := out.Query()
	for name, value := range params {
		q.Set(name, value)
	}
	out.RawQuery = q.Encode()
	return &out
}

// WithMembers returns the JSON object body with the members of a configuration in place of
// its own. A member that is null is left out.
func WithMembers(body []byte, members map[string]json.RawMessage) ([]byte, error) {
	if len(members) == 0 {
		return body, nil
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(body, &all); err != nil {
		return nil, err
	}
	for name, value := range members {
		if string(value) == "null" {
			delete(all, name)
		} else {
			all[name] = value
		}
	}
	return Marshal(all)
}

// likelySecret is how long a header's value is that is taken for a secret,
// whatever the header's name: a title or a version is shorter.
const likelySecret = 20

// SetHeaders adds a configuration's headers and gives the values among them
// that are secrets, or that are long enough to be.
func SetHeaders(req *http.Request, headers map[string]string) (secrets []string) {
	for name, value := range headers {
		req.Header.Set(name, value)
		if len(value) >= likelySecret {
			secrets = append(secrets, value)
		}
		low := strings.ToLower(name)
		for _, part := range []string{"auth", "key", "token", "secret", "cookie"} {
			if strings.Contains(low, part) {
				secrets = append(secrets, value, strings.TrimPrefix(value, "Bearer "))
				break
			}
		}
	}
	return secrets
}
