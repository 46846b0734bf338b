package engine

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"time"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/toolset"
)

// Tracer is told when turns begin, and by their spans what they spend their time
// with: requests to models, calls of tools, snapshots. It and its spans are used by
// several goroutines at once, and must not wait. Names of attributes are those of
// OpenTelemetry's conventions for generative AI. What a person, a model or a tool
// said is in none, nor is the text of an error.
type Tracer interface {
	// Begin begins the span of a turn, within parent: what WithTraceParent was
	// given, and empty without.
	Begin(s SpanStart, parent string) Span
}

// Span is something that takes time.
type Span interface {
	// Begin begins a span within this one.
	Begin(SpanStart) Span
	// Set adds attributes.
	Set(...slog.Attr)
	// End ends it. failed is the kind of a failure; empty is none.
	End(failed string)
}

// SpanStart is how a span begins.
type SpanStart struct {
	Name string
	// Remote tells that another program does what takes the time.
	Remote bool
	// At is when it began; zero is now.
	At    time.Time
	Attrs []slog.Attr
}

type traceParentKey struct{}

// WithTraceParent tells which span of another program the turns are within that are
// started with the context: by W3C's traceparent, as it came. It goes nowhere but to
// the Tracer.
func WithTraceParent(ctx context.Context, traceparent string) context.Context {
	if traceparent == "" {
		return ctx
	}
	return context.WithValue(ctx, traceParentKey{}, traceparent)
}

// noTracer is the Tracer of an Engine that has none.
type noTracer struct{}

func (noTracer) Begin(SpanStart, string) Span { return noSpan{} }

type noSpan struct{}

func (noSpan) Begin(SpanStart) Span { return noSpan{} }
func (noSpan) Set(...slog.Attr)     {}
func (noSpan) End(string)           {}

// The names of attributes that the conventions have.
const (
	attrOperation    = "gen_ai.operation.name"
	attrConversation = "gen_ai.conversation.id"
	attrAgentName    = "gen_ai.agent.name"
	attrAgentID      = "gen_ai.agent.id"
)

// beginSpan begins the span of the turn, as of when it was asked for.
func (t *turn) beginSpan(ctx context.Context) {
	parent, _ := ctx.Value(traceParentKey{}).(string)
	name, attrs := "invoke_agent", []slog.Attr{
		slog.String(attrOperation, "invoke_agent"), slog.String(attrConversation, t.accept.Chat.ID),
		slog.String("fettle.turn.id", string(t.id)),
	}
	if t.agent != nil {
		name += " " + t.speaker()
		attrs = append(attrs, slog.String(attrAgentName, t.speaker()), slog.String(attrAgentID, t.agent.ID))
	}
	t.span = t.eng.o.Tracer.Begin(SpanStart{Name: name, At: t.since, Attrs: attrs}, parent)
}

// endSpan ends the span of the turn by its last event. A turn that a person
// stopped has not failed.
func (t *turn) endSpan(events []event.Event) {
	if len(events) == 0 { // they could not be kept
		t.span.End(string(fault.Store))
		return
	}
	end := events[len(events)-1]
	failed := ""
	if e, ok := end.Body.(event.Error); ok {
		failed = e.Code
	}
	t.span.Set(slog.String("fettle.turn.end", string(end.Type())))
	if e, ok := end.Body.(event.Complete); ok && e.Payload.Usage != nil {
		t.span.Set(usageAttrs(e.Payload.Usage)...)
	}
	t.span.End(failed)
}

func usageAttrs(u *event.Usage) []slog.Attr {
	attrs := []slog.Attr{
		slog.Int64("gen_ai.usage.input_tokens", u.InputTokens), slog.Int64("gen_ai.usage.output_tokens", u.OutputTokens),
	}
	for name, n := range map[string]int64{
		"gen_ai.usage.cache_read.input_tokens":     u.CachedTokens,
		"gen_ai.usage.cache_creation.input_tokens": u.CacheWriteTokens,
		"gen_ai.usage.reasoning.output_tokens":     u.ReasoningTokens,
	} {
		if n != 0 {
			attrs = append(attrs, slog.Int64(name, n))
		}
	}
	return attrs
}

// failureOf is the kind of a failure, without its words: they may quote what
// somebody said.
func failureOf(err error) string {
	var f *fault.Fault
	var p *provider.Error
	var tool *toolset.ToolError
	switch {
	case err == nil:
		return ""
	case errors.Is(err, store.ErrClosed):
		return string(fault.Interrupted)
	case errors.As(err, &f):
		return string(f.Code)
	case errors.As(err, &p):
		return kindOf(p.Kind)
	case errors.Is(err, context.Canceled), errors.Is(err, errCancelled):
		return "cancelled"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, errTimedOut):
		return "timeout"
	case errors.As(err, &tool):
		return "tool_error"
	}
	return "_OTHER" // the conventions' word
}

