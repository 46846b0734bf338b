package python_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/python"
)

// TestForms holds each call form and each form of a result against its record.
func TestForms(t *testing.T) {
	t.Parallel()
	w := newWorld(t, python.Options{NoSpares: true})
	dir := toolsetDir(t, "testdata/forms")
	ws := workspace(t)
	var out strings.Builder
	for _, c := range []struct{ function, args string }{
		{"gives_dict", `{"name":"ä<b>","times":2}`}, {"any_kwargs", `{"a":1,"b":[null,1.5,"x"],"c":{"d":true}}`},
		{"other_name", `{"n":1}`}, {"positional", `{"n":1}`},
		{"document_000", `{"q":"x","n":12345678901234567890}`}, {"nearly_000", `{"params":1,"db":2,"user_id":3,"context":4}`},
		{"gives_str", ``}, {"text_alone", `{}`}, {"data_alone", `{}`}, {"asynchronous", `{"n":3}`},
		{"stream", `{}`}, {"stream_last_value", `{}`}, {"async_stream", `{}`}, {"async_then_stream", `{}`}, {"stream_alone", `{}`},
		{"odd_values", `{}`}, {"bytes_value", `{}`}, {"object_value", `{}`}, {"circle", `{}`}, {"deep", `{}`}, {"same_keys", `{}`},
		{"too_large", `{}`}, {"nearly_too_large", `{}`}, {"gives_none", `{}`}, {"gives_list", `{}`}, {"bad_payload", `{}`},
		{"asset", `{}`}, {"siblings", `{}`}, {"registries", `{}`}, {"json_names", `{}`},
		{"arguments", `{}`}, {"arguments", `{"a":1,"c":2}`}, {"arguments", `{"a":1,"workspace":"/etc"}`},
		{"no_such", `{}`}, {"NAME", `{}`},
	} {
		fmt.Fprintf(&out, "== %s %s\n", c.function, c.args)
		one := call(ws, c.args)
		one.Progress = func(p toolset.Progress) {
			raw, _ := json.Marshal(p)
			fmt.Fprintf(&out, "progress %s\n", raw)
		}
		res, err := w.Runner(spec(dir, "tools/forms.py", c.function)).Run(t.Context(), one)
		var wrong *toolset.ToolError
		switch {
		case errors.As(err, &wrong):
			fmt.Fprintf(&out, "error %s\n", wrong.Message)
		case err != nil:
			t.Fatal(err)
		default:
			for _, part := range []struct{ name, text string }{
				{"text", res.Text}, {"data", string(res.Data)}, {"workspace_payload", string(res.WorkspacePayload)}, {"payload", string(res.Payload)},
			} {
				if n := len(part.text); n > 4000 {
					part.text = fmt.Sprintf("%d bytes", n)
				}
				if part.text != "" {
					fmt.Fprintf(&out, "%s %s\n", part.name, strings.ReplaceAll(part.text, ws.Path, "WS"))
				}
			}
		}
	}
	golden(t, "forms.golden", out.String())
	if data, err := os.ReadFile(filepath.Join(ws.Path, "out.txt")); err != nil || string(data) != "ä<b>ä<b>" {
		t.Errorf("%q %v", data, err)
	}
	for _, note := range []string{"$.nan: nan became null", "$.inf: -inf became null", "$.big: an int of more than 53 bits", "stream reports progress; its toolset.yaml should"} {
		if !strings.Contains(w.said(), note) {
			t.Errorf("no notice says %q:\n%s", note, w.said())
		}
	}
}

// A result that went through the channel is JSON that says what the tool said.
func TestResultsAreJSON(t *testing.T) {
	t.Parallel()
	w := newWorld(t, python.Options{NoSpares: true})
	res := mustRun(t, w, spec(toolsetDir(t, "testdata/forms"), "tools/forms.py", "odd_values"), call(workspace(t), `{}`))
	var back map[string]any
	if err := json.Unmarshal(res.Data, &back); err != nil {
		t.Fatal(err)
	}
	if back["control"] != "\x00\x1f\u2028\x7f" || back["surrogate"] != "a\uFFFDb" || back["big"] != "1152921504606846976" {
		t.Errorf("%q", back)
	}
}

