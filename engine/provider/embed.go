package provider

import (
	"context"
	"errors"
)

// Embedder is a Provider that turns texts into vectors.
type Embedder interface {
	// Embed returns one vector for each text, in the order of the texts. The errors are those
	// of Stream.
	Embed(ctx context.Context, req *EmbedRequest) (*Embedding, error)
}

// EmbedRequest asks for the vectors of texts.
type EmbedRequest struct {
	Model string // without the provider
	Texts []string
	// Dimensions is the length of the vectors; 0 leaves it to the model.
	Dimensions int
}

// Embedding are the vectors of texts.
type Embedding struct {
	Vectors [][]float32
	// Tokens is how many tokens the texts had, as the provider counts; 0 is unknown.
	Tokens int64
}

// EmbedWithRetry embeds, and tries again after failures that may pass, as RetryOptions say.
// p has to have an Embedder.
func EmbedWithRetry(ctx context.Context, p Provider, req *EmbedRequest, o RetryOptions) (*Embedding, error) {
	able, ok := As[Embedder](p)
	if !ok {
		return nil, &Error{Kind: Rejected, Provider: p.Name(), Model: req.Model, Message: "the provider has no embeddings"}
	}
	r := &retrier{o: o.orDefault()}
	for attempt := 1; ; attempt++ {
		var out *Embedding
		err := WithRenewal(ctx, p, func() (err error) {
			out, err = able.Embed(ctx, req)
			return err
		})
		if err == nil {
			return out, nil
		}
		if ctx.Err() != nil || !r.again(err, attempt) {
			return nil, err
		}
		wait := r.wait(err, attempt)
		if r.o.OnRetry != nil {
			r.o.OnRetry(err, wait, attempt+1)
		}
		if !sleep(ctx, wait) {
			return nil, errors.Join(err, ctx.Err())
		}
	}
}
