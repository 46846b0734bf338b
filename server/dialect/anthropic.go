package dialect

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
)

// The types of content block that the Messages API and fettle have in common.
const (
	blockText     = "text"
	blockThinking = "thinking"
	blockRedacted = "redacted_thinking"
	blockToolUse  = "tool_use"
)

// sealPrefix begins a signature that holds JSON of fettle's. Clients send signatures and
// redacted thinking back unchanged, and drop members that they don't know. So both carry
// what only the provider of the model understands: a list of reasoning details, or an
// object with the extra members of calls by their ids.
const sealPrefix = "fettle.1."

func seal(v json.RawMessage) string {
	return sealPrefix + base64.RawStdEncoding.EncodeToString(v)
}

// unseal returns what [seal] got; nil for any other text.
func unseal(signature string) json.RawMessage {
	text, ok := strings.CutPrefix(signature, sealPrefix)
	if !ok {
		return nil
	}
	raw, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil || !json.Valid(raw) {
		return nil
	}
	return raw
}

// blockSink receives the content blocks of an answer in their order.
type blockSink interface {
	begin(kind string)
	add(kind, text string)
	cite(c citation)
	sign(signature string)
	end()
	whole(kind string, fill func(*object)) // a block that comes in one piece
	call(b event.ToolStart)
}

// blocks turns the events of a turn into content blocks: one block is open at a time.
type blocks struct {
	tools tools
	text  paragraphs
	open  string // the type of the open block; "" if there is none
}

// see passes on what an event adds to the answer. calls is how many tools of the client it
// calls.
func (b *blocks) see(e event.Event, to blockSink) (calls int) {
	switch body := e.Body.(type) {
	case event.TextDelta:
		b.say(blockText, b.text.join(body.Added()), to)
	case event.Reasoning:
		b.say(blockThinking, body.Text, to)
		b.details(body.Details, to)
	case event.AgentStart:
		b.text.breaks()
	case event.ToolStart:
		b.text.breaks()
		if b.tools.clients(body.ToolID) {
			b.close(to)
			if len(body.Extra) > 0 {
				sealed := seal(appendValue(nil, map[string]json.RawMessage{body.ToolUseID: body.Extra}))
				to.whole(blockRedacted, func(o *object) { o.str("data", sealed) })
			}
			to.call(body)
			return 1
		}
	case event.Annotations:
		if b.open == blockText {
			for _, c := range citations(body.Annotations) {
				if c.URL != "" {
					to.cite(c)
				}
			}
		}
	}
	return 0
}

func (b *blocks) say(kind, text string, to blockSink) {
	if text == "" {
		return
	}
	if b.open != kind {
		b.close(to)
		b.open = kind
		to.begin(kind)
	}
	to.add(kind, text)
}

// details ends the block of thinking that they belong to. Without one they are a block of
// their own.
func (b *blocks) details(details json.RawMessage, to blockSink) {
	if len(details) == 0 {
		return
	}
	sealed := seal(details)
	if b.open == blockThinking {
		to.sign(sealed)
		b.close(to)
		return
	}
	b.close(to)
	to.whole(blockRedacted, func(o *object) { o.str("data", sealed) })
}

func (b *blocks) close(to blockSink) {
	if b.open != "" {
		b.open = ""
		to.end()
	}
}

// anthropicStop is the stop_reason of an answer.
func (f *facts) anthropicStop() string {
	switch {
	case f.calls > 0:
		return "tool_use"
	case f.stop == "length":
		return "max_tokens"
	case f.stop == "refusal":
		return "refusal"
	}
	return "end_turn"
}

// anthropicUsage fills the usage of a message. Tokens that were read from a cache or
// written to one are not part of input_tokens there. What is not known is null where the
// API has null, and else 0: input_tokens of a message (unknownInput) and output_tokens.
func anthropicUsage(o *object, u *event.Usage, unknownInput string) {
	if u == nil {
		o.lit("input_tokens", unknownInput).lit("cache_creation_input_tokens", "null").
			lit("cache_read_input_tokens", "null").int("output_tokens", 0)
		return
	}
	o.int("input_tokens", max(0, u.InputTokens-u.CachedTokens-u.CacheWriteTokens)).
		int("cache_creation_input_tokens", u.CacheWriteTokens).int("cache_read_input_tokens", u.CachedTokens).
		int("output_tokens", u.OutputTokens)
}

// anthropicCitation is a citation of a page of the web, the only kind that fettle's
// annotations have the fields of.
func anthropicCitation(o *object, c citation) {
	o.str("type", "web_search_result_location").str("url", c.URL).str("title", c.Title).
		str("cited_text", c.Text).str("encrypted_index", "")
}

// anthropicEncoder writes the events of a streamed message.
type anthropicEncoder struct {
	o      Options
	first  first
	facts  facts
	stage  stage
	blocks blocks
	index  int64 // of the open block, or of the next one
	dst    []byte
}

