package builtin

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/fettle-cli/fettle/internal/schema"
	"github.com/fettle-cli/fettle/toolset"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// checked is a tool with its schemas compiled, once for all tests.
type checked struct {
	entry  toolset.Entry
	input  *schema.Schema
	output *schema.Schema
}

var tools = sync.OnceValue(func() map[string]checked {
	out := make(map[string]checked)
	for _, e := range Entries(Options{}) {
		in, err := schema.Compile(e.Tool.InputSchema)
		if err != nil {
			panic(e.Tool.ID + ": input_schema: " + err.Error())
		}
		outSchema, err := schema.Compile(e.Tool.OutputSchema)
		if err != nil {
			panic(e.Tool.ID + ": output_schema: " + err.Error())
		}
		out[e.Tool.ID] = checked{entry: e, input: in, output: outSchema}
	}
	return out
})

// object is a call's arguments.
type object map[string]any

// try calls a tool as the engine does: the arguments fit the input schema, and
// the data of every result fits the output schema.
func try(t *testing.T, ws *toolset.Workspace, id string, args object) (toolset.Result, error) {
	t.Helper()
	tool := tools()[id]
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	if problems := tool.input.Validate(raw); len(problems) > 0 {
		t.Fatalf("%s takes no %s: %s", id, raw, schema.Explain(problems))
	}
	return runChecked(t, tool, toolset.Call{Args: raw, Workspace: ws})
}

func runChecked(t *testing.T, tool checked, call toolset.Call) (toolset.Result, error) {
	t.Helper()
	res, err := tool.entry.Runner.Run(t.Context(), call)
	if err == nil {
		if problems := tool.output.Validate(res.Data); len(problems) > 0 {
			t.Fatalf("%s gave %s: %s", tool.entry.Tool.ID, res.Data, schema.Explain(problems))
		}
		return res, nil
	}
	var own *toolset.ToolError
	if !errors.As(err, &own) {
		t.Fatalf("%s: not the tool's own error: %v", tool.entry.Tool.ID, err)
	}
	return res, err
}

func do(t *testing.T, ws *toolset.Workspace, id string, args object) toolset.Result {
	t.Helper()
	res, err := try(t, ws, id, args)
	if err != nil {
		t.Fatalf("%s: %v", id, err)
	}
	return res
}

// refused calls a tool that must fail, and gives what the model is told.
func refused(t *testing.T, ws *toolset.Workspace, id string, args object) string {
	t.Helper()
	res, err := try(t, ws, id, args)
	if err == nil {
		t.Fatalf("%s took %v: %s", id, args, res.Text)
	}
	return err.Error()
}

func newWorkspace(t *testing.T, files map[string]string) *toolset.Workspace {
	t.Helper()
	ws, err := toolset.OpenManaged(filepath.Join(t.TempDir(), "ws"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ws.Close(); err != nil {
			t.Error(err)
		}
	})
	for name, content := range files {
		put(t, ws, name, content)
	}
	return ws
}

