package mcp

import (
	"errors"
	"strings"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/harmless"
)

const (
	// maxShownName bounds a name that comes from elsewhere in a message of ours.
	maxShownName = 200
	// maxShownText bounds what is shown of arguments in a question, and of a
	// message of progress.
	maxShownText = 2000
)

// explain is an error for a model, with its details and next steps.
func explain(err error) string {
	var f *fault.Fault
	if !errors.As(err, &f) {
		return harmless.Line(err.Error())
	}
	return lines(f.Msg, f.Detail, f.Hints)
}

func lines(msg string, detail, hints []string) string {
	out := append([]string{msg}, detail...)
	for _, h := range hints {
		out = append(out, "next: "+h)
	}
	for i := range out {
		out[i] = harmless.Line(out[i])
	}
	return strings.Join(out, "\n")
}
