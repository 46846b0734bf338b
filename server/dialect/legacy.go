package dialect

import (
	"encoding/json"
	"strconv"
)

// legacyCall is a function_call: the call of a function of the list functions, which preceded
// tools. It has no id, and an answer has one of them at most.
type legacyCall struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// legacy reads functions and function_call of a request, and those of its messages. A request
// with functions and without tools is answered in that form.
func (in *chatRequest) legacy(r *Request) *FieldError {
	for _, f := range in.Functions {
		r.Tools = append(r.Tools, f.tool())
	}
	if r.Functions = len(in.Functions) > 0 && len(in.Tools) == 0; r.Functions {
		r.Parallel = new(bool) // the form has no place for a second call
	}
	in.pairFunctions()
	if null(in.FunctionCall) {
		return nil
	}
	if begins(in.FunctionCall) == '{' {
		var named legacyCall
		if err := read("function_call", in.FunctionCall, &named); err != nil {
			return err
		}
		if named.Name == "" {
			return wrong("function_call.name", isMissing)
		}
		r.Choice = Choice{Mode: "tool", Name: named.Name}
		return nil
	}
	var word string
	if err := read("function_call", in.FunctionCall, &word); err != nil {
		return err
	}
	if word != "auto" && word != "none" {
		return wrong("function_call", "there is no choice "+word)
	}
	r.Choice = Choice{Mode: word}
	return nil
}

// pairFunctions gives the calls of functions among the messages ids, and their results the ids
// of the calls before them.
func (in *chatRequest) pairFunctions() {
	last := map[string]string{}
	for i := range in.Messages {
		m := &in.Messages[i]
		if f := m.Function; f != nil && f.Name != "" {
			c := wireCall{ID: "function_" + strconv.Itoa(i)}
			c.Function.Name, c.Function.Arguments = f.Name, f.Arguments
			m.ToolCalls = append(m.ToolCalls, c)
			last[f.Name] = c.ID
		}
		if m.Role == function && m.CallID == "" {
			m.CallID = last[m.Name]
		}
	}
}

// functionCall adds the call of a function to an object of chat completions.
func (o *object) functionCall(tool string, args json.RawMessage) {
	o.obj("function_call", func(o *object) { o.str("name", tool).str("arguments", compact(args)) })
}
