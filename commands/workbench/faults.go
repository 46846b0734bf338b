package workbench

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/fettle-cli/fettle/commands/remedy"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/engine/fault"
)

// PrintFault shows a fault on standard error: a line, its details, and what to
// do next. With JSON output it is one object instead.
func PrintFault(rt *Runtime, f *fault.Fault) {
	if rt.JSONErrors {
		printJSONFault(rt, f)
		return
	}
	out := rt.Streams.Err
	var b strings.Builder
	writeWrapped(&b, "fettle: ", remedy.Message(f), out.Width())
	for _, line := range f.Detail {
		writeWrapped(&b, "  ", line, out.Width())
	}
	width := len("try ")
	if len(f.Detail) > 0 && strings.HasPrefix(f.Detail[0], "looked for") {
		width = len("looked for")
	}
	label := "try"
	for _, hint := range remedy.Lines(f) { // whole, so that they can be pasted
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

// FaultJSON is the shape of a failure under --output json.
type FaultJSON struct {
	SchemaVersion int       `json:"schema_version"`
	Error         FaultBody `json:"error"`
}

// FaultBody is a failure as JSON shows it.
type FaultBody struct {
	Code    string   `json:"code"`
	Exit    int      `json:"exit"`
	Message string   `json:"message"`
	Detail  []string `json:"detail,omitempty"`
	Total   int      `json:"detail_total,omitempty"`
	Hints   []string `json:"hints,omitempty"`
}

// BodyOf is a fault as JSON shows it.
func BodyOf(f *fault.Fault) FaultBody {
	return FaultBody{
		Code: string(f.Code), Exit: f.Code.Exit(), Message: remedy.Message(f), Detail: f.Detail, Total: f.Total, Hints: remedy.Lines(f),
	}
}

func printJSONFault(rt *Runtime, f *fault.Fault) {
	line, err := json.Marshal(FaultJSON{SchemaVersion: OutputVersion, Error: BodyOf(f)})
	if err != nil { // strings and numbers always encode
		return
	}
	rt.Streams.Err.WriteString(string(line) + "\n")
}
