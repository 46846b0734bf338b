package chatcompletions

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

// Embed asks POST /embeddings.
func (p *Provider) Embed(ctx context.Context, req *provider.EmbedRequest) (out *provider.Embedding, err error) {
	src := p.Source(req.Model)
	write := wire.EmbedBody
	if p.d.EmbedBody != nil {
		write = p.d.EmbedBody
	}
	body, err := write(req)
	if err != nil {
		return nil, src.Error(provider.Rejected, err.Error(), err)
	}
	x, err := p.Exchange(ctx, http.MethodPost, "embeddings", body, src)
	if err != nil {
		return nil, err
	}
	x.Request.Header.Set("Accept", "application/json")
	err = x.FetchJSON(ctx, func(body []byte) error {
		out, err = wire.ReadEmbeddings(body, len(req.Texts))
		return err
	})
	return out, err
}

// completionRequest is the body of a completion without messages.
type completionRequest struct {
	Model       string   `json:"model"`
	Prompt      string   `json:"prompt"`
	Suffix      string   `json:"suffix,omitempty"`
	MaxTokens   int      `json:"max_tokens,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
	Sampling
	User          string         `json:"user,omitempty"`
	Stream        bool           `json:"stream"`
	StreamOptions *streamOptions `json:"stream_options,omitempty"`
}

// Completes marks that Stream takes completions.
func (p *Provider) Completes() {}

// complete asks for a completion, whose stream may have the text in the choices themselves.
func (p *Provider) complete(ctx context.Context, req *provider.Request, pass func([]provider.Delta) bool) error {
	src := p.Source(req.Model)
	q := p.Quirks(req.Model)
	kept, notes := wire.Keep(req, p.d.CompletionTakes(q))
	notes, pass = wire.Announce(notes, pass)
	out := completionRequest{
		Model: req.Model, Prompt: req.Completion.Prompt, Suffix: req.Completion.Suffix,
		MaxTokens: req.MaxTokens, Temperature: req.Temperature, Sampling: SamplingOf(kept, q), User: kept.User, Stream: true,
	}
	if !q.Chunks {
		out.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	body, err := wire.Marshal(out)
	if err != nil {
		return src.Error(provider.Rejected, err.Error(), err)
	}
	if body, err = wire.WithMembers(body, p.Options.Body); err != nil {
		return src.Error(provider.Rejected, err.Error(), err)
	}
	x, err := p.Exchange(ctx, http.MethodPost, p.d.Completions, body, src)
	if err != nil {
		return err
	}
	p.decode(x, DecoderOptions{Verbatim: true, Notes: notes})
	return x.Run(ctx, pass)
}
