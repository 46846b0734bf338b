package engine

import (
	"fmt"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
)

// silentOverflow returns the error for a response to a request that did not fit the model's
// context, where the server accepted the request all the same: it counted more tokens than
// the context has, or filled the context and left no token for an answer. It returns nil if
// the response has text or calls, which cannot be taken back; see noteOverflow.
func (t *turn) silentOverflow(r *reply) error {
	limit := int64(t.knownContext())
	if t.eng.o.Compact.Off || r.said || len(r.calls) > 0 || limit <= 0 || r.meta.Usage == nil {
		return nil
	}
	asked := r.meta.Usage.InputTokens
	if asked <= limit && (asked < limit-limit/100 || r.meta.StopReason == provider.StopRefusal) {
		return nil
	}
	return &provider.Error{
		Kind: provider.ContextFull, Provider: t.model.prov.Name(), Model: t.model.model.Name,
		Message: fmt.Sprintf("no answer to a request of %d tokens, with a context of %d", asked, limit),
	}
}

// noteOverflow returns the footnote about an answer to a request that was longer than the
// model's context, of which the server can have read only a part. It has the next request
// made shorter.
func (t *turn) noteOverflow(r *reply) []event.Body {
	limit := int64(t.knownContext())
	if r.meta.Usage == nil || limit <= 0 || r.meta.Usage.InputTokens <= limit {
		return nil
	}
	t.model.ratios.Refused(t.model.ref, t.asked, int(limit))
	if t.fit.overNoted {
		return nil
	}
	t.fit.overNoted = true
	return []event.Body{event.Footnote{Text: fmt.Sprintf(
		"the request had %d tokens, and the context of %s is %d: the server may have left out a part of the conversation",
		r.meta.Usage.InputTokens, t.model.ref, limit)}}
}
