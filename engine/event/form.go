package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// Form is what a running call asks for, in a [ConfirmRequest] whose ToolUseID is the
// question's and not the call's. Its texts are a stranger's, without control
// characters. Allow with content fills it in, Deny declines.
type Form struct {
	Kind FormKind `json:"kind"`
	// Server is who asks, Call the tool_use_id of the call that runs.
	Server  string `json:"server"`
	Call    string `json:"call"`
	Message string `json:"message,omitempty"`
	// Fields are what is to be filled in, in order; none is a plain yes or no.
	Fields []FormField `json:"fields,omitempty"`
	// URL is what the person is asked to visit. Nothing opens it by itself.
	URL string `json:"url,omitempty"`
	// Prompt is what a model would be asked.
	Prompt *FormPrompt `json:"sampling,omitempty"`
}

// FormKind says what is asked for.
type FormKind string

// The kinds of forms: fields, a page to visit, and leave to ask a model.
const (
	FieldsForm   FormKind = "form"
	URLForm      FormKind = "url"
	SamplingForm FormKind = "sampling"
)

// FormField is one field of a form.
type FormField struct {
	Name        string `json:"name"`
	Type        string `json:"type"` // one of the constants
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"`
	// Default stands where the field is left out.
	Default json.RawMessage `json:"default,omitempty"`
	// Options are those of a choice.
	Options []FormOption `json:"options,omitempty"`
	// Format, MinLength and MaxLength are of strings, Minimum and Maximum of
	// numbers, MinItems and MaxItems of choices.
	Format    string   `json:"format,omitempty"`
	MinLength *int     `json:"min_length,omitempty"`
	MaxLength *int     `json:"max_length,omitempty"`
	Minimum   *float64 `json:"minimum,omitempty"`
	Maximum   *float64 `json:"maximum,omitempty"`
	MinItems  *int     `json:"min_items,omitempty"`
	MaxItems  *int     `json:"max_items,omitempty"`
}

// The types of fields. A choice is one of its options, choices are some.
const (
	StringField  = "string"
	NumberField  = "number"
	IntegerField = "integer"
	BooleanField = "boolean"
	ChoiceField  = "choice"
	ChoicesField = "choices"
)

// FormOption is one answer of a choice.
type FormOption struct {
	Value string `json:"value"`
	Title string `json:"title,omitempty"`
}

// FormPrompt is what a model would be asked.
type FormPrompt struct {
	Model     string              `json:"model"`
	System    string              `json:"system,omitempty"`
	Messages  []FormPromptMessage `json:"messages"`
	MaxTokens int                 `json:"max_tokens"`
}

// FormPromptMessage is one message of it, of the user or the assistant.
type FormPromptMessage struct {
	Role string `json:"role"`
	Text string `json:"text"`
}

// maxFilled bounds what a form is filled in with.
const maxFilled = 256 << 10

// Fill holds content against the form, puts defaults where fields are left out, and
// gives what fits, or one line for each field that doesn't. A form without fields
// takes none; so does nil, which is no form.
func (f *Form) Fill(content json.RawMessage) (json.RawMessage, []string) {
	if f == nil || f.Kind != FieldsForm {
		return nil, nil
	}
	var given map[string]json.RawMessage
	if len(content) > maxFilled {
		return nil, []string{fmt.Sprintf("content: it has more than %d KB", maxFilled>>10)}
	}
	if len(bytes.TrimSpace(content)) > 0 && json.Unmarshal(content, &given) != nil {
		return nil, []string{"content: it is no JSON object"}
	}
	var problems []string
	filled := make(map[string]json.RawMessage, len(f.Fields))
	for _, field := range f.Fields {
		value, ok := given[field.Name]
		delete(given, field.Name)
		if !ok || string(value) == "null" {
			value = field.Default
		}
		if len(value) == 0 {
			if field.Required {
				problems = append(problems, field.Name+": is needed")
			}
			continue
		}
		exact, why := field.Check(value)
		if why != "" {
			problems = append(problems, field.Name+": "+why)
			continue
		}
		filled[field.Name] = exact
	}
	for name := range given {
		problems = append(problems, name+": the form has no such field")
	}
	if slices.Sort(problems); len(problems) > 0 {
		return nil, problems
	}
	out, err := marshal(filled)
	if err != nil { // each is valid JSON
		return nil, []string{err.Error()}
	}
	return out, nil
}

