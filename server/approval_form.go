package server

import (
	"slices"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/internal/consent"
)

// shownForm returns a form as a user has to see it: texts of the MCP server have blanks
// counted and hidden characters written out. The names of fields, values and addresses
// stay as they are, since an answer contains them.
func shownForm(f *event.Form) *event.Form {
	if f == nil {
		return nil
	}
	out := *f
	out.Server, out.Message = consent.Line(f.Server), consent.Text(f.Message)
	out.Fields = slices.Clone(f.Fields)
	for i := range out.Fields {
		field := &out.Fields[i]
		if title := consent.Line(field.Title); title != "" || consent.Line(field.Name) == field.Name {
			field.Title = title
		} else {
			field.Title = consent.Line(field.Name)
		}
		field.Description = consent.Text(field.Description)
		field.Options = slices.Clone(field.Options)
		for j := range field.Options {
			option := &field.Options[j]
			if option.Title == "" && consent.Line(option.Value) != option.Value {
				option.Title = option.Value
			}
			option.Title = consent.Line(option.Title)
		}
	}
	if f.Prompt != nil {
		prompt := *f.Prompt
		prompt.Model, prompt.System = consent.Line(prompt.Model), consent.Text(prompt.System)
		prompt.Messages = slices.Clone(prompt.Messages)
		for i, m := range prompt.Messages {
			prompt.Messages[i] = event.FormPromptMessage{Role: consent.Line(m.Role), Text: consent.Text(m.Text)}
		}
		out.Prompt = &prompt
	}
	return &out
}
