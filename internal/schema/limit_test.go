package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

// testSteps keeps the tests quick under the race detector.
const testSteps = 20_000

// TestCostlyChecksEnd holds schemas and documents against each other that
// would keep an unbounded checker busy for years.
func TestCostlyChecksEnd(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100)
	for _, tt := range []struct{ name, schema, doc, want string }{
		{"recursion that doubles at each level", `{"properties":{"a":{"allOf":[{"$ref":"#"},{"$ref":"#"}]}}}`, deep, "steps on it"},
		{"the same where errors are not wanted", `{"not":{"$ref":"#/$defs/n"},"$defs":{"n":{"properties":{"a":{"anyOf":[{"$ref":"#/$defs/m"},{"$ref":"#/$defs/m"}]}}},"m":{"allOf":[{"$ref":"#/$defs/n"},{"$ref":"#/$defs/n"},{"required":["z"]}]}}}`, deep, "steps on it"},
		{"dependent schemas that double", `{"dependentSchemas":{"a":{"properties":{"a":{"$ref":"#"}}}},"properties":{"a":{"$ref":"#"}}}`, deep, "steps on it"},
		{"dynamic references that double", `{"$dynamicAnchor":"n","properties":{"a":{"allOf":[{"$dynamicRef":"#n"},{"$dynamicRef":"#n"}]}}}`, deep, "steps on it"},
		{"more wrong items than steps", `{"items":{"type":"string"}}`, "[" + strings.TrimSuffix(strings.Repeat("1,", testSteps+1), ",") + "]", "steps on it"},
		{"more forbidden items than steps", `{"items":false}`, "[" + strings.TrimSuffix(strings.Repeat("1,", testSteps+1), ",") + "]", "steps on it"},
		{"catastrophic ECMAScript pattern", `{"pattern":"^(?=a)(a+)+$"}`, `"` + strings.Repeat("a", 40) + `!"`, "takes too long on a text"},
		{"long text for a large pattern", `{"pattern":"^([a-z]{900}|[0-9]{900})*$"}`, `"` + strings.Repeat("a", 1<<20) + `"`, "too long for its pattern"},
		{"long text for an ECMAScript pattern", `{"pattern":"(?!x)y"}`, `"` + strings.Repeat("a", 1<<20+1) + `"`, "too long for its pattern"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, err := Compile([]byte(tt.schema))
			if err != nil {
				t.Fatal(err)
			}
			s.run.maxSteps = testSteps
			s.run.maxTime = time.Minute // the count alone must end it, also on a slow machine
			if got := Explain(s.Validate([]byte(tt.doc))); !strings.Contains(got, tt.want) {
				t.Errorf("got %s, want …%s", clip(got, 500), tt.want)
			}
			if got := Explain(s.Validate([]byte(`0`))); strings.Contains(got, "can't be checked") {
				t.Errorf("a check after a stopped one says %s", got)
			}
		})
	}
}

func TestValuesAreBounded(t *testing.T) {
	t.Parallel()
	doc := []byte(`[1,{"a":2},3]`)
	if _, err := decode(doc, 4); err == nil || err.Error() != "it has more than 4 values" {
		t.Errorf("got %v", err)
	}
	if v, err := decode(doc, 5); err != nil || len(v.([]any)) != 3 {
		t.Errorf("got %v, %v", v, err)
	}
	many := strings.TrimSuffix(strings.Repeat("1,", maxSchemaValues), ",")
	if _, err := Compile([]byte(`{"required":[` + many + `]}`)); err == nil || err.Error() != "it has more than 100000 values" {
		t.Errorf("got %v", err)
	}
}

func TestDeadline(t *testing.T) {
	t.Parallel()
	var enum, doc strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&enum, "%d.5,", i)
		doc.WriteString("-0.25,")
	}
	s, err := Compile(fmt.Appendf(nil, `{"items":{"enum":[%s]}}`, strings.TrimSuffix(enum.String(), ",")))
	if err != nil {
		t.Fatal(err)
	}
	s.run.maxTime = time.Millisecond
	got := Explain(s.Validate([]byte("[" + strings.TrimSuffix(doc.String(), ",") + "]")))
	if want := "it can't be checked: it takes longer than 1ms"; got != want {
		t.Errorf("got %s, want %s", clip(got, 500), want)
	}
}

func TestConcurrentChecks(t *testing.T) {
	t.Parallel()
	s, err := Compile([]byte(order))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 50 {
				doc := fmt.Sprintf(`{"items":[{"price":"%d"}]}`, i)
				want := fmt.Sprintf(`/items/0/price: expected number, got string "%d"`, i)
				if got := Explain(s.Validate([]byte(doc))); got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			}
		})
	}
	wg.Wait()
}

