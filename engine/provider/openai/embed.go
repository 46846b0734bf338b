package openai

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

var (
	_ provider.Embedder  = (*Provider)(nil)
	_ provider.Completer = (*Provider)(nil)
)

// Embed asks POST /embeddings.
func (p *Provider) Embed(ctx context.Context, req *provider.EmbedRequest) (out *provider.Embedding, err error) {
	src := wire.Source{Provider: p.o.Name, Model: req.Model, Address: p.Address()}
	body, err := wire.EmbedBody(req)
	if err != nil {
		return nil, src.Error(provider.Rejected, err.Error(), err)
	}
	hr, src, err := p.request(ctx, http.MethodPost, "embeddings", body, src)
	if err != nil {
		return nil, err
	}
	hr.Header.Set("Accept", "application/json")
	x := wire.Exchange{Client: p.client, Request: hr, Source: src, Limits: wire.Limits{First: p.o.FirstByte, Between: p.o.Between}}
	err = x.FetchJSON(ctx, func(body []byte) error {
		out, err = wire.ReadEmbeddings(body, len(req.Texts))
		return err
	})
	return out, err
}

// completionRequest is the body of POST /completions.
type completionRequest struct {
	Model       string   `json:"model"`
	Prompt      string   `json:"prompt"`
	Suffix      string   `json:"suffix,omitempty"`
	MaxTokens   int      `json:"max_tokens,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
	sampling
	User          string         `json:"user,omitempty"`
	Stream        bool           `json:"stream"`
	StreamOptions *streamOptions `json:"stream_options,omitempty"`
}

// Completes marks that Stream takes completions.
func (p *Provider) Completes() {}

// complete asks POST /completions, whose stream has the text in the choices themselves.
func (p *Provider) complete(ctx context.Context, req *provider.Request, pass func([]provider.Delta) bool) error {
	src := wire.Source{Provider: p.o.Name, Model: req.Model, Address: p.Address()}
	kept, notes := wire.Keep(req, completionTakes(p.quirks(req.Model)))
	notes, pass = wire.Announce(notes, pass)
	body, err := json.Marshal(completionRequest{
		Model: req.Model, Prompt: req.Completion.Prompt, Suffix: req.Completion.Suffix,
		MaxTokens: req.MaxTokens, Temperature: req.Temperature, sampling: samplingOf(kept), User: kept.User, Stream: true, StreamOptions: &streamOptions{IncludeUsage: true},
	})
	if err == nil {
		body, err = wire.WithMembers(body, p.o.Body)
	}
	if err != nil {
		return src.Error(provider.Rejected, err.Error(), err)
	}
	hr, src, err := p.request(ctx, http.MethodPost, "completions", body, src)
	if err != nil {
		return err
	}
	x := wire.Exchange{
		Client: p.client, Request: hr, Source: src, Limits: wire.Limits{First: p.o.FirstByte, Between: p.o.Between},
		Decode: func(resp *http.Response) (wire.Decoder, error) {
			return newDecoder(resp.Body, decoderOptions{source: src, verbatim: true, notes: notes}), nil
		},
	}
	return x.Run(ctx, pass)
}
