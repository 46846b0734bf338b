package mistral

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

const (
	// DefaultBaseURL is Mistral's own address.
	DefaultBaseURL = "https://api.mistral.ai/v1"
	// listLimit bounds the wait for a list of models: people look at it.
	listLimit = 30 * time.Second
)

// Options say which address a Provider speaks to, and how.
type Options struct {
	// Name is the provider's name in a Ref; "" is mistral.
	Name string
	// BaseURL ends where /chat/completions begins; "" is Mistral's. An address
	// without a path gets /v1.
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
	// AgentFile is the file that the ids of agents are kept in, which are made at
	// Mistral then and answer in one conversation there; "" leaves agents to the
	// caller. Its folder is made.
	AgentFile string
	// OnWait is called with the owner of that file's lock, if the wait for it takes more
	// than a second. It may be nil.
	OnWait func(owner string)
	// FirstByte and Between bound the waits for an answer and for each further
	// piece of it; 0 is 10 minutes and 2 minutes.
	FirstByte, Between time.Duration
}

// Provider is one address that serves chat completions as Mistral does. It is
// safe for concurrent use.
type Provider struct {
	o      Options
	base   *url.URL
	client *http.Client

	refused wire.Refusals

	mu     sync.Mutex
	learnt map[string]quirks         // by model
	listed map[string]provider.Model // what Models saw last
	cast   castIDs                   // the agents that were looked at last
}

var (
	_ provider.Provider = (*Provider)(nil)
	_ provider.Lister   = (*Provider)(nil)
)

// New makes a Provider. It asks nobody yet.
func New(o Options) (*Provider, error) {
	if o.Name == "" {
		o.Name = "mistral"
	}
	if o.BaseURL == "" {
		o.BaseURL = DefaultBaseURL
	}
	u, err := url.Parse(o.BaseURL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("set up provider %s: %q is no http or https address", o.Name, wire.Clean(o.BaseURL))
	}
	if strings.Trim(u.Path, "/") == "" {
		u = u.JoinPath("v1")
	}
	return &Provider{
		o: o, base: u, client: wire.Client(o.Client),
		learnt: map[string]quirks{}, listed: map[string]provider.Model{},
	}, nil
}

// Name is the provider's name in a Ref.
func (p *Provider) Name() string { return p.o.Name }

// Address is the scheme, host and port of the server.
func (p *Provider) Address() string { return wire.Address(p.base) }

// Model tells what the last list of models said, which is all that is known of
// a model. It asks nobody.
func (p *Provider) Model(_ context.Context, name string) (provider.Model, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m, ok := p.listed[name]; ok {
		return m, nil
	}
	return provider.Model{Provider: p.o.Name, Name: name}, nil
}

// CloseIdleConnections closes connections that are kept for the next request.
func (p *Provider) CloseIdleConnections() { p.client.CloseIdleConnections() }

// Stream sends the request; see provider.Provider.
func (p *Provider) Stream(ctx context.Context, req *provider.Request) iter.Seq2[[]provider.Delta, error] {
	if req.Completion != nil {
		return wire.Stream(func(pass func([]provider.Delta) bool) error { return p.complete(ctx, req, pass) })
	}
	if p.talks(req) {
		return p.converse(ctx, req)
	}
	return func(yield func([]provider.Delta, error) bool) {
		shown := false
		pass := func(batch []provider.Delta) bool {
			shown = true
			return yield(batch, nil)
		}
		now := adaption{refused: p.refused.Of(req)}
		for adapted := 0; ; adapted++ {
			q := p.quirks(req.Model)
			b, err := encode(req, q, now)
			if err == nil {
				err = p.try(ctx, req, b, pass)
			} else {
				err = p.source(req).Error(provider.Rejected, err.Error(), err)
			}
			if err == nil {
				return
			}
			if !shown && adapted < maxAdaptions && learn(err, b, &q, &now) {
				p.learn(req.Model, q)
				p.refused.Add(req, now.refused)
				continue
			}
			yield(nil, err)
			return
		}
	}
}

// talks reports whether agents that the provider keeps answer the request.
func (p *Provider) talks(req *provider.Request) bool {
	n := req.Native
	return p.o.AgentFile != "" && n != nil && n.Provider == p.o.Name && req.Schema == nil
}

func (p *Provider) source(req *provider.Request) wire.Source {
	return wire.Source{Provider: p.o.Name, Model: req.Model, Address: p.Address(), Asked: wire.Asked(req)}
}

// try makes one exchange.
func (p *Provider) try(ctx context.Context, req *provider.Request, b *built, pass func([]provider.Delta) bool) error {
	body, err := wire.WithMembers(b.body, p.o.Body)
	if err != nil {
		return p.source(req).Error(provider.Rejected, err.Error(), err)
	}
	hr, src, err := p.request(ctx, http.MethodPost, "chat/completions", body, p.source(req))
	if err != nil {
		return err
	}
	notes, pass := wire.Announce(b.notes, wire.Unprefixed(wire.Begun(req), pass))
	x := wire.Exchange{
		Client: p.client, Request: hr, Source: src,
		Limits: wire.Limits{First: p.o.FirstByte, Between: p.o.Between},
		Refuse: func(resp *http.Response, body []byte) *provider.Error {
			return refused(src, resp, body)
		},
		Decode: func(resp *http.Response) (wire.Decoder, error) {
			return newDecoder(resp.Body, decoderOptions{
				source: src, names: wire.Names(req), notes: notes,
			}), nil
		},
	}
	return x.Run(ctx, pass)
}

// request makes an HTTP request with key and headers, and a source that knows
// them as secrets.
func (p *Provider) request(ctx context.Context, method, path string, body []byte, src wire.Source) (*http.Request, wire.Source, error) {
	key := ""
	if p.o.Key != nil {
		var err error
		if key, err = p.o.Key(ctx); err != nil {
			return nil, src, src.Error(provider.Unauthorised, err.Error(), err)
		}
	}
	hr, err := wire.NewRequest(ctx, method, wire.WithQuery(p.base.JoinPath(path), p.o.Query), body)
	if err != nil {
		return nil, src, src.Error(provider.Rejected, err.Error(), err)
	}
	if key = strings.TrimSpace(key); key != "" {
		hr.Header.Set("Authorization", "Bearer "+key)
		src.Secrets = append(slices.Clone(src.Secrets), key)
	}
	if body != nil {
		hr.Header.Set("Accept", "text/event-stream")
	}
	src.Secrets = append(src.Secrets, wire.SetHeaders(hr, p.o.Headers)...)
	return hr, src, nil
}

func (p *Provider) quirks(model string) quirks {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.learnt[model]
}

func (p *Provider) learn(model string, q quirks) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.learnt[model] = q
}
