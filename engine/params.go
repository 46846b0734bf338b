package engine

import (
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/record"
	"github.com/fettle-cli/fettle/internal/sanitize"
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
	return t.emit(event.Footnote{Text: provider.EffortNote(asked, got.Effort, t.model.ref), Ignored: []string{provider.EffortParam}})
}

// noteIgnored emits the footnote about the parts of a client's request that no provider gets.
func (t *turn) noteIgnored() error {
	if len(t.req.Ignored) == 0 {
		return nil
	}
	note := event.Footnote{Text: "left out what fettle passes on to no provider: "}
	for i, name := range t.req.Ignored {
		if i == maxIgnored {
			note.Text += ", and more"
			break
		}
		name = sanitize.Shorten(sanitize.Line(name), chat.MaxName)
		note.Ignored = append(note.Ignored, name)
		if i > 0 {
			note.Text += ", "
		}
		note.Text += name
	}
	return t.emit(note)
}

// noteParams emits the footnotes about parameters that the provider will leave out or change,
// before the request is sent: a client gets them with the beginning of the answer.
func (t *turn) noteParams(req *provider.Request) error {
	a, ok := provider.As[provider.Announcer](t.model.prov)
	if !ok || len(req.Given()) == 0 && req.Effort == "" && req.Think == nil && req.Temperature == nil && req.MustCall == "" {
		return nil
	}
	var bodies []event.Body
	for _, n := range a.Notes(req) {
		note := event.Footnote{Text: record.Clip(clean(n.Text), maxNote), Ignored: n.Params}
		if t.freshNote(note) {
			bodies = append(bodies, note)
		}
	}
	if len(bodies) == 0 {
		return nil
	}
	return t.emit(bodies...)
}

// freshNote reports whether a footnote about parameters is new in this turn. Footnotes about
// something else always are.
func (t *turn) freshNote(note event.Footnote) bool {
	if len(note.Ignored) == 0 {
		return true
	}
	if t.noted[note.Text] {
		return false
	}
	if t.noted == nil {
		t.noted = map[string]bool{}
	}
	t.noted[note.Text] = true
	return true
}
