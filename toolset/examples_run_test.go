package toolset_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/internal/needtest"
	"github.com/fettle-cli/fettle/internal/schema"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/manifest"
	"github.com/fettle-cli/fettle/toolset/render"
)

// outcome is what the harness says of one call.
type outcome struct {
	Error            string            `json:"error"`
	Progress         []json.RawMessage `json:"progress"`
	Text             *string           `json:"text"`
	Data             json.RawMessage   `json:"data"`
	WorkspacePayload json.RawMessage   `json:"workspace_payload"`
	Payload          json.RawMessage   `json:"payload"`
}

// TestExamplesRun makes each call of the manifests' tests with the Python of
// this machine, and holds what comes back to what the manifest promises.
func TestExamplesRun(t *testing.T) {
	t.Parallel()
	python := needPython(t)
	eachExample(t, func(t *testing.T, e *example) {
		results := e.run(t, python)
		for i, c := range e.manifest.Tests {
			e.check(t, c, results[i])
		}
		e.parsers(t, python)
	})
}

// needPython is this machine's Python; without one the test is skipped.
func needPython(t *testing.T) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the examples' expected files and commands are those of Unix")
	}
	return needtest.Program(t, "python3")
}

// request is what the harness is asked.
type request struct {
	Module    string          `json:"module"`
	Function  string          `json:"function"`
	Args      json.RawMessage `json:"args,omitempty"`
	Workspace string          `json:"workspace,omitempty"`
	Input     *string         `json:"input,omitempty"`
}

// run makes the calls of the tests, each in a folder of its own, in one
// process.
func (e *example) run(t *testing.T, python string) []result {
	t.Helper()
	requests := make([]request, len(e.manifest.Tests))
	for i, c := range e.manifest.Tests {
		tool := e.tool(c.Tool)
		entry, err := manifest.ParseEntrypoint(tool.Entrypoint)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		for name, text := range c.Files {
			file := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		args := c.Args
		if len(args) == 0 {
			args = json.RawMessage("{}")
		}
		requests[i] = request{Module: entry.Module, Function: entry.Function, Args: args, Workspace: dir}
	}
	out := e.ask(t, python, requests)
	results := make([]result, len(out))
	for i := range out {
		results[i] = result{outcome: out[i], workspace: requests[i].Workspace}
	}
	return results
}

// result is one call's outcome, and the folder that it worked in.
type result struct {
	outcome
	workspace string
}

// runLimit bounds all calls of one toolset. They take well under a second, and
// machines that test are busy.
const runLimit = 2 * time.Minute

func (e *example) ask(t *testing.T, python string, requests []request, env ...string) []outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), runLimit)
	defer cancel()
	dir, err := filepath.Abs(e.dir)
	if err != nil {
		t.Fatal(err)
	}
	var in, stderr bytes.Buffer
	enc := json.NewEncoder(&in)
	for _, r := range requests {
		if err := enc.Encode(r); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(ctx, python, "-B", "-X", "utf8", filepath.Join("testdata", "harness.py"), dir)
	cmd.Stdin, cmd.Stderr, cmd.Env = &in, &stderr, append(os.Environ(), env...)
	answers, err := cmd.Output()
	if err != nil {
		t.Fatalf("run the calls: %v\n%s", err, stderr.String())
	}
	var out []outcome
	for dec := json.NewDecoder(bytes.NewReader(answers)); ; {
		var o outcome
		if err := dec.Decode(&o); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		out = append(out, o)
	}
	if len(out) != len(requests) {
		t.Fatalf("%d answers to %d calls\n%s", len(out), len(requests), stderr.String())
	}
	return out
}

func (e *example) tool(id string) *manifest.Tool {
	for i := range e.manifest.Tools {
		if e.manifest.Tools[i].ID == id {
			return &e.manifest.Tools[i]
		}
	}
	return nil
}

// check holds one outcome to its test and to what the manifest promises.
func (e *example) check(t *testing.T, c manifest.Test, r result) {
	t.Helper()
	name := c.Tool + ": " + c.Name
	if c.Expect.Error != "" {
		if !strings.Contains(r.Error, c.Expect.Error) {
			t.Errorf("%s: want an error with %q, got %q", name, c.Expect.Error, r.Error)
		}
		return
	}
	if r.Error != "" {
		t.Errorf("%s: %s", name, r.Error)
		return
	}
	tool := e.tool(c.Tool)
	if diff := missing("", decoded(t, c.Expect.Return), decoded(t, r.Data)); len(c.Expect.Return) > 0 && diff != "" {
		t.Errorf("%s: %s\nreturned %s", name, diff, r.Data)
	}
	fits(t, name, tool.OutputSchema, r.Data)
	for file, want := range c.Expect.Files {
		if got, err := os.ReadFile(filepath.Join(r.workspace, filepath.FromSlash(file))); err != nil || string(got) != want {
			t.Errorf("%s: %s holds %q (%v), want %q", name, file, got, err, want)
		}
	}
	for _, file := range c.Expect.Absent {
		if _, err := os.Lstat(filepath.Join(r.workspace, filepath.FromSlash(file))); err == nil {
			t.Errorf("%s: %s is there", name, file)
		}
	}
	if tool.Streaming != (len(r.Progress) > 0) {
		t.Errorf("%s: streaming is %v, and it reported %d times", name, tool.Streaming, len(r.Progress))
	}
	if r.Text != nil && strings.TrimSpace(*r.Text) == "" {
		t.Errorf("%s: the model gets no text", name)
	}
	e.payload(t, name, r.WorkspacePayload)
	e.payload(t, name, r.Payload)
	e.plan(t, name, tool, c, r)
}

