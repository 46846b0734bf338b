package ollama

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/ollama/ollama/api"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// Options say which Ollama a Provider speaks to, and how.
type Options struct {
	// Name is the provider's name in a Ref; "" is ollama.
	Name string
	// Host is where it listens, in any form that OLLAMA_HOST may have.
	Host string
	// Key gives a bearer token before each request, for an Ollama behind a
	// proxy that wants one; nil or an empty one sends none.
	Key func(context.Context) (string, error)
	// Headers are sent with each request.
	Headers map[string]string
	// Client makes the requests; nil is one of the Provider's own.
	Client *http.Client
	// NumCtx fixes the context length of every request; 0 measures the need.
	NumCtx int
	// MaxCtx caps what is measured; 0 is the model's own length.
	MaxCtx int
	// ContextLength is OLLAMA_CONTEXT_LENGTH: it fixes the length where NumCtx
	// doesn't. 0 is unset.
	ContextLength int
	// FirstByte and Between bound the waits for an answer and for each further
	// piece of it; 0 is 10 minutes and 2 minutes.
	FirstByte, Between time.Duration
}

// Provider is one Ollama. It is safe for concurrent use.
type Provider struct {
	o      Options
	base   *url.URL
	client *http.Client
	api    *api.Client // for facts, with key and headers and a bound on what is read

	mu      sync.Mutex
	known   map[string]info // by model, as the user names it
	secrets []string        // what was sent last, kept out of messages
}

var (
	_ provider.Provider = (*Provider)(nil)
	_ provider.Lister   = (*Provider)(nil)
)

// New makes a Provider. It asks nobody yet.
func New(o Options) (*Provider, error) {
	if o.Name == "" {
		o.Name = "ollama"
	}
	base := Host(o.Host)
	if base.Scheme != "http" && base.Scheme != "https" {
		return nil, fmt.Errorf("set up provider %s: %q is no http or https address", o.Name, wire.Clean(o.Host))
	}
	p := &Provider{o: o, base: base, client: wire.Client(o.Client), known: map[string]info{}}
	facts := *p.client
	facts.Transport = &factTransport{p: p, next: p.client.Transport}
	p.api = api.NewClient(base, &facts)
	return p, nil
}

// Name is the provider's name in a Ref.
func (p *Provider) Name() string { return p.o.Name }

// Address is the scheme, host and port where this Ollama is looked for.
func (p *Provider) Address() string { return wire.Address(p.base) }

// CloseIdleConnections closes connections that are kept for the next request.
func (p *Provider) CloseIdleConnections() { p.client.CloseIdleConnections() }

// Stream sends the request; see provider.Provider.
func (p *Provider) Stream(ctx context.Context, req *provider.Request) iter.Seq2[[]provider.Delta, error] {
	if req.Completion != nil {
		return wire.Stream(func(pass func([]provider.Delta) bool) error { return p.complete(ctx, req, pass) })
	}
	return func(yield func([]provider.Delta, error) bool) {
		about, err := p.about(ctx, req.Model)
		if err != nil && final(err) {
			yield(nil, err)
			return
		}
		src := p.source(req.Model)
		if about.model.Images == provider.No && wire.HasImages(req) {
			// The server would fail deep inside the runner, or not at all.
			e := src.Error(provider.Unsupported, req.Model+" takes no images", nil)
			e.Feature = provider.FeatureImages
			yield(nil, e)
			return
		}
		size := p.sizing(ctx, req, about)
		shown := false
		pass := func(batch []provider.Delta) bool {
			shown = true
			return yield(batch, nil)
		}
		for {
			n := 0
			if !about.remote {
				n = size.numCtx()
			}
			err := p.try(ctx, req, n, pass)
			if err == nil {
				return
			}
			var e *provider.Error
			if errors.As(err, &e) && e.Kind == provider.ContextFull && !shown && n > 0 && size.grow(n) {
				continue
			}
			yield(nil, err)
			return
		}
	}
}

// final tells whether a failure to learn about a model is one of the request
// as well. A server that doesn't tell about its models may still chat.
func final(err error) bool {
	var e *provider.Error
	if !errors.As(err, &e) {
		return true
	}
	switch e.Kind {
	case provider.Rejected, provider.Undecodable, provider.Overloaded:
		return false
	}
	return true
}

// sizing collects what decides the context length.
func (p *Provider) sizing(ctx context.Context, req *provider.Request, about info) sizing {
	s := sizing{
		fixed: p.o.NumCtx, least: about.numCtx, limit: about.model.ContextLength,
		need: need(req, about.model.Thinking == provider.Yes),
	}
	if s.fixed == 0 {
		s.fixed = p.o.ContextLength
	}
	if p.o.MaxCtx > 0 && (s.limit == 0 || p.o.MaxCtx < s.limit) {
		s.limit = p.o.MaxCtx
	}
	if s.fixed == 0 && !about.remote {
		s.loaded = p.loaded(ctx, req.Model)
	}
	return s
}

// try makes one exchange with this num_ctx; 0 leaves it out.
func (p *Provider) try(ctx context.Context, req *provider.Request, numCtx int, pass func([]provider.Delta) bool) error {
	src := p.source(req.Model)
	names := wire.Names(req)
	body, notes, err := encode(req, numCtx, names)
	if err != nil {
		return src.Error(provider.Rejected, err.Error(), err)
	}
	hr, err := wire.NewRequest(ctx, http.MethodPost, p.base.JoinPath("api/chat"), body)
	if err != nil {
		return src.Error(provider.Rejected, err.Error(), err)
	}
	if err := p.authorise(hr); err != nil {
		return src.Error(provider.Unauthorised, err.Error(), err)
	}
	src = p.source(req.Model) // which knows the key now
	src.Asked = wire.Asked(req)
	hr.Header.Set("Accept", "application/x-ndjson")
	limits := wire.Limits{First: p.o.FirstByte, Between: p.o.Between}
	if len(req.Tools) > 0 {
		limits = limits.Patient() // see the package's comment
	}
	notes, pass = wire.Announce(notes, pass)
	x := wire.Exchange{
		Client: p.client, Limits: limits, Source: src, Request: hr,
		Decode: func(resp *http.Response) (wire.Decoder, error) {
			return newDecoder(resp.Body, decoderOptions{
				source: src, names: names, notes: notes, numCtx: numCtx, maxTokens: req.MaxTokens,
				thoughtEnd: req.ThoughtEnd,
			}), nil
		},
	}
	return x.Run(ctx, pass)
}

func (p *Provider) source(model string) wire.Source {
	p.mu.Lock()
	defer p.mu.Unlock()
	return wire.Source{Provider: p.o.Name, Model: model, Address: p.Address(), Secrets: p.secrets}
}

// authorise adds key and headers to a request and remembers those that are
// secrets.
func (p *Provider) authorise(hr *http.Request) error {
	var secrets []string
	if p.o.Key != nil {
		key, err := p.o.Key(hr.Context())
		if err != nil {
			return err
		}
		if key = strings.TrimSpace(key); key != "" {
			hr.Header.Set("Authorization", "Bearer "+key)
			secrets = append(secrets, key)
		}
	}
	secrets = append(secrets, wire.SetHeaders(hr, p.o.Headers)...)
	p.mu.Lock()
	p.secrets = secrets
	p.mu.Unlock()
	return nil
}
