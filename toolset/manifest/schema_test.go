package manifest

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fettle-cli/fettle/internal/needtest"
	"github.com/fettle-cli/fettle/internal/schema"
	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the golden files")

var compiledSchema = sync.OnceValues(func() (*schema.Schema, error) { return schema.Compile(Schema()) })

func publishedSchema(t fataler) *schema.Schema {
	s, err := compiledSchema()
	if err != nil {
		t.Fatalf("the published schema: %v", err)
	}
	return s
}

type fataler interface{ Fatalf(string, ...any) }

// asJSON is a file as the JSON that an editor checks; nil where it isn't YAML
// that JSON can say.
func asJSON(text []byte) []byte {
	top, trouble := load(text)
	if trouble != nil {
		return nil
	}
	r := &reader{root: top, bad: make(map[*yaml.Node]bool)}
	if !r.strict(top, "") || r.sink.failed {
		return nil
	}
	var buf bytes.Buffer
	r.write(&buf, top, nil)
	return buf.Bytes()
}

func structuralProblems(d *Document) []Problem {
	var out []Problem
	for _, p := range d.Problems {
		if p.Structural() {
			out = append(out, p)
		}
	}
	return out
}

// agree holds the reader and the published schema against each other.
func agree(t interface {
	fataler
	Errorf(string, ...any)
}, text []byte) {
	doc := asJSON(text)
	if doc == nil {
		return
	}
	d := Parse(FileName, text, Options{})
	ours := structuralProblems(d)
	theirs := publishedSchema(t).Validate(doc)
	if (len(ours) == 0) != (len(theirs) == 0) {
		t.Errorf("the reader says:\n%sthe schema says:\n%s\nof:\n%s", joined(ours), schema.Explain(theirs), text)
	}
}

func TestSchemaIsPublished(t *testing.T) {
	t.Parallel()
	golden := filepath.Join("testdata", "toolset.schema.json")
	if *update {
		if err := os.WriteFile(golden, Schema(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(Schema())); diff != "" {
		t.Errorf("the schema changed; a change that refuses what was allowed needs a new manifest version:\n%s", diff)
	}
	got := Schema()
	got[0] = 'x'
	if Schema()[0] == 'x' {
		t.Error("a caller can change the schema")
	}
}

// TestSchemaAgrees goes through every text that the tests have: the examples,
// each kind of mistake and the fixtures.
func TestSchemaAgrees(t *testing.T) {
	t.Parallel()
	agree(t, example(t, "app-builder"))
	agree(t, example(t, "my-toolset"))
	agree(t, []byte(everything))
	agree(t, []byte(minimal("")))
	// each line of the whole left out in turn, and each of its values changed
	lines := strings.Split(everything, "\n")
	for i := range lines {
		agree(t, []byte(strings.Join(slices.Delete(slices.Clone(lines), i, i+1), "\n")))
		if name, _, ok := strings.Cut(lines[i], ": "); ok {
			values := []string{"5", "[]", "{}", "true", "null", "''", "x", "'a b'", "{type: code}", "[{}]", "{a: 1}"}
			for k := range 3 {
				value := values[(i*3+k)%len(values)]
				changed := slices.Clone(lines)
				changed[i] = name + ": " + value
				agree(t, []byte(strings.Join(changed, "\n")))
			}
		}
	}
}

func TestSchemaAgreesOnFixtures(t *testing.T) {
	t.Parallel()
	dir := needtest.Shared(t, "security", "yaml")
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil || len(files) < 40 {
		t.Fatalf("%d fixtures: %v", len(files), err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		agree(t, raw)
		agree(t, inOurWords(filepath.Base(file), raw))
	}
}

// TestGenerated makes manifests by the shapes, some of them spoilt: reader and
// schema agree on each, and what can be read is the same after writing it.
func TestGenerated(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := generator{t, rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(t, "faults")}
		v := g.value(root(), 0)
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatalf("%v", err)
		}
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		tree, err := ordered(dec)
		if err != nil {
			t.Fatalf("%v", err)
		}
		w := &writer{}
		if top, ok := tree.(pairs); ok {
			w.topLevel(top)
		} else {
			w.scalar(tree, 0)
		}
		text := w.buf.Bytes()
		agree(t, text)
		if d := Parse(FileName, text, Options{}); d.Manifest != nil {
			roundTrip(t, d.Manifest)
		}
	})
}

