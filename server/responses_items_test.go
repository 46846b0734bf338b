package server_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

const patchScript = `
responses:
  - {when: patch it, step: 0, expect: {tools: [apply_patch, mcp__notes__find]}, reasoning: Hm., text: First., calls: [{name: apply_patch, args: {input: "*** Begin"}}, {name: mcp__notes__find, args: {q: x}}]}
  - {when: patch it, step: 1, seen: "patched\nfound it", text: Patched.}
  - {when: again, seen: "patch it\nFirst.\npatched\nfound it\nPatched.\nagain", text: Yes.}
  - {when: and then, seen: "again\nYes.\nand then", text: Done.}
`

// response is a response, with its items as they came.
type response struct {
	ID     string
	Output []map[string]any
}

// patchTools are a custom tool and one of a namespace.
func patchTools() []doc {
	return []doc{
		{"type": "custom", "name": "apply_patch", "description": "patches"},
		{"type": "namespace", "name": "mcp__notes", "tools": []doc{{"type": "function", "name": "find", "parameters": doc{"type": "object", "properties": doc{"q": doc{"type": "string"}}}}}},
	}
}

// respond asks the model, and returns the response.
func (h *house) respond(input any, more doc) (out response) {
	h.t.Helper()
	body := doc{"model": "script/m.yaml", "input": input, "tools": patchTools()}
	for k, v := range more {
		body[k] = v
	}
	h.call("POST", "/v1/responses", body).is(200, &out)
	return out
}

func outputs(first response) []doc {
	calls := first.Output[len(first.Output)-2:]
	return []doc{
		{"type": "custom_tool_call_output", "call_id": calls[0]["call_id"], "output": "patched"},
		{"type": "function_call_output", "call_id": calls[1]["call_id"], "output": "found it"},
	}
}

func referTo(items []map[string]any) (out []doc) {
	for i, it := range items {
		ref := doc{"type": "item_reference", "id": it["id"]}
		if i%2 == 1 {
			delete(ref, "type") // which OpenAI's API allows
		}
		out = append(out, ref)
	}
	return out
}

// Calls of custom tools and of tools in namespaces are stored in the form that their client
// knows, and so are their outputs.
func TestStoredCallsKeepTheirForm(t *testing.T) {
	t.Parallel()
	h := open(t, plan{script: patchScript})
	first := h.respond("patch it", nil)
	second := h.respond(outputs(first), doc{"previous_response_id": first.ID})
	var stored response
	h.call("GET", "/v1/responses/"+first.ID, nil).is(200, &stored)
	if got, want := jsonText(t, stored.Output), jsonText(t, first.Output); got != want {
		t.Errorf("the stored output is\n%s, want\n%s", got, want)
	}
	for _, part := range []string{`"type":"custom_tool_call"`, `"input":"*** Begin"`, `"namespace":"mcp__notes"`, `"name":"find"`} {
		if !strings.Contains(jsonText(t, stored.Output), part) {
			t.Errorf("%s is missing from %s", part, jsonText(t, stored.Output))
		}
	}
	if stream := h.call("GET", "/v1/responses/"+first.ID+"?stream=true", nil).is(200, nil); !strings.Contains(string(stream.body), "response.custom_tool_call_input.done") {
		t.Errorf("the stream is %s", stream.body)
	}
	var items struct {
		Data []struct {
			ID, Type, Output string
			CallID           string `json:"call_id"`
		}
	}
	h.call("GET", "/v1/responses/"+second.ID+"/input_items?order=asc", nil).is(200, &items)
	if len(items.Data) != 2 || items.Data[0].Type != "custom_tool_call_output" || items.Data[0].Output != "patched" || items.Data[1].Type != "function_call_output" || items.Data[0].ID == items.Data[1].ID {
		t.Errorf("the input items are %+v", items.Data)
	}
}

// References stand for stored items of the input and the output, in order. A response whose
// input repeats a stored conversation is stored as its next turn, so that it can be referred
// to in its turn.
func TestReferencesStandForStoredItems(t *testing.T) {
	t.Parallel()
	h := open(t, plan{script: patchScript})
	first := h.respond("patch it", nil)
	var asked struct{ Data []map[string]any }
	h.call("GET", "/v1/responses/"+first.ID+"/input_items", nil).is(200, &asked)
	input := append(append(referTo(asked.Data), referTo(first.Output)...), outputs(first)...)
	second := h.respond(input, nil)
	input = append(append(input, referTo(second.Output)...), says("user", "again"))
	third := h.respond(input, nil)
	fourth := h.respond("and then", doc{"previous_response_id": third.ID})
	for name, c := range map[string]struct {
		got  response
		want string
	}{"second": {second, "Patched."}, "third": {third, "Yes."}, "fourth": {fourth, "Done."}} {
		if !strings.Contains(jsonText(t, c.got.Output), c.want) {
			t.Errorf("the %s answer is %s", name, jsonText(t, c.got.Output))
		}
	}
	// Another conversation with the same items is not stored, and can be asked all the same.
	other := append([]doc{says("user", "before that"), says("assistant", "Well.")}, input[:len(input)-1]...)
	last := h.respond(append(other, says("user", "again")), nil)
	h.call("GET", "/v1/responses/"+last.ID, nil).is(404, nil)
}

// An item that is not stored is not found, in the words of OpenAI's API.
func TestAReferenceToAnItemThatIsNotStored(t *testing.T) {
	t.Parallel()
	h := open(t, plan{script: patchScript})
	unstored := h.respond("patch it", doc{"store": false})
	stored := h.respond("patch it", nil)
	turn := strings.Split(stored.Output[0]["id"].(string), "_")[1]
	for _, id := range []string{"rs_68af0fc", "msg_" + turn + "_9", "msg_" + turn + "_i9", "msg_" + strings.Repeat("0", 26) + "_0", unstored.Output[0]["id"].(string)} {
		got := h.call("POST", "/v1/responses", doc{"model": "script/m.yaml", "input": []doc{{"type": "item_reference", "id": id}, says("user", "again")}}).is(http.StatusNotFound, nil)
		var body struct {
			Error struct{ Message, Type, Param string }
		}
		must(t, json.Unmarshal(got.body, &body))
		if e := body.Error; !strings.HasPrefix(e.Message, "Item with id '"+id+"' not found.") || e.Type != "invalid_request_error" || e.Param != "input" {
			t.Errorf("%s is answered with %s", id, got.body)
		}
	}
}
