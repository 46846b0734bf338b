package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/schema"
)

// choice is the model that answers the turn, and those that may take over.
type choice struct {
	ref      string
	prov     provider.Provider
	model    provider.Model
	without  map[provider.Feature]bool
	fallback []string
}

// choose resolves a Ref and learns what the model can do.
func (e *Engine) choose(ctx context.Context, ref string, fallback []string) (*choice, error) {
	p, name, err := e.o.Models.Resolve(ref)
	if err != nil {
		return nil, err
	}
	m, err := e.o.Models.Describe(ctx, p, name)
	if err != nil {
		return nil, err
	}
	return &choice{
		ref: p.Name() + "/" + name, prov: p, model: m, fallback: fallback,
		without: map[provider.Feature]bool{},
	}, nil
}

// reply is one whole response of the model.
type reply struct {
	text  string
	calls []provider.ToolCall
	meta  event.Meta
}

// respond gets one response, with a repair round where the answer has to be
// JSON of a schema, and gives the calls that the model asked for.
func (t *turn) respond() ([]provider.ToolCall, error) {
	r, err := t.ask(nil)
	if err != nil || t.schema == nil || len(r.calls) > 0 {
		return r.calls, err
	}
	problems := t.schema.Validate([]byte(jsonText(r.text)))
	if len(problems) > 0 {
		if err := t.emit(event.Status{Message: "the answer doesn't match the schema; asking once more"}); err != nil {
			return nil, err
		}
		if r, err = t.ask(repair(r.text, problems)); err != nil {
			return nil, err
		}
		problems = t.schema.Validate([]byte(jsonText(r.text)))
	}
	if len(problems) > 0 || len(r.calls) > 0 {
		f := fault.New(fault.InvalidReply, t.model.ref+": the answer doesn't match the schema, twice",
			"try another model with -m, or a simpler schema")
		f.Detail = strings.Split(schema.Explain(problems), "\n")
		return nil, f
	}
	return nil, t.emit(event.TextDelta{Text: jsonText(r.text)})
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
func (t *turn) ask(extra []provider.Message) (reply, error) {
	for {
		t.shownText = false
		r, err := t.stream(extra)
		if err == nil || t.ctx.Err() != nil {
			return r, err
		}
		if t.shownText {
			return r, err // another try would repeat what was shown
		}
		again, note := t.withLess(err)
		if !again {
			again, note = t.otherModel(err)
		}
		if !again {
			return r, err
		}
		if err := t.emit(event.Footnote{Text: note}); err != nil {
			return r, err
		}
	}
}

// withLess drops a feature that the provider's refusal names.
func (t *turn) withLess(err error) (bool, string) {
	var pe *provider.Error
	if !errors.As(err, &pe) || pe.Kind != provider.Unsupported || t.model.without[pe.Feature] {
		return false, ""
	}
	t.model.without[pe.Feature] = true
	return true, withoutNote(pe.Feature, t.model.ref)
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
		if chooseErr != nil {
			continue
		}
		note := t.model.ref + " can't answer (" + firstLine(err) + "); " + c.ref + " takes over"
		t.model = c
		return true, note
	}
	return false, ""
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// stream sends one request and turns the response into events as it comes.
func (t *turn) stream(extra []provider.Message) (reply, error) {
	req := t.request(extra)
	p := provider.Retry(t.model.prov, t.retryOptions())
	var r reply
	var text strings.Builder
	for batch, err := range p.Stream(t.ctx, req) {
		if err != nil {
			r.text = text.String()
			return r, err
		}
		bodies := t.convert(batch, &r, &text)
		if len(bodies) == 0 {
			continue
		}
		if err := t.emit(bodies...); err != nil {
			return r, err
		}
	}
	r.text = text.String()
	if err := context.Cause(t.ctx); err != nil {
		return r, err // a provider may end its sequence when it is cancelled
	}
	return r, t.emit(r.meta)
}

func (t *turn) retryOptions() provider.RetryOptions {
	o := t.eng.o.Retry
	o.OnRetry = func(err error, wait time.Duration, attempt int) {
		// The turn's own goroutine is in Stream and calls this, so it may
		// emit. A write that fails is found by the next emit.
		_ = t.emit(event.Status{Message: fmt.Sprintf("%s; trying again in %s (attempt %d)",
			firstLine(err), wait.Round(100*time.Millisecond), attempt+1)})
	}
	return o
}

// request assembles what is sent, and says once what the model can't take.
func (t *turn) request(extra []provider.Message) *provider.Request {
	a := assembly{
		model: t.model.model.Name, system: t.accept.Chat.System,
		history: append(t.path[:len(t.path):len(t.path)], t.accept.question()),
		tools:   t.toolSpecs(), name: t.names.Name, without: t.model.without,
	}
	if t.red.step > 0 {
		m := t.red.message()
		a.answer = &m
	}
	a.extra, a.schema, a.think = extra, t.req.Schema, t.req.Think
	req := assemble(a)
	req.Temperature, req.MaxTokens = t.req.Temperature, t.req.MaxTokens
	return req
}

func (t *turn) toolSpecs() []provider.ToolSpec {
	specs := make([]provider.ToolSpec, 0, t.offer.Len())
	for entry := range t.offer.All() {
		specs = append(specs, provider.ToolSpec{
			Name: t.names.Name(entry.Tool.ID), Description: entry.Tool.Description,
			InputSchema: entry.Tool.InputSchema,
		})
	}
	return specs
}

// convert turns the deltas of one network read into events. Text that came
// together is one event. Where the answer has to match a schema, its text is
// held back until it does.
func (t *turn) convert(batch []provider.Delta, r *reply, text *strings.Builder) []event.Body {
	var bodies []event.Body
	for i := 0; i < len(batch); i++ {
		d := batch[i]
		switch d.Kind {
		case provider.Content:
			piece, n := joined(batch[i:])
			i += n - 1
			text.WriteString(piece)
			t.begun = true
			if t.schema == nil && piece != "" {
				bodies = append(bodies, event.TextDelta{Text: piece})
				t.shownText = true
			}
		case provider.Reasoning:
			piece, n := joined(batch[i:])
			i += n - 1
			t.begun, t.shownText = true, true
			bodies = append(bodies, event.Reasoning{Text: piece})
		case provider.ReasoningDetails:
			bodies = append(bodies, event.Reasoning{Details: d.Details})
		case provider.CallDelta:
			t.begun = true
			r.calls = append(r.calls, t.ownCall(*d.Call))
		case provider.Annotations:
			bodies = append(bodies, event.Annotations{Annotations: d.Annotations})
		case provider.Footnote:
			bodies = append(bodies, event.Footnote{Text: d.Text})
		case provider.Meta:
			t.begun = true
			r.meta = *d.Meta
			r.meta.Model = t.model.ref
		}
	}
	return bodies
}

// joined puts the texts of a run of deltas of one kind together.
func joined(batch []provider.Delta) (string, int) {
	n := 1
	for n < len(batch) && batch[n].Kind == batch[0].Kind {
		n++
	}
	if n == 1 {
		return batch[0].Text, 1
	}
	var b strings.Builder
	for _, d := range batch[:n] {
		b.WriteString(d.Text)
	}
	return b.String(), n
}

// ownCall gives a call an id that no other call of the turn has; some
// providers count from zero again in each response.
func (t *turn) ownCall(c provider.ToolCall) provider.ToolCall {
	id := c.ID
	if id == "" {
		id = "call"
	}
	c.ID = id
	for n := 2; t.useIDs[c.ID]; n++ {
		c.ID = id + "-" + strconv.Itoa(n)
	}
	t.useIDs[c.ID] = true
	if len(c.Args) == 0 {
		c.Args = json.RawMessage("{}")
	}
	return c
}

func itoa(n int) string { return strconv.Itoa(n) }

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
