package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/record"
	"github.com/fettle-cli/fettle/internal/sanitize"
	"github.com/fettle-cli/fettle/internal/schema"
)

// maxReply bounds one response; no model gives as much in a day. It ends one
// that goes round in circles before it fills the memory.
const maxReply = 32 << 20

// maxStopDetail bounds the provider's own word for a stop reason, in characters.
const maxStopDetail = 300

// reply is one whole response of the model.
type reply struct {
	text    strings.Builder // only where it is held back, for a schema
	calls   []provider.ToolCall
	said    bool // it has text other than blanks
	dropped int  // calls over the limit
	size    int
	meta    *event.Meta
}

// respond gets one response, with a repair round where the answer has to be
// JSON of a schema, and gives the calls that the model asked for.
func (t *turn) respond() ([]provider.ToolCall, error) {
	r, err := t.ask(nil)
	if err != nil {
		return nil, err
	}
	refused := r.meta.StopReason == provider.StopRefusal && strings.TrimSpace(r.text.String()) == ""
	if t.schema == nil || len(r.calls) > 0 || !t.answers() || refused {
		return r.calls, nil
	}
	text := jsonText(t.answerText(r.text.String()))
	problems := t.schema.Validate([]byte(text))
	if len(problems) > 0 {
		if err := t.emit(event.Status{Message: "the answer doesn't match the schema; asking once more"}); err != nil {
			return nil, err
		}
		if r, err = t.ask(repair(r.text.String(), problems)); err != nil {
			return nil, err
		}
		text = jsonText(t.answerText(r.text.String()))
		problems = t.schema.Validate([]byte(text))
	}
	if len(r.calls) > 0 {
		problems = []schema.Problem{{Message: "it calls a tool instead"}}
	}
	if len(problems) > 0 {
		f := fault.New(fault.InvalidReply, t.model.ref+": the answer doesn't match the schema, twice",
			fault.Try(fault.SimplerSchema))
		f.Status = http.StatusFailedDependency // a repetition would be refused by the same schema
		f.Detail = strings.Split(schema.Explain(problems), "\n")
		return nil, f
	}
	return nil, t.emit(event.TextDelta{Text: text, Agent: t.speaker()})
}

// repair is what the model is told about an answer that doesn't match.
func repair(text string, problems []schema.Problem) []provider.Message {
	const shown = 32 << 10 // more of a wrong answer tells the model nothing new
	if len(text) > shown {
		text = strings.ToValidUTF8(text[:shown], "")
	}
	ask := "The answer does not match the JSON Schema:\n" + schema.Explain(problems) +
		"\nAnswer again with the corrected JSON alone."
	said := []provider.Part{{Kind: provider.TextPart, Text: text}}
	out := []provider.Message{{Role: provider.Assistant, Parts: said}}
	if strings.TrimSpace(text) == "" {
		out = nil
	}
	return append(out, provider.Message{
		Role: provider.User, Parts: []provider.Part{{Kind: provider.TextPart, Text: ask}},
	})
}

// jsonText takes a code fence off an answer that should be JSON.
func jsonText(s string) string {
	s = strings.TrimSpace(s)
	if rest, ok := strings.CutPrefix(s, "```"); ok {
		if _, body, ok := strings.Cut(rest, "\n"); ok {
			s = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(body), "```"))
		}
	}
	return s
}

// ask gets one response from the model or, while nothing of it was shown,
// from the same model with less (document 002's fallback) or another one.
func (t *turn) ask(extra []provider.Message) (*reply, error) {
	for {
		t.shown = false
		r, err := t.stream(extra)
		if err == nil {
			t.fit.guard.Answered()
		}
		if err == nil || t.ctx.Err() != nil || t.broken != nil {
			return r, err
		}
		if t.shown {
			return r, err // another try would repeat what was shown
		}
		again, lacks := t.withLess(err)
		if again {
			if err := t.emit(lacks); err != nil {
				return r, err
			}
			continue
		}
		if t.refused(err) {
			continue
		}
		again, note := t.withoutOldImages(err)
		if again {
			if err := t.emit(event.Footnote{Text: note}); err != nil {
				return r, err
			}
			continue
		}
		if t.shortenBlindly(err) {
			continue
		}
		err = t.refusedTwice(err)
		if again, note = t.otherModel(err); !again {
			return r, err
		}
		if err := errors.Join(t.emit(event.Footnote{Text: note}), t.noteLeftOut()); err != nil {
			return r, err
		}
	}
}