func newAnthropic(o Options) *anthropicEncoder {
	return &anthropicEncoder{o: o, blocks: blocks{tools: newTools(o.ClientTools)}}
}

func (a *anthropicEncoder) Append(dst []byte, e event.Event) ([]byte, error) {
	if a.stage == ended {
		return dst, nil
	}
	a.facts.see(e)
	a.dst = dst
	if a.stage == fresh && e.Type() != event.TypeError {
		a.stage = streaming
		a.first.see(e)
		a.start()
	}
	switch b := e.Body.(type) {
	case event.Status:
		a.dst = append(a.dst, anthropicPing...)
	case event.Complete:
		a.finish()
	case event.Error:
		a.fail(b.Fault())
	case event.Cancelled:
		a.stage = ended
	default:
		a.facts.calls += a.blocks.see(e, a)
	}
	dst, a.dst = a.dst, nil
	return dst, nil
}

func (a *anthropicEncoder) End(dst []byte) []byte {
	if a.stage == ended {
		return dst
	}
	a.dst = dst
	a.fail(wasCut())
	dst, a.dst = a.dst, nil
	return dst
}

// anthropicPing is the API's own event for a silent stream.
const anthropicPing = "event: ping\ndata: {\"type\":\"ping\"}\n\n"

func (a *anthropicEncoder) KeepAlive(dst []byte) []byte { return append(dst, anthropicPing...) }

func (a *anthropicEncoder) Paused() bool { return false }

// event writes one event.
func (a *anthropicEncoder) event(kind string, fill func(*object)) {
	o := named(a.dst, kind).str("type", kind)
	fill(o)
	a.dst = o.frame()
}

func (a *anthropicEncoder) start() {
	a.event("message_start", func(o *object) {
		o.obj("message", func(o *object) {
			anthropicHead(o, a.first, a.o, "")
			o.lit("content", "[]").lit("stop_reason", "null").lit("stop_sequence", "null").
				obj("usage", func(o *object) { anthropicUsage(o, nil, "0") })
		})
	})
}

// anthropicHead begins a message. answered is the model that answered, for requests that
// name none.
func anthropicHead(o *object, f first, opt Options, answered string) {
	model := opt.Model
	if model == "" {
		model = answered
	}
	if model == "" {
		model = "fettle"
	}
	o.str("id", "msg_"+f.turn).str("type", "message").str("role", string(Assistant)).str("model", model)
}

func (a *anthropicEncoder) finish() {
	a.stage = ended
	a.blocks.close(a)
	a.event("message_delta", func(o *object) {
		o.obj("delta", func(o *object) { o.str("stop_reason", a.facts.anthropicStop()).lit("stop_sequence", "null") }).
			obj("usage", func(o *object) { anthropicUsage(o, a.facts.usage, "null") })
	})
	a.event("message_stop", func(*object) {})
}

func (a *anthropicEncoder) fail(f *fault.Fault) {
	a.stage = ended
	a.event("error", func(o *object) { o.obj("error", func(o *object) { anthropicError(o, f) }) })
}

// block writes an event about the open block.
func (a *anthropicEncoder) block(kind, field string, fill func(*object)) {
	a.event(kind, func(o *object) { o.int("index", a.index).obj(field, fill) })
}

func (a *anthropicEncoder) begin(kind string) {
	a.block("content_block_start", "content_block", func(o *object) {
		o.str("type", kind).str(kind, "") // text and thinking have a field of the block's type
		if kind == blockThinking {
			o.str("signature", "")
		}
	})
}

func (a *anthropicEncoder) add(kind, text string) {
	o := named(a.dst, "content_block_delta").str("type", "content_block_delta").int("index", a.index)
	o.obj("delta", func(o *object) { o.str("type", kind+"_delta").str(kind, text) })
	a.dst = o.frame()
}

func (a *anthropicEncoder) cite(c citation) {
	a.block("content_block_delta", "delta", func(o *object) {
		o.str("type", "citations_delta").obj("citation", func(o *object) { anthropicCitation(o, c) })
	})
}

func (a *anthropicEncoder) sign(signature string) {
	a.block("content_block_delta", "delta", func(o *object) { o.str("type", "signature_delta").str("signature", signature) })
}

func (a *anthropicEncoder) end() {
	a.event("content_block_stop", func(o *object) { o.int("index", a.index) })
	a.index++
}

func (a *anthropicEncoder) whole(kind string, fill func(*object)) {
	a.block("content_block_start", "content_block", func(o *object) {
		o.str("type", kind)
		fill(o)
	})
	a.end()
}

// call writes a call with its arguments in one piece.
func (a *anthropicEncoder) call(b event.ToolStart) {
	a.block("content_block_start", "content_block", func(o *object) {
		o.str("type", blockToolUse).str("id", b.ToolUseID).str("name", b.Tool).lit("input", "{}")
	})
	a.block("content_block_delta", "delta", func(o *object) {
		o.str("type", "input_json_delta").str("partial_json", compact(b.Input))
	})
	a.end()
}
