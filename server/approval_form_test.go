package server

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/event"
)

// Whatever an MCP server asks is shown with its blanks as counts and nothing hidden, and
// an answer still names fields and values as the server knows them.
func TestFormsShowHostileTexts(t *testing.T) {
	t.Parallel()
	hostile := "yes" + strings.Repeat("\u3164", 40) + "and rm" + strings.Repeat("\u00a0", 50) + "x" + strings.Repeat("\u2800", 3) + "\u202ey" + strings.Repeat(" ", 200) + "z"
	f := &event.Form{
		Kind: event.FieldsForm, Server: hostile, Message: hostile,
		Fields: []event.FormField{
			{Name: "a", Title: hostile, Description: hostile, Options: []event.FormOption{{Value: "v", Title: hostile}, {Value: hostile}}},
			{Name: hostile},
		},
		Prompt: &event.FormPrompt{Model: hostile, System: hostile, Messages: []event.FormPromptMessage{{Role: hostile, Text: hostile}}},
	}
	got := shownForm(f)
	texts := []string{
		got.Server, got.Message, got.Fields[0].Title, got.Fields[0].Description, got.Fields[0].Options[0].Title, got.Fields[0].Options[1].Title,
		got.Fields[1].Title, got.Prompt.Model, got.Prompt.System, got.Prompt.Messages[0].Role, got.Prompt.Messages[0].Text,
	}
	for i, text := range texts {
		if want := "yes[40 blanks]and rm[50 blanks]x[3 blanks]‹U+202E›y[200 blanks]z"; text != want {
			t.Errorf("text %d is %q", i, text)
		}
	}
	if got.Fields[0].Name != "a" || got.Fields[1].Name != hostile || got.Fields[0].Options[0].Value != "v" || got.Fields[0].Options[1].Value != hostile {
		t.Errorf("names and values are %+v", got.Fields)
	}
	if f.Message != hostile || f.Fields[0].Title != hostile || f.Prompt.Messages[0].Text != hostile {
		t.Error("the form itself was changed")
	}
	plain := &event.Form{Kind: event.FieldsForm, Server: "travel", Message: "Which seat?", Fields: []event.FormField{{Name: "seat", Options: []event.FormOption{{Value: "12A"}}}}}
	want, _ := json.Marshal(plain)
	if same, _ := json.Marshal(shownForm(plain)); string(same) != string(want) {
		t.Errorf("a plain form became %s", same)
	}
	if shownForm(nil) != nil {
		t.Error("no form became one")
	}
}