// withLess drops a feature that the provider's refusal names, and returns the footnote about
// that.
func (t *turn) withLess(err error) (bool, event.Footnote) {
	var pe *provider.Error
	if !errors.As(err, &pe) || pe.Kind != provider.Unsupported || pe.Feature == "" || t.model.without[pe.Feature] {
		return false, event.Footnote{}
	}
	t.model.without[pe.Feature] = true
	t.model.learnt.Refuse(pe.Feature, t.eng.o.Now())
	return true, event.Footnote{Text: withoutNote(pe.Feature, t.model.ref), Ignored: ignoredFeature(pe.Feature)}
}

// withoutOldImages leaves out the images of earlier turns after a refusal that is about an
// image: one that a provider cannot read would end the chat for good.
func (t *turn) withoutOldImages(err error) (bool, string) {
	var pe *provider.Error
	if !errors.As(err, &pe) || pe.Kind != provider.Rejected && pe.Kind != provider.Overloaded || t.fit.noOldImages {
		return false, ""
	}
	has := func(m chat.Message) bool { return slices.ContainsFunc(m.Parts, provider.Part.HasImage) }
	if !strings.Contains(strings.ToLower(pe.Message), "image") || !slices.ContainsFunc(t.path, has) {
		return false, ""
	}
	t.fit.noOldImages = true
	return true, "the images further up in the chat were left out: " + fault.FirstLine(err)
}

// noteLeftOut says what the person gave or asked for and the model, as is
// known before it is asked, can't take.
func (t *turn) noteLeftOut() error {
	if err := t.noteEffort(); err != nil {
		return err
	}
	var notes []event.Body
	for _, f := range []provider.Feature{provider.FeatureImages, provider.FeatureTools, provider.FeatureThinking, provider.FeatureSchema} {
		if t.model.without[f] && t.wants(f) {
			notes = append(notes, event.Footnote{Text: withoutNote(f, t.model.ref), Ignored: ignoredFeature(f)})
		}
	}
	if !t.agentMode() && len(t.req.Tools) > 0 {
		notes = append(notes, event.Footnote{Text: "tools were left out: agent mode is off in this chat"})
	}
	if len(notes) == 0 {
		return nil // and nothing is waited for
	}
	return t.emit(notes...)
}

// withoutNote is the footnote about a feature that a model lacks.
func withoutNote(f provider.Feature, ref string) string {
	switch f {
	case provider.FeatureThinking:
		return "reasoning was not asked for: " + ref + " can't be told to"
	case provider.FeatureSchema:
		return "the schema was told in words: " + ref + " takes none"
	}
	return string(f) + " were left out: " + ref + " takes none"
}

// ignoredFeature is what of the request is left out for a model that lacks a feature.
func ignoredFeature(f provider.Feature) []string {
	switch f {
	case provider.FeatureThinking:
		return []string{provider.EffortParam}
	case provider.FeatureSchema: // which the model is told in words
		return nil
	}
	return []string{string(f)}
}

// otherModel turns to the next fallback, where another model may do better.
func (t *turn) otherModel(err error) (bool, string) {
	var pe *provider.Error
	if !errors.As(err, &pe) {
		return false, ""
	}
	switch pe.Kind {
	case provider.Rejected, provider.ContextFull, provider.Undecodable:
		return false, ""
	}
	for len(t.model.fallback) > 0 {
		next, rest := t.model.fallback[0], t.model.fallback[1:]
		t.model.fallback = rest
		c, chooseErr := t.eng.choose(t.ctx, next, rest)
		if chooseErr != nil || t.prefill.text != "" && !t.takesPrefill(c) {
			continue
		}
		note := t.model.ref + " can't answer (" + fault.FirstLine(err) + "); " + c.ref + " takes over"
		c.since = t.red.Step
		t.useModel(c)
		return true, note
	}
	return false, ""
}

