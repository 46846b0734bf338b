package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/fettle-cli/fettle/engine/budget"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
)

const (
	// mostBatch is the largest part of a conversation, in tokens, that is summed
	// up at once where nobody knows the model's context.
	mostBatch = 64_000
	// leastBatch is the least that a request for a summary has room for.
	leastBatch = 200
	// maxBatches bounds the requests that one summary takes. A conversation has
	// more only where it was never summed up before; of it the end counts.
	maxBatches = 24
	// maxShorter is how often a request for a summary that is too long for the
	// model is made shorter.
	maxShorter = 5
	// longerSummary is how many times the tokens that it was asked to have a
	// summary may have before it is cut.
	longerSummary = 2
)

// summariser has a model sum up messages.
type summariser struct {
	model *choice
	prov  provider.Provider // the model's
	retry provider.RetryOptions
	// room is what a request may have, in tokens of the estimate.
	room   int
	status func(string) error
	// usage adds up what it took.
	usage *event.Usage
	// sent is the estimate of the last request.
	sent int
	// skipped counts messages that were too many.
	skipped int
}

// newSummariser makes one of a model. most bounds its requests, where that is
// known better than by the model's length; 0 doesn't.
func newSummariser(c *choice, most int) *summariser {
	s := &summariser{model: c, prov: c.prov, room: mostBatch}
	if limit := c.contextLimit(); limit > 0 {
		p := budget.PolicyFor(c.ratios.Estimated(c.ref, limit), 0)
		s.room = p.Limit - p.Reserve
	}
	if most > 0 {
		s.room = min(s.room, most)
	}
	return s
}

// sum gives a summary of messages in about the given tokens. What doesn't fit
// one request is summed up piece by piece, each with the summary of those
// before.
func (s *summariser) sum(ctx context.Context, messages []provider.Message, tokens int) (string, error) {
	for shorter := 0; ; shorter++ {
		text, err := s.sumBatches(ctx, messages, tokens)
		var pe *provider.Error
		if !errors.As(err, &pe) || pe.Kind != provider.ContextFull && !pe.NoReason {
			return text, err
		}
		if shorter == maxShorter || s.room <= leastBatch {
			return "", fmt.Errorf("%w (%w)", budget.ErrCannotShrink, err)
		}
		limit := s.model.contextLimit()
		if named := contextNamed(pe.Message); named > 0 {
			limit = named
		}
		room := s.room - s.room/4
		if s.model.ratios.Refused(s.model.ref, s.sent, limit) {
			room = min(room, s.model.ratios.Estimated(s.model.ref, limit)*7/8)
		}
		s.room = max(room, leastBatch)
	}
}

func (s *summariser) sumBatches(ctx context.Context, messages []provider.Message, tokens int) (string, error) {
	prompt := userText(budget.Prompt(tokens))
	limit := max(s.room-messageTokens(prompt)-longerSummary*tokens-2*messageOverhead, leastBatch)
	sizes := make([]budget.Size, len(messages))
	for i, m := range messages {
		sizes[i] = budget.Size{Tokens: messageTokens(m)}
		if m.Role == provider.Tool {
			sizes[i].Role = budget.Tool
		}
	}
	batches := budget.Batches(sizes, budget.Range{From: 0, To: len(messages)}, limit)
	var before []provider.Message
	if n := len(batches) - maxBatches; n > 0 {
		s.skipped = batches[n].From
		batches = batches[n:]
		before = []provider.Message{userText(fmt.Sprintf("[%d messages before this one were left out to make room]", s.skipped))}
		if first := messages[0]; first.Role == provider.User && len(first.Parts) == 1 && strings.HasPrefix(first.Parts[0].Text, "<summary") {
			before = append([]provider.Message{first}, before...) // of what was before them
		}
	}
	text := ""
	for i, r := range batches {
		if i > 0 && s.status != nil {
			if err := s.status(fmt.Sprintf("summing up, %d of %d", i+1, len(batches))); err != nil {
				return "", err
			}
		}
		batch := shortened(inWords(messages[r.From:r.To]), limit)
		var err error
		if text, err = s.ask(ctx, append(append(before, batch...), prompt), tokens); err != nil {
			return "", err
		}
		before = []provider.Message{userText(budget.Message(text, r.To, budget.BeforeQuestion))}
	}
	return text, nil
}

// ask gets one summary.
func (s *summariser) ask(ctx context.Context, messages []provider.Message, tokens int) (string, error) {
	req := &provider.Request{Model: s.model.model.Name, Messages: messages}
	s.sent = estimate(req)
	req.Tokens = s.model.ratios.Tokens(s.model.ref, s.sent)
	var text strings.Builder
	var meta *event.Meta
	size := 0
	for batch, err := range provider.Retry(s.prov, s.retry).Stream(ctx, req) {
		if err != nil {
			return "", err
		}
		for _, d := range batch {
			size += len(d.Text) + len(d.Details)
			switch d.Kind {
			case provider.Content:
				text.WriteString(d.Text)
			case provider.Meta:
				meta = d.Meta
			}
		}
		if size > maxReply {
			return "", s.unusable("went past its bound")
		}
	}
	if err := context.Cause(ctx); err != nil {
		return "", err
	}
	if meta == nil {
		return "", &provider.Error{Kind: provider.Broken, Provider: s.model.prov.Name(), Model: s.model.model.Name, Err: provider.ErrCut}
	}
	if meta.Usage != nil {
		s.usage = s.usage.Add(meta.Usage)
		s.model.ratios.Observe(s.model.ref, s.sent, meta.Usage.InputTokens)
	}
	out := strings.TrimSpace(clean(text.String()))
	if out == "" {
		return "", s.unusable("was empty")
	}
	return budget.Shorten(out, longerSummary*tokens), nil
}

// unusable is the end where a model gives no summary.
func (s *summariser) unusable(how string) error {
	return fault.New(fault.Context, "the conversation has to be summed up to fit the model's context, and the summary by "+s.model.ref+" "+how,
		fault.Try(fault.CompactModel).That("lets another model sum up"), fault.Try(fault.NewChat).That("begins a new chat"))
}

// inWords tells messages to a model that is offered no tools.
func inWords(messages []provider.Message) []provider.Message {
	var out []provider.Message
	for _, m := range messages {
		w := provider.Message{Role: m.Role}
		if m.Role == provider.Tool {
			w.Role = provider.User
		}
		for _, p := range m.Parts {
			if text := partInWords(p); text != "" {
				w.Parts = append(w.Parts, provider.Part{Kind: provider.TextPart, Text: text})
			}
		}
		if len(w.Parts) > 0 {
			out = append(out, w)
		}
	}
	return out
}

func partInWords(p provider.Part) string {
	switch {
	case p.Call != nil:
		return "[called " + p.Call.Name + " with " + string(p.Call.Args) + "]"
	case p.Result != nil:
		return "[" + p.Result.Name + " gave]\n" + p.Result.Text
	case p.Kind == provider.ImagePart:
		return "(an image)"
	case p.Kind == provider.TextPart:
		return p.Text
	}
	return ""
}

// shortened are messages of texts alone cut to about the given tokens, the
// longest texts first.
func shortened(messages []provider.Message, tokens int) []provider.Message {
	total, texts := 0, 0
	for _, m := range messages {
		total += messageTokens(m)
		texts += len(m.Parts)
	}
	for keep := tokens; total > tokens && keep > leastBatch/8; keep /= 2 {
		total = 0
		for i, m := range messages {
			for j, p := range m.Parts {
				messages[i].Parts[j].Text = budget.Shorten(p.Text, keep)
			}
			total += messageTokens(m)
		}
	}
	return messages
}
