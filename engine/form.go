package engine

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/internal/sanitize"
	"github.com/fettle-cli/fettle/toolset"
)

const (
	// maxFields and maxOptions bound a form: nobody fills in more.
	maxFields  = 50
	maxOptions = 200
	// maxFormText and maxFormLine bound what a server says in it.
	maxFormText = 4 << 10
	maxFormLine = 200
)

// formOf makes a form of a server's question. What it can't be shown as it is meant
// is refused: a person would answer something else.
func formOf(q toolset.Question) (*event.Form, error) {
	f := &event.Form{Kind: event.FieldsForm, Server: q.Server, Message: sanitize.Cut(strings.TrimSpace(sanitize.Text(q.Message)), maxFormText)}
	if q.URL != "" {
		f.Kind, f.URL = event.URLForm, q.URL
		if sanitize.Line(q.URL) != q.URL {
			return nil, errors.New("the address holds what can't be shown")
		}
		return f, nil
	}
	if len(q.Schema) == 0 || string(q.Schema) == "null" {
		return f, nil
	}
	var s struct {
		Type       string                     `json:"type"`
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if err := json.Unmarshal(q.Schema, &s); err != nil {
		return nil, fmt.Errorf("the schema of the form: %w", err)
	}
	switch {
	case s.Type != "object" && s.Type != "":
		return nil, errors.New("the schema of the form is of no object")
	case len(s.Properties) > maxFields:
		return nil, fmt.Errorf("the form has %d fields; %d are allowed", len(s.Properties), maxFields)
	}
	for _, name := range fieldOrder(s.Properties, s.Required) {
		if name == "" || sanitize.Line(name) != name || len(name) > maxFormLine {
			return nil, errors.New("a field has a name that can't be shown")
		}
		field, err := fieldOf(name, s.Properties[name])
		if err != nil {
			return nil, fmt.Errorf("the field %s: %w", name, err)
		}
		field.Required = slices.Contains(s.Required, name)
		f.Fields = append(f.Fields, field)
	}
	return f, nil
}

// fieldOrder is required fields in the schema's order, then the others by name: the
// order of properties is lost on the way.
func fieldOrder(fields map[string]json.RawMessage, required []string) []string {
	var out []string
	for _, name := range required {
		if _, ok := fields[name]; ok && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// option is one way to write an option: a value with a title.
type option struct {
	Const string `json:"const"`
	Title string `json:"title"`
}

// property is a field as the protocol writes it.
type property struct {
	Type        string          `json:"type"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Default     json.RawMessage `json:"default"`
	Format      string          `json:"format"`
	MinLength   *int            `json:"minLength"`
	MaxLength   *int            `json:"maxLength"`
	Minimum     *float64        `json:"minimum"`
	Maximum     *float64        `json:"maximum"`
	Enum        []string        `json:"enum"`
	EnumNames   []string        `json:"enumNames"`
	OneOf       []option        `json:"oneOf"`
	MinItems    *int            `json:"minItems"`
	MaxItems    *int            `json:"maxItems"`
	Items       *struct {
		Enum  []string `json:"enum"`
		AnyOf []option `json:"anyOf"`
	} `json:"items"`
}

func fieldOf(name string, raw json.RawMessage) (event.FormField, error) {
	var p property
	if err := json.Unmarshal(raw, &p); err != nil {
		return event.FormField{}, err
	}
	f := event.FormField{
		Name: name, Title: sanitize.Cut(sanitize.Line(p.Title), maxFormLine), Description: sanitize.Cut(sanitize.Line(p.Description), maxFormText),
		Minimum: p.Minimum, Maximum: p.Maximum, MinLength: p.MinLength, MaxLength: p.MaxLength,
	}
	var err error
	switch p.Type {
	case event.BooleanField, event.NumberField, event.IntegerField:
		f.Type = p.Type
	case "string":
		f.Type, f.Format = event.StringField, sanitize.Cut(sanitize.Line(p.Format), maxFormLine)
		if len(p.Enum)+len(p.OneOf) > 0 {
			f.Type, f.Format = event.ChoiceField, ""
			f.Options, err = optionsOf(p.Enum, p.EnumNames, p.OneOf)
		}
	case "array":
		if p.Items == nil {
			return f, errors.New("a list without its options can't be filled in")
		}
		f.Type, f.MinItems, f.MaxItems = event.ChoicesField, p.MinItems, p.MaxItems
		f.Options, err = optionsOf(p.Items.Enum, nil, p.Items.AnyOf)
	default:
		return f, fmt.Errorf("the type %q can't be filled in", sanitize.Cut(sanitize.Line(p.Type), maxFormLine))
	}
	if err != nil {
		return f, err
	}
	if len(p.Default) > 0 {
		if exact, why := f.Check(p.Default); why == "" {
			f.Default = exact // one that doesn't fit stands for nothing
		}
	}
	return f, nil
}

func optionsOf(values, names []string, titled []option) ([]event.FormOption, error) {
	if len(values) == 0 {
		for _, o := range titled {
			values, names = append(values, o.Const), append(names, o.Title)
		}
	}
	if len(values) == 0 || len(values) > maxOptions {
		return nil, fmt.Errorf("it has %d options; 1 to %d are allowed", len(values), maxOptions)
	}
	out := make([]event.FormOption, len(values))
	for i, v := range values {
		if sanitize.Line(v) != v || len(v) > maxFormText {
			return nil, errors.New("an option can't be shown")
		}
		out[i].Value = v
		if i < len(names) {
			out[i].Title = sanitize.Cut(sanitize.Line(names[i]), maxFormLine)
		}
		if cmp.Or(out[i].Title, v) == v {
			out[i].Title = ""
		}
	}
	return out, nil
}
