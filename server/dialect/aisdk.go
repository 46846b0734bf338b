package dialect

import (
	"encoding/json"
	"strconv"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
)

// aisdkEncoder writes UI message stream chunks. A step is one response of the
// model with the calls that it asked for.
type aisdkEncoder struct {
	o      Options
	tools  tools
	first  first
	facts  facts
	stage  stage
	parts  int    // texts and reasonings so far, which ids are made of
	open   string // the id of the open part; empty where none is
	kind   string // its kind: text or reasoning
	dirty  bool   // a call came in this step: what is said next begins another
	shown  map[string]bool
	denied map[string]bool
	asked  map[string]bool // approvals that were asked for without a pause
	notes  int
}

func newAISDK(o Options) *aisdkEncoder {
	return &aisdkEncoder{o: o, tools: newTools(o.ClientTools), shown: map[string]bool{}, denied: map[string]bool{}, asked: map[string]bool{}}
}

func (a *aisdkEncoder) Append(dst []byte, e event.Event) ([]byte, error) {
	if a.stage == ended {
		return dst, nil
	}
	a.facts.see(e)
	if a.stage != streaming {
		dst = a.begin(dst, e)
	}
	switch b := e.Body.(type) {
	case event.TextDelta:
		return a.say(dst, "text", b.Text), nil
	case event.Reasoning:
		return a.say(dst, "reasoning", b.Text), nil
	case event.ToolStart:
		return a.show(dst, call{b.Tool, b.ToolID, b.ToolUseID, b.Input}), nil
	case event.ToolProgress:
		return a.progress(dst, b), nil
	case event.ToolComplete:
		return a.result(dst, b), nil
	case event.ConfirmRequest:
		if b.Form != nil {
			return dst, nil // this format has no place for forms, and its clients are asked none
		}
		return a.ask(dst, e.Seq, b), nil
	case event.ConfirmResult:
		return a.answered(dst, b), nil
	case event.Complete, event.Error, event.Cancelled:
		return a.end(dst, b), nil
	}
	return a.aside(dst, e), nil
}

// begin opens the stream, also that which follows a pause. The message keeps
// its id, so that the client adds to the message that it has.
func (a *aisdkEncoder) begin(dst []byte, e event.Event) []byte {
	a.first.see(e)
	a.stage = streaming
	dst = data(dst).str("type", "start").str("messageId", a.first.turn).frame()
	return a.step(dst)
}

func (a *aisdkEncoder) step(dst []byte) []byte {
	a.dirty = false
	return data(dst).str("type", "start-step").frame()
}

func (a *aisdkEncoder) nextStep(dst []byte) []byte {
	dst = data(a.closePart(dst)).str("type", "finish-step").frame()
	return a.step(dst)
}

// say adds to the open part, or opens one.
func (a *aisdkEncoder) say(dst []byte, kind, text string) []byte {
	if text == "" {
		return dst
	}
	if a.kind != kind {
		dst = a.closePart(dst)
	}
	if a.open == "" {
		if a.dirty {
			dst = a.nextStep(dst)
		}
		a.parts++
		a.kind, a.open = kind, kind[:1]+strconv.Itoa(a.parts)
		dst = data(dst).str("type", kind+"-start").str("id", a.open).frame()
	}
	return data(dst).str("type", kind+"-delta").str("id", a.open).str("delta", text).frame()
}

func (a *aisdkEncoder) closePart(dst []byte) []byte {
	if a.open == "" {
		return dst
	}
	dst = data(dst).str("type", a.kind+"-end").str("id", a.open).frame()
	a.open, a.kind = "", ""
	return dst
}

// call is what ToolStart and ConfirmRequest tell of a call.
type call struct {
	tool, toolID, use string
	input             json.RawMessage
}

