package engine

import (
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
)

// params returns what the question, else the configuration, asks of the model that
// answers, and whether it is to reason; nil leaves that to the model.
func (t *turn) params() (p provider.Params, think *bool) {
	m := t.model.model
	p, think = t.req.Params.Over(m.Params), t.req.Think
	if t.req.Think != nil && t.req.Params.Effort == "" {
		p.Effort = "" // the question's switch has precedence over the configuration
	}
	if p.Effort != "" {
		p.Effort = p.Effort.Within(m.Efforts)
		on := p.Effort.Thinks()
		think = &on
	}
	return p, think
}

// noteEffort emits a footnote if the model gets another level than the one asked for.
func (t *turn) noteEffort() error {
	asked := t.req.Params.Over(t.model.model.Params).Effort
	got, _ := t.params()
	if asked == "" || asked == got.Effort || t.req.Params.Effort == "" && t.req.Think != nil {
		return nil
	}
	return t.emit(event.Footnote{Text: provider.EffortNote(asked, got.Effort, t.model.ref)})
}
