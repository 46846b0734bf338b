package provider

import (
	"context"
	"iter"
)

// Completer is a Provider that continues a text, without a conversation: the API of
// autocompletion in editors.
type Completer interface {
	// Complete yields what follows a text, as Stream yields an answer. Its deltas are of the
	// kinds content, reasoning, footnote and meta.
	Complete(ctx context.Context, req *CompletionRequest) iter.Seq2[[]Delta, error]
}

// CompletionRequest asks for the continuation of a text.
type CompletionRequest struct {
	Model  string // without the provider
	Prompt string // what comes before
	// Suffix is what comes after. A model that can't fill in between is refused by its
	// provider.
	Suffix string
	// System, Raw and Images are for Ollama, whose template is applied unless Raw is set.
	System string
	Raw    bool
	Images [][]byte
	// MaxTokens bounds what is added; 0 leaves it to the provider.
	MaxTokens   int
	Temperature *float64
	Sampling
	Think *bool
}

// CompleteWithRetry completes, and tries again as Retry does.
func CompleteWithRetry(ctx context.Context, p Provider, c Completer, req *CompletionRequest, o RetryOptions) iter.Seq2[[]Delta, error] {
	return Retry(&completing{Provider: p, do: c, req: req}, o).Stream(ctx, &Request{Model: req.Model})
}

// completing is a provider whose Stream completes.
type completing struct {
	Provider
	do  Completer
	req *CompletionRequest
}

func (c *completing) Stream(ctx context.Context, _ *Request) iter.Seq2[[]Delta, error] {
	return c.do.Complete(ctx, c.req)
}