// Check holds a value against the field. why is empty where it fits.
func (f *FormField) Check(raw json.RawMessage) (exact json.RawMessage, why string) {
	var value any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if dec.Decode(&value) != nil || !json.Valid(raw) {
		return nil, "it is no JSON"
	}
	switch f.Type {
	case BooleanField:
		if _, ok := value.(bool); !ok {
			return nil, "want true or false"
		}
	case NumberField, IntegerField:
		return f.checkNumber(value)
	case ChoicesField:
		why = f.checkChoices(value)
	case ChoiceField:
		if text, ok := value.(string); !ok || !f.has(text) {
			why = "it is none of the options"
		}
	default:
		if text, ok := value.(string); !ok {
			why = "want a text"
		} else {
			why = f.checkText(text)
		}
	}
	return raw, why
}

func (f *FormField) has(value string) bool {
	return slices.ContainsFunc(f.Options, func(o FormOption) bool { return o.Value == value })
}

func (f *FormField) checkChoices(value any) string {
	list, ok := value.([]any)
	if !ok {
		return "want a list"
	}
	seen := map[string]bool{}
	for _, one := range list {
		text, ok := one.(string)
		if !ok || !f.has(text) || seen[text] {
			return "want a list of options, each once"
		}
		seen[text] = true
	}
	switch {
	case f.MinItems != nil && len(list) < *f.MinItems:
		return fmt.Sprintf("want at least %d", *f.MinItems)
	case f.MaxItems != nil && len(list) > *f.MaxItems:
		return fmt.Sprintf("want at most %d", *f.MaxItems)
	}
	return ""
}

// checkNumber takes 3.0 for the integer 3, as JSON Schema does.
func (f *FormField) checkNumber(value any) (json.RawMessage, string) {
	text, ok := value.(json.Number)
	n, err := text.Float64()
	switch {
	case !ok || err != nil:
		return nil, "want a number"
	case f.Type == IntegerField && n != math.Trunc(n):
		return nil, "want a whole number"
	case f.Minimum != nil && n < *f.Minimum:
		return nil, "want at least " + number(*f.Minimum)
	case f.Maximum != nil && n > *f.Maximum:
		return nil, "want at most " + number(*f.Maximum)
	case f.Type == IntegerField && math.Abs(n) < 1<<53:
		return json.RawMessage(number(n)), ""
	}
	return json.RawMessage(text), ""
}

func number(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

func (f *FormField) checkText(text string) string {
	n := utf8.RuneCountInString(text)
	switch {
	case f.MinLength != nil && n < *f.MinLength:
		return fmt.Sprintf("want at least %d characters", *f.MinLength)
	case f.MaxLength != nil && n > *f.MaxLength:
		return fmt.Sprintf("want at most %d characters", *f.MaxLength)
	}
	var err error
	switch f.Format {
	case "email":
		var a *mail.Address
		if a, err = mail.ParseAddress(text); err != nil || a.Address != text {
			return "want an e-mail address"
		}
	case "uri":
		if u, err := url.Parse(text); err != nil || u.Scheme == "" {
			return "want an address with its scheme, such as https://example.com"
		}
	case "date":
		if _, err = time.Parse(time.DateOnly, text); err != nil {
			return "want a date such as 2026-07-28"
		}
	case "date-time":
		if _, err = time.Parse(time.RFC3339, text); err != nil {
			return "want a time such as 2026-07-28T09:30:00Z"
		}
	}
	return ""
}
