package commands

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/engine/fault"
)

// printFault shows a fault on standard error: a line, its details, and what to
// do next. With JSON output it is one object instead.
func printFault(rt *runtime, f *fault.Fault) {
	if rt.jsonErrors {
		printJSONFault(rt, f)
		return
	}
	out := rt.streams.Err
	var b strings.Builder
	writeWrapped(&b, "fettle: ", f.Msg, out.Width())
	for _, line := range f.Detail {
		writeWrapped(&b, "  ", line, out.Width())
	}
	width := len("try ")
	if len(f.Detail) > 0 && strings.HasPrefix(f.Detail[0], "looked for") {
		width = len("looked for")
	}
	label := "try"
	for _, hint := range f.Hints { // whole, so that they can be pasted
		fmt.Fprintf(&b, "  %s  %s\n", out.Style().Dim(fmt.Sprintf("%-*s", width, label)), term.Clean(hint))
		label = " or"
	}
	out.WriteString(b.String())
}

// writeWrapped writes a line, and what a terminal has no room for below it. A
// line that fits keeps its blanks.
func writeWrapped(b *strings.Builder, label, text string, width int) {
	lines := term.Wrap(term.Clean(text), width-len(label))
	b.WriteString(label + lines[0] + "\n")
	for _, line := range term.Wrap(strings.Join(lines[1:], " "), width-2) {
		if line != "" {
			b.WriteString("  " + line + "\n")
		}
	}
}

// faultJSON is the shape of a failure under --output json.
type faultJSON struct {
	SchemaVersion int       `json:"schema_version"`
	Error         faultBody `json:"error"`
}

type faultBody struct {
	Code    string   `json:"code"`
	Exit    int      `json:"exit"`
	Message string   `json:"message"`
	Detail  []string `json:"detail,omitempty"`
	Hints   []string `json:"hints,omitempty"`
}

func bodyOf(f *fault.Fault) faultBody {
	return faultBody{
		Code: string(f.Code), Exit: f.Code.Exit(), Message: f.Msg, Detail: f.Detail, Hints: f.Hints,
	}
}

func printJSONFault(rt *runtime, f *fault.Fault) {
	line, err := json.Marshal(faultJSON{SchemaVersion: outputVersion, Error: bodyOf(f)})
	if err != nil { // strings and numbers always encode
		return
	}
	rt.streams.Err.WriteString(string(line) + "\n")
}

// outputVersion is the version of the JSON that commands print; it rises when
// a field changes its meaning or goes.
const outputVersion = 1
