package engine

import (
	"errors"
	"fmt"

	"github.com/fettle-cli/fettle/engine/budget"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
)

// Compaction is how requests are made to fit a model's context. The zero value
// does it, as late as it can.
type Compaction struct {
	// Off leaves requests as they are; one that doesn't fit ends its turn.
	Off bool
	// Percent is the part of the context that a request and its answer may
	// take before older messages give way; 0 is all of it.
	Percent int
	// Model is the Ref of the model that sums up; empty is the one that is asked.
	Model string
}

// fitting is what of a conversation gives way in a turn's requests. The store
// and the events have it all. The zero value leaves nothing out; a nil one too.
type fitting struct {
	// trims are results of tools by their id: how many tokens stay of each, 0
	// for a line in its place.
	trims map[string]int
	// summary stands for what is before the turn's path from the place begin on.
	summary *chat.Summary
	begin   int
	// since stands for the first steps of the answer, as one agent gave it.
	since *sinceSummary
	guard budget.Guard
	// told is the context that a refusal named, and most the estimate that the
	// next request has to stay below after one; 0 is none.
	told, most int
	// said are the words of the last refusal.
	said      string
	trimNoted bool
	// overNoted reports whether the footnote about a request that was longer than the
	// context has been emitted.
	overNoted bool
	// noOldImages leaves out the images of earlier turns.
	noOldImages bool
	// blind is a refusal without a reason that the request was made shorter for,
	// and blindAt the estimate of that request.
	blind   error
	blindAt int
}

// sinceSummary stands for the steps of an answer up to one.
type sinceSummary struct {
	text  string
	n     int // messages
	first int // the step at which the agent began
	last  int // the last one that it stands for
}

// summaryMessage is what stands for older messages; none where none do.
func (f *fitting) summaryMessage() []provider.Message {
	if f == nil || f.summary == nil {
		return nil
	}
	return []provider.Message{userText(budget.Message(f.summary.Text, f.summary.Messages, budget.BeforeQuestion))}
}

// sinceMessage is what stands for the first steps of an answer, and the parts
// that are left of it. What another agent's steps were summed up to is of no use
// to the one that speaks now.
func (f *fitting) sinceMessage(own chat.Message) ([]provider.Message, []provider.Part) {
	if f == nil || f.since == nil || len(own.Parts) == 0 || own.Parts[0].Step != f.since.first {
		return nil, own.Parts
	}
	left := own.Parts
	for len(left) > 0 && left[0].Step <= f.since.last {
		left = left[1:]
	}
	return []provider.Message{userText(budget.Message(f.since.text, f.since.n, budget.SinceQuestion))}, left
}

// trimmed is what a model is told of a result.
func (f *fitting) trimmed(r provider.ToolResult) string {
	if f == nil {
		return r.Text
	}
	switch keep, ok := f.trims[r.ID]; {
	case !ok:
		return r.Text
	case keep > 0:
		return budget.Shorten(r.Text, keep)
	}
	return budget.LeftOut(r.Name, len(r.Text))
}

// trimsResult reports whether a result is shortened or left out.
func (f *fitting) trimsResult(id string) bool {
	if f == nil {
		return false
	}
	_, trimmed := f.trims[id]
	return trimmed
}

// leavesOldImages reports whether the images of earlier turns are left out.
func (f *fitting) leavesOldImages() bool { return f != nil && f.noOldImages }

func userText(text string) provider.Message {
	return provider.Message{Role: provider.User, Parts: []provider.Part{{Kind: provider.TextPart, Text: text}}}
}

// contextLimit is the longest context that the model can be asked with; 0 where
// nobody knows.
func (c *choice) contextLimit() int {
	if p, ok := provider.As[interface{ ContextLimit(provider.Model) int }](c.prov); ok {
		return p.ContextLimit(c.model)
	}
	return c.model.ContextLength
}

// knownContext returns the longest context that the model can be asked with, where a refusal
// of this turn may have named a shorter one; 0 if it is not known.
func (t *turn) knownContext() int {
	limit := t.model.contextLimit()
	if t.fit.told > 0 && (limit <= 0 || t.fit.told < limit) {
		return t.fit.told
	}
	return limit
}

// room is what the next request has to keep to, in tokens of the estimate;
// ok is false where it goes as it is.
func (t *turn) room() (p budget.Policy, ok bool) {
	limit := t.knownContext()
	c := t.eng.o.Compact
	if c.Off || limit <= 0 && t.fit.most == 0 {
		return p, false
	}
	if c.Percent > 0 && limit > 0 {
		limit = max(int(int64(limit)*int64(c.Percent)/100), 1)
	}
	if limit > 0 {
		params, _ := t.params()
		p = budget.PolicyFor(t.model.ratios.Estimated(t.model.ref, limit), params.MaxTokens)
	}
	if most := t.fit.most; most > 0 && (limit <= 0 || p.Limit-p.Reserve > most) {
		p = budget.PolicyFor(most+most/7, 0) // a reserve is an eighth
		p.Limit = most + p.Reserve
	}
	return p, true
}

