package anthropic

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// refused reads a response whose status is not 200.
func refused(src wire.Source, resp *http.Response, body []byte) *provider.Error {
	e := src.Refused(resp, body)
	if strings.Contains(e.Message, "exceed context limit") {
		e.Kind = provider.ContextFull // what is asked and what may be answered, together
	}
	return e
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
