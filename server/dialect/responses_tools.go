package dialect

import (
	"encoding/json"
	"strings"

	"github.com/fettle-cli/fettle/engine/event"
)

// custom is the type of a tool whose input is text, and the member of such a tool and of its
// calls in chat completions.
const custom = "custom"

// CallForm is how a client of Responses knows a tool that the model calls as a function: one
// of a namespace, or one with free text for its input.
type CallForm struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	Custom    bool   `json:"custom,omitempty"`
}

// JSON returns the form as it is kept with calls; nil for the zero value.
func (f CallForm) JSON() json.RawMessage {
	if f == (CallForm{}) {
		return nil
	}
	return appendValue(nil, f)
}

// customSchema is the schema of a custom tool as a function.
const customSchema = `{"type":"object","properties":{"input":{"type":"string","description":"the whole input of the tool, as plain text"}},"required":["input"],"additionalProperties":false}`

// responsesTool is a tool of a request.
type responsesTool struct {
	Type string `json:"type"`
	openAIFunc
	Function *openAIFunc       `json:"function"` // chat's form, which some send here
	Tools    []json.RawMessage `json:"tools"`    // of a namespace
	Format   *grammar          `json:"format"`   // of a custom tool
}

// grammar is the format of a custom tool's input. Chat completions have it one level deeper.
type grammar struct {
	Syntax     string   `json:"syntax"`
	Definition string   `json:"definition"`
	Grammar    *grammar `json:"grammar"`
}

// responsesTools takes the tools of a request, and returns their JSON for the echo. Tools of
// other types are OpenAI's own to run, and are reported as ignored.
func responsesTools(r *Request, raw []json.RawMessage) (json.RawMessage, *FieldError) {
	kept := []json.RawMessage{}
	for i, t := range raw {
		field := item("tools", i)
		var f responsesTool
		if err := read(field, t, &f); err != nil {
			return nil, err
		}
		switch f.Type {
		case "function":
			kept = append(kept, r.functionTool(f, ""))
		case custom:
			r.customTool(f, "")
			kept = append(kept, appendRaw(nil, t))
		case "namespace":
			if err := r.namespaceTools(f, field); err != nil {
				return nil, err
			}
			kept = append(kept, appendRaw(nil, t))
		default:
			r.ignore(field+" of type "+clean(f.Type), true)
		}
	}
	return appendValue(nil, kept), nil
}

// namespaceTools takes the tools of a namespace.
func (r *Request) namespaceTools(of responsesTool, field string) *FieldError {
	if of.Name == "" {
		return wrong(field+".name", "a namespace needs a name")
	}
	for i, t := range of.Tools {
		inner := item(field+".tools", i)
		var f responsesTool
		if err := read(inner, t, &f); err != nil {
			return err
		}
		switch f.Type {
		case "function":
			r.functionTool(f, of.Name)
		case custom:
			r.customTool(f, of.Name)
		default:
			r.ignore(inner+" of type "+clean(f.Type), true)
		}
	}
	return nil
}

// functionTool takes a function, and returns its JSON for the echo.
func (r *Request) functionTool(f responsesTool, namespace string) json.RawMessage {
	if f.Function != nil {
		f.openAIFunc = *f.Function
	}
	t := f.tool()
	r.addTool(t, CallForm{Namespace: namespace, Name: t.Name})
	params, strict := f.Parameters, "false"
	if null(params) {
		params = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	if f.Strict != nil && *f.Strict {
		strict = "true"
	}
	return open(nil).str("type", "function").str("name", f.Name).opt("description", f.Description).
		raw("parameters", params).lit("strict", strict).close()
}

// customTool takes a tool whose input is text. Models get it as a function with one text,
// and with the grammar of the text in the description.
func (r *Request) customTool(f responsesTool, namespace string) {
	text, g := f.Description, f.Format
	if g != nil && g.Grammar != nil {
		g = g.Grammar
	}
	if g != nil && g.Definition != "" {
		text = strings.TrimSpace(text + "\n\nThe input follows this " + g.Syntax + " grammar:\n" + g.Definition)
	}
	r.addTool(Tool{Name: f.Name, Description: text, Schema: json.RawMessage(customSchema)},
		CallForm{Namespace: namespace, Name: f.Name, Custom: true})
}

// addTool adds a tool under the name that the model gets, and keeps how the client knows it
// where that differs.
func (r *Request) addTool(t Tool, form CallForm) {
	t.Name = flatName(form.Namespace, form.Name)
	r.Tools = append(r.Tools, t)
	if form.Namespace == "" && !form.Custom {
		return
	}
	if r.CallForms == nil {
		r.CallForms = map[string]CallForm{}
	}
	r.CallForms[t.Name] = form
}

// flatName returns the name under which a model gets a tool of a namespace.
func flatName(namespace, name string) string {
	if namespace == "" || strings.HasSuffix(namespace, "__") {
		return namespace + name
	}
	return namespace + "__" + name
}

// customInput returns the text of a custom tool's call.
func customInput(args json.RawMessage) string {
	var in struct {
		Input *string `json:"input"`
	}
	if json.Unmarshal(args, &in) == nil && in.Input != nil {
		return *in.Input
	}
	return compact(args)
}

// called adds a call to an object of chat completions, in the form that the client knows.
func (o *object) called(forms map[string]CallForm, b event.ToolStart) *object {
	if form, ok := forms[b.Tool]; ok && form.Custom {
		return o.str("type", custom).obj(custom, func(o *object) { o.str("name", form.Name).str("input", customInput(b.Input)) })
	}
	return o.str("type", function).
		obj(function, func(o *object) { o.str("name", b.Tool).str("arguments", compact(b.Input)).extraFunction(b.Extra) }).
		extra(b.Extra)
}
