package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/engine/provider"
)

// listLimit bounds the wait for a list of models and the like: the user looks at it.
const listLimit = 30 * time.Second

// Options are an address, and how it is asked.
type Options struct {
	// Name is the provider's name in a Ref; "" is the adapter's.
	Name string
	// BaseURL is the address, as its adapter completes it; "" is the adapter's.
	BaseURL string
	// Key gives the API key before each request; nil or an empty key sends
	// none. Its error is the request's, of kind Unauthorised.
	Key func(context.Context) (string, error)
	// Headers are sent with each request.
	Headers map[string]string
	// Query is added to the address of each request, and Body to the JSON of each
	// question, in place of members of the same name; null leaves a member out.
	Query map[string]string
	Body  map[string]json.RawMessage
	// Client makes the requests; nil is one of the Provider's own.
	Client *http.Client
	// FirstByte and Between bound the waits for an answer and for each further
	// piece of it; 0 is 10 minutes and 2 minutes. Where Between is 0, a model that may think
	// in silence is given as long as for the first piece.
	FirstByte, Between time.Duration
}

// Limits returns the limits of a request.
func (o Options) Limits() Limits { return Limits{First: o.FirstByte, Between: o.Between} }

// Patiently returns the limits of a request whose model may think in silence.
func (o Options) Patiently() Limits {
	if o.Between > 0 {
		return o.Limits()
	}
	return o.Limits().Patient()
}

// Adapter is what the endpoints of an adapter have in common. Its functions may be nil.
type Adapter struct {
	// Name and BaseURL are used where the Options have none.
	Name, BaseURL string
	// Base completes an address.
	Base func(*url.URL) *url.URL
	// SetKey adds the key to a request; nil sends it as a bearer token.
	SetKey func(r *http.Request, key string)
	// Header are sent with each request, unless the Options have others.
	Header map[string]string
	// Refuse reads the body of a refusal; nil is Source.Refused.
	Refuse func(src Source, resp *http.Response, body []byte) *provider.Error
}

// Endpoint is an address that a provider asks. It is safe for concurrent use.
type Endpoint struct {
	Options Options
	Base    *url.URL // the completed address, which must not be changed

	adapter Adapter
	client  *http.Client
}

// NewEndpoint makes an Endpoint. It sends nothing yet.
func NewEndpoint(o Options, a Adapter) (*Endpoint, error) {
	if o.Name == "" {
		o.Name = a.Name
	}
	if o.BaseURL == "" {
		o.BaseURL = a.BaseURL
	}
	u, err := url.Parse(o.BaseURL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("set up provider %s: %q is no http or https address", o.Name, Clean(o.BaseURL))
	}
	if a.Base != nil {
		u = a.Base(u)
	}
	return &Endpoint{Options: o, Base: u, adapter: a, client: Client(o.Client)}, nil
}

// Name is the provider's name in a Ref.
func (e *Endpoint) Name() string { return e.Options.Name }

// Address is the scheme, host and port of the server.
func (e *Endpoint) Address() string { return Address(e.Base) }

// CloseIdleConnections closes connections that are kept for the next request.
func (e *Endpoint) CloseIdleConnections() { e.client.CloseIdleConnections() }

// Source returns the source of the errors of requests for a model.
func (e *Endpoint) Source(model string, asked ...provider.Feature) Source {
	return Source{Provider: e.Name(), Model: model, Address: e.Address(), Asked: asked}
}

// Exchange makes a request for a path below the address, with the key and the headers, which
// its source knows as secrets. A body asks for a stream.
func (e *Endpoint) Exchange(ctx context.Context, method, path string, body []byte, src Source) (*Exchange, error) {
	key := ""
	if e.Options.Key != nil {
		var err error
		if key, err = e.Options.Key(ctx); err != nil {
			return nil, src.Error(provider.Unauthorised, err.Error(), err)
		}
	}
	hr, err := NewRequest(ctx, method, WithQuery(e.Base.JoinPath(path), e.Options.Query), body)
	if err != nil {
		return nil, src.Error(provider.Rejected, err.Error(), err)
	}
	for name, value := range e.adapter.Header {
		hr.Header.Set(name, value)
	}
	if key = strings.TrimSpace(key); key != "" {
		if e.adapter.SetKey != nil {
			e.adapter.SetKey(hr, key)
		} else {
			hr.Header.Set("Authorization", "Bearer "+key)
		}
		src.Secrets = append(slices.Clone(src.Secrets), key)
	}
	if body != nil {
		hr.Header.Set("Accept", "text/event-stream")
	}
	src.Secrets = append(src.Secrets, SetHeaders(hr, e.Options.Headers)...)
	x := &Exchange{Client: e.client, Request: hr, Source: src, Limits: e.Options.Limits()}
	if e.adapter.Refuse != nil {
		x.Refuse = func(resp *http.Response, body []byte) *provider.Error { return e.adapter.Refuse(src, resp, body) }
	}
	return x, nil
}

// Ask makes an exchange that the user waits for, such as that of a list, and has its whole answer
// read.
func (x *Exchange) Ask(ctx context.Context, read func(body []byte) error) error {
	if x.Request.Method != http.MethodGet {
		x.Request.Header.Set("Accept", "application/json")
	}
	x.Limits = Limits{First: listLimit, Between: listLimit}
	return x.FetchJSON(ctx, read)
}