func TestPrintsAreCapturedApartFromTheResult(t *testing.T) {
	t.Parallel()
	w := newWorld(t, python.Options{NoSpares: true})
	res := mustRun(t, w, spec(toolsetDir(t, "testdata/forms"), "tools/forms.py", "prints"), call(workspace(t), `{}`))
	if string(res.Data) != `{"ok":true}` {
		t.Errorf("%s", res.Data)
	}
	want := "by print\nby write\nby descriptor\nto stderr\nby a child\ninput is at its end\n"
	if got := strings.ReplaceAll(w.output(), "\r", ""); got != want {
		t.Errorf("%q", got)
	}
}

func TestLargeArguments(t *testing.T) {
	t.Parallel()
	w := newWorld(t, python.Options{NoSpares: true})
	s := spec(toolsetDir(t, "testdata/forms"), "tools/forms.py", "big_argument")
	ws := workspace(t)
	if res := mustRun(t, w, s, call(ws, `{"text":"`+strings.Repeat("x", 8<<20)+`"}`)); string(res.Data) != `{"length":8388608}` {
		t.Errorf("%.100s", res.Data)
	}
	if wrong := mustFail(t, w, s, call(ws, `{"text":"`+strings.Repeat("x", 17<<20)+`"}`)); !strings.Contains(wrong.Message, "the arguments have 17 MB") {
		t.Error(wrong.Message)
	}
}

// Arguments that Python itself can't read are an error of the call.
func TestDeepArguments(t *testing.T) {
	t.Parallel()
	w := newWorld(t, python.Options{})
	s, ws := spec(toolsetDir(t, "testdata/forms"), "tools/forms.py", "any_kwargs"), workspace(t)
	for range 2 {
		wrong := mustFail(t, w, s, call(ws, `{"a":`+strings.Repeat("[", 9000)+strings.Repeat("]", 9000)+`}`))
		if !strings.HasPrefix(wrong.Message, "RecursionError: ") && !strings.Contains(wrong.Message, "nested more than 200 deep") {
			t.Error(explain(wrong))
		}
	}
}

// A toolset may be reached through a link.
func TestToolsetBehindALink(t *testing.T) {
	t.Parallel()
	w := newWorld(t, python.Options{NoSpares: true})
	link := filepath.Join(realDir(t), "link")
	if err := os.Symlink(toolsetDir(t, "testdata/forms"), link); err != nil {
		need(t, false, "links")
	}
	if res := mustRun(t, w, spec(link, "tools/forms.py", "asset"), call(workspace(t), `{}`)); string(res.Data) != `{"beside":"hello","by_name":"hello"}` {
		t.Errorf("%s", res.Data)
	}
}

// The example toolsets run as they are.
func TestExampleToolsets(t *testing.T) {
	t.Parallel()
	w := newWorld(t, python.Options{})
	examples := filepath.Join("..", "..", "testdata", "toolsets")
	builder, mine := toolsetDir(t, filepath.Join(examples, "app-builder")), toolsetDir(t, filepath.Join(examples, "my-toolset"))
	ws := workspace(t)
	write(t, filepath.Join(ws.Path, "a.csv"), "name,n\nx,1\ny,2.5\n")
	for _, c := range []struct{ dir, module, function, args, want string }{
		{builder, "tools/files.py", "write_file", `{"path":"src/app.js","content":"let a = 1\n"}`, `{"written":"src/app.js","size":10}`},
		{builder, "tools/files.py", "read_file", `{"path":"src/app.js"}`, `{"path":"src/app.js","content":"let a = 1\n","size":10}`},
		{builder, "tools/shell.py", "run_command", `{"command":"echo hi; exit 3"}`, `{"command":"echo hi; exit 3","output":"hi\n","exit_code":3}`},
		{mine, "tools/analyze.py", "run", `{"filename":"a.csv"}`, `{"summary":"Processed 2 rows","output_file":"output.json","stats":{"rows":2,"columns":2},"sums":{"n":{"count":2,"sum":3.5}}}`},
		{mine, "tools/transform.py", "run", `{"input":"a.csv","output":"out/b.txt"}`, `{"output":"out/b.txt","rows":2}`},
	} {
		res := mustRun(t, w, spec(c.dir, c.module, c.function), call(ws, c.args))
		if string(res.Data) != c.want || res.Text != c.want {
			t.Errorf("%s: %s\n%s", c.function, res.Data, res.Text)
		}
	}
	wrong := mustFail(t, w, spec(builder, "tools/files.py", "read_file"), call(ws, `{"path":"none"}`))
	if !strings.HasPrefix(wrong.Message, "FileNotFoundError: [Errno 2]") || !strings.Contains(wrong.Traceback, `File "tools/files.py", line 11, in read_file`) {
		t.Error(explain(wrong))
	}
}
