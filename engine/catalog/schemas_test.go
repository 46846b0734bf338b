package catalog

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

func TestSchemasAreCompiledOnce(t *testing.T) {
	t.Parallel()
	var s SchemaCache
	raw := []byte(`{"type":"object","required":["a"]}`)
	first, err := s.Compile(raw)
	if err != nil {
		t.Fatal(err)
	}
	raw[2] = 'T' // the caller's own
	again, err := s.Compile([]byte(`{"type":"object","required":["a"]}`))
	if err != nil || again != first {
		t.Errorf("it was compiled twice, %v", err)
	}
	for range 2 {
		if _, err := s.Compile([]byte(`{"type":`)); err == nil {
			t.Error("it compiled what is no schema")
		}
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range 200 {
				one, err := s.Compile(fmt.Appendf(nil, `{"const":%d}`, n))
				if err != nil {
					t.Error(err)
				} else if got := len(one.Validate(fmt.Append(nil, n))); got != 0 {
					t.Errorf("%d: the schema of another one", i)
				}
			}
		})
	}
	wg.Wait()
	for n := range 3 * maxSchemas {
		if _, err := s.Compile(fmt.Appendf(nil, `{"enum":[%d],"title":%q}`, n, strings.Repeat("x", 4000))); err != nil {
			t.Fatal(err)
		}
		if len(s.made) > maxSchemas || s.bytes > maxSchemaBytes {
			t.Fatalf("it keeps %d schemas of %d bytes", len(s.made), s.bytes)
		}
	}
}

func BenchmarkToolSchema(b *testing.B) {
	raw := []byte(`{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"},"mode":{"enum":["a","b"]},"lines":{"type":"array","items":{"type":"integer","minimum":1}}},"required":["path"],"additionalProperties":false}`)
	args := []byte(`{"path":"a","content":"b","mode":"a","lines":[1,2,3]}`)
	for name, next := range map[string]func(*SchemaCache){"kept": func(*SchemaCache) {}, "compiled": func(s *SchemaCache) { s.made, s.bytes = nil, 0 }} {
		b.Run(name, func(b *testing.B) {
			var s SchemaCache
			for b.Loop() {
				next(&s)
				one, err := s.Compile(raw)
				if err != nil || len(one.Validate(args)) > 0 {
					b.Fatal(err)
				}
			}
		})
	}
}