// show tells of a call, once: a call that is asked about is shown then.
func (a *aisdkEncoder) show(dst []byte, c call) []byte {
	if a.shown[c.use] {
		return dst
	}
	a.dirty = true
	dst = a.closePart(dst)
	ours := !a.tools.clients(c.toolID)
	if ours {
		a.shown[c.use] = true
	} else {
		a.facts.calls++
	}
	mark := func(o *object) *object {
		if ours {
			o.bool("dynamic", true).bool("providerExecuted", true)
		}
		return o
	}
	dst = mark(data(dst).str("type", "tool-input-start").str("toolCallId", c.use).str("toolName", c.tool)).frame()
	return mark(data(dst).str("type", "tool-input-available").str("toolCallId", c.use).str("toolName", c.tool).
		raw("input", objectOf(c.input))).frame()
}

func objectOf(raw json.RawMessage) json.RawMessage { return json.RawMessage(compact(raw)) }

func (a *aisdkEncoder) progress(dst []byte, b event.ToolProgress) []byte {
	if !a.shown[b.ToolUseID] {
		return dst
	}
	dst = data(dst).str("type", "tool-output-available").str("toolCallId", b.ToolUseID).
		obj("output", func(o *object) { fillProgress(o, b) }).
		bool("dynamic", true).bool("providerExecuted", true).bool("preliminary", true).frame()
	return data(dst).str("type", "data-tool-progress").str("id", b.ToolUseID).
		obj("data", func(o *object) {
			o.str("toolCallId", b.ToolUseID).str("tool", b.Tool)
			fillProgress(o, b)
		}).bool("transient", true).frame()
}

func fillProgress(o *object, b event.ToolProgress) {
	o.str("stage", b.Stage).str("message", b.Message)
	if b.Progress != nil {
		o.val("progress", *b.Progress)
	}
	if len(b.Data) > 0 {
		o.raw("data", b.Data)
	}
}

func (a *aisdkEncoder) result(dst []byte, b event.ToolComplete) []byte {
	if !a.shown[b.ToolUseID] {
		return dst // the client's, or one that was never shown
	}
	refused := a.denied[b.ToolUseID]
	delete(a.shown, b.ToolUseID)
	delete(a.denied, b.ToolUseID)
	switch {
	case refused:
		return data(dst).str("type", "tool-output-denied").str("toolCallId", b.ToolUseID).frame()
	case b.Status == event.CallError:
		text := b.Error
		if text == "" {
			text = b.Result
		}
		return data(dst).str("type", "tool-output-error").str("toolCallId", b.ToolUseID).str("errorText", text).
			bool("dynamic", true).bool("providerExecuted", true).frame()
	}
	o := data(dst).str("type", "tool-output-available").str("toolCallId", b.ToolUseID)
	if len(b.Data) > 0 {
		o.raw("output", b.Data)
	} else {
		o.str("output", b.Result)
	}
	return o.bool("dynamic", true).bool("providerExecuted", true).frame()
}

// ask shows that a call needs an approval. Where the client answers by another
// request, the stream ends here.
func (a *aisdkEncoder) ask(dst []byte, seq event.Seq, b event.ConfirmRequest) []byte {
	dst = a.show(dst, call{b.Tool, b.ToolID, b.ToolUseID, b.Input})
	if !a.o.AskByPause {
		return data(dst).str("type", "data-approval").str("id", b.ToolUseID).obj("data", func(o *object) {
			o.str("toolCallId", b.ToolUseID).str("tool", b.Tool).str("reason", b.Reason).opt("rule", b.Rule)
		}).bool("transient", true).frame()
	}
	dst = data(dst).str("type", "tool-approval-request").str("approvalId", ApprovalID(a.first.turn, b.ToolUseID)).
		str("toolCallId", b.ToolUseID).opt("reason", b.Reason).frame()
	if !a.o.pauses(seq) {
		a.asked[b.ToolUseID] = true
		return dst
	}
	a.stage = paused
	return a.finish(dst, "tool-calls")
}

// answered shows the answer, where the client has not given it itself.
func (a *aisdkEncoder) answered(dst []byte, b event.ConfirmResult) []byte {
	allowed := b.Decision.Allows()
	if !allowed && a.shown[b.ToolUseID] {
		a.denied[b.ToolUseID] = true
	}
	if !a.asked[b.ToolUseID] {
		return dst
	}
	delete(a.asked, b.ToolUseID)
	return data(dst).str("type", "tool-approval-response").str("approvalId", ApprovalID(a.first.turn, b.ToolUseID)).bool("approved", allowed).
		opt("reason", b.Reason).bool("providerExecuted", true).frame()
}

