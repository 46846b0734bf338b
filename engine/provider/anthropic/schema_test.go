package anthropic

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/internal/schema"
)

func TestInputSchema(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, want, added string }{
		"none":            {``, `{"type":"object","properties":{}}`, ""},
		"null":            {`null`, `{"type":"object","properties":{}}`, ""},
		"anything":        {`true`, `{"type":"object","properties":{}}`, ""},
		"empty":           {`{}`, `{"type":"object","properties":{}}`, ""},
		"plain":           {`{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"number"}},"required":["b"]}`, `{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"number"}},"required":["b"]}`, ""},
		"type missing":    {`{"properties":{"a":{}}}`, `{"properties":{"a":{}},"type":"object"}`, ""},
		"nullable":        {`{"type":["object","null"]}`, `{"type":"object","properties":{}}`, ""},
		"schema named":    {`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object"}`, `{"type":"object","properties":{}}`, ""},
		"reference":       {`{"$ref":"#/$defs/in","$defs":{"in":{"type":"object","properties":{"a":{"$ref":"#/$defs/s"}}},"s":{"type":"string"}}}`, `{"type":"object","properties":{"a":{"$ref":"#/$defs/s"}},"$defs":{"in":{"type":"object","properties":{"a":{"$ref":"#/$defs/s"}}},"s":{"type":"string"}}}`, ""},
		"deep is left":    {`{"type":"object","properties":{"a":{"anyOf":[{"type":"null"},{"type":"string"}]}}}`, `{"type":"object","properties":{"a":{"anyOf":[{"type":"null"},{"type":"string"}]}}}`, ""},
		"allOf":           {`{"allOf":[{"properties":{"a":{}},"required":["a"]},{"$ref":"#/$defs/b"}],"$defs":{"b":{"properties":{"b":{"type":"string"}},"required":["b"]}}}`, `{"$defs":{"b":{"properties":{"b":{"type":"string"}},"required":["b"]}},"type":"object","properties":{"a":{},"b":{"type":"string"}},"required":["a","b"]}`, ""},
		"oneOf":           {`{"type":"object","properties":{"id":{"type":"string"}},"required":["id"],"oneOf":[{"properties":{"x":{"type":"string"},"kind":{"const":"a"}},"required":["kind","x"]},{"properties":{"x":{"type":"number"},"kind":{"const":"b"}},"required":["kind"]}]}`, `{"type":"object","properties":{"id":{"type":"string"},"x":{"anyOf":[{"type":"string"},{"type":"number"}]},"kind":{"anyOf":[{"const":"a"},{"const":"b"}]}},"required":["id","kind"]}`, "Exactly one"},
		"anyOf required":  {`{"type":"object","properties":{"a":{},"b":{}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`, `{"type":"object","properties":{"a":{},"b":{}}}`, "At least one"},
		"object or null":  {`{"anyOf":[{"type":"null"},{"type":"object","properties":{"a":{}},"required":["a"]}]}`, `{"type":"object","properties":{"a":{}},"required":["a"]}`, "At least one"},
		"the own wins":    {`{"properties":{"a":{"type":"string"},"b":{}},"oneOf":[{"properties":{"a":{"const":"x"},"b":{"type":"number"}}}]}`, `{"properties":{"a":{"type":"string"},"b":{"type":"number"}},"type":"object"}`, "Exactly one"},
		"list of items":   {`{"type":"object","properties":{"a":{"type":"array","items":[{"type":"string"}],"additionalItems":false}}}`, `{"type":"object","properties":{"a":{"type":"array","prefixItems":[{"type":"string"}],"items":false}}}`, ""},
		"old bounds":      {`{"type":"object","properties":{"a":{"type":"number","minimum":1,"exclusiveMinimum":true,"maximum":2,"exclusiveMaximum":false}}}`, `{"type":"object","properties":{"a":{"type":"number","exclusiveMinimum":1,"maximum":2}}}`, ""},
		"values are left": {`{"type":"object","properties":{"properties":{"type":"object","default":{"properties":{"é":1},"items":[1]}}}}`, `{"type":"object","properties":{"properties":{"type":"object","default":{"properties":{"é":1},"items":[1]}}}}`, ""},
		"text is kept":    {`{"type":"object","description":"<b> & \u2028 é","properties":{}}`, `{"type":"object","description":"<b> & \u2028 é","properties":{}}`, ""},
	} {
		got, added, err := inputSchema(json.RawMessage(c.in))
		if err != nil || string(got) != c.want || !strings.HasPrefix(added, c.added) || (c.added == "") != (added == "") {
			t.Errorf("%s: got %s and %q, %v\nwant %s", name, got, added, err, c.want)
		}
	}
	deep := strings.Repeat(`{"allOf":[`, 20) + `{}` + strings.Repeat(`]}`, 20)
	for _, in := range []string{
		`{`, `[]`, `"x"`, `3`, `false`, `{"type":"array"}`, `{"type":"string"}`, `{"enum":[1]}`, `{"anyOf":[{"type":"string"},{"type":"null"}]}`,
		`{"$ref":"#/$defs/gone"}`, `{"$ref":"#"}`, `{"$ref":"https://example.com/schema"}`, `{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/a"}}}`,
		`{"allOf":[{"type":"string"}]}`, `{"type":"object","properties":{"a b":{}}}`, `{"type":"object","properties":{"":{}}}`,
		`{"type":"object","properties":{"a":{"type":"array","items":{"properties":{"größe":{}}}}}}`, `{"type":"object","properties":{"` + strings.Repeat("a", 65) + `":{}}}`,
		deep, strings.Repeat(`{"not":`, 200) + `{}` + strings.Repeat(`}`, 200),
	} {
		if got, _, err := inputSchema(json.RawMessage(in)); err == nil {
			t.Errorf("%s became %s", in, got)
		} else if strings.ContainsAny(err.Error(), "\n\r") {
			t.Errorf("the error is %q", err)
		}
	}
}

