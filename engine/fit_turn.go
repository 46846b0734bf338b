package engine

import (
	"errors"
	"fmt"

	"github.com/fettle-cli/fettle/engine/budget"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/models"
	"github.com/fettle-cli/fettle/engine/provider"
)

// sumUp has a range of messages summed up, and lets the summary stand for them
// from now on: for those before the question in later turns too.
func (t *turn) sumUp(r budget.Range, w way) error {
	if from := w.all[r.From].from; from == ofAnswer || from == ofSince {
		return t.sumUpSince(r, w)
	}
	covered := coveredBy(w.all[r.To:])
	if covered == 0 {
		return t.tooLong(budget.ErrTooLarge, t.asked) // nothing but the summary itself is there
	}
	id := t.path[t.fit.begin+covered-1].ID
	text, err := t.summary(w.all[r.From:r.To], w.policy.Summary, event.Summary{MessageID: id, Messages: covered + t.fit.summedUp()})
	if err != nil {
		return err
	}
	t.fit.summary = &chat.Summary{Text: text, Messages: covered + t.fit.summedUp()}
	t.fit.begin += covered
	return t.emit(event.Footnote{Text: fmt.Sprintf("%s were summed up to fit the context of %s; the chat has them all",
		fault.Plural(covered, "older message"), t.model.ref)})
}

// summedUp is how many messages the summary stands for.
func (f *fitting) summedUp() int {
	if f.summary == nil {
		return 0
	}
	return f.summary.Messages
}

// coveredBy is how many messages of the history are before the first of those that
// stay; those that say nothing go with the ones before them.
func coveredBy(stay []placed) int {
	for _, m := range stay {
		if m.from >= 0 {
			return m.from
		}
	}
	return 0
}

// sumUpSince does so with the first steps of the answer.
func (t *turn) sumUpSince(r budget.Range, w way) error {
	n, steps := r.To-r.From, 0
	if w.all[r.From].from == ofSince {
		n += t.fit.since.n - 1
	}
	for _, m := range w.all[r.From:r.To] {
		if m.Role == provider.Assistant {
			steps++
		}
	}
	text, err := t.summary(w.all[r.From:r.To], w.policy.Summary, event.Summary{Messages: n})
	if err != nil {
		return err
	}
	t.fit.since = &sinceSummary{text: text, n: n, first: w.a.own().Parts[0].Step, last: w.all[r.To-1].step}
	return t.emit(event.Footnote{Text: fmt.Sprintf("%s of this answer were summed up to fit the context of %s",
		fault.Plural(steps, "earlier step"), t.model.ref)})
}

// summary gets one and emits it: about is what it is of.
func (t *turn) summary(of []placed, tokens int, about event.Summary) (string, error) {
	c, err := t.summaryModel()
	if err != nil {
		return "", err
	}
	status := func(text string) error { return t.emit(event.Status{Message: text}) }
	if err := status("summing up older messages to fit the context of " + t.model.ref); err != nil {
		return "", err
	}
	most := 0
	if c == t.model {
		most = t.fit.most
	}
	s := newSummariser(c, most)
	s.status, s.retry, s.prov = status, t.retryOptions(), t.traced(c.prov)
	messages := make([]provider.Message, len(of))
	for i, m := range of {
		messages[i] = m.Message
	}
	about.Text, err = s.sum(t.ctx, messages, tokens)
	about.Model, about.Usage, about.Outside = c.ref, s.usage, t.tainted
	if err != nil {
		if s.usage != nil { // it was paid for
			about.Text = ""
			err = errors.Join(err, t.emit(about))
		}
		return "", t.noSummary(c, err)
	}
	t.begun = true // something was used, so the turn is kept
	if err := t.emit(about); err != nil {
		return "", err
	}
	if s.skipped > 0 {
		err = t.emit(event.Footnote{Text: fmt.Sprintf("the first %d messages were too many to be summed up, and the model isn't told of them", s.skipped)})
	}
	return about.Text, err
}

// summaryModel is who sums up: the configured one, else the one that is asked.
func (t *turn) summaryModel() (*choice, error) {
	ref := t.eng.o.Compact.Model
	if ref == "" || ref == t.model.ref {
		return t.model, nil
	}
	c, err := t.eng.choose(t.ctx, ref, nil)
	if err != nil {
		return nil, models.Explain(ref, err)
	}
	t.learning = append(t.learning, c)
	return c, nil
}

// noSummary is why a model gave none, as the turn ends with it. Trouble with the
// model that is asked is for a fallback first.
func (t *turn) noSummary(c *choice, err error) error {
	if errors.Is(err, budget.ErrCannotShrink) {
		return t.tooLong(err, t.asked)
	}
	if c == t.model {
		return err
	}
	return models.Explain(c.ref, err)
}
