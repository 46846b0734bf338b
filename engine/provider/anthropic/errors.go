package anthropic

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// refused reads a response whose status is not 200.
func refused(src wire.Source, resp *http.Response, body []byte, now time.Time) *provider.Error {
	e := src.Refused(resp, body)
	if strings.Contains(e.Message, "exceed context limit") {
		e.Kind = provider.ContextFull // what is asked and what may be answered, together
	}
	if e.RetryAfter == 0 && e.Retryable() {
		e.RetryAfter = resets(resp.Header, now)
	}
	if e.Retryable() && strings.EqualFold(resp.Header.Get("X-Should-Retry"), "false") {
		e.Kind = provider.Rejected // no wait mends it, such as a limit on what may be spent
	}
	return e
}

// resets tells when the limits that are used up begin anew: the last of them,
// or the first of all where none says that it is used up. 0 is no telling.
func resets(h http.Header, now time.Time) time.Duration {
	var used, any time.Time
	for _, of := range []string{"Requests", "Tokens", "Input-Tokens", "Output-Tokens"} {
		at, err := time.Parse(time.RFC3339, h.Get("Anthropic-Ratelimit-"+of+"-Reset"))
		if err != nil || !at.After(now) {
			continue
		}
		if any.IsZero() || at.Before(any) {
			any = at
		}
		if h.Get("Anthropic-Ratelimit-"+of+"-Remaining") == "0" && at.After(used) {
			used = at
		}
	}
	if used.IsZero() {
		used = any
	}
	if used.IsZero() {
		return 0
	}
	// As a date it is bounded like any other wish to be asked again later. A
	// date has no fractions, so one second is added for them.
	date := used.Add(time.Second).UTC().Format(http.TimeFormat)
	return wire.RetryAfter(http.Header{"Retry-After": {date}}, now)
}

// inStream reads an error that came where an event was due. Its type stands for
// a status that came too late.
func inStream(src wire.Source, data []byte) *provider.Error {
	var e struct {
		Error struct {
			Type    wire.String `json:"type"`
			Message wire.String `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(data, &e) == nil && e.Error.Message != "" {
		if status := statusOf(string(e.Error.Type)); status != 0 {
			return src.Said(status, string(e.Error.Message))
		}
	}
	return src.InStream(data)
}

// statusOf gives the status that an error type is documented to come with.
func statusOf(kind string) int {
	switch kind {
	case "invalid_request_error":
		return http.StatusBadRequest
	case "authentication_error":
		return http.StatusUnauthorized
	case "billing_error":
		return http.StatusPaymentRequired
	case "permission_error":
		return http.StatusForbidden
	case "not_found_error":
		return http.StatusNotFound
	case "request_too_large":
		return http.StatusRequestEntityTooLarge
	case "rate_limit_error":
		return http.StatusTooManyRequests
	case "api_error":
		return http.StatusInternalServerError
	case "timeout_error":
		return http.StatusGatewayTimeout
	case "overloaded_error":
		return statusOverloaded
	}
	return 0
}

// statusOverloaded is Anthropic's own; net/http has no name for it.
const statusOverloaded = 529
