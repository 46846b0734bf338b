package builtin

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fettle-cli/fettle/toolset"
)

func TestSearchFiles(t *testing.T) {
	t.Parallel()
	files := project(t)
	files["src/main.go"] = "package main\n\nfunc main() {\n\tfoo()\n\tbar()\n}\n\nfunc foo() {}\nfunc bar() {}\n"
	files["src/util.ts"] = "export function foo() {}\r\nfoo()\r\n"
	files["node_modules/pad.js"] = "foo"
	files[".git/HEAD"] = "foo"
	files["bin.dat"] = "foo\x00foo"
	files["win.txt"] = utf16Bytes(binary.LittleEndian, "grün\r\nfoo\r\n")
	files["bom.txt"] = bom + "foo first\n"
	files["latin.txt"] = "gr\xFCn foo\n"
	files["src/a/b/deep.go"] = "x FOO(1) x"
	ws := newWorkspace(t, files)
	for _, tt := range []struct {
		name string
		args object
		want string
	}{
		{"text", object{"query": "foo()"}, "src/main.go\n4: \tfoo()\n8: func foo() {}\n\nsrc/util.ts\n1: export function foo() {}\n2: foo()\n[1 binary file left out]"},
		{"beginnings of files, and other encodings", object{"query": "foo", "glob": "*.txt"}, "bom.txt\n1: foo first\n\nlatin.txt\n1: grn foo\n\nwin.txt\n2: foo"},
		{"without case", object{"query": "foo(1", "ignore_case": true}, "src/a/b/deep.go\n1: x FOO(1) x\n[1 binary file left out]"},
		{"a regular expression", object{"query": `^func \w+\(\)`, "regexp": true, "path": "src"}, "src/main.go\n3: func main() {\n8: func foo() {}\n9: func bar() {}"},
		{"the end of a CRLF line", object{"query": `\(\)$`, "regexp": true, "glob": "*.ts"}, "src/util.ts\n2: foo()"},
		{"without case, a regular expression", object{"query": `FOO\(\d\)`, "regexp": true, "ignore_case": true, "glob": "src/**/*.go"}, "src/a/b/deep.go\n1: x FOO(1) x"},
		{"with context", object{"query": "foo()", "context": 1, "path": "src/main.go"}, "src/main.go\n3- func main() {\n4: \tfoo()\n5- \tbar()\n--\n7- \n8: func foo() {}\n9- func bar() {}"},
		{"with context that meets", object{"query": "foo()", "context": 2, "path": "src/main.go"}, "src/main.go\n2- \n3- func main() {\n4: \tfoo()\n5- \tbar()\n6- }\n7- \n8: func foo() {}\n9- func bar() {}"},
		{"a glob", object{"query": "foo", "glob": "*.ts"}, "src/util.ts\n1: export function foo() {}\n2: foo()"},
		{"a limit", object{"query": "foo", "limit": 1, "path": "src"}, "src/main.go\n4: \tfoo()\n[stopped after 1 match; narrow it with path, glob or query]"},
		{"a limit that is just enough", object{"query": "package", "limit": 1, "path": "src"}, "src/main.go\n1: package main"},
		{"a folder that is asked for", object{"query": "foo", "path": "node_modules"}, "node_modules/pad.js\n1: foo"},
		{"nothing", object{"query": "nowhere", "path": "src"}, "[no match in src (3 files searched)]"},
		{"nothing, with a binary file", object{"query": "nowhere", "glob": "*.{dat,md}"}, "[no match in the workspace (1 file searched, 1 binary file left out)]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			res := do(t, ws, "search_files", tt.args)
			if res.Text != tt.want {
				t.Errorf("got\n%s\nwant\n%s", res.Text, tt.want)
			}
		})
	}
	for want, args := range map[string]object{
		"bin.dat is a binary file; search_files searches text only":                                                                   {"query": "foo", "path": "bin.dat"},
		"query has a line break; search_files searches line by line":                                                                  {"query": "a\nb"},
		"glob {a is not valid: a bracket or brace is left open":                                                                       {"query": "a", "glob": "{a"},
		"there is no file scr; did you mean src?":                                                                                     {"query": "a", "path": "scr"},
		"the regular expression is too large; write it without high repetition counts":                                                {"query": "[a-z]{999}[0-9]{999}x{999}", "regexp": true},
		"query is no valid regular expression: missing closing ): `(a` (RE2 syntax; to search for the text itself, leave regexp out)": {"query": "(a", "regexp": true},
	} {
		if got := refused(t, ws, "search_files", args); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestSearchData(t *testing.T) {
	t.Parallel()
	ws := newWorkspace(t, map[string]string{"f": "a\nbb x\ncc x\nd\ne\n"})
	got := data[searchData](t, do(t, ws, "search_files", object{"query": "x", "context": 2}))
	want := []match{
		{Path: "f", Line: 2, Column: 4, Text: "bb x", Before: []string{"a"}, After: []string{"cc x", "d"}},
		{Path: "f", Line: 3, Column: 4, Text: "cc x", Before: []string{"a", "bb x"}, After: []string{"d", "e"}},
	}
	if fmt.Sprint(got.Matches) != fmt.Sprint(want) || got.Files != 1 || got.Truncated {
		t.Errorf("got %+v", got)
	}
}

func TestSearchInLongLines(t *testing.T) {
	t.Parallel()
	// The needle straddles the end of the reader's buffer.
	for _, at := range []int{0, 100, readerSize - 3, readerSize, 3*readerSize - 5, 1 << 20} {
		line := strings.Repeat("x", at) + "needle" + strings.Repeat("y", 100_000)
		ws := newWorkspace(t, map[string]string{"f": "first\n" + line + "\nneedle\n", "g": strings.Repeat("z", 1<<20)})
		res := do(t, ws, "search_files", object{"query": "needle", "context": 1})
		d := data[searchData](t, res)
		if len(d.Matches) != 2 || d.Matches[0].Line != 2 || d.Matches[0].Column != at+1 || d.Matches[1].Line != 3 {
			t.Fatalf("at %d: got %d matches, %+v", at, len(d.Matches), d.Matches)
		}
		if m := d.Matches[0]; !strings.Contains(m.Text, "needle") || len(m.Text) > maxShownLine+10 || strings.HasPrefix(m.Text, "…") != (at > 0) || !strings.HasSuffix(m.Text, "…") {
			t.Errorf("at %d: %d bytes are shown: %s", at, len(m.Text), m.Text)
		}
		if b := d.Matches[1].Before; len(b) != 1 || len(b[0]) > maxShownLine+10 {
			t.Errorf("at %d: the context is %v", at, b)
		}
	}
}

func TestSearchIsBounded(t *testing.T) {
	t.Parallel()
	ws := newWorkspace(t, map[string]string{"f": strings.Repeat(strings.Repeat("x", 250)+"\n", 3000)})
	res := do(t, ws, "search_files", object{"query": "x", "limit": 1000})
	d := data[searchData](t, res)
	if len(res.Text) > maxSearchText+1000 || !d.Truncated || len(d.Matches) < 200 {
		t.Errorf("%d bytes, %d matches, truncated %v", len(res.Text), len(d.Matches), d.Truncated)
	}
	d = data[searchData](t, do(t, ws, "search_files", object{"query": "x"}))
	if len(d.Matches) != defaultMatches || !d.Truncated {
		t.Errorf("%d matches, truncated %v", len(d.Matches), d.Truncated)
	}
}

// countdown is a context that ends when it has been asked a number of times.
type countdown struct {
	context.Context
	left atomic.Int64
}

func (c *countdown) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// TestCancelledPromptly: after its context has ended, no tool reads or lists
// on; it asks at most a few times more while it returns.
func TestCancelledPromptly(t *testing.T) {
	t.Parallel()
	files := map[string]string{"big": strings.Repeat("line of text\n", 20_000)}
	for i := range 50 {
		files[fmt.Sprintf("d%d/f", i)] = "x\n"
	}
	ws := newWorkspace(t, files)
	for id, args := range map[string]string{
		"search_files": `{"query":"nowhere"}`,
		"read_file":    `{"path":"big"}`,
		"list_files":   `{}`,
		"write_file":   `{"path":"new","content":"` + strings.Repeat("x", 3<<20) + `"}`,
	} {
		ctx := &countdown{Context: t.Context()}
		ctx.left.Store(3)
		_, err := tools()[id].entry.Runner.Run(ctx, toolset.Call{Workspace: ws, Args: []byte(args)})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", id, err)
		}
		if asked := -ctx.left.Load(); asked > 5 {
			t.Errorf("%s asked %d times more", id, asked)
		}
	}
	noLeftovers(t, ws.Path)
	if entries, err := ws.Root.Lstat("new"); err == nil {
		t.Errorf("the write was made: %v", entries.Size())
	}
}

func BenchmarkSearch(b *testing.B) {
	dir := b.TempDir()
	ws, err := toolset.OpenManaged(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer ws.Close()
	content := bytes.Repeat([]byte("some line of source code, not too short\n"), 25_000)
	for i := range 10 {
		if err := ws.Root.WriteFile(fmt.Sprintf("f%d", i), content, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	run := Entries(Options{})[4].Runner.Run
	for name, args := range map[string]string{"text": `{"query":"nowhere"}`, "regexp": `{"query":"no(where|how)$","regexp":true}`} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(10 * len(content)))
			for b.Loop() {
				if _, err := run(b.Context(), toolset.Call{Workspace: ws, Args: []byte(args)}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
