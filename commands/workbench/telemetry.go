package workbench

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/internal/otlp"
)

// TraceParentEnv names the span that a command is run within, as other programs
// pass it on.
const TraceParentEnv = "TRACEPARENT"

// flushTime bounds what the end of a command waits for a receiver of spans.
const flushTime = time.Second

// tracer sends spans where the environment asks for them; it is nil where it
// doesn't. A receiver that can't be used is no trouble of a question's: the
// variables are every program's.
func (rt *Runtime) tracer() engine.Tracer {
	c, ok, err := otlp.FromEnv(os.LookupEnv)
	if err != nil {
		rt.tellOfSpans("no spans are sent", err)
	}
	if err != nil || !ok {
		return nil
	}
	rt.spans = otlp.New(otlp.Options{
		Config: c, Name: "fettle", Version: rt.Build().Version,
		OnFail: func(err error) { rt.tellOfSpans("spans are not sent now", err) },
	})
	if rt.Log != nil {
		rt.Log.Info("spans are sent", "receiver", c.Host())
	}
	return tracer{rt.spans}
}

// tellOfSpans tells of trouble where somebody looks for it: in a server's log, and
// to who wants to know more.
func (rt *Runtime) tellOfSpans(what string, err error) {
	switch {
	case rt.Log != nil:
		rt.Log.Warn(what, "error", term.Clean(err.Error()))
	case rt.Verbose:
		rt.Notice(what + ": " + err.Error())
	}
}

// CountSpans counts what became of spans; nil where none are made.
func (rt *Runtime) CountSpans() func() (sent, dropped int64) {
	if rt.spans == nil {
		return nil
	}
	return rt.spans.Counts
}

// flushSpans sends what is left.
func (rt *Runtime) flushSpans() {
	if rt.spans == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushTime)
	defer cancel()
	rt.spans.Close(ctx)
}

// tracer makes the engine's spans ones of OpenTelemetry.
type tracer struct{ to *otlp.Exporter }

// Begin begins the span of a turn.
func (t tracer) Begin(s engine.SpanStart, parent string) engine.Span {
	p, _ := otlp.ParseParent(parent) // one that can't be read begins a trace of its own
	return span{t.to.Begin(start(s), p)}
}

type span struct{ of *otlp.Span }

// Begin begins a span within this one.
func (s span) Begin(within engine.SpanStart) engine.Span { return span{s.of.Begin(start(within))} }

// Set adds attributes.
func (s span) Set(attrs ...slog.Attr) { s.of.Set(attrs...) }

// End ends it.
func (s span) End(failed string) { s.of.End(failed) }

func start(s engine.SpanStart) otlp.Start {
	kind := otlp.Internal
	if s.Remote {
		kind = otlp.Client
	}
	return otlp.Start{Name: s.Name, Kind: kind, At: s.At, Attrs: s.Attrs}
}