func TestOutputSchema(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"type":"object","properties":{"n":{"type":"integer","minimum":1,"multipleOf":2}},"required":["n"]}`:                                                                                       `{"type":"object","properties":{"n":{"type":"integer","description":"{minimum: 1, multipleOf: 2}"}},"required":["n"],"additionalProperties":false}`,
		`{"type":"object","properties":{"s":{"type":"string","description":"a name","minLength":1,"pattern":"^a+$","format":"uuid"}}}`:                                                              `{"type":"object","properties":{"s":{"type":"string","description":"a name\n\n{minLength: 1}","pattern":"^a+$","format":"uuid"}},"additionalProperties":false}`,
		`{"type":"object","properties":{"s":{"type":"string","pattern":"^(?=a)","format":"color"}}}`:                                                                                                `{"type":"object","properties":{"s":{"type":"string","description":"{pattern: \"^(?=a)\", format: \"color\"}"}},"additionalProperties":false}`,
		`{"type":"array","items":{"type":"string"},"minItems":1}`:                                                                                                                                   `{"type":"array","items":{"type":"string"},"minItems":1}`,
		`{"type":"array","items":{"enum":["a",1,null]},"minItems":2,"maxItems":3,"uniqueItems":true}`:                                                                                               `{"type":"array","items":{"enum":["a",1,null]},"description":"{minItems: 2, maxItems: 3, uniqueItems: true}"}`,
		`{"type":"object","properties":{"a":{"oneOf":[{"type":"null"},{"$ref":"#/$defs/p"}]}},"$defs":{"p":{"type":"object","properties":{"x":{"type":"number"}}},"loop":{"$ref":"#/$defs/loop"}}}`: `{"type":"object","properties":{"a":{"anyOf":[{"type":"null"},{"$ref":"#/$defs/p"}]}},"additionalProperties":false,"$defs":{"p":{"type":"object","properties":{"x":{"type":"number"}},"additionalProperties":false}}}`,
		`{"type":"object","properties":{"a":{"description":"one","allOf":[{"$ref":"#/definitions/p"}]}},"definitions":{"p":{"type":["string","null"]}}}`:                                            `{"type":"object","properties":{"a":{"$ref":"#/definitions/p"}},"additionalProperties":false,"definitions":{"p":{"type":["string","null"]}}}`,
		`{"$schema":"x","type":"object","additionalProperties":false}`:                                                                                                                              `{"type":"object","additionalProperties":false,"properties":{}}`,
		`{"type":"object","properties":{"a":{"const":"x","title":"A","default":"x","examples":["x"]}},"additionalProperties":true}`:                                                                 `{"type":"object","properties":{"a":{"const":"x","title":"A","default":"x"}},"additionalProperties":false}`,
	} {
		got, err := outputSchema(json.RawMessage(in))
		if !equalMembers(t, got, want) {
			t.Errorf("%s\nbecame %s, %v\nwant   %s", in, got, err, want)
		}
	}
	for _, in := range []string{
		`{`, `[]`, `true`, `{}`, `{"type":"object"}`, `{"type":"object","properties":{"a":{}}}`, `{"type":"object","properties":{"a":true}}`,
		`{"type":"object","additionalProperties":{"type":"string"}}`, `{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":{"type":"string"}}`,
		`{"type":"array"}`, `{"type":["array","null"]}`, `{"type":"array","items":[{"type":"string"}]}`, `{"type":"array","prefixItems":[{"type":"string"}]}`,
		`{"type":"object","patternProperties":{"^a":{"type":"string"}}}`, `{"enum":[{"a":1}]}`, `{"const":[1]}`,
		`{"type":"object","properties":{"a":{"$ref":"#"}}}`, `{"$ref":"#/$defs/a","$defs":{"a":{"type":"object","properties":{"b":{"$ref":"#/$defs/a"}}}}}`,
		`{"$ref":"#/$defs/a","$defs":{"a":{"type":"array","items":{"$ref":"#/$defs/b"}},"b":{"anyOf":[{"$ref":"#/$defs/a"}]}}}`,
		`{"allOf":[{"$ref":"#/$defs/a"},{"type":"object","properties":{}}],"$defs":{"a":{"type":"string"}}}`, `{"anyOf":[{"type":"string"}],"oneOf":[{"type":"string"}]}`,
		`{"$ref":"https://example.com"}`, `{"description":"anything"}`,
	} {
		if got, err := outputSchema(json.RawMessage(in)); err == nil {
			t.Errorf("%s became %s", in, got)
		}
	}
}

