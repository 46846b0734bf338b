package event

import "encoding/json"

// Schema is the form as MCP and ACP write it: a flat JSON Schema.
func (f *Form) Schema() json.RawMessage {
	fields := map[string]any{}
	required := []string{}
	for i := range f.Fields {
		fields[f.Fields[i].Name] = f.Fields[i].schema()
		if f.Fields[i].Required {
			required = append(required, f.Fields[i].Name)
		}
	}
	out := map[string]any{"type": "object", "properties": fields}
	if len(required) > 0 {
		out["required"] = required
	}
	raw, err := marshal(out)
	if err != nil { // texts, numbers and what Check has read
		return json.RawMessage(`{"type":"object"}`)
	}
	return raw
}

func (f *FormField) schema() map[string]any {
	out := map[string]any{"type": f.Type}
	put := func(name string, there bool, value any) {
		if there {
			out[name] = value
		}
	}
	put("title", f.Title != "", f.Title)
	put("description", f.Description != "", f.Description)
	put("default", len(f.Default) > 0, f.Default)
	put("format", f.Format == "email" || f.Format == "uri" || f.Format == "date" || f.Format == "date-time", f.Format)
	put("minLength", f.MinLength != nil, f.MinLength)
	put("maxLength", f.MaxLength != nil, f.MaxLength)
	put("minimum", f.Minimum != nil, whole(f.Type, f.Minimum))
	put("maximum", f.Maximum != nil, whole(f.Type, f.Maximum))
	put("minItems", f.MinItems != nil, f.MinItems)
	put("maxItems", f.MaxItems != nil, f.MaxItems)
	switch f.Type {
	case ChoiceField:
		out["type"], out["oneOf"] = "string", f.titled()
	case ChoicesField:
		out["type"], out["items"] = "array", map[string]any{"anyOf": f.titled()}
	}
	return out
}

// whole writes a bound of an integer as one.
func whole(kind string, n *float64) any {
	if n != nil && kind == IntegerField {
		return int64(*n)
	}
	return n
}

func (f *FormField) titled() []map[string]string {
	var out []map[string]string
	for _, o := range f.Options {
		title := o.Title
		if title == "" {
			title = o.Value
		}
		out = append(out, map[string]string{"const": o.Value, "title": title})
	}
	return out
}