// payload holds what a tool shows to the type that the manifest declares.
func (e *example) payload(t *testing.T, name string, raw json.RawMessage) {
	t.Helper()
	if len(raw) == 0 || string(raw) == "null" {
		return
	}
	var p struct {
		Type string          `json:"type"`
		Data json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		t.Fatal(err)
	}
	for _, known := range e.manifest.Payloads {
		if known.Type == p.Type {
			fits(t, name+": payload "+p.Type, known.Schema, p.Data)
			return
		}
	}
	t.Errorf("%s: the manifest has no payload %q", name, p.Type)
}

// plan makes the call's render plan, in which everything must be filled in.
func (e *example) plan(t *testing.T, name string, tool *manifest.Tool, c manifest.Test, r result) {
	t.Helper()
	if tool.Renderer == nil {
		return
	}
	dir, err := filepath.Abs(e.dir)
	if err != nil {
		t.Fatal(err)
	}
	refs, err := render.Refs(tool.Renderer.Config())
	if err != nil || tool.Renderer.Type != toolset.RenderFrame && len(refs) == 0 {
		t.Errorf("%s: the renderer refers to %v, %v", name, refs, err)
	}
	plan := render.Make(tool.Renderer.Type, tool.Renderer.Config(), render.Values{
		Args: c.Args, Return: r.Data, ChatID: "test", Workspace: r.workspace, Toolset: dir,
	})
	for _, problem := range plan.Problems {
		t.Errorf("%s: render: %s", name, problem)
	}
}

// fits holds a value to a schema, where there is one.
func fits(t *testing.T, name string, raw, value json.RawMessage) {
	t.Helper()
	if len(raw) == 0 {
		return
	}
	s, err := schema.Compile(raw)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range s.Validate(value) {
		t.Errorf("%s: the data doesn't fit its schema: %s", name, p)
	}
}

func decoded(t *testing.T, raw json.RawMessage) any {
	t.Helper()
	var v any
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &v); err != nil {
			t.Fatal(err)
		}
	}
	return v
}

// missing says what of want isn't in got; fields that want doesn't name may be
// anything.
func missing(at string, want, got any) string {
	fields, ok := want.(map[string]any)
	there, same := got.(map[string]any)
	if !ok || !same {
		if !reflect.DeepEqual(want, got) {
			w, _ := json.Marshal(want)
			g, _ := json.Marshal(got)
			return fmt.Sprintf("%s is %s, want %s", cmp.Or(at, "it"), g, w)
		}
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if _, ok := there[name]; !ok {
			return at + "/" + name + " isn't there"
		}
		if diff := missing(at+"/"+name, fields[name], there[name]); diff != "" {
			return diff
		}
	}
	return ""
}

// parsers runs each payload's own parser on what its schema gives as an
// example: what is made of it must fit the schema.
func (e *example) parsers(t *testing.T, python string) {
	t.Helper()
	var requests []request
	for _, p := range e.manifest.Payloads {
		var s struct {
			Examples []json.RawMessage `json:"examples"`
		}
		if len(p.Schema) > 0 {
			if err := json.Unmarshal(p.Schema, &s); err != nil {
				t.Fatal(err)
			}
		}
		if p.ParseMarker != "" && len(s.Examples) == 0 {
			t.Errorf("payload %s: its schema has no example", p.Type)
		}
		for _, raw := range s.Examples {
			fits(t, "payload "+p.Type+": example", p.Schema, raw)
			if p.Parser == "" {
				continue
			}
			entry, err := manifest.ParseEntrypoint(p.Parser)
			if err != nil {
				t.Fatal(err)
			}
			text := string(raw)
			requests = append(requests, request{Module: entry.Module, Function: entry.Function, Input: &text})
		}
	}
	if len(requests) == 0 {
		return
	}
	for i, o := range e.ask(t, python, requests) {
		name := "parser " + requests[i].Function
		if o.Error != "" {
			t.Errorf("%s: %s", name, o.Error)
			continue
		}
		e.payload(t, name, o.Data)
	}
}
