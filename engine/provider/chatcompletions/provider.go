package chatcompletions

import (
	"context"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// Dialect is what an adapter's addresses have in common. Functions that may be nil are marked
// so; all are called concurrently.
type Dialect struct {
	wire.Adapter

	// Quirks returns the quirks of a model of which nothing was learnt.
	Quirks func(base *url.URL, model string) Quirks
	// Learn takes a lesson from a refusal: the same request may then succeed in another form.
	Learn func(err error, req *provider.Request, b *Built, q *Quirks, now *Adaption) Lesson
	// Explain adds to the final error of a request; it may be nil.
	Explain func(error) error
	// Form returns the form of a request that is not a chat completion; both the function and
	// its result may be nil.
	Form func(model string, q Quirks) *Form
	// Takes returns the parameters that a chat completion takes.
	Takes func(q Quirks) []string
	// Think sets the effort that a request asks for, and adds its footnotes. It may be nil.
	Think func(b *Built, req *provider.Request, q Quirks)

	// Completions is the path of completions without messages, and CompletionTakes are the
	// parameters that they take.
	Completions     string
	CompletionTakes func(q Quirks) []string
	// EmbedBody writes the body of a request for vectors; nil is wire.EmbedBody.
	EmbedBody func(*provider.EmbedRequest) ([]byte, error)
	// Described reports that lists contain what their models are for: those that don't chat are
	// left out, and nothing is guessed from a name.
	Described bool

	// InStream reads an error where a chunk was due; nil is that of wire.Source.
	InStream func(src wire.Source, data []byte) *provider.Error
	// NewID makes an id for a call that came without one; nil is wire.NewCallID.
	NewID func() string
}

// Form is another API of an address that answers the same requests.
type Form struct {
	// Path is below the address.
	Path string
	// Takes returns the parameters that the API takes.
	Takes func(q Quirks) []string
	// Encode sets the body of a request.
	Encode func(b *Built, req *provider.Request, q Quirks, now Adaption) error
	// Decode makes the reader of a response.
	Decode func(body io.Reader, o DecoderOptions) wire.Decoder
	// Patient reports that the server may be silent for minutes within a response.
	Patient bool
}

// Provider is one address that serves chat completions. It is safe for concurrent use.
type Provider struct {
	*wire.Endpoint
	d       Dialect
	refused wire.Refusals

	mu     sync.Mutex
	learnt map[string]Quirks         // by model
	listed map[string]provider.Model // what Models saw last
}

var (
	_ provider.Provider  = (*Provider)(nil)
	_ provider.Lister    = (*Provider)(nil)
	_ provider.Continuer = (*Provider)(nil)
	_ provider.Announcer = (*Provider)(nil)
)

// New makes a Provider. An address that its dialect leaves without a path gets /v1. New sends
// nothing yet.
func New(o wire.Options, d Dialect) (*Provider, error) {
	complete := d.Base
	d.Base = func(u *url.URL) *url.URL {
		if complete != nil {
			u = complete(u)
		}
		if strings.Trim(u.Path, "/") == "" {
			u = u.JoinPath("v1")
		}
		return u
	}
	e, err := wire.NewEndpoint(o, d.Adapter)
	if err != nil {
		return nil, err
	}
	return &Provider{Endpoint: e, d: d, learnt: map[string]Quirks{}, listed: map[string]provider.Model{}}, nil
}

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
		now := Adaption{Refused: p.refused.Of(req)}
		for adapted := 0; ; adapted++ {
			q := p.Quirks(req.Model)
			b, err := p.Encode(req, q, now)
			if err != nil {
				err = p.Source(req.Model, wire.Asked(req)...).Error(provider.Rejected, err.Error(), err)
			} else if err = p.try(ctx, req, b, pass); err == nil {
				return
			}
			if shown || adapted == maxAdaptions || !p.adapt(err, req, b, &q, &now) {
				if p.d.Explain != nil {
					err = p.d.Explain(err)
				}
				yield(nil, err)
				return
			}
		}
	}
}