// tangled is a schema of few definitions that stand for n⁷ alternatives.
func tangled(n int) json.RawMessage {
	var defs []string
	for level := range 7 {
		next := strings.TrimSuffix(strings.Repeat(fmt.Sprintf(`{"$ref":"#/$defs/d%d"},`, level+1), n), ",")
		defs = append(defs, fmt.Sprintf(`"d%d":{"anyOf":[%s]}`, level, next))
	}
	return json.RawMessage(`{"$ref":"#/$defs/d0","$defs":{` + strings.Join(defs, ",") + `,"d7":{"type":"object","properties":{"a":{"type":"string"}}}}}`)
}

func TestTangledSchemas(t *testing.T) {
	t.Parallel()
	if got, _, err := inputSchema(tangled(100)); err == nil {
		t.Errorf("it became %s", got)
	}
	if _, err := outputSchema(tangled(100)); err != nil {
		t.Error(err)
	}
	var branches []string
	for i := range 6000 {
		branches = append(branches, fmt.Sprintf(`"p%d":{}`, i))
	}
	wide := json.RawMessage(`{"anyOf":[{"properties":{` + strings.Join(branches, ",") + `}}]}`)
	if got, _, err := inputSchema(wide); err == nil {
		t.Errorf("it became a schema of %d bytes", len(got))
	}
}

