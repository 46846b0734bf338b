package dialect

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
)

// responsesEncoder writes the events of /v1/responses. It keeps the answer,
// since the format repeats each item when it is done and all of them at the end.
type responsesEncoder struct {
	o     Options
	tools tools
	first first
	facts facts
	stage stage
	seq   int64
	size  int // of what is kept
	most  int // what may be

	items []json.RawMessage // the done ones, by output_index; nil where not
	open  *textItem         // the message or reasoning that is being written
	calls map[string]*mcpItem
}

func newResponses(o Options) *responsesEncoder {
	return &responsesEncoder{o: o, tools: newTools(o.ClientTools), calls: map[string]*mcpItem{}, most: MaxAnswer}
}

func (r *responsesEncoder) Append(dst []byte, e event.Event) ([]byte, error) {
	if r.stage == ended {
		return dst, nil
	}
	start, before := len(dst), r.seq
	dst = r.append(dst, e)
	return r.unseen(dst, start, before), nil
}

// unseen drops the frames from start on that the client has already. Each ends
// with the only blank line in it.
func (r *responsesEncoder) unseen(dst []byte, start int, seq int64) []byte {
	from := start
	for ; seq < min(r.seq, r.o.After); seq++ {
		from += bytes.Index(dst[from:], []byte(frameEnd)) + len(frameEnd)
	}
	return append(dst[:start], dst[from:]...)
}

func (r *responsesEncoder) append(dst []byte, e event.Event) []byte {
	r.facts.see(e)
	if r.stage == fresh {
		r.stage = streaming
		r.first.see(e)
		dst = r.status(dst, "response.created", "in_progress", nil)
		dst = r.status(dst, "response.in_progress", "in_progress", nil)
	}
	switch b := e.Body.(type) {
	case event.TextDelta:
		dst = r.say(dst, "message", b.Added())
	case event.Reasoning:
		dst = r.say(dst, "reasoning", b.Text)
	case event.AgentStart, event.Handoff:
		dst = r.closeItem(dst)
	case event.ToolStart:
		dst = r.closeItem(dst)
		if r.tools.clients(b.ToolID) || r.o.Stored && strings.HasPrefix(b.ToolID, ClientToolset+":") {
			dst = r.functionCall(dst, b)
		} else {
			dst = r.mcpStart(dst, b)
		}
	case event.ToolComplete:
		dst = r.mcpEnd(dst, b)
	case event.Annotations:
		dst = r.annotate(dst, b)
	case event.Status:
		dst = append(dst, ping...)
	case event.Complete, event.Error, event.Cancelled:
		return r.end(dst, b)
	}
	if r.size > r.most {
		return r.fail(dst, tooLong())
	}
	return dst
}

// event begins one event.
func (r *responsesEncoder) event(dst []byte, kind string) *object {
	o := named(dst, kind).str("type", kind).int("sequence_number", r.seq)
	r.seq++
	return o
}

// at begins an event about an item.
func (r *responsesEncoder) at(dst []byte, kind, id string, index int) *object {
	return r.event(dst, kind).str("item_id", id).int("output_index", int64(index))
}

func (r *responsesEncoder) end(dst []byte, b event.Body) []byte {
	switch b := b.(type) {
	case event.Error:
		return r.fail(dst, b.Fault())
	case event.Cancelled:
		return r.finish(dst, "response.incomplete", "incomplete", nil)
	}
	status, end := r.ending()
	return r.finish(dst, "response."+status, status, end)
}

// ending is the status of a response whose turn is complete.
func (r *responsesEncoder) ending() (status string, end func(*object)) {
	switch r.facts.stop {
	case "length":
		return "incomplete", func(o *object) { o.lit("incomplete_details", `{"reason":"max_output_tokens"}`) }
	case "refusal":
		return "incomplete", func(o *object) { o.lit("incomplete_details", `{"reason":"content_filter"}`) }
	}
	return "completed", nil
}

func (r *responsesEncoder) finish(dst []byte, kind, status string, end func(*object)) []byte {
	of := "completed"
	if status != of {
		of = "incomplete"
	}
	dst = r.leaveItem(dst, of)
	r.stage = ended
	return r.status(dst, kind, status, end)
}

func (r *responsesEncoder) fail(dst []byte, f *fault.Fault) []byte {
	return r.finish(dst, "response.failed", "failed", failure(f))
}

// failure writes what a response failed of.
func failure(f *fault.Fault) func(*object) {
	code := "server_error"
	switch {
	case f.HTTPStatus() == http.StatusTooManyRequests:
		code = "rate_limit_exceeded"
	case f.HTTPStatus() != http.StatusUnauthorized && openAIType(f.HTTPStatus()) == "invalid_request_error":
		code = "invalid_prompt"
	}
	return func(o *object) {
		o.obj("error", func(o *object) { o.str("code", code).str("message", f.Msg) })
	}
}

func (r *responsesEncoder) status(dst []byte, kind, status string, end func(*object)) []byte {
	return r.event(dst, kind).obj("response", func(o *object) { r.response(o, status, end) }).frame()
}

// response fills the response as it is now.
func (r *responsesEncoder) response(o *object, status string, end func(*object)) {
	model := r.o.Model
	if model == "" {
		model = "fettle"
	}
	o.str("id", "resp_"+r.first.turn).str("object", "response").int("created_at", unix(r.first.at)).
		str("status", status).str("model", model).lit("background", "false")
	extra := open(nil)
	if end != nil {
		end(extra)
	}
	for _, field := range []string{"error", "incomplete_details"} {
		if !strings.HasPrefix(string(extra.b), `{"`+field+`"`) {
			o.lit(field, "null")
		}
	}
	if extra.any {
		o.b = append(append(o.b, ','), extra.b[1:]...)
	}
	r.echo(o)
	o.key("output")
	o.b = append(o.b, '[')
	n := 0
	for _, item := range r.items {
		if item == nil {
			continue // was running when the turn ended
		}
		if n++; n > 1 {
			o.b = append(o.b, ',')
		}
		o.b = append(o.b, item...)
	}
	o.b = append(o.b, ']')
	if u := r.facts.usage; status != "in_progress" && u != nil {
		o.obj("usage", func(o *object) { responseUsage(o, u) })
	}
}

func (r *responsesEncoder) End(dst []byte) []byte {
	start, before := len(dst), r.seq
	switch r.stage {
	case ended:
		return dst
	case fresh: // there is no response to fail
		r.stage = ended
		dst = r.event(dst, "error").str("code", "server_error").str("message", wasCut().Msg).lit("param", "null").frame()
	default:
		dst = r.fail(dst, wasCut())
	}
	return r.unseen(dst, start, before)
}

func (r *responsesEncoder) KeepAlive(dst []byte) []byte { return append(dst, ping...) }

func (r *responsesEncoder) Paused() bool { return false }
