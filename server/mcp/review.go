package mcp

import (
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/internal/consent"
	"github.com/fettle-cli/fettle/internal/sanitize"
	"github.com/fettle-cli/fettle/server/asking"
)

// reviewQuestion is the form that asks the user about the changes of a call that has run.
// Changes that do not fit the question can only be discarded.
func reviewQuestion(ask event.ConfirmRequest) *sdk.ElicitParams {
	text, missing := consent.Head(consent.Read(ask.Input).Details()+"\n"+reviewText(ask.Review), maxAsked)
	names, values := []string{"Apply the changes", "Discard them"}, []string{string(event.Allow), string(event.Deny)}
	if missing > 0 {
		text += fmt.Sprintf("\n… %d bytes more are not shown: the changes are too many to be applied from here", missing)
		names, values = names[1:], values[1:]
	}
	return &sdk.ElicitParams{
		Mode: "form", Message: "Apply the changes of " + consent.Line(ask.ToolID) + "? " + consent.Line(ask.Reason) + ".\n" + text,
		RequestedSchema: map[string]any{
			"type": "object", "required": []string{"decision"},
			"properties": map[string]any{
				"decision": map[string]any{"type": "string", "title": "Decision", "enum": values, "enumNames": names},
				"reason":   map[string]any{"type": "string", "title": "Reason for the model, if you discard them"},
			},
		},
	}
}

// reviewText lists the changes that a call has made, with their diffs.
func reviewText(r *event.Review) string {
	var b strings.Builder
	for _, f := range r.Files {
		fmt.Fprintf(&b, "\n%s %s\n", f.Kind, consent.Line(f.Path))
		if f.Note != "" {
			b.WriteString(consent.Line(f.Note) + "\n")
		}
		b.WriteString(consent.Text(f.Diff))
	}
	if r.More > 0 {
		fmt.Fprintf(&b, "\n%d more files\n", r.More)
	}
	for _, c := range r.Conflicts {
		fmt.Fprintf(&b, "\nnot applied in any case, since it was changed meanwhile: %s\n", consent.Line(c.Path))
	}
	return b.String()
}

// reviewAnswer reads the user's answer to a review. What is no clear yes is a no.
func reviewAnswer(ask *event.ConfirmRequest, answer *sdk.ElicitResult) engine.Confirmation {
	out := asking.Deny(ask.ToolUseID, "")
	if answer == nil || answer.Action != "accept" {
		return out
	}
	if reason, ok := answer.Content["reason"].(string); ok {
		out.Reason = sanitize.Cut(reason, asking.MaxReason)
	}
	if answer.Content["decision"] == string(event.Allow) {
		if _, missing := consent.Head(consent.Read(ask.Input).Details()+"\n"+reviewText(ask.Review), maxAsked); missing == 0 {
			out.Decision, out.All = event.Allow, true
		}
	}
	return out
}
