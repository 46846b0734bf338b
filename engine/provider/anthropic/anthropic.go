package anthropic

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

const (
	// DefaultBaseURL is Anthropic's own address.
	DefaultBaseURL = "https://api.anthropic.com"
	// version is the version of the API that is spoken.
	version = "2023-06-01"
)

// Options are the address of a Provider, and how it is asked. BaseURL ends where /v1/messages
// begins, or with that /v1.
type Options = wire.Options

// Provider is one address that serves the Messages API. It is safe for
// concurrent use.
type Provider struct {
	*wire.Endpoint // with the /v1
	refused        wire.Refusals

	mu     sync.Mutex
	learnt map[string]quirks         // by model
	listed map[string]provider.Model // what Models saw last
}

var (
	_ provider.Provider = (*Provider)(nil)
	_ provider.Lister   = (*Provider)(nil)
)

// New makes a Provider. It sends nothing yet.
func New(o Options) (*Provider, error) {
	e, err := wire.NewEndpoint(o, wire.Adapter{
		Name: "anthropic", BaseURL: DefaultBaseURL, Refuse: refused,
		Header: map[string]string{"Anthropic-Version": version},
		SetKey: func(r *http.Request, key string) { r.Header.Set("X-Api-Key", key) },
		Base: func(u *url.URL) *url.URL {
			if !strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/v1") {
				u = u.JoinPath("v1")
			}
			return u
		},
	})
	if err != nil {
		return nil, err
	}
	return &Provider{Endpoint: e, learnt: map[string]quirks{}, listed: map[string]provider.Model{}}, nil
}

// Model tells what the last list of models said, else what is known of the
// model's family. It asks nobody.
func (p *Provider) Model(_ context.Context, name string) (provider.Model, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m, ok := p.listed[name]; ok {
		return m, nil
	}
	return describe(p.Name(), name), nil
}

// Stream sends the request; see provider.Provider.
func (p *Provider) Stream(ctx context.Context, req *provider.Request) iter.Seq2[[]provider.Delta, error] {
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
			if err != nil {
				err = p.Source(req.Model, wire.Asked(req)...).Error(provider.Rejected, err.Error(), err)
			} else if err = p.try(ctx, req, b, pass); err == nil {
				return
			}
			if shown || adapted == maxAdaptions || !p.adapt(err, req, b, &q, &now) {
				yield(nil, err)
				return
			}
		}
	}
}

// adapt takes a lesson from a refusal, and reports whether there was one.
func (p *Provider) adapt(err error, req *provider.Request, b *built, q *quirks, now *adaption) bool {
	switch learn(err, b, q, now) {
	case ofModel:
		p.learn(req.Model, *q)
		return true
	case ofThis:
		p.refused.Add(req, now.refused)
		return true
	}
	return false
}

// try makes one exchange.
func (p *Provider) try(ctx context.Context, req *provider.Request, b *built, pass func([]provider.Delta) bool) error {
	body, err := wire.WithMembers(b.body, p.Options.Body)
	if err != nil {
		return p.Source(req.Model, wire.Asked(req)...).Error(provider.Rejected, err.Error(), err)
	}
	x, err := p.Exchange(ctx, http.MethodPost, "messages", body, p.Source(req.Model, wire.Asked(req)...))
	if err != nil {
		return err
	}
	notes, pass := wire.Announce(b.notes, pass)
	x.Limits = limits(p.Options, b)
	x.Decode = func(resp *http.Response) (wire.Decoder, error) {
		return newDecoder(resp.Body, decoderOptions{source: x.Source, names: wire.Names(req), notes: notes, answer: b.answer}), nil
	}
	return x.Run(ctx, pass)
}

// limits are those of a request.
func limits(o Options, b *built) wire.Limits {
	if b.used.mayThink {
		return o.Patiently()
	}
	return o.Limits()
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
