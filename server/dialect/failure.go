package dialect

import (
	"errors"
	"net/http"

	"github.com/fettle-cli/fettle/engine/fault"
)

// Failure gives the HTTP status, the content type and the body of a response
// that failed before its stream began, as the dialect's clients read it.
func (n Name) Failure(f *fault.Fault) (status int, contentType string, body []byte) {
	status, contentType = n.status(f), typeJSON
	switch n {
	case AISDK:
		// Its client shows the whole body as the error's message.
		return status, "text/plain; charset=utf-8", []byte(f.Msg)
	case OpenAI, Responses:
		o := open(nil)
		o.obj("error", func(o *object) { openAIError(o, f) })
		body = o.close()
	case Ollama:
		body = open(nil).str("error", ollamaWords(f)).close()
	case Anthropic:
		body = open(nil).str("type", "error").obj("error", func(o *object) { anthropicError(o, f) }).close()
	default:
		o := open(nil)
		o.obj("error", func(o *object) {
			o.str("code", string(f.Code)).str("message", f.Msg)
			if len(f.Remedies) > 0 {
				o.val("hints", fault.Texts(f.Remedies))
			}
		})
		body = o.close()
	}
	return status, contentType, append(body, '\n')
}

// statusOverloaded is the status of Anthropic's API for a server with too many requests.
const statusOverloaded = 529

// status returns the HTTP status of a failure as the dialect's own servers have it.
func (n Name) status(f *fault.Fault) int {
	status := f.HTTPStatus()
	switch n {
	case OpenAI, Responses, Anthropic, Ollama:
		if f.Code == fault.Context {
			return http.StatusBadRequest
		}
	}
	if n == Anthropic && f.Code == fault.Overloaded && status == http.StatusServiceUnavailable {
		return statusOverloaded
	}
	return status
}

// ollamaWords returns the message of a failure. Ollama's clients look for "not found" to
// offer to pull a model.
func ollamaWords(f *fault.Fault) string {
	var field *FieldError
	if errors.As(f.Err, &field) && field.Model != "" && f.HTTPStatus() == http.StatusNotFound {
		return `model "` + clean(field.Model) + `" not found: ` + f.Msg
	}
	return f.Msg
}

// openAIError fills OpenAI's Error, which always has four fields. param and code are null
// where there is nothing to name.
func openAIError(o *object, f *fault.Fault) {
	o.str("message", f.Msg).str("type", openAIType(OpenAI.status(f)))
	var field *FieldError
	if errors.As(f.Err, &field) && field.Field != "" {
		o.str("param", field.Field)
	} else {
		o.lit("param", "null")
	}
	if code := openAICode(f, field); code != "" {
		o.str("code", code)
	} else {
		o.lit("code", "null")
	}
}

func openAIType(status int) string {
	switch status {
	case http.StatusPaymentRequired:
		return "insufficient_quota"
	case http.StatusForbidden:
		return "permission_error"
	case http.StatusTooManyRequests:
		return "rate_limit_error"
	}
	if status < http.StatusInternalServerError {
		return "invalid_request_error"
	}
	return "server_error"
}

// openAICode returns OpenAI's code of a failure, fettle's own for a kind that OpenAI's
// servers don't know, and "" for null. field is what the failure is about, or nil.
func openAICode(f *fault.Fault, field *FieldError) string {
	status := f.HTTPStatus()
	switch f.Code {
	case fault.Context:
		return "context_length_exceeded"
	case fault.Approval, fault.Busy, fault.TurnLimit, fault.NoProgress, fault.NoAnswer, fault.Timeout, fault.Interrupted:
		return string(f.Code)
	case fault.Overloaded:
		switch status {
		case http.StatusTooManyRequests:
			return "rate_limit_exceeded"
		case http.StatusServiceUnavailable:
			return "server_is_overloaded"
		}
	}
	switch {
	case status == http.StatusUnauthorized:
		return "invalid_api_key"
	case status == http.StatusPaymentRequired:
		return "insufficient_quota"
	case status >= http.StatusInternalServerError:
		return "server_error"
	case field == nil || field.Field == "":
		return ""
	case status == http.StatusNotFound && field.Field == "model":
		return "model_not_found"
	case status == http.StatusBadRequest && field.Problem == isMissing:
		return "missing_required_parameter"
	case status == http.StatusBadRequest:
		return "invalid_value"
	}
	return ""
}

// isMissing is the problem of a field that a request lacks.
const isMissing = "is missing"

// anthropicError fills the error of the Messages API.
func anthropicError(o *object, f *fault.Fault) {
	kind, msg := anthropicType(Anthropic.status(f)), f.Msg
	if f.Code == fault.Context {
		msg = "prompt is too long: " + msg // clients look for these words to shorten the conversation
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
	case statusOverloaded:
		return "overloaded_error"
	}
	if status < http.StatusInternalServerError {
		return "invalid_request_error"
	}
	return "api_error"
}

func wasCancelled() *fault.Fault { return fault.New(fault.Interrupted, "the turn was cancelled") }

// wasCut is what a client hears whose stream ends before the turn does.
func wasCut() *fault.Fault {
	return fault.New(fault.Interrupted, "the stream ended before the turn did")
}

func tooLong() *fault.Fault {
	return fault.New(fault.InvalidReply, "the answer is longer than this format can carry")
}