func put(t *testing.T, ws *toolset.Workspace, name, content string) {
	t.Helper()
	full := filepath.Join(ws.Path, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, ws *toolset.Workspace, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(ws.Path, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// link makes a symbolic link, or skips where the system has none.
func link(t *testing.T, ws *toolset.Workspace, target, name string) {
	t.Helper()
	if err := os.Symlink(target, filepath.Join(ws.Path, filepath.FromSlash(name))); err != nil {
		t.Skipf("no symbolic links: %v", err)
	}
}

func data[T any](t *testing.T, res toolset.Result) T {
	t.Helper()
	var d T
	if err := json.Unmarshal(res.Data, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestToolListGolden(t *testing.T) {
	t.Parallel()
	var list []toolset.Tool
	for _, e := range Entries(Options{}) {
		list = append(list, e.Tool)
	}
	var got bytes.Buffer
	enc := json.NewEncoder(&got)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(list); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "tools.json")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatalf("%v; -update writes it", err)
	}
	if !bytes.Equal(got.Bytes(), bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n"))) {
		t.Errorf("the tools differ from %s; -update rewrites it:\n%s", golden, got.Bytes())
	}
}

func TestTools(t *testing.T) {
	t.Parallel()
	set, err := toolset.NewSet(Entries(Options{})...)
	if err != nil {
		t.Fatal(err)
	}
	for e := range set.All() {
		tool := e.Tool
		category := map[string]string{"run_command": "shell", "web_fetch": "web", "web_search": "web", "youtube_transcript": "web"}[tool.ID]
		if tool.ToolsetID != "" || tool.BareID() != tool.ID || tool.Enabled != (tool.ID != "web_search") || tool.Category != cmp.Or(category, "files") {
			t.Errorf("%s is no builtin: %+v", tool.ID, tool)
		}
		if words := len(strings.Fields(tool.Description)); words < 5 || words > 150 {
			t.Errorf("%s has a description of %d words", tool.ID, words)
		}
		if regexp.MustCompile(`\s\z|\A\s|\r|\t`).MatchString(tool.Description) {
			t.Errorf("%s has a description with odd white space: %q", tool.ID, tool.Description)
		}
		if tool.Renderer == nil || (tool.Renderer.Type == toolset.RenderDocument) != (category == "web") {
			t.Errorf("%s has no renderer, or another's", tool.ID)
		}
		if asks := tool.ID == "run_command" || tool.ID == "web_fetch"; tool.RequiresConfirmation != asks {
			t.Errorf("%s wants an approval: %v", tool.ID, tool.RequiresConfirmation)
		}
		if readOnly := tool.ID != "run_command" && !strings.HasPrefix(tool.ID, "write") && !strings.HasPrefix(tool.ID, "edit"); tool.Annotations.ReadOnly != readOnly ||
			tool.Annotations.Destructive == readOnly || tool.Annotations.OpenWorld != (category == "web") {
			t.Errorf("%s has the annotations %+v", tool.ID, tool.Annotations)
		}
		// A key of a schema that isn't an argument would be a wrong promise.
		var in struct{ Properties map[string]any }
		if err := json.Unmarshal(tool.InputSchema, &in); err != nil {
			t.Fatal(err)
		}
		for name := range in.Properties {
			_, err := e.Runner.Run(t.Context(), toolset.Call{Workspace: &toolset.Workspace{}, Args: json.RawMessage(`{"` + name + `":{"no":"value"}}`)})
			if err == nil || strings.Contains(err.Error(), "unknown field") {
				t.Errorf("%s doesn't know its argument %s: %v", tool.ID, name, err)
			}
		}
	}
}

func TestCallsThatCantBeMade(t *testing.T) {
	t.Parallel()
	ws := newWorkspace(t, nil)
	for id, tool := range tools() {
		run := tool.entry.Runner.Run
		onFiles := tool.entry.Tool.Category != "web"
		if _, err := run(t.Context(), toolset.Call{Args: json.RawMessage(`{}`)}); onFiles && (err == nil || err.Error() != "this chat has no workspace, so there are no files") {
			t.Errorf("%s without a workspace: %v", id, err)
		}
		for _, args := range []string{`[]`, `{"path":5}`, `{"nonsense":1}`, `{`} {
			var own *toolset.ToolError
			if _, err := run(t.Context(), toolset.Call{Workspace: ws, Args: json.RawMessage(args)}); !errors.As(err, &own) {
				t.Errorf("%s with %s: %v", id, args, err)
			}
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := run(ended, toolset.Call{Workspace: ws, Args: json.RawMessage(`{}`)}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s after its context ended: %v", id, err)
		}
		var own *toolset.ToolError
		if _, err := run(t.Context(), toolset.Call{Workspace: ws}); id != "list_files" && !errors.As(err, &own) {
			t.Errorf("%s without arguments: %v", id, err)
		}
	}
}
