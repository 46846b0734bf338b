package dialect

import (
	"time"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
)

// clock takes the times of a turn from its events, for Ollama's durations.
type clock struct{ begun, spoke, last time.Time }

func (c *clock) see(e event.Event) {
	if c.begun.IsZero() {
		c.begun = e.Time
	}
	c.last = e.Time
	switch e.Body.(type) {
	case event.TextDelta, event.Reasoning:
		if c.spoke.IsZero() {
			c.spoke = e.Time
		}
	}
}

// ollamaEncoder writes the lines of /api/chat.
type ollamaEncoder struct {
	o     Options
	tools tools
	facts facts
	clock clock
	text  paragraphs
	stage stage
}

func newOllama(o Options) *ollamaEncoder {
	return &ollamaEncoder{o: o, tools: newTools(o.ClientTools)}
}

func (l *ollamaEncoder) Append(dst []byte, e event.Event) ([]byte, error) {
	if l.stage == ended {
		return dst, nil
	}
	l.stage = streaming
	l.facts.see(e)
	l.clock.see(e)
	switch b := e.Body.(type) {
	case event.TextDelta:
		if text := b.Added(); text != "" {
			dst = l.piece(dst, l.text.join(text), "")
		}
	case event.Reasoning:
		if b.Text != "" {
			dst = l.piece(dst, "", b.Text)
		}
	case event.AgentStart:
		l.text.breaks()
	case event.ToolStart:
		l.text.breaks()
		if l.tools.clients(b.ToolID) {
			l.facts.calls++
			o := l.begin(dst)
			l.o.ollamaText(o, "", "", []event.ToolStart{b})
			dst = o.bool("done", false).line()
		}
	case event.Complete:
		l.stage = ended
		o := l.begin(dst)
		l.o.ollamaText(o, "", "", nil)
		ollamaEnd(o, &l.facts, &l.clock)
		dst = o.line()
	case event.Error:
		dst = l.fail(dst, b.Fault())
	case event.Cancelled:
		l.stage = ended
	}
	return dst, nil
}

func (l *ollamaEncoder) End(dst []byte) []byte {
	if l.stage == ended {
		return dst
	}
	return l.fail(dst, wasCut())
}

// KeepAlive is a message without content: clients decode every line, so an
// empty one is an error for them.
func (l *ollamaEncoder) KeepAlive(dst []byte) []byte {
	return l.piece(dst, "", "")
}

func (l *ollamaEncoder) Paused() bool { return false }

func (l *ollamaEncoder) fail(dst []byte, f *fault.Fault) []byte {
	l.stage = ended
	return open(dst).str("error", f.Msg).line()
}

func (l *ollamaEncoder) begin(dst []byte) *object {
	model := l.o.Model
	if model == "" {
		model = "fettle"
	}
	return open(dst).str("model", model).str("created_at", stamp(l.clock.last))
}

func (l *ollamaEncoder) piece(dst []byte, text, thinking string) []byte {
	o := l.begin(dst)
	l.o.ollamaText(o, text, thinking, nil)
	return o.bool("done", false).line()
}

// ollamaText adds a text and calls: as a message, or as the fields of /api/generate, which
// has no calls.
func (opt *Options) ollamaText(o *object, text, thinking string, calls []event.ToolStart) {
	if opt.Generate {
		o.str("response", text).opt("thinking", thinking)
		return
	}
	o.obj("message", func(o *object) {
		o.str("role", "assistant").str("content", text).opt("thinking", thinking)
		if len(calls) > 0 {
			o.key("tool_calls")
			o.b = appendOllamaCalls(o.b, calls...)
		}
	})
}

// appendOllamaCalls appends a list of calls. Their arguments are objects here.
func appendOllamaCalls(dst []byte, calls ...event.ToolStart) []byte {
	dst = append(dst, '[')
	for i, c := range calls {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = open(dst).opt("id", c.ToolUseID).obj(function, func(o *object) {
			o.str("name", c.Tool).lit("arguments", compact(c.Input)).extraFunction(c.Extra)
		}).extra(c.Extra).close()
	}
	return append(dst, ']')
}

// ollamaEnd adds what the last line has. Durations are measured from the
// events; what isn't known, such as the time to load the model, is left out.
func ollamaEnd(o *object, f *facts, c *clock) {
	reason := "stop"
	if f.stop == "length" {
		reason = "length"
	}
	o.str("done_reason", reason).bool("done", true).int("total_duration", span(c.begun, c.last))
	if f.usage == nil {
		return
	}
	o.int("prompt_eval_count", f.usage.InputTokens).int("eval_count", f.usage.OutputTokens)
	if !c.spoke.IsZero() {
		o.int("prompt_eval_duration", span(c.begun, c.spoke)).int("eval_duration", span(c.spoke, c.last))
	}
}

// span is a duration in nanoseconds, of a nanosecond at least: clients divide
// by it.
func span(from, to time.Time) int64 { return max(1, int64(to.Sub(from))) }

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
