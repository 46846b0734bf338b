package ollama

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/types/model"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

const (
	// factLimit bounds the wait for facts about models, which a server has at
	// hand even while it loads one.
	factLimit = 30 * time.Second
	// factAge is how long they are believed: a model may be pulled anew.
	factAge = 5 * time.Minute
)

// info is what is known of a model.
type info struct {
	model  provider.Model
	numCtx int  // what its Modelfile asks for
	remote bool // it runs elsewhere, and its context is not ours to size
	asked  time.Time
}

// factTransport adds key and headers to the requests of Ollama's client and
// bounds what it reads.
type factTransport struct {
	p    *Provider
	next http.RoundTripper
}

// RoundTrip makes the request.
func (t *factTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	if err := t.p.authorise(req); err != nil {
		return nil, &keyError{err}
	}
	resp, err := t.next.RoundTrip(req)
	if err == nil {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(resp.Body, wire.MaxBody), resp.Body}
	}
	return resp, err
}

// keyError is a failure to get the key.
type keyError struct{ err error }

func (e *keyError) Error() string { return e.err.Error() }
func (e *keyError) Unwrap() error { return e.err }

// Model asks Ollama about a model.
func (p *Provider) Model(ctx context.Context, name string) (provider.Model, error) {
	about, err := p.about(ctx, name)
	return about.model, err
}

func (p *Provider) about(ctx context.Context, name string) (info, error) {
	p.mu.Lock()
	about, ok := p.known[name]
	p.mu.Unlock()
	if ok && time.Since(about.asked) < factAge {
		return about, nil
	}
	var show *api.ShowResponse
	err := p.ask(ctx, name, func(ctx context.Context) (err error) {
		show, err = p.api.Show(ctx, &api.ShowRequest{Model: name})
		return err
	})
	if err != nil {
		return info{model: provider.Model{Provider: p.o.Name, Name: name}}, err
	}
	about = describe(show)
	about.model.Provider, about.model.Name, about.asked = p.o.Name, name, time.Now()
	p.mu.Lock()
	p.known[name] = about
	p.mu.Unlock()
	return about, nil
}

// ask makes a bounded request by Ollama's client and turns its failures into
// ours.
func (p *Provider) ask(ctx context.Context, name string, do func(context.Context) error) error {
	inner, cancel := context.WithTimeout(ctx, factLimit)
	defer cancel()
	err := do(inner)
	src := p.source(name)
	var status api.StatusError
	var auth api.AuthorizationError
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	var key *keyError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return src.Stopped(context.Cause(ctx))
	case inner.Err() != nil:
		return src.Slow(errors.New("nothing about its models came for " + factLimit.String()))
	case errors.As(err, &status):
		return src.Said(status.StatusCode, status.ErrorMessage)
	case errors.As(err, &auth):
		return src.Said(http.StatusUnauthorized, "it wants a key or a sign-in")
	case errors.As(err, &key):
		return src.Error(provider.Unauthorised, key.Error(), key.err)
	case errors.As(err, &syntax), errors.As(err, &kind):
		return src.Undecodable(&wire.FormatError{Err: err})
	}
	return src.Explain(err)
}

// describe reads the facts that matter here.
func describe(show *api.ShowResponse) info {
	a := info{remote: show.RemoteHost != "", numCtx: parameter(show.Parameters, "num_ctx")}
	a.model.ContextLength = contextLength(show.ModelInfo)
	a.model.Details = details(show.Details)
	a.model.Remote = a.remote
	a.model.Schema = provider.Yes // by a grammar, whatever the model
	if len(show.Capabilities) > 0 {
		has := func(c model.Capability) provider.Known {
			if slices.Contains(show.Capabilities, c) {
				return provider.Yes
			}
			return provider.No
		}
		a.model.Chats = has(model.CapabilityCompletion)
		a.model.Tools = has(model.CapabilityTools)
		a.model.Images = has(model.CapabilityVision)
		a.model.Thinking = has(model.CapabilityThinking)
	}
	return a
}

// details names the size and the quantisation, as people tell models apart.
func details(d api.ModelDetails) string {
	level := d.QuantizationLevel
	if level == "unknown" {
		level = ""
	}
	return wire.Clean(d.ParameterSize + " " + level)
}

// contextLength finds <architecture>.context_length.
func contextLength(facts map[string]any) int {
	arch, _ := facts["general.architecture"].(string)
	n, ok := facts[arch+".context_length"].(float64)
	if !ok || n < 1 || n > 1<<30 {
		return 0
	}
	return int(n)
}

// parameter reads a number from the parameters of a Modelfile, which come as
// lines of name and value.
func parameter(text, name string) int {
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == name {
			if n, err := strconv.Atoi(f[1]); err == nil && n > 0 && n <= 1<<30 {
				return n
			}
		}
	}
	return 0
}

// loaded tells the context that a model is loaded with; 0 is not loaded, or
// not known, which is no reason to fail.
func (p *Provider) loaded(ctx context.Context, name string) int {
	var list *api.ProcessResponse
	err := p.ask(ctx, name, func(ctx context.Context) (err error) {
		list, err = p.api.ListRunning(ctx)
		return err
	})
	if err != nil {
		return 0
	}
	want := model.ParseName(name).String()
	for _, m := range list.Models {
		if model.ParseName(m.Name).String() == want {
			return m.ContextLength
		}
	}
	return 0
}

// Models lists the models that Ollama has, those used or pulled last first.
func (p *Provider) Models(ctx context.Context) ([]provider.Model, error) {
	var list *api.ListResponse
	err := p.ask(ctx, "", func(ctx context.Context) (err error) {
		list, err = p.api.List(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	models := make([]provider.Model, 0, len(list.Models))
	for _, m := range list.Models {
		models = append(models, provider.Model{
			Provider: p.o.Name, Name: strings.TrimSuffix(m.Name, ":latest"), Size: m.Size,
			Details: details(m.Details), Remote: m.RemoteHost != "", Created: provider.UnixTime(m.ModifiedAt.Unix()),
		})
	}
	return models, nil
}

// Version asks for Ollama's version, which is also how to find out whether it
// runs.
func (p *Provider) Version(ctx context.Context) (string, error) {
	var v string
	err := p.ask(ctx, "", func(ctx context.Context) (err error) {
		v, err = p.api.Version(ctx)
		return err
	})
	return wire.Clean(v), err
}