// stream sends one request and turns the response into events as it comes.
func (t *turn) stream(extra []provider.Message) (*reply, error) {
	r := &reply{}
	req, err := t.fitted(extra)
	if err != nil {
		return r, err
	}
	if err := t.noteParams(req); err != nil {
		return r, err
	}
	p := provider.Retry(t.traced(t.model.prov), t.retryOptions())
	for batch, err := range p.Stream(t.ctx, req) {
		if err != nil {
			return r, errors.Join(err, t.emit(t.heldBack()...))
		}
		if err := t.emit(t.convert(batch, r)...); err != nil {
			return r, err
		}
		if r.size > maxReply {
			return r, fault.New(fault.InvalidReply, fmt.Sprintf("%s: the response went past %d MB and was stopped",
				t.model.ref, maxReply>>20), fault.Advise("ask for less at a time"))
		}
	}
	held := t.heldBack()
	if r.meta != nil { // a response may add nothing to the beginning of the answer
		held = append(held, t.given()...)
	}
	switch err := context.Cause(t.ctx); {
	case err != nil:
		return r, errors.Join(err, t.emit(held...)) // a provider may end its sequence when it is cancelled
	case r.meta == nil: // its end is missing, so it may be half of one
		return r, errors.Join(&provider.Error{
			Kind: provider.Broken, Provider: t.model.prov.Name(), Model: t.model.model.Name, Err: provider.ErrCut,
		}, t.emit(held...))
	}
	t.observe(r.meta.Usage)
	if err := t.silentOverflow(r); err != nil {
		return r, errors.Join(err, t.emit(held...))
	}
	bodies := append(append(held, *r.meta), t.cited.leftOut()...)
	bodies = append(bodies, t.noteOverflow(r)...)
	if r.dropped > 0 {
		bodies = append(bodies, event.Footnote{Text: fmt.Sprintf(
			"%s asked for %d calls at once; only the first %d are run", t.model.ref, len(r.calls)+r.dropped, len(r.calls))})
	}
	return r, t.emit(bodies...)
}

func (t *turn) retryOptions() provider.RetryOptions {
	o := t.eng.o.Retry
	o.OnRetry = func(err error, wait time.Duration, attempt int) {
		// The turn's own goroutine is in Stream and calls this, so it may
		// emit. A failure stays, and is found by the next emit.
		_ = t.emit(event.Status{Message: fmt.Sprintf("%s; trying again in %s (attempt %d)",
			fault.FirstLine(err), wait.Round(100*time.Millisecond), attempt+1)})
	}
	return o
}

// assembly is what the next request is made of.
func (t *turn) assembly(extra []provider.Message) assembly {
	path := t.path[t.fit.begin:len(t.path):len(t.path)]
	a := assembly{
		model: t.model.model.Name, ref: t.model.ref, system: t.withCards(t.accept.Chat.System),
		fit:   &t.fit,
		tools: append(t.toolSpecs(), t.handoffSpecs()...), name: t.nameFor, without: t.model.without, since: t.model.since,
		sounds: t.model.model.Audio == provider.Yes,
		agent:  t.agent, cards: t.cards.told(), plan: t.plan,
	}
	if !t.agentMode() {
		a.tools = nil
	}
	if t.red.Step > 0 {
		m := t.red.Message()
		a.answer = &m
	}
	a.join(append(path, t.accept.Question()), t.speaker())
	extra = append(t.beginning(), extra...)
	a.extra, a.sampling, a.hints, a.thoughtEnd = extra, t.req.Sampling, t.req.Hints, t.model.learnt.ThoughtEnd
	a.params, a.think = t.params()
	if a.mustCall = t.req.MustCall; t.red.Step > 0 || len(a.tools) == 0 {
		a.mustCall = "" // what came of the call is for the model to say
	} else if a.mustCall != provider.AnyTool && a.mustCall != "" {
		a.mustCall = t.names.Name(a.mustCall)
	}
	if t.answers() {
		a.schema = t.req.Schema
	}
	a.native = t.nativeStep()
	t.req.workflow.ofStep(&a)
	return a
}

// nameFor is what the model knows a tool of the conversation by. One that isn't
// offered now, or never was, keeps a name that no other tool has.
func (t *turn) nameFor(id string) string {
	if name := t.names.Name(id); name != "" {
		return name
	}
	bare := chat.BareID(id)
	if _, taken := t.names.Lookup(bare); taken || bare == "" {
		return id
	}
	return bare
}

func (t *turn) toolSpecs() []provider.ToolSpec {
	specs := specsOf(t.offer, t.names)
	for id := range t.strict {
		name := t.names.Name(id)
		if i := slices.IndexFunc(specs, func(s provider.ToolSpec) bool { return s.Name == name }); i >= 0 {
			specs[i].Strict = true
		}
	}
	return specs
}

