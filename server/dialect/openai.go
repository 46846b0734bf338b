package dialect

import (
	"time"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
)

// facts are what several dialects tell at the end of a turn.
type facts struct {
	model string
	usage *event.Usage
	stop  string
	calls int // of the client's tools
}

// see takes what the event says of the model and its use.
func (f *facts) see(e event.Event) {
	switch b := e.Body.(type) {
	case event.Meta:
		f.model, f.stop = b.Model, b.StopReason
		f.usage = f.usage.Add(counted(b.Usage))
	case event.Complete:
		if u := counted(b.Payload.Usage); u != nil {
			f.usage = u
		}
		if b.Payload.StopReason != "" {
			f.stop = b.Payload.StopReason
		}
		if b.Payload.Model != "" {
			f.model = b.Payload.Model
		}
	}
}

// counted returns the usage that a provider has counted; nil where it has counted nothing.
// Some servers send a usage of zeros, which no answer has.
func counted(u *event.Usage) *event.Usage {
	if u == nil || u.InputTokens == 0 && u.OutputTokens == 0 {
		return nil
	}
	return u
}

// finish returns OpenAI's finish_reason. A model that stopped to call fettle's tools has
// stopped, for the client.
func (f *facts) finish(o *Options) string {
	switch {
	case f.calls > 0 && o.Functions:
		return "function_call"
	case f.calls > 0:
		return "tool_calls"
	case f.stop == "length":
		return "length"
	case f.stop == "refusal":
		return "content_filter"
	}
	return "stop"
}

// openAIEncoder writes chat completion chunks.
type openAIEncoder struct {
	o     Options
	tools tools
	first first
	facts facts
	stage stage
	text  paragraphs
	// head is what each chunk begins with.
	head []byte
}

func newOpenAI(o Options) *openAIEncoder {
	return &openAIEncoder{o: o, tools: newTools(o.ClientTools)}
}

func (c *openAIEncoder) Append(dst []byte, e event.Event) ([]byte, error) {
	if c.stage == ended {
		return dst, nil
	}
	c.facts.see(e)
	if c.stage == fresh && e.Type() != event.TypeError {
		c.stage = streaming
		c.first.see(e)
		dst = c.delta(dst, func(o *object) { o.str("role", "assistant").str("content", "") })
	}
	switch b := e.Body.(type) {
	case event.TextDelta:
		if text := b.Added(); text != "" {
			dst = c.textDelta(dst, "content", c.text.join(text))
		}
	case event.Reasoning:
		if b.Text != "" {
			dst = c.textDelta(dst, "reasoning_content", b.Text)
		}
	case event.AgentStart:
		c.text.breaks()
	case event.ToolStart:
		c.text.breaks()
		if c.tools.clients(b.ToolID) {
			dst = c.call(dst, b)
		}
	case event.Annotations:
		if notes := citations(b.Annotations); len(notes) > 0 {
			dst = c.delta(dst, func(o *object) { o.val("annotations", openAICitations(notes)) })
		}
	case event.Status:
		dst = append(dst, ping...)
	case event.Complete:
		dst = c.finish(dst)
	case event.Error:
		c.stage = ended
		dst = c.fail(dst, b.Fault())
	case event.Cancelled:
		c.stage = ended
	}
	return dst, nil
}

func (c *openAIEncoder) End(dst []byte) []byte {
	if c.stage == ended {
		return dst
	}
	c.stage = ended
	return c.fail(dst, wasCut())
}

func (c *openAIEncoder) KeepAlive(dst []byte) []byte { return append(dst, ping...) }

func (c *openAIEncoder) Paused() bool { return false }

// chunk begins a chunk; what follows are its choices.
func (c *openAIEncoder) chunk(dst []byte) []byte {
	if c.head == nil {
		o := data(nil).str("id", "chatcmpl-"+c.first.turn).str("object", "chat.completion.chunk").
			int("created", unix(c.first.at)).str("model", c.model())
		c.head = append(o.b, `,"choices":[`...)
	}
	return append(dst, c.head...)
}

// model is the name that every chunk carries: what the client asked for, since
// what answers is known only later.
func (c *openAIEncoder) model() string {
	if c.o.Model != "" {
		return c.o.Model
	}
	return "fettle"
}

const unfinished = `,"finish_reason":null}]}` + frameEnd

func (c *openAIEncoder) delta(dst []byte, fill func(*object)) []byte {
	o := open(c.chunk(dst)).int("index", 0).obj("delta", fill)
	return append(o.b, unfinished...)
}

// textDelta is delta for the most frequent frame.
func (c *openAIEncoder) textDelta(dst []byte, field, text string) []byte {
	dst = append(append(append(c.chunk(dst), `{"index":0,"delta":{"`...), field...), `":`...)
	return append(append(appendString(dst, text), '}'), unfinished...)
}

func (c *openAIEncoder) call(dst []byte, b event.ToolStart) []byte {
	index := c.facts.calls
	c.facts.calls++
	if c.o.Functions {
		if index > 0 {
			return dst
		}
		return c.delta(dst, func(o *object) { o.functionCall(b.Tool, b.Input) })
	}
	return c.delta(dst, func(o *object) {
		o.key("tool_calls")
		inner := open(append(o.b, '[')).int("index", int64(index)).str("id", b.ToolUseID).called(c.o.CallForms, b)
		o.b = append(inner.close(), ']')
	})
}

func (c *openAIEncoder) finish(dst []byte) []byte {
	c.stage = ended
	o := open(c.chunk(dst)).int("index", 0).lit("delta", "{}").str("finish_reason", c.facts.finish(&c.o))
	dst = append(append(o.close(), "]}"...), frameEnd...)
	if c.o.IncludeUsage && c.facts.usage != nil {
		dst = append(c.chunk(dst), `],"usage":`...)
		dst = appendUsage(dst, c.facts.usage)
		dst = append(append(dst, '}'), frameEnd...)
	}
	return append(dst, done...)
}

func (c *openAIEncoder) fail(dst []byte, f *fault.Fault) []byte {
	dst = data(dst).obj("error", func(o *object) { openAIError(o, f) }).frame()
	return append(dst, done...)
}

// appendUsage appends OpenAI's CompletionUsage. A usage that is not known is left out by
// the caller.
func appendUsage(dst []byte, u *event.Usage) []byte {
	return open(dst).int("prompt_tokens", u.InputTokens).int("completion_tokens", u.OutputTokens).
		int("total_tokens", u.InputTokens+u.OutputTokens).
		obj("prompt_tokens_details", func(o *object) { o.int("cached_tokens", u.CachedTokens) }).
		obj("completion_tokens_details", func(o *object) { o.int("reasoning_tokens", u.ReasoningTokens) }).close()
}

// unix is a time in seconds; the zero time, which a journal of another make may
// hold, is 0.
func unix(t time.Time) int64 { return max(0, t.Unix()) }
