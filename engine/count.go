package engine

import (
	"context"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/models"
	"github.com/fettle-cli/fettle/engine/provider"
)

// CountTokens returns the number of tokens of the first request that a turn would send to
// its model: the instructions, the history, the question and the tools. exact reports
// whether the provider has counted them; else the number is an estimate, corrected by what
// the provider has reported of earlier requests to the model. No model answers, and nothing
// is kept, so the request has to be ephemeral.
func (e *Engine) CountTokens(ctx context.Context, req TurnRequest) (n int, exact bool, err error) {
	if !req.Ephemeral {
		return 0, false, fault.New(fault.Usage, "only the tokens of a turn that keeps nothing are counted")
	}
	ctx, leave, err := e.enter(ctx)
	if err != nil {
		return 0, false, err
	}
	defer leave()
	t, conv, err := e.prepare(ctx, req)
	if err != nil {
		return 0, false, err
	}
	defer t.unlock()
	defer conv.LetOrigin()
	asked := assemble(t.assembly(nil))
	asked.Tokens = t.model.ratios.Tokens(t.model.ref, asked.Tokens)
	counter, ok := provider.As[provider.Counter](t.model.prov)
	if !ok {
		return asked.Tokens, false, nil
	}
	err = provider.WithRenewal(ctx, t.model.prov, func() error {
		n, err = counter.CountTokens(ctx, asked)
		return err
	})
	if err != nil {
		return 0, false, models.Explain(t.model.ref, err)
	}
	return n, true, nil
}
