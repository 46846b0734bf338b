package dialect

import (
	"errors"
	"net/http"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
)

// Failure gives the HTTP status, the content type and the body of a response
// that failed before its stream began, as the dialect's clients read it.
func (n Name) Failure(f *fault.Fault) (status int, contentType string, body []byte) {
	status, contentType = f.HTTPStatus(), typeJSON
	if n == Anthropic && f.Code == fault.Context {
		status = http.StatusBadRequest
	}
	switch n {
	case AISDK:
		// Its client shows the whole body as the error's message.
		return status, "text/plain; charset=utf-8", []byte(f.Msg)
	case OpenAI, Responses:
		o := open(nil)
		o.obj("error", func(o *object) { openAIError(o, f) })
		body = o.close()
	case Ollama:
		body = open(nil).str("error", f.Msg).close()
	case Anthropic:
		body = open(nil).str("type", "error").obj("error", func(o *object) { anthropicError(o, f) }).close()
	default:
		o := open(nil)
		o.obj("error", func(o *object) {
			o.str("code", string(f.Code)).str("message", f.Msg)
			if len(f.Hints) > 0 {
				o.val("hints", f.Hints)
			}
		})
		body = o.close()
	}
	return status, contentType, append(body, '\n')
}

// openAIError fills OpenAI's Error: all four fields are there, always.
func openAIError(o *object, f *fault.Fault) {
	o.str("message", f.Msg).str("type", openAIType(f.HTTPStatus()))
	var field *FieldError
	if errors.As(f.Err, &field) {
		o.str("param", field.Field)
	} else {
		o.lit("param", "null")
	}
	o.str("code", openAICode(f.Code))
}

func openAIType(status int) string {
	switch status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusRequestEntityTooLarge, http.StatusConflict, http.StatusUnprocessableEntity,
		http.StatusFailedDependency:
		return "invalid_request_error"
	case http.StatusUnauthorized:
		return "authentication_error"
	case http.StatusPaymentRequired:
		return "insufficient_quota"
	case http.StatusForbidden:
		return "permission_error"
	case http.StatusTooManyRequests:
		return "rate_limit_error"
	}
	return "server_error"
}

// openAICode uses OpenAI's own words where programs look for them.
func openAICode(c fault.Code) string {
	switch c {
	case fault.Context:
		return "context_length_exceeded"
	case fault.Overloaded:
		return "rate_limit_exceeded"
	}
	return string(c)
}

// anthropicError fills the error of the Messages API.
func anthropicError(o *object, f *fault.Fault) {
	kind, msg := anthropicType(f.HTTPStatus()), f.Msg
	if f.Code == fault.Context {
		// Clients look for these words to shorten the conversation.
		kind, msg = "invalid_request_error", "prompt is too long: "+msg
	}
	o.str("type", kind).str("message", msg)
	var field *FieldError
	if errors.As(f.Err, &field) && field.Code != "" {
		o.obj("details", func(o *object) {
			o.str("error_code", field.Code).val("unsupported", []string{field.Field})
		})
	}
}

func anthropicType(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "authentication_error"
	case http.StatusPaymentRequired:
		return "billing_error"
	case http.StatusForbidden:
		return "permission_error"
	case http.StatusNotFound:
		return "not_found_error"
	case http.StatusRequestEntityTooLarge:
		return "request_too_large"
	case http.StatusTooManyRequests:
		return "rate_limit_error"
	case http.StatusGatewayTimeout:
		return "timeout_error"
	case http.StatusServiceUnavailable:
		return "overloaded_error"
	}
	if status < http.StatusInternalServerError {
		return "invalid_request_error"
	}
	return "api_error"
}

// FaultOf returns the fault that an error event reports.
func FaultOf(e event.Error) *fault.Fault {
	code := fault.Code(e.Code)
	if code == "" {
		code = fault.Failed
	}
	return &fault.Fault{Code: code, Msg: e.Message, Detail: e.Detail, Hints: e.Hints, Status: e.Status}
}

func wasCancelled() *fault.Fault { return fault.New(fault.Interrupted, "the turn was cancelled") }

// wasCut is what a client hears whose stream ends before the turn does.
func wasCut() *fault.Fault {
	return fault.New(fault.Interrupted, "the stream ended before the turn did")
}

func tooLong() *fault.Fault {
	return fault.New(fault.InvalidReply, "the answer is longer than this format can carry")
}
