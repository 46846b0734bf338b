package ollama

import (
	"context"
	"encoding/json"
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

// generateRequest is the body of POST /api/generate.
type generateRequest struct {
	Model   string      `json:"model"`
	Prompt  string      `json:"prompt"`
	Suffix  string      `json:"suffix,omitempty"`
	System  string      `json:"system,omitempty"`
	Raw     bool        `json:"raw,omitempty"`
	Images  [][]byte    `json:"images,omitempty"` // base64 by encoding/json
	Stream  bool        `json:"stream"`
	Think   *bool       `json:"think,omitempty"`
	Options chatOptions `json:"options"`
}

// Completes marks that Stream takes completions.
func (p *Provider) Completes() {}

// complete asks POST /api/generate.
func (p *Provider) complete(ctx context.Context, req *provider.Request, pass func([]provider.Delta) bool) error {
	c := req.Completion
	kept, notes := wire.Keep(req, takes())
	notes, pass = wire.Announce(notes, pass)
	in := generateRequest{
		Model: req.Model, Prompt: c.Prompt, Suffix: c.Suffix, System: c.System, Raw: c.Raw, Images: c.Images, Stream: true, Think: req.Think,
		Options: optionsOf(kept, p.completionContext(ctx, req)),
	}
	hr, src, err := p.post(ctx, req.Model, "generate", in)
	if err != nil {
		return err
	}
	hr.Header.Set("Accept", "application/x-ndjson")
	x := wire.Exchange{
		Client: p.client, Request: hr, Source: src, Limits: wire.Limits{First: p.o.FirstByte, Between: p.o.Between},
		Decode: func(resp *http.Response) (wire.Decoder, error) {
			return newDecoder(resp.Body, decoderOptions{source: src, maxTokens: req.MaxTokens, verbatim: true, notes: notes}), nil
		},
	}
	return x.Run(ctx, pass)
}

// completionContext is the context length that a completion asks for, by an estimate of three
// bytes a token; 0 leaves it to the server.
func (p *Provider) completionContext(ctx context.Context, req *provider.Request) int {
	about, err := p.about(ctx, req.Model)
	if err != nil || about.remote {
		return 0
	}
	c, sized := req.Completion, *req
	sized.Tokens = (len(c.Prompt) + len(c.Suffix) + len(c.System)) / 3
	return p.sizing(ctx, &sized, about).numCtx()
}