func kindOf(k provider.Kind) string {
	switch k {
	case provider.Broken:
		return "broken"
	case provider.RateLimited:
		return "rate_limited"
	case provider.Overloaded:
		return "overloaded"
	case provider.SlowStart:
		return "timeout"
	case provider.Unreachable:
		return "unreachable"
	case provider.Unauthorised:
		return "unauthorised"
	case provider.UnknownModel:
		return "unknown_model"
	case provider.ContextFull:
		return "context_full"
	case provider.Unsupported:
		return "unsupported"
	case provider.Rejected:
		return "rejected"
	case provider.Undecodable:
		return "undecodable"
	}
	return "_OTHER"
}

// spanOfCall begins the span of a call that runs.
func (t *turn) spanOfCall(c *call) (end func(error)) {
	s := t.span.Begin(SpanStart{Name: "execute_tool " + chat.BareID(c.toolID()), Attrs: []slog.Attr{
		slog.String(attrOperation, "execute_tool"), slog.String("gen_ai.tool.name", chat.BareID(c.toolID())),
		slog.String("gen_ai.tool.type", "function"), slog.String("gen_ai.tool.call.id", c.use.ID),
		slog.String("fettle.tool.id", c.toolID()), slog.String("fettle.call.id", c.id),
	}})
	return func(err error) { s.End(failureOf(err)) }
}

// spanOfSnapshot begins the span of a snapshot.
func (t *turn) spanOfSnapshot(about cas.About) (end func(*cas.Snapshot, error)) {
	s := t.span.Begin(SpanStart{Name: "snapshot", Attrs: []slog.Attr{slog.String("fettle.snapshot.source", string(about.Source))}})
	return func(snap *cas.Snapshot, err error) {
		if err == nil {
			s.Set(slog.Bool("fettle.snapshot.new", snap.New))
		}
		s.End(failureOf(err))
	}
}

// traced is a provider whose requests are spans of the turn: each try is one.
func (t *turn) traced(p provider.Provider) provider.Provider {
	if t.span == (noSpan{}) {
		return p
	}
	asks := []slog.Attr{slog.String(attrConversation, t.accept.Chat.ID)}
	if t.agent != nil {
		asks = append(asks, slog.String(attrAgentName, t.speaker()))
	}
	return &tracedProvider{Provider: p, within: t.span, asks: asks}
}

type tracedProvider struct {
	provider.Provider
	within Span
	asks   []slog.Attr
}

// Unwrap gives the provider itself.
func (p *tracedProvider) Unwrap() provider.Provider { return p.Provider }

// Stream passes the batches on, and notes when the first came and what the last
// said of the whole.
func (p *tracedProvider) Stream(ctx context.Context, req *provider.Request) iter.Seq2[[]provider.Delta, error] {
	return func(yield func([]provider.Delta, error) bool) {
		begun := time.Now()
		span := p.within.Begin(SpanStart{Name: "chat " + req.Model, Remote: true, Attrs: append(p.asks[:len(p.asks):len(p.asks)],
			append(requestAttrs(req), slog.String("gen_ai.provider.name", conventional(p.Name())))...)})
		failed, first, broke := "_OTHER", true, false // as long as it isn't read to its end
		defer func() {
			if ctx.Err() != nil {
				failed = failureOf(context.Cause(ctx))
			}
			span.End(failed)
		}()
		for batch, err := range p.Provider.Stream(ctx, req) {
			if first {
				span.Set(slog.Duration("gen_ai.response.time_to_first_chunk", time.Since(begun)))
			}
			first = false
			for _, d := range batch {
				if d.Kind == provider.Meta && d.Meta != nil {
					span.Set(responseAttrs(d.Meta)...)
				}
			}
			if broke = err != nil; broke {
				failed = failureOf(err)
			}
			if !yield(batch, err) {
				return
			}
		}
		if !broke {
			failed = ""
		}
	}
}

func requestAttrs(req *provider.Request) []slog.Attr {
	attrs := []slog.Attr{slog.String(attrOperation, "chat"), slog.String("gen_ai.request.model", req.Model)}
	if req.MaxTokens > 0 {
		attrs = append(attrs, slog.Int("gen_ai.request.max_tokens", req.MaxTokens))
	}
	if req.Temperature != nil {
		attrs = append(attrs, slog.Float64("gen_ai.request.temperature", *req.Temperature))
	}
	return attrs
}

func responseAttrs(m *event.Meta) []slog.Attr {
	var attrs []slog.Attr
	if m.StopReason != "" {
		attrs = append(attrs, slog.Any("gen_ai.response.finish_reasons", []string{m.StopReason}))
	}
	if m.Usage != nil {
		attrs = append(attrs, usageAttrs(m.Usage)...)
	}
	return attrs
}

// conventional is a provider's name as the conventions have it.
func conventional(name string) string {
	if name == "mistral" {
		return "mistral_ai"
	}
	return name
}
