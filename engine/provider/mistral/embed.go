package mistral

import (
	"context"
	"net/http"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

var (
	_ provider.Embedder  = (*Provider)(nil)
	_ provider.Completer = (*Provider)(nil)
)

// Embed asks POST /embeddings. Mistral has its own name for the length of the vectors.
func (p *Provider) Embed(ctx context.Context, req *provider.EmbedRequest) (out *provider.Embedding, err error) {
	src := wire.Source{Provider: p.o.Name, Model: req.Model, Address: p.Address()}
	body, err := wire.Marshal(struct {
		Model      string   `json:"model"`
		Input      []string `json:"input"`
		Dimensions int      `json:"output_dimension,omitempty"`
	}{req.Model, req.Texts, req.Dimensions})
	if err != nil {
		return nil, src.Error(provider.Rejected, err.Error(), err)
	}
	hr, src, err := p.request(ctx, http.MethodPost, "embeddings", body, src)
	if err != nil {
		return nil, err
	}
	hr.Header.Set("Accept", "application/json")
	x := wire.Exchange{
		Client: p.client, Request: hr, Source: src, Limits: wire.Limits{First: p.o.FirstByte, Between: p.o.Between},
		Refuse: func(resp *http.Response, body []byte) *provider.Error { return refused(src, resp, body) },
	}
	err = x.FetchJSON(ctx, func(body []byte) error {
		out, err = wire.ReadEmbeddings(body, len(req.Texts))
		return err
	})
	return out, err
}

// fimRequest is the body of POST /fim/completions.
type fimRequest struct {
	Model       string   `json:"model"`
	Prompt      string   `json:"prompt"`
	Suffix      string   `json:"suffix,omitempty"`
	MaxTokens   int      `json:"max_tokens,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"top_p,omitempty"`
	Seed        *int64   `json:"random_seed,omitempty"`
	Stop        []string `json:"stop,omitempty"`
	Stream      bool     `json:"stream"`
}

// Completes marks that Stream takes completions.
func (p *Provider) Completes() {}

// complete asks POST /fim/completions, Mistral's route for code.
func (p *Provider) complete(ctx context.Context, req *provider.Request, pass func([]provider.Delta) bool) error {
	src := wire.Source{Provider: p.o.Name, Model: req.Model, Address: p.Address()}
	kept, notes := wire.Keep(req, fimTakes())
	notes, pass = wire.Announce(notes, pass)
	body, err := wire.Marshal(fimRequest{
		Model: req.Model, Prompt: req.Completion.Prompt, Suffix: req.Completion.Suffix,
		MaxTokens: req.MaxTokens, Temperature: req.Temperature, TopP: kept.TopP, Seed: kept.Seed, Stop: kept.Stop, Stream: true,
	})
	if err == nil {
		body, err = wire.WithMembers(body, p.o.Body)
	}
	if err != nil {
		return src.Error(provider.Rejected, err.Error(), err)
	}
	hr, src, err := p.request(ctx, http.MethodPost, "fim/completions", body, src)
	if err != nil {
		return err
	}
	x := wire.Exchange{
		Client: p.client, Request: hr, Source: src, Limits: wire.Limits{First: p.o.FirstByte, Between: p.o.Between},
		Refuse: func(resp *http.Response, body []byte) *provider.Error { return refused(src, resp, body) },
		Decode: func(resp *http.Response) (wire.Decoder, error) {
			return newDecoder(resp.Body, decoderOptions{source: src, notes: notes}), nil
		},
	}
	return x.Run(ctx, pass)
}