// generator draws values of shapes; as many as faults of them are wrong.
type generator struct {
	t      *rapid.T
	faults int
}

func (g *generator) spoil() bool {
	if g.faults == 0 || !rapid.Bool().Draw(g.t, "spoil") || !rapid.Bool().Draw(g.t, "spoil more") {
		return false
	}
	g.faults--
	return true
}

func (g *generator) value(s *shape, depth int) any {
	if depth > 0 && g.spoil() {
		return rapid.SampledFrom([]any{nil, true, 7, 1.5, "", "x y", "Ü\n", []any{}, map[string]any{}, []any{"a"}, map[string]any{"type": "code"}}).Draw(g.t, "wrong")
	}
	switch s.kind {
	case textKind:
		switch {
		case len(s.enum) > 0:
			return rapid.SampledFrom(s.enum).Draw(g.t, "enum")
		case s.pattern == patternLine:
			return rapid.SampledFrom([]string{"A name", "Ünïcode: yes", "true", "# 1", "a\tb", "0x1f", "- x", "'quoted' \"too\""}).Draw(g.t, "line")
		case s.pattern != "":
			text := rapid.StringMatching(s.pattern).Draw(g.t, "text")
			if len(text) > s.max {
				text = text[:s.max]
			}
			return text
		}
		return rapid.SampledFrom([]string{
			"text", "two\nlines\n", "a\n  b\n\nc", " leading", "trailing ", "\n", "x: y", "artifacts/a.html", "null", "1.0", "\u2028 \u202e 😀", "a\r\nb", "$args.x ${NAME}", "\\",
		}).Draw(g.t, "text")
	case flagKind:
		return rapid.Bool().Draw(g.t, "flag")
	case listKind:
		out := []any{}
		for range rapid.IntRange(s.min, 2).Draw(g.t, "length") {
			out = append(out, g.value(s.item, depth+1))
		}
		return out
	case tableKind:
		out := map[string]any{}
		for range rapid.IntRange(0, 2).Draw(g.t, "length") {
			name := "a/b.txt"
			if s.pattern != "" {
				name = rapid.StringMatching(s.pattern).Draw(g.t, "name")
			}
			out[name] = g.value(s.item, depth+1)
		}
		return out
	case objectKind:
		return g.object(s, depth)
	case variantKind:
		v := rapid.SampledFrom(s.variants).Draw(g.t, "variant")
		obj := g.object(v.shape, depth)
		if !g.spoil() {
			obj[s.tag] = v.value
		}
		return obj
	case schemaKind:
		return map[string]any{"type": "object", "properties": map[string]any{"x": map[string]any{"type": "string"}}, "default": map[string]any{"n": 12}}
	}
	return rapid.SampledFrom([]any{nil, 1, -2.5, "a", map[string]any{"k": []any{}}, []any{map[string]any{}, []any{1}}}).Draw(g.t, "any")
}

func (g *generator) object(s *shape, depth int) map[string]any {
	out := map[string]any{}
	for _, f := range s.fields {
		if slices.Contains(s.oneOf, f.name) {
			continue
		}
		if f.required && !g.spoil() || !f.required && rapid.Bool().Draw(g.t, f.name) {
			out[f.name] = g.value(f.shape, depth+1)
		}
	}
	if len(s.oneOf) > 0 && !g.spoil() {
		name := rapid.SampledFrom(s.oneOf).Draw(g.t, "one of")
		out[name] = g.value(s.find(name), depth+1)
	}
	for _, pair := range s.needs {
		if _, ok := out[pair[1]]; !ok && !g.spoil() {
			delete(out, pair[0])
		}
	}
	if g.spoil() {
		out[rapid.SampledFrom([]string{"extra", "naem", "1", "type"}).Draw(g.t, "extra")] = "x"
	}
	return out
}