// FuzzCompileValidate holds any schema against any document: it must come
// back, never by a panic of the library's, and say the same twice.
func FuzzCompileValidate(f *testing.F) {
	f.Add(order, `{"items":[{"price":"12"}],"x":1}`)
	f.Add(shapes, `{"kind":"circel"}`)
	f.Add(laughs(5), `{}`)
	f.Add(`{"$dynamicAnchor":"n","items":{"$dynamicRef":"#n"},"type":"array"}`, `[[],[1]]`)
	f.Add(`{"$id":"a/b","$defs":{"x":{"$id":"c","$anchor":"q"}},"$ref":"c#q"}`, `1`)
	f.Add(`{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveAnchor":true,"properties":{"a":{"$recursiveRef":"#"}},"unevaluatedProperties":false}`, `{"a":{"b":1}}`)
	f.Add(`{"$schema":"http://json-schema.org/draft-04/schema#","id":"x","minimum":1,"exclusiveMinimum":true}`, `1`)
	f.Add(`{"patternProperties":{"^(?=a)":{"type":"integer"}},"propertyNames":{"maxLength":3}}`, `{"ab":1.5,"abcd":2}`)
	f.Add(`{"$ref":"https://json-schema.org/draft/2020-12/schema"}`, `{"type":"x","properties":[]}`)
	f.Add(`{"if":{"minLength":2},"then":{"pattern":"^a"},"else":false}`, `"b"`)
	f.Fuzz(func(t *testing.T, rawSchema, doc string) {
		s, err := Compile([]byte(rawSchema))
		if err != nil {
			if strings.Contains(err.Error(), "the schema can't be used: ") {
				t.Fatalf("the library panicked: %v", err)
			}
			return
		}
		first := Explain(s.Validate([]byte(doc)))
		if strings.Contains(first, "it can't be checked: ") {
			if !strings.Contains(first, "steps on it") && !strings.Contains(first, "takes longer than") &&
				!strings.Contains(first, "too long") {
				t.Fatalf("the library panicked: %s", first)
			}
			return
		}
		if second := Explain(s.Validate([]byte(doc))); first != second {
			t.Fatalf("first %s\nthen %s", first, second)
		}
		for _, r := range first {
			if r < ' ' && r != '\n' || r == 0x7f || r == 0x9b || r == 0x202e {
				t.Fatalf("the message has a control character %U: %q", r, first)
			}
		}
	})
}

// FuzzDecode holds the decoder against encoding/json: what both take is the
// same value, and what it refuses has a reason that encoding/json lacks.
func FuzzDecode(f *testing.F) {
	for _, doc := range []string{`{"a":[1,-2.5e3,"x\u00e9\n\"",true,false,null,{}],"b":{"c":[]}}`, ` [ 1 , 2 ] `, `{"a":1,"a":2}`, `"\ud800"`, `1e999`, `[`, `{"\u0061":1,"a":2}`} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		got, err := Decode(doc)
		dec := json.NewDecoder(bytes.NewReader(doc))
		dec.UseNumber()
		var want any
		wantErr := dec.Decode(&want)
		if wantErr == nil && dec.More() {
			wantErr = errors.New("trailing data")
		}
		switch {
		case err == nil && wantErr != nil:
			t.Fatalf("took %q, encoding/json says %v", doc, wantErr)
		case err == nil && !reflect.DeepEqual(got, want):
			t.Fatalf("%q became %#v, want %#v", doc, got, want)
		case err != nil && wantErr == nil:
			for _, reason := range []string{"stands twice", "UTF-8", "nested", "range", "characters", "not valid JSON"} {
				if strings.Contains(err.Error(), reason) {
					return
				}
			}
			t.Fatalf("refused %q: %v", doc, err)
		}
	})
}

func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		if _, err := Compile([]byte(order)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkValidate(b *testing.B) {
	s, err := Compile([]byte(order))
	if err != nil {
		b.Fatal(err)
	}
	doc := []byte(`{"items":[{"price":12.5,"name":"ab"},{"price":3}],"mode":"read","size":4}`)
	for b.Loop() {
		if p := s.Validate(doc); p != nil {
			b.Fatal(p)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	doc := []byte("[" + strings.Repeat(`{"name":"abcdefgh","n":[1,2.5,true,null]},`, 10000) + "0]")
	b.SetBytes(int64(len(doc)))
	for b.Loop() {
		if _, err := Decode(doc); err != nil {
			b.Fatal(err)
		}
	}
}
