package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/sanitize"
	"github.com/fettle-cli/fettle/server/dialect"
)

// refusal is an error with an HTTP status of its own: what the gate refuses, and
// what HTTP alone knows.
type refusal struct {
	status int
	code   string
	msg    string
	hints  []string
	retry  time.Duration // 0 says nothing
}

func (r *refusal) Error() string { return r.msg }

func refuse(status int, code, msg string, hints ...string) error {
	return &refusal{status: status, code: code, msg: msg, hints: hints}
}

// withStatus gives an error that has no kind of its own a status.
type withStatus struct {
	error
	status int
}

func (w *withStatus) Unwrap() error { return w.error }

// errorJSON is the body of every answer that isn't a success.
type errorJSON struct {
	Error errorBody `json:"error"`
}

type errorBody struct {
	Code    string   `json:"code"`
	Message string   `json:"message"`
	Detail  []string `json:"detail,omitempty"`
	// Total is how many things Detail is a list of, of which it may have the first alone.
	Total int `json:"detail_total,omitempty"`
	// Input is the field of the request that is wrong, with which Message begins.
	Input string `json:"input,omitempty"`
	// Hints are next steps in the terms of this API, best first.
	Hints []string `json:"hints,omitempty"`
	// Remedies are the same steps by kind and arguments, for clients with terms of their own.
	Remedies  []fault.Remedy `json:"remedies,omitempty"`
	RequestID string         `json:"request_id,omitempty"`
	// wait is how long the client is asked to wait, in the header Retry-After.
	wait time.Duration
}

// explain gives the status and the body of an error. The text of an error that
// is no fault may hold paths, so it is for the log alone.
func explain(err error) (status int, body errorBody) {
	var r *refusal
	var f *fault.Fault
	var own *withStatus
	var conflict *cas.ConflictError
	var large *http.MaxBytesError
	var method *methodError
	switch {
	case errors.As(err, &r):
		return r.status, errorBody{Code: r.code, Message: r.msg, Hints: r.hints, Remedies: fault.Advices(r.hints), wait: r.retry}
	case errors.As(err, &method):
		return http.StatusMethodNotAllowed, errorBody{Code: "method_not_allowed", Message: method.Error()}
	case errors.As(err, &large):
		return http.StatusRequestEntityTooLarge, errorBody{
			Code: "too_large", Message: "the body has more than " + strconv.FormatInt(large.Limit, 10) + " bytes",
		}
	case errors.As(err, &f):
		status = f.HTTPStatus()
		if errors.As(err, &own) && f.Code == fault.Failed {
			status = own.status
		}
		if errors.As(err, &conflict) {
			status = http.StatusConflict
		}
		return status, errorBody{
			Code: string(f.Code), Message: f.Error(), Detail: f.Detail, Total: f.Total, Input: f.Input,
			Hints: hintLines(f.Remedies), Remedies: f.Remedies, wait: f.RetryAfter,
		}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fault.Interrupted.Status(), errorBody{Code: string(fault.Interrupted), Message: "the request was cut off"}
	}
	return http.StatusInternalServerError, errorBody{
		Code: string(fault.Failed), Message: "something went wrong here; the log of fettle serve says what",
	}
}

// fail answers with an error.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	status, body := explain(err)
	body.RequestID = requestID(r)
	h := w.Header()
	if method := (*methodError)(nil); errors.As(err, &method) {
		h.Set("Allow", method.allow)
	}
	retryHeaders(h, status, body, err)
	for _, name := range []string{"Content-Length", "Content-Disposition", "ETag", "Accept-Ranges", "Last-Modified"} {
		h.Del(name) // of the answer that it was going to be
	}
	to, speaks := stateOf(r).route, apiOf(r)
	switch {
	case to != nil && speaks == dialect.Agents && to.media == mediaSSE && takesStream(r):
		raw, kind := dialect.AgentsFailure(body.Message)
		writeRaw(w, status, kind, raw)
	case speaks != "":
		status, kind, raw := speaks.Failure(wireFault(status, body, err))
		writeRaw(w, status, kind, raw)
	default:
		writeJSON(w, status, errorJSON{body})
	}
}

// apiOf returns the dialect of the failures of a request; empty is this API's own. Clients
// of Anthropic's API share the list of models with OpenAI's, and addresses below /v1 that
// are not there are of one of the two.
func apiOf(r *http.Request) dialect.Name {
	to := stateOf(r).route
	switch {
	case to == nil && !strings.HasPrefix(r.URL.Path, "/v1/"):
		return ""
	case to != nil && to.speaks != dialect.OpenAI:
		return to.speaks
	case asksAnthropic(r):
		return dialect.Anthropic
	}
	return dialect.OpenAI
}

// longestRepeat is the longest wait that the official clients of OpenAI and Anthropic, and
// the AI SDK, take before they repeat a request by themselves. They wait shortly instead of
// a longer time.
const longestRepeat = time.Minute

// retryHeaders writes when a client may repeat a request. Many clients repeat a request
// with status 408, 409, 429 or 5xx by themselves, the official ones of OpenAI and Anthropic
// unless X-Should-Retry is false. It is false where the engine has repeated the request to
// the provider already, and where a repetition ends in the same way.
func retryHeaders(h http.Header, status int, body errorBody, err error) {
	if body.wait > 0 {
		h.Set("Retry-After", strconv.FormatInt(int64((body.wait+time.Second-1)/time.Second), 10))
		h.Set("Retry-After-Ms", strconv.FormatInt(body.wait.Milliseconds(), 10))
	}
	final := body.wait > longestRepeat
	if status >= http.StatusInternalServerError {
		switch fault.Code(body.Code) {
		case fault.Overloaded, fault.InvalidReply, fault.NoAnswer, fault.Timeout, fault.Config, fault.Unauthorised:
			final = true
		case fault.Unavailable:
			final = final || status == http.StatusGatewayTimeout
		}
	}
	var field *dialect.FieldError
	if status == http.StatusConflict && errors.As(err, &field) {
		final = true // the request itself can't be met; one that is only too early names no field
	}
	if final {
		h.Set("X-Should-Retry", "false")
	}
}

// takesStream reports whether a client reads the answer as a stream: its Accept names one,
// or anything, as a browser's fetch does. A client that sends no Accept gets JSON.
func takesStream(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	return strings.Contains(accept, mediaSSE) || strings.Contains(accept, "*/*") && !strings.Contains(accept, "json")
}

// writeJSON answers with JSON. What can't be written has nobody to be told.
func writeJSON(w http.ResponseWriter, status int, v any) {
	raw, err := json.Marshal(v)
	if err != nil {
		status, raw = http.StatusInternalServerError, []byte(`{"error":{"code":"failed","message":"the answer can't be written as JSON"}}`)
	}
	writeRaw(w, status, "application/json; charset=utf-8", append(raw, '\n'))
}

func writeRaw(w http.ResponseWriter, status int, kind string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// CleanText takes control characters out of a text of another process, and cuts
// it to what a message has room for.
func CleanText(s string) string { return clean(s) }

// clean returns a text of a request for messages and logs: cut, on one line, and without
// the characters that hide or reorder a part of it.
func clean(s string) string {
	const most = 200
	return strings.NewReplacer("\n", "", "\t", "", "\ufffd", "").Replace(sanitize.Text(s[:min(len(s), most)]))
}
