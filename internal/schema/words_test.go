package schema

import (
	"fmt"
	"strings"
	"testing"
)

const order = `{
  "type": "object",
  "properties": {
    "items": {"type": "array", "minItems": 1, "uniqueItems": true, "items": {
      "type": "object",
      "properties": {"price": {"type": "number", "minimum": 0}, "name": {"type": "string", "minLength": 2, "maxLength": 5}},
      "required": ["price"],
      "additionalProperties": false
    }},
    "file_name": {"type": "string", "pattern": "^[a-z]+$"},
    "mode": {"enum": ["read", "write", 3]},
    "size": {"type": ["integer", "null"], "maximum": 10},
    "step": {"multipleOf": 0.5, "exclusiveMinimum": 0},
    "card": {"type": "string"}, "billing": {"type": "string"},
    "one": {"const": 1}
  },
  "dependentRequired": {"card": ["billing"]},
  "required": ["items"],
  "additionalProperties": false
}`

func TestMessages(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, schema, doc, want string }{
		{"valid", order, `{"items":[{"price":1.5}]}`, ``},
		{"wrong type deep inside", order, `{"items":[{"price":1},{"price":"12"}]}`, `/items/1/price: expected number, got string "12"`},
		{"missing property with its type", order, `{}`, `missing property "items" (array)`},
		{"missing inside", order, `{"items":[{"price":1},{}]}`, `/items/1: missing property "price" (number)`},
		{"unexpected, with the nearest", order, `{"items":[{"price":1,"nmae":"ab"}]}`, `/items/0/nmae: unexpected property (did you mean "name"?)`},
		{"unexpected, sharing a word", order, `{"items":[{"price":1}],"file":"x"}`, `/file: unexpected property (did you mean "file_name"?)`},
		{"unexpected, nothing near", order, `{"items":[{"price":1,"zzzzzzzz":1}]}`, `/items/0/zzzzzzzz: unexpected property (there is "name", "price")`},
		{"all problems, in order of place", order, `{"size":11.5,"mode":"raed","items":[],"x\n":1}`,
			"/items: expected at least 1 item, got 0\n" +
				`/mode: expected "read", "write" or 3, got string "raed" (did you mean "read"?)` + "\n" +
				`/size: expected null or integer, got number 11.5` + "\n" +
				"/x\uFFFD: unexpected property (there is \"billing\", \"card\", \"file_name\", \"items\", \"mode\", \"one\", \"size\", \"step\")"},
		{"array as text", order, `{"items":"[{\"price\":1}]"}`, `/items: expected array, got string "[{\"price\":1}]" (give the array itself, not its JSON in a string)`},
		{"index order is numeric", order, `{"items":[{"price":1},{"price":2},{},{"price":3},{"price":4},{"price":5},{"price":6},{"price":7},{"price":8},{"price":9},{}]}`,
			"/items: items 2 and 10 are equal; all must differ\n" +
				`/items/2: missing property "price" (number)` + "\n" + `/items/10: missing property "price" (number)`},
		{"lengths and bounds", order, `{"items":[{"price":-1,"name":"a"},{"price":0,"name":"abcdef"}],"file_name":"A1","size":11,"step":0}`,
			`/file_name: expected a text that matches ^[a-z]+$, got "A1"` + "\n" +
				"/items/0/name: expected at least 2 characters, got 1\n" +
				"/items/0/price: expected at least 0, got -1\n" +
				"/items/1/name: expected at most 5 characters, got 6\n" +
				"/size: expected at most 10, got 11\n" +
				"/step: expected more than 0, got 0"},
		{"multiple of a fraction", order, `{"items":[{"price":1}],"step":0.75}`, `/step: expected a multiple of 0.5, got 0.75`},
		{"needed beside another", order, `{"items":[{"price":1}],"card":"4"}`, `missing property "billing" (string), which "card" needs`},
		{"const", order, `{"items":[{"price":1}],"one":true}`, `/one: expected 1, got boolean true`},
		{"const takes 1.0 for 1", order, `{"items":[{"price":1}],"one":1.0}`, ``},
		{"root of another type", order, `[]`, `expected object, got array`},

		{"nullable merged", `{"anyOf":[{"type":"string"},{"type":"null"}]}`, `5`, `expected string or null, got number 5`},
		{"nullable object reports the object", `{"anyOf":[{"type":"null"},{"type":"object","required":["a"]}]}`, `{}`, `missing property "a"`},
		{"values and types merged", `{"anyOf":[{"const":"auto"},{"enum":["on","off"]},{"type":"integer"}]}`, `"of"`, `expected integer, "auto", "on" or "off", got string "of" (did you mean "off"?)`},
		{"tagged forms report the meant one", shapes, `{"kind":"circle","radius":"2"}`, `/radius: expected number, got string "2"`},
		{"tagged forms list the tags", shapes, `{"kind":"circel","radius":2}`, `/kind: expected "circle", "square" or "line", got string "circel" (did you mean "circle"?)`},
		{"untagged forms report the nearest", `{"oneOf":[{"required":["a","b"]},{"required":["a"],"properties":{"c":{"type":"string"}}}]}`, `{"c":1,"a":1}`,
			"fits none of the 2 allowed forms; the nearest is number 1:\n" + `missing property "b"`},
		{"two forms fit", `{"oneOf":[{"type":"number"},{"type":"string"},{"minimum":2}]}`, `3`, `fits two of the forms of which exactly one must fit (numbers 1 and 3)`},
		{"through references", `{"$defs":{"p":{"type":"object","properties":{"x":{"$ref":"#/$defs/n"}}},"n":{"type":"integer"}},"$ref":"#/$defs/p"}`, `{"x":1.5}`, `/x: expected integer, got number 1.5`},
		{"unevaluated property", `{"allOf":[{"properties":{"alpha":{}}}],"properties":{"beta":{}},"unevaluatedProperties":false}`, `{"alpha":1,"bata":2}`, `/bata: unexpected property (did you mean "beta"?)`},
		{"forbidden property", `{"properties":{"old":false}}`, `{"old":1}`, `/old: this property is not allowed`},
		{"items past the tuple", `{"prefixItems":[{"type":"string"}],"items":false}`, `["a","b"]`, `/1: unexpected item`},
		{"not", `{"not":{"required":["a"]}}`, `{"a":1}`, `fits what is excluded here`},
		{"contains", `{"contains":{"type":"string"}}`, `[1,2]`, `no item fits what the array must contain`},
		{"minContains", `{"contains":{"type":"string"},"minContains":2}`, `["a",2]`, `1 item fits what the array must contain; at least 2 must`},
		{"property names", `{"propertyNames":{"pattern":"^[a-z]+$"}}`, `{"a b":1,"ok":2}`, `the property name "a b" isn't allowed: expected a text that matches ^[a-z]+$, got "a b"`},
		{"property names deep inside are placed right", `{"additionalProperties":{"propertyNames":{"maxLength":1}}}`, `{"a":{"xx":1},"b":{"y":1},"c":{"z":1}}`,
			`/a: the property name "xx" isn't allowed: expected at most 1 character, got 2`},
		{"number of properties", `{"minProperties":1,"maxProperties":2}`, `{}`, `expected at least 1 property, got 0`},
		{"nothing allowed", `false`, `1`, `no value is allowed here`},
		{"draft-07 by $schema", `{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"string"}],"additionalItems":false}`, `["a",1,2]`, `2 items too many`},
		{"format is an annotation", `{"format":"email"}`, `"nobody"`, ``},
		{"format is an annotation in draft-07 too", `{"$schema":"http://json-schema.org/draft-07/schema#","format":"email"}`, `"nobody"`, ``},
		{"ECMAScript pattern that RE2 can't read", `{"pattern":"^(?!\\.)[a-z.]+$"}`, `".a"`, `expected a text that matches ^(?!\.)[a-z.]+$, got ".a"`},
		{"const and enum together", `{"const":1,"enum":[2]}`, `1`, `no value is allowed here`},
		{"controls never reach the message", `{"enum":["a"]}`, `"\u001b[2J\u202Ex"`, `expected "a", got string "\x1b[2J\u202ex"`},
		{"long values are cut", `{"type":"number"}`, `"` + strings.Repeat("x", 200) + `"`, `expected number, got string "` + strings.Repeat("x", 60) + `…"`},

		{"no JSON", `{}`, `{"a":}`, `line 1, column 6: not valid JSON: invalid character '}' looking for beginning of value`},
		{"cut JSON", `{}`, "{\n\"a\": [1,", `line 2, column 8: not valid JSON: unexpected end of JSON input`},
		{"nothing", `{}`, ` `, `there is no JSON, only nothing`},
		{"trailing data", `{}`, `{} {}`, `line 1, column 4: not valid JSON: invalid character '{' after top-level value`},
		{"duplicate key", `{}`, `{"a":{"b/c":1,"b/c":2}}`, `/a/b~1c: the key stands twice in its object`},
		{"huge exponent", `{"type":"integer"}`, `[1e999999999]`, `/0: the number 1e999999999 is out of range: its exponent may be 400 at most`},
		{"endless number", `{}`, strings.Repeat("9", 900), `a number of 900 characters; 800 are allowed`},
		{"invalid UTF-8", `{}`, "\"a\xff\"", `line 1, column 3: not valid UTF-8`},
		{"too deep", `{}`, strings.Repeat("[", 200) + strings.Repeat("]", 200), strings.Repeat("/0", 128) + `: nested more than 128 deep`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, err := Compile([]byte(tt.schema))
			if err != nil {
				t.Fatal(err)
			}
			for range 5 { // the library walks maps; the order must not show it
				if got := Explain(s.Validate([]byte(tt.doc))); got != tt.want {
					t.Fatalf("got\n%s\nwant\n%s", got, tt.want)
				}
			}
		})
	}
}

