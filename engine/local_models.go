package engine

import (
	"context"
	"strings"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/models"
	"github.com/fettle-cli/fettle/engine/provider"
)

// ollamaPrefix begins the names of Ollama's models, and may be left out where nothing but
// these can be meant.
const ollamaPrefix = "ollama/"

// RunningModels lists the models that Ollama has in memory.
func (e *Engine) RunningModels(ctx context.Context) ([]provider.Running, error) {
	p, _, err := localModels[provider.Runner](ctx, e, "any")
	if err != nil {
		return nil, err
	}
	list, err := p.Running(ctx)
	if err != nil {
		return nil, models.Explain(ollamaPrefix, err)
	}
	return list, nil
}

// PullModel has Ollama fetch a model. progress is called as [provider.Puller] describes.
func (e *Engine) PullModel(ctx context.Context, name string, progress func(provider.Progress)) error {
	p, name, err := localModels[provider.Puller](ctx, e, name)
	if err != nil {
		return err
	}
	if err := provider.PullWithRetry(ctx, p, name, progress, e.o.Retry); err != nil {
		return models.Explain(ollamaPrefix+name, err)
	}
	return nil
}

// RemoveModel has Ollama delete a model.
func (e *Engine) RemoveModel(ctx context.Context, name string) error {
	p, name, err := localModels[provider.Puller](ctx, e, name)
	if err != nil {
		return err
	}
	if err := p.Remove(ctx, name); err != nil {
		return models.Explain(ollamaPrefix+name, err)
	}
	return nil
}

// localModels returns Ollama's provider, with a power that it has, and the name of a model
// without the provider.
func localModels[T any](ctx context.Context, e *Engine, name string) (power T, model string, err error) {
	if !strings.HasPrefix(name, ollamaPrefix) {
		name = ollamaPrefix + name
	}
	p, model, err := e.o.Models.Resolve(ctx, name)
	if err != nil {
		return power, "", err
	}
	power, ok := provider.As[T](p)
	if !ok {
		return power, "", fault.New(fault.Usage, "the provider "+p.Name()+" has its models elsewhere")
	}
	return power, model, nil
}
