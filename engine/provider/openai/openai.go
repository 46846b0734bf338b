package openai

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

// DefaultBaseURL is OpenAI's own address.
const DefaultBaseURL = "https://api.openai.com/v1"

// listLimit bounds the wait for a list of models: people look at it.
const listLimit = 30 * time.Second

// Options say which address a Provider speaks to, and how.
type Options struct {
	// Name is the provider's name in a Ref; "" is openai.
	Name string
	// BaseURL ends where /chat/completions begins; "" is OpenAI's. An address
	// without a path gets /v1.
	BaseURL string
	// API is the API that models are asked by, APIChat or APIResponses. If it is empty, the
	// provider chooses one by address and model; see the package's comment.
	API string
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
	// piece of it; 0 is 10 minutes and 2 minutes.
	FirstByte, Between time.Duration
}

// Provider is one address that serves chat completions. It is safe for
// concurrent use.
type Provider struct {
	o      Options
	base   *url.URL
	client *http.Client

	refused wire.Refusals

	mu     sync.Mutex
	learnt map[string]quirks         // by model
	listed map[string]provider.Model // what Models saw last
}

var (
	_ provider.Provider = (*Provider)(nil)
	_ provider.Lister   = (*Provider)(nil)
)

// New makes a Provider. It asks nobody yet.
func New(o Options) (*Provider, error) {
	if o.Name == "" {
		o.Name = "openai"
	}
	if o.BaseURL == "" {
		o.BaseURL = DefaultBaseURL
	}
	u, err := url.Parse(o.BaseURL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("set up provider %s: %q is no http or https address", o.Name, wire.Clean(o.BaseURL))
	}
	if o.API == APIResponses && deployment(u) {
		return nil, fmt.Errorf("set up provider %s: %s: %w", o.Name, wire.Address(u), ErrDeployment)
	}
	if azure(u) {
		u = azureBase(u)
	} else if strings.Trim(u.Path, "/") == "" {
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

// Model tells what the last list of models said. It asks nobody: the list is
// a request of its own, often says nothing of a model's abilities, and many
// addresses serve models that they don't list.
func (p *Provider) Model(_ context.Context, name string) (provider.Model, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m, ok := p.listed[name]; ok {
		return m, nil
	}
	return provider.Model{Provider: p.o.Name, Name: name, Audio: takesAudio(name)}, nil
}

// CloseIdleConnections closes connections that are kept for the next request.
func (p *Provider) CloseIdleConnections() { p.client.CloseIdleConnections() }

// Stream sends the request; see provider.Provider.
func (p *Provider) Stream(ctx context.Context, req *provider.Request) iter.Seq2[[]provider.Delta, error] {
	if req.Completion != nil {
		return wire.Stream(func(pass func([]provider.Delta) bool) error { return p.complete(ctx, req, pass) })
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
			b, err := encode(req, p.api(req.Model, q), q, now)
			if err == nil {
				err = p.try(ctx, req, b, pass)
			} else {
				err = p.source(req).Error(provider.Rejected, err.Error(), err)
			}
			if err == nil {
				return
			}
			if shown || adapted == maxAdaptions || !p.adapt(err, req, b, &q, &now) {
				yield(nil, p.explain(err))
				return
			}
		}
	}
}

// adapt takes a lesson from a refusal, and reports whether there was one.
func (p *Provider) adapt(err error, req *provider.Request, b *built, q *quirks, now *adaption) bool {
	if p.learnAPI(err, b.api, q) {
		now.moved = true
		p.learn(req.Model, *q)
		return true
	}
	switch learn(err, req, b, q, now) {
	case ofModel:
		p.learn(req.Model, *q)
		return true
	case ofThis:
		p.refused.Add(req, now.refused)
		return true
	}
	if now.moved && b.api == APIResponses && useless(err) {
		q.api, q.onlyAPI = APIChat, true
		p.learn(req.Model, *q)
		return true
	}
	return false
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
	path := "chat/completions"
	if b.api == APIResponses {
		path = "responses"
	}
	hr, src, err := p.request(ctx, http.MethodPost, path, body, p.source(req))
	if err != nil {
		return err
	}
	if b.api == APIChat && p.quirks(req.Model).prefill == prefillRepeated {
		pass = wire.Unprefixed(wire.Begun(req), pass)
	}
	notes, pass := wire.Announce(b.notes, pass)
	x := wire.Exchange{
		Client: p.client, Request: hr, Source: src, Limits: p.limits(b.api),
		Decode: func(resp *http.Response) (wire.Decoder, error) {
			o := decoderOptions{source: src, names: b.names, notes: notes, thoughtEnd: req.ThoughtEnd}
			if b.api == APIResponses {
				return newResponseDecoder(resp.Body, o), nil
			}
			o.gave = func(field string) { p.learnReasoning(req.Model, field) }
			return newDecoder(resp.Body, o), nil
		},
	}
	return x.Run(ctx, pass)
}

// limits returns the limits of a request. Between two items of a response a model may think
// for minutes without a sign of life.
func (p *Provider) limits(api string) wire.Limits {
	l := wire.Limits{First: p.o.FirstByte, Between: p.o.Between}
	if api == APIResponses && p.o.Between <= 0 {
		l = l.Patient()
	}
	return l
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
		setKey(hr, key)
		src.Secrets = append(slices.Clone(src.Secrets), key)
	}
	if body != nil {
		hr.Header.Set("Accept", "text/event-stream")
	}
	src.Secrets = append(src.Secrets, wire.SetHeaders(hr, p.o.Headers)...)
	return hr, src, nil
}

// Models lists the models in the address's own order.
func (p *Provider) Models(ctx context.Context) ([]provider.Model, error) {
	src := wire.Source{Provider: p.o.Name, Address: p.Address()}
	hr, src, err := p.request(ctx, http.MethodGet, "models", nil, src)
	if err != nil {
		return nil, err
	}
	x := wire.Exchange{Client: p.client, Request: hr, Source: src, Limits: wire.Limits{First: listLimit, Between: listLimit}}
	body, err := x.Fetch(ctx)
	if err != nil {
		return nil, err
	}
	entries, err := readList(body)
	if err != nil {
		return nil, src.Undecodable(&wire.FormatError{Chunk: body, Err: err})
	}
	models := make([]provider.Model, 0, len(entries))
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range entries {
		if m := e.model(p.o.Name); m.Name != "" {
			models = append(models, m)
			p.listed[m.Name] = m
		}
	}
	return models, nil
}

// readList reads `{"data": […]}`, `{"models": […]}` or a bare list.
func readList(body []byte) ([]listEntry, error) {
	var list struct {
		Data   []listEntry `json:"data"`
		Models []listEntry `json:"models"`
	}
	var bare []listEntry
	if json.Unmarshal(body, &bare) == nil {
		return bare, nil
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, err
	}
	if list.Data == nil {
		return list.Models, nil
	}
	return list.Data, nil
}