// aside shows what isn't said and isn't a call.
func (a *aisdkEncoder) aside(dst []byte, e event.Event) []byte {
	switch b := e.Body.(type) {
	case event.Status:
		return data(dst).str("type", "data-status").obj("data", func(o *object) { o.str("message", b.Message) }).
			bool("transient", true).frame()
	case event.AgentStart:
		return a.note(a.closePart(dst), "data-agent", func(o *object) { o.str("agent", b.Agent) })
	case event.Handoff:
		dst = a.note(a.closePart(dst), "data-handoff", func(o *object) {
			o.str("from", b.From).str("to", b.To).opt("reason", b.Reason)
		})
		return a.nextStep(dst)
	case event.Payload:
		return data(dst).str("type", "data-payload").str("id", b.PayloadID).val("data", b).frame()
	case event.Workflow:
		return data(dst).str("type", "data-workflow").str("id", b.Instance).val("data", b).frame()
	case event.Footnote:
		return a.note(dst, "data-footnote", func(o *object) { o.str("text", b.Text) })
	case event.Annotations:
		return a.sources(dst, citations(b.Annotations))
	case event.Meta:
		return data(dst).str("type", "message-metadata").obj("messageMetadata", a.metadata).frame()
	}
	return dst
}

// note adds a data part with an id of its own.
func (a *aisdkEncoder) note(dst []byte, kind string, fill func(*object)) []byte {
	a.notes++
	return data(dst).str("type", kind).str("id", "d"+strconv.Itoa(a.notes)).obj("data", fill).frame()
}

func (a *aisdkEncoder) sources(dst []byte, list []citation) []byte {
	for _, c := range list {
		a.notes++
		id := "s" + strconv.Itoa(a.notes)
		if c.URL != "" {
			dst = data(dst).str("type", "source-url").str("sourceId", id).str("url", c.URL).opt("title", c.Title).frame()
			continue
		}
		dst = data(dst).str("type", "source-document").str("sourceId", id).str("mediaType", "text/plain").
			str("title", c.Title).frame()
	}
	return dst
}

func (a *aisdkEncoder) metadata(o *object) {
	o.opt("model", a.facts.model)
	if a.facts.usage != nil {
		o.val("usage", a.facts.usage)
	}
}

func (a *aisdkEncoder) end(dst []byte, b event.Body) []byte {
	a.stage = ended
	switch b := b.(type) {
	case event.Error:
		return a.fail(dst, b.Fault())
	case event.Cancelled:
		dst = data(a.closePart(dst)).str("type", "abort").frame()
		return append(dst, done...)
	}
	return a.finish(dst, a.reason())
}

func (a *aisdkEncoder) reason() string {
	switch {
	case a.facts.calls > 0:
		return "tool-calls"
	case a.facts.stop == "length":
		return "length"
	case a.facts.stop == "refusal":
		return "content-filter"
	case a.facts.stop == "other":
		return "other"
	}
	return "stop"
}

func (a *aisdkEncoder) finish(dst []byte, reason string) []byte {
	dst = data(a.closePart(dst)).str("type", "finish-step").frame()
	dst = data(dst).str("type", "finish").str("finishReason", reason).obj("messageMetadata", a.metadata).frame()
	return append(dst, done...)
}

func (a *aisdkEncoder) fail(dst []byte, f *fault.Fault) []byte {
	dst = data(a.closePart(dst)).str("type", "error").str("errorText", f.Msg).frame()
	return a.finish(dst, "error")
}

func (a *aisdkEncoder) End(dst []byte) []byte {
	switch a.stage {
	case ended, paused:
		return dst
	case fresh:
		a.stage = ended
		dst = data(dst).str("type", "error").str("errorText", wasCut().Msg).frame()
		return append(dst, done...)
	}
	a.stage = ended
	return a.fail(dst, wasCut())
}

func (a *aisdkEncoder) KeepAlive(dst []byte) []byte { return append(dst, ping...) }

func (a *aisdkEncoder) Paused() bool { return a.stage == paused }