const shapes = `{"oneOf":[
  {"type":"object","properties":{"kind":{"const":"circle"},"radius":{"type":"number"}},"required":["kind","radius"]},
  {"type":"object","properties":{"kind":{"const":"square"},"side":{"type":"number"}},"required":["kind","side"]},
  {"type":"object","properties":{"kind":{"const":"line"}},"required":["kind"]},
  {"type":"null"}]}`

func TestProblemsAreBounded(t *testing.T) {
	t.Parallel()
	s, err := Compile([]byte(`{"items":{"type":"string"}}`))
	if err != nil {
		t.Fatal(err)
	}
	doc := "[" + strings.TrimSuffix(strings.Repeat("1,", 200), ",") + "]"
	problems := s.Validate([]byte(doc))
	if len(problems) != MaxProblems+1 || problems[MaxProblems].Message != "and 150 more problems" {
		t.Errorf("got %d problems, the last %q", len(problems), problems[len(problems)-1])
	}
	if got := problems[10].Pointer; got != "/10" {
		t.Errorf("the eleventh is at %s", got)
	}
}

func TestValidateValue(t *testing.T) {
	t.Parallel()
	s, err := Compile([]byte(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`))
	if err != nil {
		t.Fatal(err)
	}
	if p := s.ValidateValue(map[string]int{"n": 3}); p != nil {
		t.Errorf("valid value: %v", p)
	}
	if got := Explain(s.ValidateValue(struct{ N string }{"x"})); got != `missing property "n" (integer)` {
		t.Errorf("got %q", got)
	}
	if got := Explain(s.ValidateValue(func() {})); !strings.HasPrefix(got, "it can't be written as JSON") {
		t.Errorf("got %q", got)
	}
}

func TestCompileErrorsNameThePlace(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, schema, want string }{
		{"no JSON", `{"type":`, `line 1, column 8: not valid JSON: unexpected end of JSON input`},
		{"duplicate key", `{"type":"a","type":"b"}`, `/type: the key stands twice in its object`},
		{"no schema", `"object"`, `expected a schema (an object, true or false), got string`},
		{"unknown type", `{"properties":{"a":{"type":"strnig"}}}`, `/properties/a/type: expected array, "array", "boolean", "integer", "null", "number", "object" or "string", got string "strnig" (did you mean "string"?)`},
		{"properties of a wrong type", `{"properties":[]}`, `/properties: expected object, got array`},
		{"broken pattern", `{"properties":{"a":{"pattern":"["}}}`, `/properties/a/pattern: "[" is no valid regex: error parsing regexp: missing closing ]: ` + "`[`"},
		{"remote reference", `{"properties":{"a":{"$ref":"https://example.com/x.json#/a"}}}`, `/properties/a/$ref: "https://example.com/x.json#/a" leads out of the schema; references may only lead to a place in the same document, such as #/$defs/item`},
		{"file reference", `{"items":{"$ref":"file:///etc/passwd"}}`, `/items/$ref: "file:///etc/passwd" leads out of the schema; references may only lead to a place in the same document, such as #/$defs/item`},
		{"relative reference", `{"items":{"$ref":"other.json"}}`, `/items/$ref: "other.json" leads out of the schema; references may only lead to a place in the same document, such as #/$defs/item`},
		{"custom metaschema", `{"$schema":"https://example.com/meta"}`, `/$schema: "https://example.com/meta" leads out of the schema; references may only lead to a place in the same document, such as #/$defs/item`},
		{"reference to nothing", `{"properties":{"a":{"$ref":"#/$defs/itme"}},"$defs":{"item":{}}}`, `/properties/a/$ref: "#/$defs/itme" leads to nothing in the schema`},
		{"anchor of nothing", `{"properties":{"a":{"$ref":"#itme"}}}`, `/properties/a/$ref: "#itme" leads to nothing in the schema`},
		{"reference to itself", `{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"allOf":[{"$ref":"#/$defs/a"}]}},"$ref":"#/$defs/a"}`, `/$defs/a: the schema refers to itself without going deeper into the document`},
		{"too many ids", manyIDs(), `the schema has 101 ids; 100 are allowed`},
		{"id twice", `{"$defs":{"a":{"$id":"x"},"b":{"$id":"x"}}}`, `/$defs/b: the id "fettle://document/x" stands twice in the schema`},
		{"too large", `{"description":"` + strings.Repeat("x", maxSize) + `"}`, fmt.Sprintf("the schema has %d bytes; %d are allowed", maxSize+18, maxSize)},
		{"too many objects", `{"enum":[` + strings.TrimSuffix(strings.Repeat("{},", maxObjects), ",") + `]}`, `the schema has 5001 objects; 5000 are allowed`},
		{"too many references to odd places", oddPlaces(), `the schema has 51 references to what is no schema; 50 are allowed`},
		{"grows by references", laughs(14), `/$defs/a12: the schema grows to more than 10000 when references are followed`},
		{"long chain of references", chain(250), `the schema is nested more than 200 deep when references are followed`},
		{"huge number", `{"minimum":1e99999}`, `/minimum: the number 1e99999 is out of range: its exponent may be 400 at most`},
		{"pattern too long", `{"pattern":"` + strings.Repeat("a", 5000) + `"}`, `/pattern: "` + strings.Repeat("a", 60) + `…" is no valid regex: a pattern of 5000 characters; 4096 are allowed`},
		{"patterns too complex", `{"pattern":"` + strings.Repeat("[a-z]{1000}", 100) + `"}`, `/pattern: "` + strings.Repeat("[a-z]{1000}", 5) + `[a-z]…" is no valid regex: the patterns of this schema are too complex`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := Compile([]byte(tt.schema))
			if err == nil {
				t.Fatal("it compiled")
			}
			if got := err.Error(); got != tt.want && !strings.HasSuffix(got, ": "+tt.want) {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func manyIDs() string {
	var b strings.Builder
	for i := range 101 {
		fmt.Fprintf(&b, `,"d%d":{"$id":"i%d"}`, i, i)
	}
	return `{"$defs":{` + b.String()[1:] + `}}`
}

func oddPlaces() string {
	var refs, xs strings.Builder
	for i := range 51 {
		fmt.Fprintf(&refs, `,{"$ref":"#/x/%d"}`, i)
		xs.WriteString(",{}")
	}
	return `{"allOf":[` + refs.String()[1:] + `],"x":[` + xs.String()[1:] + `]}`
}

// laughs is a schema of n lines that asks for 2^n subschemas.
func laughs(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"a%d":{"allOf":[{"$ref":"#/$defs/a%d"},{"$ref":"#/$defs/a%d"}]},`, i+1, i, i)
	}
	return fmt.Sprintf(`{"$defs":{%s"a0":{"type":"object"}},"$ref":"#/$defs/a%d"}`, b.String(), n)
}

func chain(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"a%d":{"$ref":"#/$defs/a%d"},`, i+1, i)
	}
	return fmt.Sprintf(`{"$defs":{%s"a0":{"type":"object"}},"$ref":"#/$defs/a%d"}`, b.String(), n)
}
