package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/server/dialect"
)

// refusal is an error with an HTTP status of its own: what the gate refuses, and
// what HTTP alone knows.
type refusal struct {
	status int
	code   string
	msg    string
	hints  []string
	retry  int // seconds; 0 says nothing
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
	Total     int      `json:"detail_total,omitempty"`
	Hints     []string `json:"hints,omitempty"`
	RequestID string   `json:"request_id,omitempty"`
}

// explain gives the status and the body of an error. The text of an error that
// is no fault may hold paths, so it is for the log alone.
func explain(err error) (status int, body errorBody) {
	var r *refusal
	var f *fault.Fault
	var own *withStatus
	var conflict *engine.FileConflict
	var large *http.MaxBytesError
	var method *methodError
	switch {
	case errors.As(err, &r):
		return r.status, errorBody{Code: r.code, Message: r.msg, Hints: r.hints}
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
		return status, errorBody{Code: string(f.Code), Message: f.Msg, Detail: f.Detail, Total: f.Total, Hints: f.Hints}
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
	var refused *refusal
	if errors.As(err, &refused) && refused.retry > 0 {
		h.Set("Retry-After", strconv.Itoa(refused.retry))
	}
	for _, name := range []string{"Content-Length", "Content-Disposition", "ETag", "Accept-Ranges", "Last-Modified"} {
		h.Del(name) // of the answer that it was going to be
	}
	to := stateOf(r).route
	if to != nil && to.speaks == dialect.Agents && to.media == mediaSSE && takesStream(r) {
		raw, kind := dialect.AgentsFailure(body.Message)
		writeRaw(w, status, kind, raw)
		return
	}
	if to != nil && to.speaks != "" {
		status, kind, raw := to.speaks.Failure(wireFault(status, body, err))
		writeRaw(w, status, kind, raw)
		return
	}
	writeJSON(w, status, errorJSON{body})
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

// clean keeps control characters of a request out of messages and logs.
func clean(s string) string {
	const most = 200
	if len(s) > most {
		s = s[:most]
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r == '\ufffd' {
			return -1
		}
		return r
	}, s)
}
