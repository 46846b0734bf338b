package dialect

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/internal/schema"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// options are what the recorded turns are encoded with.
func options() Options {
	return Options{
		Model: "fettle/weather", ClientTools: []string{"get_weather", "get_time"}, IncludeUsage: true,
		ThreadID: "thread-1", RunID: "run-1",
	}
}

// turnFiles are the recorded turns by name.
func turnFiles(t testing.TB) map[string][]event.Event {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "turns", "*.jsonl"))
	if err != nil || len(files) < 11 {
		t.Fatalf("found %d turns: %v", len(files), err)
	}
	out := map[string][]event.Event{}
	for _, f := range files {
		out[strings.TrimSuffix(filepath.Base(f), ".jsonl")] = readTurn(t, f)
	}
	return out
}

func readTurn(t testing.TB, path string) []event.Event {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []event.Event
	for line := range bytes.Lines(raw) {
		var e event.Event
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		out = append(out, e)
	}
	return out
}

// encode feeds events and ends the stream.
func encode(t testing.TB, enc Encoder, events []event.Event) []byte {
	t.Helper()
	var out []byte
	for _, e := range events {
		var err error
		if out, err = enc.Append(out, e); err != nil {
			t.Fatalf("event %d: %v", e.Seq, err)
		}
	}
	return enc.End(out)
}

// golden compares a text with a file of the test data.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if *update {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(got), 0o644)); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; -update writes it anew\n%s", path, got)
	}
}

// schemaOfFile compiles a published schema, or one of its definitions with
// what it refers to.
// Definitions that are named as open take anything: they are checked by
// themselves, since compiling the largest for each event takes its time.
func schemaOfFile(t testing.TB, file, def string, opened ...string) *schema.Schema {
	t.Helper()
	raw := readFile(t, file)
	if def != "" {
		var doc struct {
			Defs map[string]json.RawMessage `json:"$defs"`
		}
		if err := json.Unmarshal(raw, &doc); err != nil {
			t.Fatal(err)
		}
		needed := map[string]json.RawMessage{}
		for _, name := range opened {
			needed[name] = json.RawMessage("true")
		}
		reach(doc.Defs, needed, def)
		var err error
		if raw, err = json.Marshal(map[string]any{"$ref": "#/$defs/" + def, "$defs": needed}); err != nil {
			t.Fatal(err)
		}
	}
	s, err := schema.Compile(raw)
	if err != nil {
		t.Fatalf("%s %s: %v", file, def, err)
	}
	return s
}

// validate gives what a schema says of a document. Where a check takes too long
// because the machine is busy, it is tried again.
func validate(s *schema.Schema, raw []byte) []schema.Problem {
	var problems []schema.Problem
	for range 5 {
		problems = s.Validate(raw)
		if len(problems) == 0 || !strings.Contains(problems[0].Message, "takes longer than") {
			break
		}
	}
	return problems
}

var reference = regexp.MustCompile(`"#/\$defs/([^"]+)"`)

// reach gathers a definition and all that it refers to.
func reach(defs, into map[string]json.RawMessage, name string) {
	if into[name] != nil {
		return
	}
	into[name] = defs[name]
	for _, m := range reference.FindAllSubmatch(defs[name], -1) {
		reach(defs, into, string(m[1]))
	}
}

// eventSchemas are the schemas of the events that OpenAI's responses stream,
// by their types, as far as the encoder writes them.
func eventSchemas(t testing.TB, file string) map[string]*schema.Schema {
	t.Helper()
	var doc struct {
		Defs map[string]struct {
			Properties struct {
				Type struct{ Enum []string }
			}
		} `json:"$defs"`
	}
	if err := json.Unmarshal(readFile(t, file), &doc); err != nil {
		t.Fatal(err)
	}
	out := map[string]*schema.Schema{}
	written := regexp.MustCompile(`^(error|response\.(created|in_progress|completed|incomplete|failed|output_item\..*|content_part\..*|` +
		`output_text\..*|reasoning_summary.*|function_call.*|mcp_call.*))$`)
	for name, d := range doc.Defs {
		if strings.HasSuffix(name, "Event") && len(d.Properties.Type.Enum) == 1 && written.MatchString(d.Properties.Type.Enum[0]) {
			out[d.Properties.Type.Enum[0]] = schemaOfFile(t, file, name, "Response", "OutputItem")
		}
	}
	return out
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// scripts is a folder without what npm puts there.
type scripts struct{ fs.FS }

func (s scripts) ReadDir(name string) ([]fs.DirEntry, error) {
	list, err := fs.ReadDir(s.FS, name)
	return slices.DeleteFunc(list, func(e fs.DirEntry) bool { return e.IsDir() }), err
}