// equalMembers compares JSON without regard to the order of members.
func equalMembers(t *testing.T, got []byte, want string) bool {
	t.Helper()
	var a, b any
	if json.Unmarshal(got, &a) != nil || json.Unmarshal([]byte(want), &b) != nil {
		return false
	}
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

func TestAnswerTool(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"type":"object","properties":{"n":{"type":"integer"}}}`:                             `{"type":"object","properties":{"n":{"type":"integer"}}}`,
		`{"type":"array","items":{"$ref":"#/$defs/p"},"$defs":{"p":{"type":"string"}}}`:       `{"type":"object","$defs":{"p":{"type":"string"}},"properties":{"answer":{"type":"array","items":{"$ref":"#/$defs/p"}}},"required":["answer"]}`,
		`{"$schema":"x","anyOf":[{"type":"object","properties":{"a":{}}},{"type":"string"}]}`: `{"type":"object","properties":{"answer":{"anyOf":[{"type":"object","properties":{"a":{}}},{"type":"string"}]}},"required":["answer"]}`,
		`{"$ref":"#/$defs/p","$defs":{"p":{"type":"object"}}}`:                                `{"type":"object","$defs":{"p":{"type":"object"}},"properties":{"answer":{"$ref":"#/$defs/p"}},"required":["answer"]}`,
	} {
		a, err := newAnswerTool(json.RawMessage(in), []tool{{Name: "other"}})
		if err != nil || string(a.schema) != want || a.name != "answer" {
			t.Errorf("%s became %+v, %v", in, a, err)
			continue
		}
		if a.wrapped != strings.Contains(want, `"answer"`) {
			t.Errorf("%s: wrapped is %v", in, a.wrapped)
		}
	}
	for _, in := range []string{`{`, `[]`, `true`, `{"type":"array","items":{"$ref":"#"}}`, `{"type":"object","properties":{"a b":{}}}`} {
		if a, err := newAnswerTool(json.RawMessage(in), nil); err == nil {
			t.Errorf("%s became %+v", in, a)
		}
	}
	a, err := newAnswerTool(json.RawMessage(`{"type":"array","items":{}}`), []tool{{Name: "answer"}})
	if err != nil || a.name == "answer" || len(a.name) > 64 {
		t.Fatalf("beside a tool of the same name it is %+v, %v", a, err)
	}
	for in, want := range map[string]string{`{"answer":[1,2]}`: `[1,2]`, `{"answer":null}`: `null`, `{"other":1}`: `{"other":1}`, `[1]`: `[1]`} {
		if got := a.content(json.RawMessage(in)); got != want {
			t.Errorf("%s holds the answer %s, want %s", in, got, want)
		}
	}
}

// Whatever a tool's schema is, what is offered is a plain object, and a schema.
func FuzzInputSchema(f *testing.F) {
	f.Add([]byte(`{"type":"object","oneOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"$ref":"#/$defs/b"}],"$defs":{"b":{"properties":{"b":{"minimum":1,"exclusiveMinimum":true}}}}}`))
	f.Add([]byte(`{"allOf":[{"anyOf":[{"type":"null"},{"required":["a"]}]},{"properties":{"a":{"items":[{},{}]}}}]}`))
	f.Add([]byte(`{"type":["object","null"],"additionalProperties":false,"anyOf":[{"properties":{"a":{}}}]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		got, _, err := inputSchema(in)
		if err != nil {
			return
		}
		var top map[string]json.RawMessage
		if json.Unmarshal(got, &top) != nil || string(top["type"]) != `"object"` {
			t.Fatalf("%s became %s", in, got)
		}
		for _, key := range []string{"allOf", "anyOf", "oneOf", "$ref"} {
			if top[key] != nil {
				t.Fatalf("%s became %s", in, got)
			}
		}
		if _, err := schema.Compile(in); err != nil {
			return
		}
		if _, err := schema.Compile(got); err != nil {
			t.Errorf("%s\nbecame %s: %v", in, got, err)
		}
	})
}

func FuzzOutputSchema(f *testing.F) {
	f.Add([]byte(simpleSchema))
	f.Add([]byte(`{"type":"object","properties":{"a":{"oneOf":[{"type":"null"},{"$ref":"#/$defs/p"}]}},"$defs":{"p":{"type":"array","items":{"const":1}}}}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		got, err := outputSchema(in)
		if err != nil {
			return
		}
		if !json.Valid(got) {
			t.Fatalf("%s became %s", in, got)
		}
		if _, err := schema.Compile(in); err != nil {
			return
		}
		if _, err := schema.Compile(got); err != nil {
			t.Errorf("%s\nbecame %s: %v", in, got, err)
		}
	})
}