// roundTrip wants what is written to be read as what it was, and writing to
// give the same bytes again.
func roundTrip(t fataler, m *Manifest) {
	text, err := Marshal(m)
	if err != nil {
		t.Fatalf("%v", err)
	}
	d := Parse(FileName, text, Options{})
	if d.Manifest == nil {
		t.Fatalf("what was written can't be read: %v\n%s", d.Err(), text)
	}
	if diff := cmp.Diff(m, d.Manifest); diff != "" {
		t.Fatalf("it came back another (- before, + after):\n%s\n%s", diff, text)
	}
	if clean, hidden := m.WithoutSecrets(); len(hidden) == 0 {
		if diff := cmp.Diff(m, clean); diff != "" {
			t.Fatalf("without any secret, taking them out changes it:\n%s", diff)
		}
	}
	again, err := Marshal(d.Manifest)
	if err != nil || !bytes.Equal(text, again) {
		t.Fatalf("written twice, it differs: %v\n%s\n%s", err, text, again)
	}
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for name, text := range map[string][]byte{
		"app-builder": example(t, "app-builder"), "my-toolset": example(t, "my-toolset"), "everything": []byte(everything),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := Parse(FileName, text, Options{Builtins: []string{"read_file"}})
			if d.Manifest == nil {
				t.Fatal(d.Err())
			}
			roundTrip(t, d.Manifest)
			golden := filepath.Join("testdata", name+".golden.yaml")
			got, err := Marshal(d.Manifest)
			if err != nil {
				t.Fatal(err)
			}
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add(example(f, "app-builder"))
	f.Add(example(f, "my-toolset"))
	f.Add([]byte(everything))
	for _, text := range []string{"", "- a", "a: &a [*a]", "<<: {}", "? [a]\n: b", "\ufeffid: x", "a: !!binary x", minimal("tools: [{renderer: {type: html, data: \"$return\"}}]")} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d := Parse(FileName, data, Options{Builtins: []string{"read_file"}})
		if (d.Manifest == nil) != (d.Err() != nil) {
			t.Error("neither a manifest nor an error, or both")
		}
		for _, p := range d.Problems {
			if p.Message == "" || strings.ContainsFunc(p.Message, func(r rune) bool { return r < ' ' }) {
				t.Errorf("the message is %q", p.Message)
			}
		}
		agree(t, data)
		if d.Manifest != nil {
			roundTrip(t, d.Manifest)
		}
	})
}

func BenchmarkParseAppBuilder(b *testing.B) {
	text := example(b, "app-builder")
	for b.Loop() {
		if d := Parse(FileName, text, Options{}); d.Manifest == nil {
			b.Fatal(d.Err())
		}
	}
}

// TestEmptyMeansAbsent wants what says nothing to be read as what isn't there,
// so that it is gone once it is written.
func TestEmptyMeansAbsent(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"payloads: [{type: a, style: {editable: false}}]", "payloads: [{type: a, style: {}, render_options: {}, relevant_tabs: []}]",
		"tools: []\nagents: []\npermissions: {network: []}", "tools: [{id: a, description: d, entrypoint: 'a:b', input_schema: {type: object}, streaming: false, annotations: {}}]",
		"mcp_servers: [{id: a, command: x, args: [], env: {}}]", "tests: []\nworkflows: []\npages: [{id: a, payloads: []}]",
	} {
		d := Parse(FileName, []byte(minimal(text)), Options{})
		if d.Manifest == nil {
			t.Fatalf("%s: %v", text, d.Err())
		}
		roundTrip(t, d.Manifest)
	}
}