// fitted assembles the next request, and lets as much of it give way as it takes
// to fit: old results of tools first, then old messages. Each round makes it
// smaller, or is the last.
func (t *turn) fitted(extra []provider.Message) (*provider.Request, error) {
	for {
		a := t.assembly(extra)
		req := assemble(a)
		est := req.Tokens
		req.Tokens = t.model.ratios.Tokens(t.model.ref, est)
		p, ok := t.room()
		if t.asked = est; !ok || est <= p.Limit-p.Reserve {
			return req, nil
		}
		if err := t.fit.guard.Round(est); err != nil {
			return nil, t.tooLong(err, est)
		}
		sizes, all := a.sized(req)
		plan, err := budget.Fit(sizes, p)
		if err != nil && t.trimWork(p) {
			continue
		}
		switch {
		case err != nil && t.shortest(plan.Tokens):
			continue
		case err != nil && t.fit.blind != nil:
			err, t.fit.blind = t.fit.blind, nil
			return nil, err // it is not known to be about the length
		case err != nil:
			return nil, t.tooLong(err, plan.Tokens)
		case plan.Empty(): // told in words it is a little longer than the sizes say
			return req, nil
		}
		if err := t.giveWay(plan, way{a, p, all}); err != nil {
			return nil, err
		}
	}
}

// way is a request with what it has to keep to.
type way struct {
	a      assembly
	policy budget.Policy
	all    []placed
}

// giveWay carries out a plan.
func (t *turn) giveWay(plan budget.Plan, w way) error {
	for _, trim := range plan.Trims {
		t.trim(w.all[trim.Message].Parts[trim.Result].Result.ID, trim.Keep)
	}
	if len(plan.Trims) > 0 {
		if err := t.noteTrims(); err != nil {
			return err
		}
	}
	for _, r := range plan.Replace {
		if err := t.sumUp(r, w); err != nil {
			return err
		}
	}
	return nil
}

func (t *turn) trim(id string, keep int) {
	if t.fit.trims == nil {
		t.fit.trims = map[string]int{}
	}
	t.fit.trims[id] = keep
}

// noteTrims says once a turn that outputs are left out.
func (t *turn) noteTrims() error {
	if t.fit.trimNoted {
		return nil
	}
	t.fit.trimNoted = true
	return t.emit(event.Footnote{Text: "older outputs of tools were left out, so that the request fits the context of " + t.model.ref})
}

// trimWork shortens the results of what other agents have done in this turn,
// which goes with the question. It tells whether that changed anything.
func (t *turn) trimWork(p budget.Policy) bool {
	if t.agent == nil {
		return false
	}
	done := false
	for _, part := range t.red.Parts[:lastStart(t.red.Parts)] {
		if part.Result == nil {
			continue
		}
		keep := max(p.MinResult, workResult)
		if _, ok := t.fit.trims[part.Result.ID]; !ok && budget.Tokens(part.Result.Text) > keep {
			t.trim(part.Result.ID, keep)
			done = true
		}
	}
	return done && t.noteTrims() == nil
}

// workResult is what stays of a result that another agent got, where all of them
// are too much, in tokens.
const workResult = 200

// tooLong is the end of a turn whose request can't be made to fit.
func (t *turn) tooLong(err error, tokens int) error {
	limit := t.model.contextLimit()
	if t.fit.told > 0 {
		limit = t.fit.told
	}
	msg := "the conversation doesn't fit the context of " + t.model.ref
	if errors.Is(err, budget.ErrCannotShrink) {
		msg += ", and summing it up no longer makes it smaller"
	} else {
		msg += ", whatever is left out of it"
	}
	if t.fit.said == "" { // a provider knows its own numbers better
		msg += fmt.Sprintf(": about %d tokens", t.model.ratios.Tokens(t.model.ref, tokens))
		if limit > 0 {
			msg += fmt.Sprintf(", and with the answer %d fit", limit)
		}
	}
	f := fault.New(fault.Context, msg, fault.Try(fault.OtherModel).That("with a model of a longer context"),
		fault.Try(fault.NewChat).That("begins a new chat, with a shorter question or smaller files"))
	if f.Err = err; t.fit.said != "" {
		f.Detail = []string{t.fit.said}
	}
	return f
}

// useModel lets another model go on. What refusals told is about the one before.
func (t *turn) useModel(c *choice) {
	t.learning = append(t.learning, t.model)
	t.model = c
	t.fit.told, t.fit.most, t.fit.said, t.fit.guard = 0, 0, "", budget.Guard{}
	t.fit.blind, t.fit.blindAt = nil, 0
}

// observe corrects the estimate by what the provider counted.
func (t *turn) observe(u *event.Usage) {
	if u != nil {
		t.model.ratios.Observe(t.model.ref, t.asked, u.InputTokens)
	}
}
