package ollama

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"

	"github.com/ollama/ollama/api"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

var (
	_ provider.Embedder  = (*Provider)(nil)
	_ provider.Completer = (*Provider)(nil)
)

// post makes a request of the API's that has a body.
func (p *Provider) post(ctx context.Context, model, path string, in any) (*http.Request, wire.Source, error) {
	src := p.source(model)
	body, err := json.Marshal(in)
	if err != nil {
		return nil, src, src.Error(provider.Rejected, err.Error(), err)
	}
	hr, err := wire.NewRequest(ctx, http.MethodPost, p.base.JoinPath("api", path), body)
	if err != nil {
		return nil, src, src.Error(provider.Rejected, err.Error(), err)
	}
	if err := p.authorise(hr); err != nil {
		return nil, src, src.Error(provider.Unauthorised, err.Error(), err)
	}
	return hr, p.source(model), nil // which knows the key now
}

// Embed asks /api/embed. Texts that are longer than the model's context are an error rather
// than vectors of their beginnings.
func (p *Provider) Embed(ctx context.Context, req *provider.EmbedRequest) (out *provider.Embedding, err error) {
	whole := false
	hr, src, err := p.post(ctx, req.Model, "embed", api.EmbedRequest{
		Model: req.Model, Input: req.Texts, Truncate: &whole, Dimensions: req.Dimensions,
	})
	if err != nil {
		return nil, err
	}
	x := wire.Exchange{Client: p.client, Request: hr, Source: src, Limits: wire.Limits{First: p.o.FirstByte, Between: p.o.Between}}
	err = x.FetchJSON(ctx, func(body []byte) error {
		var in struct {
			Vectors [][]float32 `json:"embeddings"`
			Tokens  wire.Int    `json:"prompt_eval_count"`
		}
		if err := json.Unmarshal(body, &in); err != nil {
			return err
		}
		out = &provider.Embedding{Vectors: in.Vectors, Tokens: in.Tokens.N}
		return wire.CheckVectors(in.Vectors, len(req.Texts))
	})
	return out, err
}

// Complete asks /api/generate.
func (p *Provider) Complete(ctx context.Context, req *provider.CompletionRequest) iter.Seq2[[]provider.Delta, error] {
	return wire.Stream(func(pass func([]provider.Delta) bool) error { return p.complete(ctx, req, pass) })
}

func (p *Provider) complete(ctx context.Context, req *provider.CompletionRequest, pass func([]provider.Delta) bool) error {
	in := api.GenerateRequest{
		Model: req.Model, Prompt: req.Prompt, Suffix: req.Suffix, System: req.System, Raw: req.Raw, Options: p.completionOptions(ctx, req),
	}
	for _, image := range req.Images {
		in.Images = append(in.Images, image)
	}
	if req.Think != nil {
		in.Think = &api.ThinkValue{Value: *req.Think}
	}
	hr, src, err := p.post(ctx, req.Model, "generate", in)
	if err != nil {
		return err
	}
	hr.Header.Set("Accept", "application/x-ndjson")
	x := wire.Exchange{
		Client: p.client, Request: hr, Source: src, Limits: wire.Limits{First: p.o.FirstByte, Between: p.o.Between},
		Decode: func(resp *http.Response) (wire.Decoder, error) {
			return newDecoder(resp.Body, decoderOptions{source: src, maxTokens: req.MaxTokens, verbatim: true}), nil
		},
	}
	return x.Run(ctx, pass)
}

// completionOptions are the options of a completion. The context has room for the texts, by
// an estimate of three bytes a token.
func (p *Provider) completionOptions(ctx context.Context, req *provider.CompletionRequest) map[string]any {
	o := map[string]any{}
	as := &provider.Request{Model: req.Model, MaxTokens: req.MaxTokens, Tokens: (len(req.Prompt) + len(req.Suffix) + len(req.System)) / 3}
	if about, err := p.about(ctx, req.Model); err == nil && !about.remote {
		size := p.sizing(ctx, as, about)
		if n := size.numCtx(); n > 0 {
			o["num_ctx"] = n
		}
	}
	if req.MaxTokens > 0 {
		o["num_predict"] = req.MaxTokens
	}
	if req.Temperature != nil {
		o["temperature"] = *req.Temperature
	}
	if req.TopP != nil {
		o["top_p"] = *req.TopP
	}
	if req.Seed != nil {
		o["seed"] = *req.Seed
	}
	if len(req.Stop) > 0 {
		o["stop"] = req.Stop
	}
	return o
}
