package mistral

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// maxFaults is how many faults of a request are named in one message.
const maxFaults = 3

// refused reads a response whose status is not 200.
func refused(src wire.Source, resp *http.Response, body []byte) *provider.Error {
	if words := faults(body); words != "" {
		return src.RefusedSaying(resp, words)
	}
	return src.Refused(resp, body)
}

// inStream reads an error that came where a chunk was due. It is judged by the
// status that it would have had, if it tells one or its type is known.
func inStream(src wire.Source, data []byte) *provider.Error {
	var outer struct {
		Status wire.Int    `json:"raw_status_code"`
		Type   wire.String `json:"type"`
	}
	_ = wire.Lenient(data, &outer)
	told := int(outer.Status.N)
	if words := faults(data); words != "" {
		e := src.Said(http.StatusUnprocessableEntity, words)
		e.Status = told
		return e
	}
	e := src.InStream(data)
	if e.Kind != provider.Broken {
		e.Status = max(e.Status, told)
		return e
	}
	status := told
	if status == 0 {
		status = map[wire.String]int{
			"invalid_model":                  http.StatusBadRequest,
			"service_tier_capacity_exceeded": http.StatusTooManyRequests,
		}[outer.Type]
	}
	if status == 0 {
		return e
	}
	e = src.Said(status, e.Message)
	e.Status = told
	return e
}

// fault is one fault of a request, as its validation tells it.
type fault struct {
	Place []wire.String `json:"loc"`
	Words wire.String   `json:"msg"`
}

// faults puts the faults of a request into words: the list may be the detail,
// the message, or the detail of the message, which may be encoded once more.
// "" is none.
func faults(body []byte) string {
	var outer struct {
		Message json.RawMessage `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	if !wire.Lenient(body, &outer) {
		return ""
	}
	var encoded string
	if wire.Lenient(outer.Message, &encoded) {
		outer.Message = json.RawMessage(encoded)
	}
	var inner struct {
		Detail json.RawMessage `json:"detail"`
	}
	_ = wire.Lenient(outer.Message, &inner)
	for _, raw := range []json.RawMessage{inner.Detail, outer.Message, outer.Detail} {
		var list []fault
		if !wire.Lenient(raw, &list) {
			continue
		}
		var words []string
		for _, f := range list {
			if f.Words != "" && len(words) < maxFaults {
				words = append(words, f.text())
			}
		}
		if len(words) > 0 {
			return strings.Join(words, "; ")
		}
	}
	return ""
}

// text is a fault with its place in front, without the body that all are in.
func (f fault) text() string {
	var place []string
	for _, p := range f.Place {
		if p != "body" || len(place) > 0 {
			place = append(place, string(p))
		}
	}
	if len(place) == 0 {
		return string(f.Words)
	}
	return strings.Join(place, ".") + ": " + string(f.Words)
}
