package python_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/python"
)

// Each ends as an error that says why, or with its own result, and the next
// call works.
func TestToolsThatEndBadly(t *testing.T) {
	t.Parallel()
	w := newWorld(t, python.Options{Spares: 1})
	for _, c := range []struct{ module, function, args, says, trace, data string }{
		{"tools.hostile", "raises", `{}`, "ValueError: no rows in the file", "tools/hostile.py:14 in raises\n    raise ValueError(\"no rows in the file\") from e\ncaused by KeyError: 'key'", ""},
		{"tools.hostile", "raises_oddly", `{}`, "Odd: (its text failed: RuntimeError)", "tools/hostile.py:", ""},
		{"tools.hostile", "exits", `{}`, "ended the program instead of returning: SystemExit: 3", "tools/hostile.py:", ""},
		{"tools.hostile", "exits_hard", `{}`, "no result: it ended the process without returning", "", ""},
		{"tools.hostile", "crashes", `{}`, "it crashed", "Segmentation fault", ""},
		{"tools.hostile", "closes_all", `{}`, "no result", "", ""},
		{"tools.hostile", "recurses", `{}`, "RecursionError", "tools/hostile.py:", ""},
		{"tools.hostile", "floods", `{}`, "", "", `{"flooded":true}`},
		{"tools.hostile", "forks", `{}`, "", "", `{"who":"parent"}`},
		{"tools.hostile", "leaves_thread", `{}`, "", "", `{"thread":true}`},
		{"tools.hostile", "lies", `{}`, "wrote into the channel", "", ""},
		{"tools.hostile", "writes_nonsense", `{}`, "wrote into the channel", "", ""},
		{"tools.hostile", "no_such_return", `{}`, "the tool returned int; it returns a dict, a str or a ToolResult", "", ""},
		{"tools.hostile", "is_circular", `{}`, "$.a.b[0]: it holds itself", "", ""},
		{"tools.hostile", "has_bytes", `{}`, "$.rows[0].raw: bytes are no JSON", "", ""},
		{"tools.hostile", "is_deep", `{}`, "nested more than 200 deep", "", ""},
		{"tools.hostile", "is_large", `{}`, "more than 4194304 bytes", "", ""},
		{"tools.hostile", "has_two_keys", `{}`, "two keys both become '1'", "", ""},
		{"tools.forms", "rows", `{}`, "the tool returned list", "", ""},
		{"tools.forms", "named", `{"times":1,"x":2}`, "named() doesn't fit its input_schema: it needs path; it takes no x", "", ""},
		{"tools.forms", "nothing", `{}`, "tools/forms.py has no function nothing", "", ""},
		{"tools.broken", "run", `{}`, "can't be loaded: SyntaxError", "tools/broken.py:2", ""},
		{"tools.imports", "run", `{}`, "No module named 'no_such_module_anywhere'", "tools/imports.py:1 in <module>", ""},
		{"tools.leaves", "run", `{}`, "can't be loaded: SystemExit: 1", "", ""},
		{"tools.none", "run", `{}`, "No module named 'tools.none'", "", ""},
		{"os", "system", `{}`, "os is not in the toolset", "", ""},
	} {
		got := w.call(t.Context(), w.spec(c.module, c.function), c.args)
		switch {
		case c.data != "":
			if got.err != nil || string(got.Data) != c.data {
				t.Errorf("%s:%s gave %s, %v", c.module, c.function, got.Data, got.err)
			}
		case got.message() == "" || !strings.Contains(got.message(), c.says) || !strings.Contains(got.traceback(), c.trace):
			t.Errorf("%s:%s: %v\ntraceback:\n%s", c.module, c.function, got.err, got.traceback())
		}
		if strings.Contains(got.traceback(), "<fettle>") {
			t.Errorf("%s:%s shows lines of the runner:\n%s", c.module, c.function, got.traceback())
		}
	}
	if got := w.call(t.Context(), w.spec("tools.forms", "text"), `{}`); got.Text != "just words" {
		t.Errorf("after all of them: %v", got.err)
	}
}

func TestATimeLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, python.Options{})
	s := w.spec("tools.hostile", "hangs")
	s.Policy.Limits.Time = 500 * time.Millisecond
	if got := w.call(t.Context(), s, `{}`); !strings.Contains(got.message(), "the tool gave no result: ") || !strings.Contains(got.message(), "500ms") {
		t.Errorf("%v", got.err)
	}
}

func TestACallIsStopped(t *testing.T) {
	t.Parallel()
	w := newWorld(t, python.Options{})
	for _, function := range []string{"cleans_up", "heeds_nothing"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		because := errors.New("nobody wants it")
		time.AfterFunc(time.Second, func() { cancel(because) })
		if got := w.call(ctx, w.spec("tools.hostile", function), `{}`); !errors.Is(got.err, because) {
			t.Errorf("%s: %v", function, got.err)
		}
		cancel(nil)
	}
	if text, err := w.ws.Root.ReadFile("cleaned.txt"); string(text) != "yes" {
		t.Errorf("a tool that was stopped could not clean up: %v", err)
	}
}

func TestNothingIsLeftOfACall(t *testing.T) {
	t.Parallel()
	w := newWorld(t, python.Options{})
	got := w.call(t.Context(), w.spec("tools.hostile", "leaves_daemon"), `{"mark":"x"}`)
	if string(got.Data) != `{"left":true}` {
		t.Errorf("%s, %v", got.Data, got.err)
	}
}

// A sandbox holds the tool to its own folder.
func TestAToolReadsNothingElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t, python.Options{})
	s := w.spec("tools.hostile", "reads_outside")
	s.Policy.Least = toolset.LevelFull
	got := w.call(t.Context(), s, `{}`)
	var lacks *toolset.UncontainedError
	need(t, !errors.As(got.err, &lacks), "a full sandbox")
	if !strings.Contains(got.message(), "FileNotFoundError") && !strings.Contains(got.message(), "PermissionError") {
		t.Errorf("%s, %v", got.Data, got.err)
	}
}

// A spare has seen nothing, serves one call, and is none for another folder.
func TestSpares(t *testing.T) {
	t.Parallel()
	w := newWorld(t, python.Options{Spares: 2})
	s := w.spec("tools.forms", "writes")
	for i := range 5 {
		name := string(rune('a' + i))
		if got := w.call(t.Context(), s, `{"name":"`+name+`","content":"x"}`); got.err != nil {
			t.Fatal(got.err)
		}
		time.Sleep(50 * time.Millisecond) // a spare may be ready by then, or not
	}
	first := w.ws.Path
	if err := os.Rename(first, first+"-moved"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(first, 0o700); err != nil {
		t.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond)
	if got := w.call(t.Context(), s, `{"name":"new","content":"x"}`); got.err != nil {
		t.Fatal(got.err)
	}
	if _, err := os.Stat(first + "/new"); err != nil {
		t.Errorf("a spare of the old folder has served: %v", err)
	}
}

func TestNoPython(t *testing.T) {
	t.Parallel()
	rt := python.New(python.Options{Interpreter: "/no/such/python3", CacheDir: t.TempDir()})
	_, err := rt.Runner(python.Spec{}).Run(t.Context(), toolset.Call{})
	var own *toolset.ToolError
	if !errors.As(err, &own) || !strings.Contains(own.Message, "there is no Python at /no/such/python3") {
		t.Errorf("%v", err)
	}
	if err := rt.Close(); err != nil {
		t.Error(err)
	}
}