// convert turns the deltas of one network read into events. Text that came
// together is one event. Where the answer has to match a schema, its text is
// held back until it does. What an event can't hold is left out, and what the
// provider may use again is copied.
func (t *turn) convert(batch []provider.Delta, r *reply) []event.Body {
	var bodies []event.Body
	for i := 0; i < len(batch); i++ {
		d, had := batch[i], len(bodies)
		if d.Kind == provider.Content || d.Kind == provider.CallDelta {
			bodies = append(bodies, t.given()...)
		}
		switch d.Kind {
		case provider.Content:
			piece, n := joined(batch[i:])
			i += n - 1
			r.size += len(piece)
			r.said = r.said || strings.TrimSpace(piece) != ""
			switch {
			case !t.answers():
				bodies = append(bodies, event.Reasoning{Text: piece, Agent: t.speaker(), Said: true})
			case t.schema != nil:
				r.text.WriteString(piece)
			case piece != "":
				bodies = append(bodies, t.said(piece)...)
				t.shown = true // or will be: a retry would say it again
			}
		case provider.Reasoning:
			piece, n := joined(batch[i:])
			i += n - 1
			r.size += len(piece)
			bodies = append(bodies, event.Reasoning{Text: piece, Agent: t.speaker()})
		case provider.ReasoningDetails:
			if json.Valid(d.Details) {
				r.size += len(d.Details)
				bodies = append(bodies, event.Reasoning{Details: slices.Clone(d.Details), Agent: t.speaker()})
			}
		case provider.CallDelta:
			t.addCall(r, *d.Call)
		case provider.Annotations:
			if kept := t.cited.take(d.Annotations); len(kept) > 0 {
				for _, raw := range kept {
					r.size += len(raw)
				}
				bodies = append(bodies, event.Annotations{Annotations: kept})
			}
		case provider.Footnote:
			note := event.Footnote{Text: record.Clip(clean(d.Text), maxNote), Ignored: d.Params}
			if t.freshNote(note) && t.cited.note() {
				bodies = append(bodies, note)
			}
			continue // it is no part of an answer, and a retry leaves it out
		case provider.Meta:
			meta := *d.Meta
			meta.Model, meta.StopReason = t.model.ref, sanitize.Shorten(clean(meta.StopReason), chat.MaxName)
			meta.ReasoningField = sanitize.Shorten(clean(d.Field), chat.MaxName)
			meta.StopDetail = sanitize.Shorten(sanitize.Line(meta.StopDetail), maxStopDetail)
			r.meta = &meta
		}
		t.begun = true
		t.shown = t.shown || len(bodies) > had
	}
	return bodies
}

func validJSON(all []json.RawMessage) []json.RawMessage {
	var kept []json.RawMessage
	for _, raw := range all {
		if json.Valid(raw) {
			kept = append(kept, slices.Clone(raw))
		}
	}
	return kept
}

func (t *turn) addCall(r *reply, c provider.ToolCall) {
	r.size += len(c.Args) + len(c.Extra)
	if len(r.calls) == maxCalls {
		r.dropped++
		return
	}
	r.calls = append(r.calls, t.ownCall(c))
}

// joined puts the texts of a run of deltas of one kind together.
func joined(batch []provider.Delta) (string, int) {
	n, size := 1, len(batch[0].Text)
	for ; n < len(batch) && batch[n].Kind == batch[0].Kind; n++ {
		size += len(batch[n].Text)
	}
	if n == 1 {
		return clean(batch[0].Text), 1
	}
	var b strings.Builder
	b.Grow(size) // a live turn keeps it for a while
	for _, d := range batch[:n] {
		b.WriteString(d.Text)
	}
	return clean(b.String()), n
}

// ownCall gives a call an id that no other call of the turn has; some
// providers count from zero again in each response.
func (t *turn) ownCall(c provider.ToolCall) provider.ToolCall {
	id := sanitize.Shorten(clean(c.ID), chat.MaxName)
	if id == "" {
		id = "call"
	}
	c.ID, c.Name = id, sanitize.Shorten(clean(c.Name), chat.MaxName)
	for n := 2; t.useIDs[c.ID]; n++ {
		c.ID = id + "-" + strconv.Itoa(n)
	}
	t.useIDs[c.ID] = true
	if c.Args = bytes.ToValidUTF8(c.Args, []byte("\uFFFD")); len(c.Args) == 0 { // a copy
		c.Args = json.RawMessage("{}")
	}
	if c.Extra = slices.Clone(c.Extra); !record.IsObject(c.Extra) {
		c.Extra = nil
	}
	return c
}

// noteEnding emits how the answer ended, where it did not end by itself.
func (t *turn) noteEnding() error {
	note := t.red.Ending()
	if note.Ending == "" {
		return nil
	}
	return t.emit(note)
}
