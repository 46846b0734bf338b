package chat

import (
	"encoding/json"
	"strings"

	"github.com/fettle-cli/fettle/internal/record"
	"github.com/fettle-cli/fettle/internal/sanitize"
	"github.com/fettle-cli/fettle/toolset/render"
)

// FailedPlan shows a failure, whatever the tool's own renderer is.
func FailedPlan(message, traceback string) json.RawMessage {
	return EncodePlan(render.MakeFailed(render.Failure{
		Message: valid(message), Traceback: valid(traceback),
	}))
}

// EncodePlan returns a plan as JSON; nil if it cannot be encoded.
func EncodePlan(p render.Plan) json.RawMessage {
	raw, err := record.Marshal(p)
	if err != nil { // a plan holds strings and valid JSON alone
		return nil
	}
	return raw
}

// maxTraceback bounds a traceback that is kept with its call, and the message that
// its plan shows; the call's own error is whole.
const maxTraceback = 64 << 10

// valid bounds a text and makes it valid UTF-8.
func valid(s string) string { return strings.ToValidUTF8(sanitize.Clip(s, maxTraceback), "\uFFFD") }
