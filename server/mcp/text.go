package mcp

import (
	"errors"
	"strings"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

const (
	// maxShownName bounds a name that comes from elsewhere in a message of ours.
	maxShownName = 200
	// maxShownText bounds what is shown of arguments in a question, and of a
	// message of progress.
	maxShownText = 2000
)

// explain returns an error for a model, with its details and next steps.
func explain(err error) string {
	var f *fault.Fault
	if !errors.As(err, &f) {
		return sanitize.Line(err.Error())
	}
	return lines(f.Error(), f.Detail, advice(f))
}

// advice returns the next steps after a failure in the terms of an MCP client: what helps
// after failures of its kind, else the remedies in words that fit every front end.
func advice(f *fault.Fault) []string {
	switch f.Code {
	case fault.Unavailable, fault.Unauthorised:
		return []string{"the user has to set up the agent's model in fettle's configuration"}
	case fault.Overloaded, fault.Busy:
		return []string{"call again later"}
	case fault.Context:
		return []string{"call with a shorter message, or in a new session"}
	case fault.Config:
		return []string{"the user has to correct fettle's configuration, and restart the server"}
	}
	return fault.Texts(f.Remedies)
}

func lines(msg string, detail, hints []string) string {
	out := append([]string{msg}, detail...)
	for _, h := range hints {
		out = append(out, "next: "+h)
	}
	for i := range out {
		out[i] = sanitize.Line(out[i])
	}
	return strings.Join(out, "\n")
}
