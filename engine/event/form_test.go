package event_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/fettle-cli/fettle/engine/event"
)

func ptr[T any](v T) *T { return &v }

func form() *event.Form {
	return &event.Form{Kind: event.FieldsForm, Fields: []event.FormField{
		{Name: "name", Type: event.StringField, Required: true, MinLength: ptr(2), MaxLength: ptr(5)},
		{Name: "mail", Type: event.StringField, Format: "email"},
		{Name: "day", Type: event.StringField, Format: "date"},
		{Name: "bags", Type: event.IntegerField, Minimum: ptr(0.0), Maximum: ptr(3.0), Default: json.RawMessage(`1`)},
		{Name: "part", Type: event.NumberField},
		{Name: "meal", Type: event.BooleanField},
		{Name: "class", Type: event.ChoiceField, Options: []event.FormOption{{Value: "eco"}, {Value: "biz"}}},
		{Name: "extras", Type: event.ChoicesField, Options: []event.FormOption{{Value: "a"}, {Value: "b"}}, MaxItems: ptr(1)},
	}}
}

func TestFormsAreFilledIn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		content, want string
		problems      []string
	}{
		"the least":            {`{"name":"Ada"}`, `{"bags":1,"name":"Ada"}`, nil},
		"all":                  {`{"name":"Ada","mail":"a@b.c","day":"2026-01-31","bags":3.0,"part":0.5,"meal":true,"class":"biz","extras":["b"]}`, `{"bags":3,"class":"biz","day":"2026-01-31","extras":["b"],"mail":"a@b.c","meal":true,"name":"Ada","part":0.5}`, nil},
		"null is left out":     {`{"name":"Ada","bags":null}`, `{"bags":1,"name":"Ada"}`, nil},
		"nothing":              {``, "", []string{"name: is needed"}},
		"no object":            {`[1]`, "", []string{"content: it is no JSON object"}},
		"what isn't there":     {`{"name":"Ada","x":1}`, "", []string{"x: the form has no such field"}},
		"characters count":     {`{"name":"äöüßé"}`, `{"bags":1,"name":"äöüßé"}`, nil},
		"too long and too few": {`{"name":"abcdef","bags":-1}`, "", []string{"bags: want at least 0", "name: want at most 5 characters"}},
		"wrong kinds": {`{"name":1,"bags":1.5,"part":"1","meal":"yes","class":"first","extras":["a","a"],"mail":"Ada <a@b.c>","day":"31.1."}`, "", []string{
			"bags: want a whole number", "class: it is none of the options", "day: want a date such as 2026-07-28", "extras: want a list of options, each once",
			"mail: want an e-mail address", "meal: want true or false", "name: want a text", "part: want a number",
		}},
		"too many": {`{"name":"Ada","extras":["a","b"]}`, "", []string{"extras: want at most 1"}},
	} {
		got, problems := form().Fill(json.RawMessage(c.content))
		if string(got) != c.want || !slices.Equal(problems, c.problems) {
			t.Errorf("%s: %s %q, want %s %q", name, got, problems, c.want, c.problems)
		}
	}
	if got, problems := (*event.Form)(nil).Fill(json.RawMessage(`{"a":1}`)); got != nil || problems != nil {
		t.Errorf("no form: %s %q", got, problems)
	}
}

// What a form takes is the same for whoever shows it by its schema.
func TestAFormAsASchema(t *testing.T) {
	t.Parallel()
	const want = `{"properties":{"bags":{"default":1,"maximum":3,"minimum":0,"type":"integer"},"class":{"oneOf":[{"const":"eco","title":"eco"},{"const":"biz","title":"biz"}],"type":"string"},"day":{"format":"date","type":"string"},"extras":{"items":{"anyOf":[{"const":"a","title":"a"},{"const":"b","title":"b"}]},"maxItems":1,"type":"array"},"mail":{"format":"email","type":"string"},"meal":{"type":"boolean"},"name":{"maxLength":5,"minLength":2,"type":"string"},"part":{"type":"number"}},"required":["name"],"type":"object"}`
	if got := string(form().Schema()); got != want {
		t.Errorf("got %s", got)
	}
}