// adapt takes a lesson from a refusal, and reports whether there was one.
func (p *Provider) adapt(err error, req *provider.Request, b *Built, q *Quirks, now *Adaption) bool {
	switch p.d.Learn(err, req, b, q, now) {
	case OfModel:
		p.Learn(req.Model, *q)
	case OfThis:
		p.refused.Add(req, now.Refused)
	default:
		return false
	}
	return true
}

// Quirks returns what is known of a model.
func (p *Provider) Quirks(model string) Quirks {
	p.mu.Lock()
	defer p.mu.Unlock()
	if q, ok := p.learnt[model]; ok {
		return q
	}
	return p.d.Quirks(p.Base, model)
}

// Learn replaces what is known of a model.
func (p *Provider) Learn(model string, q Quirks) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.learnt[model] = q
}

func (p *Provider) learnReasoning(model, field string) {
	q := p.Quirks(model)
	if q.Reasoning != field {
		q.Reasoning = field
		p.Learn(model, q)
	}
}

// form returns the form in which a model is asked; nil is a chat completion.
func (p *Provider) form(model string, q Quirks) *Form {
	if p.d.Form == nil {
		return nil
	}
	return p.d.Form(model, q)
}

// try makes one exchange.
func (p *Provider) try(ctx context.Context, req *provider.Request, b *Built, pass func([]provider.Delta) bool) error {
	body, err := wire.WithMembers(b.Body, p.Options.Body)
	if err != nil {
		return p.Source(req.Model, wire.Asked(req)...).Error(provider.Rejected, err.Error(), err)
	}
	path := "chat/completions"
	if b.Form != nil {
		path = b.Form.Path
	}
	x, err := p.Exchange(ctx, http.MethodPost, path, body, p.Source(req.Model, wire.Asked(req)...))
	if err != nil {
		return err
	}
	if b.Form == nil && p.Quirks(req.Model).Prefill == PrefillRepeated {
		pass = wire.Unprefixed(wire.Begun(req), pass)
	}
	notes, pass := wire.Announce(b.Notes, pass)
	o := DecoderOptions{Names: b.Names, Notes: notes, ThoughtEnd: req.ThoughtEnd}
	if b.Form == nil {
		o.gave = func(field string) { p.learnReasoning(req.Model, field) }
		p.decode(x, o)
		return x.Run(ctx, pass)
	}
	if b.Form.Patient {
		x.Limits = p.Options.Patiently()
	}
	o.Source = x.Source
	x.Decode = func(resp *http.Response) (wire.Decoder, error) { return b.Form.Decode(resp.Body, o), nil }
	return x.Run(ctx, pass)
}

// decode has an exchange's response read as a chat completion.
func (p *Provider) decode(x *wire.Exchange, o DecoderOptions) {
	x.Decode = func(resp *http.Response) (wire.Decoder, error) { return p.Decoder(resp.Body, x.Source, o), nil }
}

// Decoder makes the reader of a response.
func (p *Provider) Decoder(body io.Reader, src wire.Source, o DecoderOptions) *Decoder {
	o.Source, o.NewID, o.InStream, o.Chunks = src, p.d.NewID, p.d.InStream, p.Quirks(src.Model).Chunks
	return NewDecoder(body, o)
}

// Prefills returns what a model makes of a last message of the assistant. A form other than
// chat completions has no parameter to continue one.
func (p *Provider) Prefills(model string) provider.Prefill {
	q := p.Quirks(model)
	if p.form(model, q) == nil && q.Prefill != PrefillNone {
		return provider.PrefillContinued
	}
	return provider.PrefillAnswered
}

// Notes returns the footnotes about the parameters of a request; see [provider.Announcer].
func (p *Provider) Notes(req *provider.Request) []provider.Note {
	q := p.Quirks(req.Model)
	if req.Completion != nil {
		_, notes := wire.Keep(req, p.d.CompletionTakes(q))
		return notes
	}
	b, err := p.Encode(wire.Bare(req), q, Adaption{Refused: p.refused.Of(req)})
	if err != nil {
		return nil
	}
	return wire.AboutParams(b.Notes)
}
