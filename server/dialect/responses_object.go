package dialect

import (
	"encoding/json"
	"net/http"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
)

// Echo is what a response repeats of its request.
type Echo struct {
	Instructions string          `json:"instructions,omitempty"`
	Temperature  *float64        `json:"temperature,omitempty"`
	TopP         *float64        `json:"top_p,omitempty"`
	MaxTokens    int             `json:"max_output_tokens,omitempty"`
	PreviousID   string          `json:"previous_response_id,omitempty"`
	Metadata     json.RawMessage `json:"metadata,omitempty"`
	Tools        json.RawMessage `json:"tools,omitempty"`
	ToolChoice   json.RawMessage `json:"tool_choice,omitempty"`
}

func (r *responsesEncoder) echo(o *object) {
	e := r.o.Echo
	orNull := func(k, v string) {
		if v == "" {
			o.lit(k, "null")
			return
		}
		o.str(k, v)
	}
	number := func(k string, v *float64) {
		one := 1.0 // what the API has where nothing was asked
		if v == nil {
			v = &one
		}
		o.val(k, *v)
	}
	orElse := func(k string, v json.RawMessage, otherwise string) {
		if len(v) == 0 {
			v = json.RawMessage(otherwise)
		}
		o.raw(k, v)
	}
	orNull("instructions", e.Instructions)
	orNull("previous_response_id", e.PreviousID)
	number("temperature", e.Temperature)
	number("top_p", e.TopP)
	if e.MaxTokens > 0 {
		o.int("max_output_tokens", int64(e.MaxTokens))
	} else {
		o.lit("max_output_tokens", "null")
	}
	orElse("metadata", e.Metadata, "{}")
	orElse("tools", e.Tools, "[]")
	orElse("tool_choice", e.ToolChoice, `"auto"`)
	o.bool("parallel_tool_calls", true)
}

func responseUsage(o *object, u *event.Usage) {
	o.int("input_tokens", u.InputTokens).
		obj("input_tokens_details", func(o *object) {
			o.int("cached_tokens", u.CachedTokens).int("cache_write_tokens", u.CacheWriteTokens)
		}).
		int("output_tokens", u.OutputTokens).
		obj("output_tokens_details", func(o *object) { o.int("reasoning_tokens", u.ReasoningTokens) }).
		int("total_tokens", u.InputTokens+u.OutputTokens)
}

// responsesObject is the response that a stream would have ended with.
type responsesObject struct {
	enc     *responsesEncoder
	scratch []byte
	failed  *fault.Fault
	last    event.Body
}

func (r *responsesObject) Add(e event.Event) error {
	if r.enc.stage == ended {
		return nil
	}
	var err error
	if r.scratch, err = r.enc.Append(r.scratch[:0], e); err != nil {
		return err
	}
	switch b := e.Body.(type) {
	case event.Error:
		r.failed = b.Fault()
	case event.Cancelled:
		r.failed = wasCancelled()
	}
	if r.enc.size > r.enc.most {
		r.failed = tooLong()
		return errTooLong
	}
	r.last = e.Body
	return nil
}

// ending returns why the turn has no answer; nil if it has one.
func (r *responsesObject) ending() *fault.Fault {
	if _, ok := r.last.(event.Complete); r.failed == nil && !ok {
		return wasCut()
	}
	return r.failed
}

func (r *responsesObject) Failed() *fault.Fault {
	if r.enc.o.Stored {
		return nil // a stored response that failed is an object of its own
	}
	return r.ending()
}

func (r *responsesObject) Body() (int, []byte) {
	if f := r.Failed(); f != nil {
		status, _, body := Responses.Failure(f)
		return status, body
	}
	complete, _ := r.last.(event.Complete)
	_, cancelled := r.last.(event.Cancelled)
	failed := r.ending()
	o := open(nil)
	status, end := r.enc.ending()
	switch {
	case cancelled:
		status, end = "incomplete", nil
	case failed != nil:
		status, end = "failed", failure(failed)
	}
	if r.enc.o.Model == "" && complete.Payload.Model != "" {
		r.enc.o.Model = complete.Payload.Model
	}
	r.enc.response(o, status, end)
	return http.StatusOK, append(o.close(), '\n')
}
